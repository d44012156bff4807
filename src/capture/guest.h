/* The program under trace: QEMU user mode with the capture plugin, as a child process. */
#ifndef CLI_RUN_GUEST_H
#define CLI_RUN_GUEST_H

#include "options/options.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct run_guest_options {
    const char *qemu, *plugin, *sysroot, *cpu; /* NULL: found or left to QEMU */
    struct cli_list qemu_options;              /* given to QEMU as they are */
};

struct run_guest {
    pid_t pid;
    bool ended;
    int status;   /* as a shell would say */
    int signal;   /* that ended it; 0: none */
    FILE *answer; /* to the question for QEMU's version, until run_guest_end */
    char version[128]; /* "qemu-riscv64 version 7.2.22 (...)"; "" when it does not tell */
};

extern const struct cli_option run_guest_rows[];

/* Start `operands` (PROGRAM ARGS...). `channel` is the shared memory's file descriptor. Returns CLI_OK, or
 * CLI_FAILED after telling why. */
int run_guest_start(struct run_guest *guest, const struct run_guest_options *options, char **operands, unsigned xlen,
                    bool is_dynamic, int channel);

/* Look whether it has ended. */
void run_guest_poll(struct run_guest *guest);

/* Nobody takes what it tells any more: it must not wait for that. */
void run_guest_kill(struct run_guest *guest);

/* It has ended, or never began: now `version` is there. */
void run_guest_end(struct run_guest *guest);

#endif
