/* A program that replaces itself by another one (execve). */
#include <stdio.h>
#include <unistd.h>

int main(void) {
    char *const words[] = {"sh", "-c", "exit 7", NULL};
    volatile int sum = 0;
    for (int i = 0; i < 50; i++) sum += i;
    execv("/bin/none", words);
    execv("/bin/sh", words);
    return 1;
}
