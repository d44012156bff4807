/* Starts a GDB for RISC-V. */
#ifndef CLI_IO_GDB_LAUNCH_H
#define CLI_IO_GDB_LAUNCH_H

#include <stddef.h>

/* Returns the name of a GDB that can debug RISC-V, searched in PATH; NULL when there is none. `wanted`: the only one to
 * try, or NULL. */
const char *cli_gdb_find(const char *wanted);

/* The commands that set up a GDB, in order; NULL ends the list. */
extern const char *const cli_gdb_setup[];

/* Starts `gdb` with `program` and lets it connect to `socket`. Returns the process, or -1 after reporting the error. */
int cli_gdb_launch(const char *gdb, const char *program, const char *socket);

#endif
