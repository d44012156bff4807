/* Processes: a child of a thread, children that execute other programs, and a program that replaces itself.
 * usage: family PROGRAM SCRIPT, the last of which has PROGRAM as its interpreter. Prints the process numbers. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

__attribute__((noinline)) int work(int n) {
    volatile int sum = 0;
    for (int i = 0; i < n; i++) sum += i * i;
    return sum;
}

static int wait_for(const char *name, pid_t pid) {
    int status = 0;
    if (pid <= 0 || waitpid(pid, &status, 0) != pid) return -1;
    printf("%s %d %d\n", name, (int)pid, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    fflush(stdout);
    return 0;
}

static void *in_thread(void *nothing) {
    pid_t child = fork();
    if (child == 0) {
        work(1000);
        pid_t second = fork();
        if (second == 0) _exit(work(500) & 0);
        waitpid(second, NULL, 0);
        _exit(3);
    }
    wait_for("forked", child);
    return nothing;
}

static int show(char **argv) {
    printf("arguments");
    for (; *argv; argv++) printf(" [%s]", *argv);
    printf(" environment");
    for (char **entry = environ; *entry; entry++) printf(" [%s]", *entry);
    printf("\n");
    return 7;
}

int main(int argc, char **argv) {
    char *const words[] = {"name of its own", "one", "two words", NULL}, *const environment[] = {"A=b", "C=", NULL};
    char *const *volatile nowhere = (char *const *)8;
    pthread_t thread;
    pid_t child;

    if (getenv("A")) return show(argv);
    if (argc != 3) return 1;
    work(1000);
    if (pthread_create(&thread, NULL, in_thread, NULL) || pthread_join(thread, NULL)) return 2;
    if (posix_spawn(&child, argv[1], NULL, NULL, words, environment) || wait_for("spawned", child)) return 3;
    if ((child = vfork()) == 0) {
        execve(argv[2], words, environment);
        _exit(9);
    }
    if (wait_for("script", child)) return 4;
    if (execve("/none/here", words, environment) != -1 || errno != ENOENT) return 5;
    if (execve(argv[1], nowhere, environment) != -1 || errno != EFAULT) return 6;
    execve(argv[1], words, environment);
    return 7;
}
