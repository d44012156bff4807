/* Runs a command and tells how much memory it held at most: peak FILE COMMAND [WORD]... -> KiB to FILE, the status is
 * the command's.
 *
 * What the system tells of a process begins with what its parent held when it was made: a script's own memory would hide
 * all that takes less. */
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
