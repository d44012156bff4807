/* `ntrace board`: what its files share. */
#ifndef CLI_COMMANDS_BOARD_RUN_H
#define CLI_COMMANDS_BOARD_RUN_H

#include "commands/board_machine.h"
#include "io/images.h"
#include "io/output.h"
#include "io/server.h"

#include <ntrace/board.h>

enum { BOARD_LINE_BYTES = 256 };

struct board_options {
    struct cli_images images;
    struct machine_options machine;
    struct cli_list pcs;
    const char *qemu, *listen, *ram, *log;
    int64_t bitbang, gdb, rate; /* ports -1: not given */
    int once, standard, halted;
};

struct board_run {
    const struct board_options *options;
    char *topology;
    ntr_program *program;
    ntr_board *board;
    struct board_machine_run machine;
    struct cli_server bitbang, gdb;
    struct cli_output log; /* open if log.buffer is not NULL */
    ntr_gdb_filter *filter;
    uint64_t ran_until; /* microseconds */
    bool ended, reported, machine_ended;
    char line[BOARD_LINE_BYTES]; /* incomplete line of standard input */
    size_t line_size;
};

/* board_serve.c: serves clients until the command is interrupted, or with --once until the first one has disconnected.
 */
int board_serve(struct board_run *run);

#endif
