/* The guest: QEMU in user mode with the capture plugin, as a child process that fills the shared memory of a source. */
#ifndef NTR_CAPTURE_GUEST_H
#define NTR_CAPTURE_GUEST_H

#include "capture/elf.h"
#include "capture/error.h"
#include "capture/qemu.h"
#include "channel/resolve.h"

#include <ntrace/capture.h>
#include <sys/types.h>

struct ntr_capture_guest {
    pid_t pid; /* 0: not started, or already reaped */
    pid_t adopted; /* the same, for a process that is not a child of this one; stays after its end */
    int handle; /* of `adopted`: its pidfd */
    bool ended; /* it is a zombie until ntr_capture_guest_reap */
    int status; /* exit status as a shell reports it: 128 + N for signal N */
    int signal; /* that killed it; 0: none */
    struct ntr_capture_question question; /* its version */
    char version[128]; /* "qemu-riscv64 version 7.2.22 (...)"; "" when not known */
};

/* Start config->command under QEMU; `program`: the file that it stands for, or an empty path. `memory` is the file
 * descriptor of the shared memory. */
ntr_status ntr_capture_guest_start(struct ntr_capture_guest *guest, const ntr_capture_config *config,
                                   const struct ntr_capture_elf *elf, const struct channel_program *program, int memory,
                                   struct ntr_capture_reason *reason);

/* Start the command `arguments` as the guest. */
ntr_status ntr_capture_guest_spawn(struct ntr_capture_guest *guest, char **arguments,
                                   struct ntr_capture_reason *reason);

/* The root of the guest's programs and libraries, or NULL. */
const char *ntr_capture_guest_root(const ntr_capture_config *config);

/* Take a process that is not a child of this one. Its exit status cannot be known here. */
ntr_status ntr_capture_guest_adopt(struct ntr_capture_guest *guest, pid_t pid, struct ntr_capture_reason *reason);

/* Complete `version`; may wait for the process that prints it. */
void ntr_capture_guest_version(struct ntr_capture_guest *guest);

/* Set `ended`, `status` and `signal` when it has ended. The process number stays valid: it is not reaped. */
void ntr_capture_guest_poll(struct ntr_capture_guest *guest);

/* Kill it, unless it has ended. */
void ntr_capture_guest_kill(struct ntr_capture_guest *guest);

/* Waits for the ends of the guest and of the process that prints the version of QEMU. No process remains. */
void ntr_capture_guest_reap(struct ntr_capture_guest *guest);

#endif
