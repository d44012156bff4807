#include "commands/capture/traced_process.h"
#include "options/diagnostics.h"
#include "options/options.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EVENT_SHIFT = 16, NOT_FOUND = 127, SIGNALLED = 128 };
#define FOLLOWED                                                                                                       \
    (PTRACE_O_TRACEEXIT | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC)

/* ---- threads */

/* Reads the value of a line "Name:\tVALUE" of /proc/TID/status. */
static bool read_status(pid_t tid, const char *key, char *value, size_t size) {
    char path[64], line[128];
    const size_t length = strlen(key);
    bool found = false;

    snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        found = strncmp(line, key, length) == 0;
        if (!found) continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(value, size, "%s", line + length + strspn(line + length, " \t"));
    }
    if (file) fclose(file);
    return found;
}

static struct traced_thread *thread_of(struct traced_process *process, pid_t tid) {
    for (size_t i = 0; i < process->thread_count; i++)
        if (process->threads[i].tid == tid) return &process->threads[i];
    process->many |= process->thread_count == TRACED_THREADS;
    if (process->many) return NULL;
    process->threads[process->thread_count] = (struct traced_thread){.pid = tid, .tid = tid};
    return &process->threads[process->thread_count++];
}

static void look_at(struct traced_process *process, pid_t tid) {
    struct traced_thread *one = thread_of(process, tid);
    char text[32];

    if (!one) return;
    read_status(tid, "Name:", one->comm, sizeof one->comm);
    if (read_status(tid, "Tgid:", text, sizeof text)) one->pid = (pid_t)strtol(text, NULL, 10);
}

/* ---- start */

static void __attribute__((noreturn)) become(char *const *command, const unsigned *cpus, size_t cpu_count) {
    cpu_set_t set;

    CPU_ZERO(&set);
    for (size_t i = 0; i < cpu_count; i++)
        if (cpus[i] < CPU_SETSIZE) CPU_SET(cpus[i], &set);
    if (cpu_count && sched_setaffinity(0, sizeof set, &set) != 0)
        fprintf(stderr, "ntrace capture: %s cannot be bound to its CPU: %s\n", command[0], strerror(errno));
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(NOT_FOUND);
    execvp(command[0], command);
    fprintf(stderr, "ntrace capture: %s: %s\n", command[0], strerror(errno));
    _exit(NOT_FOUND);
}

int traced_start(struct traced_process *process, char *const *command, const unsigned *cpus, size_t cpu_count) {
    int status = 0;

    process->pid = fork();
    if (process->pid < 0) {
        process->pid = 0;
        return cli_fail("%s: %s", command[0], strerror(errno));
    }
    if (process->pid == 0) become(command, cpus, cpu_count);
    while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR) continue;
    if (!WIFSTOPPED(status)) {
        process->pid = 0;
        return CLI_FAILED; /* the child has said why */
    }
    if (ptrace(PTRACE_SETOPTIONS, process->pid, NULL, (void *)(uintptr_t)FOLLOWED) != 0)
        return cli_fail("%s: cannot be followed: %s", command[0], strerror(errno));
    look_at(process, process->pid);
    return CLI_OK;
}

int traced_continue(struct traced_process *process) {
    if (ptrace(PTRACE_CONT, process->pid, NULL, NULL) == 0) return CLI_OK;
    return cli_fail("the program does not continue: %s", strerror(errno));
}

/* ---- events */

static void stopped(struct traced_process *process, pid_t tid, int status) {
    const int event = status >> EVENT_SHIFT, signal_number = WSTOPSIG(status);
    long passed = signal_number;

    look_at(process, tid);
    if (event == PTRACE_EVENT_EXIT) {
        const struct traced_thread *one = thread_of(process, tid);
        if (one && one->pid == tid && process->before_end) process->before_end(process->user, tid);
    }
    /* The stops of ptrace itself are not signals of the program. */
    if (event || signal_number == SIGTRAP || signal_number == SIGSTOP) passed = 0;
    ptrace(PTRACE_CONT, tid, NULL, (void *)passed);
}

bool traced_poll(struct traced_process *process) {
    int status;
    pid_t tid;

    while (!process->ended && (tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
        if (WIFSTOPPED(status)) {
            stopped(process, tid, status);
        } else if (tid == process->pid) {
            process->ended = true;
            process->status = WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status);
        }
    }
    return !process->ended;
}

void traced_leave(struct traced_process *process) {
    int status;

    if (!process->pid || process->ended) return;
    for (size_t i = 0; i < process->thread_count; i++) {
        const struct traced_thread *one = &process->threads[i];
        /* A thread must be stopped to be left. */
        if (syscall(SYS_tgkill, one->pid, one->tid, SIGSTOP) != 0) continue;
        if (waitpid(one->tid, &status, __WALL) == one->tid && WIFSTOPPED(status)) {
            const int number = WSTOPSIG(status);
            ptrace(PTRACE_DETACH, one->tid, NULL, (void *)(long)(number == SIGSTOP || number == SIGTRAP ? 0 : number));
        }
    }
    process->pid = 0;
}
