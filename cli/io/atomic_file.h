/* Files under a temporary name until they are whole. However the command ends (but for SIGKILL and power), the
 * temporary file is gone or has become the file that was asked for: signals that end the command take it away, too. */
#ifndef CLI_IO_ATOMIC_FILE_H
#define CLI_IO_ATOMIC_FILE_H

struct cli_atomic_file;

/* Begin a new file that will replace `path` as a whole. *fd gets it, open for writing. CLI_FAILED after telling. */
int cli_atomic_file_open(struct cli_atomic_file **file, const char *path, int *fd);

/* The temporary name. */
const char *cli_atomic_file_name(const struct cli_atomic_file *file);

/* Give the file, which has been closed, its name; status CLI_FAILED: take it away. Returns the status, or CLI_FAILED
 * after telling why it could not be renamed. NULL is allowed. */
int cli_atomic_file_finish(struct cli_atomic_file *file, int status);

/* End the command by this signal, from its handler. */
void cli_atomic_file_die(int signal);

#endif
