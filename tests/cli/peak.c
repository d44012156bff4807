/* Runs a command and writes its peak of memory in KiB to FILE: peak FILE COMMAND [WORD]... The exit status is that of
 * the command.
 *
 * The system's peak of a process includes the memory of its parent at the fork: the memory of a script would hide
 * smaller values. So this small program starts the command. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct rusage used;
    int status;
    if (argc < 3) return 127;
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child) return 127;
    FILE *file = fopen(argv[1], "w");
    if (!file || fprintf(file, "%ld\n", used.ru_maxrss) < 0 || fclose(file)) return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
