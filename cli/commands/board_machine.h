/* The machine of `ntrace board --machine`: QEMU, and the socket of its GDB server in a folder of its own. */
#ifndef CLI_COMMANDS_BOARD_MACHINE_H
#define CLI_COMMANDS_BOARD_MACHINE_H

#include "commands/run_machine.h"

#include <ntrace/board.h>

enum { BOARD_FOLDER = 100 }; /* with "/gdb", as long as the path of a socket can be */

struct board_machine_run {
    struct machine machine;
    char plugin[PATH_MAX], folder[BOARD_FOLDER], socket[BOARD_FOLDER + 4]; /* folder "": none */
};

/* Starts QEMU; it waits for a debugger. `operands`: as for machine_configure; `qemu`: NULL, a program, or HOST:PORT of
 * a machine that the user starts: the options for it are shown. Returns CLI_OK, or CLI_FAILED after reporting the
 * error. */
int board_machine_start(struct board_machine_run *run, const struct machine_options *options, char **operands,
                        const char *qemu, ntr_board *board);

/* Connects the board to the GDB server of the machine that was started, and waits for it; or to `place`. Returns
 * CLI_OK, or CLI_FAILED after reporting the error. */
int board_machine_connect(const struct board_machine_run *run, const char *place, ntr_board *board);

/* Removes the folder. */
void board_machine_close(struct board_machine_run *run);

#endif
