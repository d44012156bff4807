/* The set of input files of the command. Outputs are checked against it, so that no input is overwritten. Not
 * thread-safe. */
#ifndef CLI_IO_INPUT_GUARD_H
#define CLI_IO_INPUT_GUARD_H

#include <stdbool.h>

/* Adds a file to the set. Ignores paths that are not regular files or cannot be examined. */
void cli_input_guard_add(const char *path);

/* Returns whether `path`, after following links, is one of the files. */
bool cli_input_guard_contains(const char *path);

#endif
