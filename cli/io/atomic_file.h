/* Output files that appear under their name only when they are complete. Until then a file has a temporary name. The
 * temporary file is removed when the command fails or is ended by SIGINT, SIGTERM or SIGHUP. */
#ifndef CLI_IO_ATOMIC_FILE_H
#define CLI_IO_ATOMIC_FILE_H

#include <stdbool.h>

struct cli_atomic_file;

/* Returns the path to replace by rename: a regular file, a name that does not exist, or the target of a link to a
 * regular file (stored in `real`, of size PATH_MAX). Returns NULL for devices, pipes and descriptors (/dev/stdout),
 * which can only be written in place. */
const char *cli_atomic_file_target(const char *path, char *real);

/* Creates the temporary file for `path`, which must not be a link that is to be kept (cli_atomic_file_target). *fd is
 * its descriptor, open for writing; the caller closes it. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_atomic_file_open(struct cli_atomic_file **file, const char *path, int *fd);

/* Returns the temporary name. */
const char *cli_atomic_file_name(const struct cli_atomic_file *file);

/* Renames the temporary file, whose descriptor must be closed, to its final name, or removes it if `status` is
 * CLI_FAILED. Frees `file`, which may be NULL. Returns `status`, or CLI_FAILED after reporting an error. */
int cli_atomic_file_finish(struct cli_atomic_file *file, int status);

/* Removes all temporary files and ends the process with the signal. Async-signal-safe: call it from a handler. */
void cli_atomic_file_die(int signal);

/* ---- The set of input files of the command. Outputs are checked against it, so that no input is overwritten. Not
 * thread-safe. */

/* Adds a file to the set. Ignores paths that are not regular files or cannot be examined. */
void cli_input_guard_add(const char *path);

/* Returns whether `path`, after following links, is one of the files. */
bool cli_input_guard_contains(const char *path);

/* From now on, two faults end the process with a message and CLI_FAILED, and temporary files are removed: an input file
 * is truncated while it is mapped, and the main thread's stack overflows. */
void cli_atomic_file_catch_faults(void);

#endif
