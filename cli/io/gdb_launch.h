/* Starts a GDB for RISC-V. */
#ifndef CLI_IO_GDB_LAUNCH_H
#define CLI_IO_GDB_LAUNCH_H

#include <stdio.h>

/* Returns the name of a GDB that can debug RISC-V, searched in PATH; NULL when there is none. `wanted`: the only one to
 * try, or NULL. */
const char *cli_gdb_find(const char *wanted);

/* Prints the commands that set up a GDB of the user's own, one a line, after `indent`. */
void cli_gdb_print_setup(FILE *out, const char *indent);

/* Starts `gdb` with `program` and lets it connect to `socket`. Writes its set-up (examples/ntrace.gdb) to the file
 * `script`, which the caller removes when GDB has ended. Returns the process, or -1 after reporting the error. */
int cli_gdb_launch(const char *gdb, const char *program, const char *socket, const char *script);

#endif
