/* A program that forks a child process. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    int status, sum = 0;
    pid_t child = fork();
    for (volatile int i = 0; i < 100; i++) sum += i;
    if (child == 0) _exit(sum & 0x7f);
    waitpid(child, &status, 0);
    return WEXITSTATUS(status) == (sum & 0x7f) ? 0 : 1;
}
