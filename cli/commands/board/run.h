/* `ntrace board`: what its files share. */
#ifndef CLI_COMMANDS_BOARD_RUN_H
#define CLI_COMMANDS_BOARD_RUN_H

#include "commands/shared/run_machine.h"
#include "io/images.h"
#include "io/output.h"
#include "io/server.h"

#include <ntrace/board.h>

/* ---- The machine of `ntrace board --machine`: QEMU, and the socket of its GDB server in a folder of its own. */

enum { BOARD_FOLDER = 100 }; /* with "/gdb", as long as the path of a socket can be */

struct board_machine_run {
    struct machine machine;
    char plugin[PATH_MAX], folder[BOARD_FOLDER], socket[BOARD_FOLDER + 4]; /* folder "": none */
};

/* Starts QEMU; it waits for a debugger. `operands`: as for machine_configure; `target`: NULL, or HOST:PORT of a machine
 * that the user starts: the options for it are shown. Returns CLI_OK, or CLI_FAILED after reporting the
 * error. */
int board_machine_start(struct board_machine_run *run, const struct machine_options *options, char **operands,
                        const char *target, ntr_board *board);

/* Connects the board to the GDB server of the machine that was started, and waits for it; or to `place`. Returns
 * CLI_OK, or CLI_FAILED after reporting the error. */
int board_machine_connect(const struct board_machine_run *run, const char *place, ntr_board *board);

/* Removes the folder. */
void board_machine_close(struct board_machine_run *run);

enum { BOARD_LINE_BYTES = 256 };

struct board_options {
    struct cli_images images;
    struct machine_options machine;
    struct cli_list pcs;
    const char *target, *listen, *ram, *log;
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

/* serve.c: serves clients until the command is interrupted, or with --once until the first one has disconnected.
 */
int board_serve(struct board_run *run);

#endif
