/* Many output files at once, more than file descriptors allow: PREFIX-NAME.nex each. */
#ifndef CLI_IO_SPLIT_FILES_H
#define CLI_IO_SPLIT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_split_files;

/* NULL: out of memory (told). `prefix` must outlive it. */
struct cli_split_files *cli_split_files_open(const char *prefix);

/* Append to piece `index`, whose name is `name` followed by the index ("src" 3: PREFIX-src3.nex). Returns
 * CLI_OK, or CLI_FAILED after telling why. */
int cli_split_files_write(struct cli_split_files *pieces, const char *name, uint32_t index, const void *data,
                          size_t size);

/* Nothing more goes to this piece. */
int cli_split_files_finish(struct cli_split_files *pieces, uint32_t index);

/* Finish with the command's exit status so far: the pieces get their names, or with CLI_FAILED vanish. Returns
 * the status, or CLI_FAILED after telling why. */
int cli_split_files_close(struct cli_split_files *pieces, int status);

#endif
