/* A child process, which executes the program again; each writes to the table. */
#include <sys/wait.h>
#include <unistd.h>

volatile long table[8];

int main(int argc, char **argv) {
    table[0] = argc;
    if (argc > 1) return 0;
    if (fork() == 0) {
        table[1] = 11;
        execl(argv[0], argv[0], "again", (char *)0);
    }
    wait(0);
    table[2] = 22;
    return 0;
}
