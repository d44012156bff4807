/* Many output files at a time, named PREFIX-NAME.nex. Their number is not limited by the number of file descriptors. */
#ifndef CLI_IO_SPLIT_FILES_H
#define CLI_IO_SPLIT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_split_files;

/* Returns NULL after reporting that there is no memory. `prefix` is not copied and must outlive the result. */
struct cli_split_files *cli_split_files_open(const char *prefix);

/* Appends to file `index`, whose NAME is `name` followed by the index ("src", 3: PREFIX-src3.nex). Returns CLI_OK, or
 * CLI_FAILED after reporting the error. */
int cli_split_files_write(struct cli_split_files *files, const char *name, uint32_t index, const void *data,
                          size_t size);

/* Flushes file `index` and frees its buffer; nothing more may be appended to it. Returns as cli_split_files_write. */
int cli_split_files_finish(struct cli_split_files *files, uint32_t index);

/* Completes all files and frees `files`. `status` is the exit status so far: if it is CLI_FAILED, all files are
 * removed. Returns `status`, or CLI_FAILED after reporting an error. */
int cli_split_files_close(struct cli_split_files *files, int status);

#endif
