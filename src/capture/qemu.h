/* Which QEMU there is, and what it says about itself. */
#ifndef NTR_CAPTURE_QEMU_H
#define NTR_CAPTURE_QEMU_H

#include <ntrace/capture.h>
#include <spawn.h>
#include <sys/types.h>

/* Starts a program. Signals that a caller may ignore for its own output have their default action. Returns an errno. */
int ntr_capture_spawn(pid_t *pid, char **arguments, const posix_spawn_file_actions_t *actions);

/* Waits for the end of a child process. */
void ntr_capture_wait(pid_t pid);

/* A process that prints an answer. */
struct ntr_capture_question {
    pid_t pid; /* 0: none */
    int file; /* the other end of its standard output */
};

/* Starts QEMU with this option and with its output in a pipe. */
void ntr_capture_ask(struct ntr_capture_question *question, const char *qemu, const char *option);

/* Reads its output into `text`, which ends in a 0 byte, and waits for its end. */
void ntr_capture_answer(struct ntr_capture_question *question, char *text, size_t size);

/* The versions of QEMU that can be traced, as words. */
const char *ntr_capture_qemu_supported(bool machine);

/* Do QEMU's CPUs rv32 and rv64 have all extensions that the program's attributes name? false: not known, too. */
bool ntr_capture_qemu_plain_cpu(const char *program);

#endif
