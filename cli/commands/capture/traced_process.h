/* A program that is started for a trace on the target: stopped before its first instruction and before it ends, so that
 * trace can be enabled and its mappings be read. All its threads and children are seen. */
#ifndef CLI_COMMANDS_CAPTURE_TRACED_PROCESS_H
#define CLI_COMMANDS_CAPTURE_TRACED_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { TRACED_THREADS = 4096, TRACED_COMM = 32 };

struct traced_thread {
    pid_t pid, tid;
    char comm[TRACED_COMM];
};

struct traced_process {
    pid_t pid; /* 0: none */
    int status; /* of the program, as a shell reports it */
    bool ended;
    struct traced_thread threads[TRACED_THREADS];
    size_t thread_count;
    bool many; /* there were more threads */
    void (*before_end)(void *user, pid_t pid); /* a process is about to end: its mappings are still there */
    void *user;
};

/* Starts a program, which stops before its first instruction. With `cpus`, it runs on these CPUs only. Returns CLI_OK,
 * or CLI_FAILED after reporting the error. */
int traced_start(struct traced_process *process, char *const *command, const unsigned *cpus, size_t cpu_count);

/* Lets it run. */
int traced_continue(struct traced_process *process);

/* Handles what has happened to its threads, without waiting. Returns whether it still runs. */
bool traced_poll(struct traced_process *process);

/* Leaves it running without the trace, or ends it if it never ran. */
void traced_leave(struct traced_process *process);

#endif
