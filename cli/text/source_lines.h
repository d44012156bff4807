/* Cache of source files, for access to single lines. Adjacent instructions of inlined code come from different
 * files. */
#ifndef CLI_TEXT_SOURCE_LINES_H
#define CLI_TEXT_SOURCE_LINES_H

#include <ntrace/export.h>

struct cli_source_lines;

/* `read` reads a file (`user` is its argument); NULL: no file can be read. Returns NULL when out of memory. */
struct cli_source_lines *cli_source_lines_open(ntr_read_source read, void *user);
void cli_source_lines_close(struct cli_source_lines *lines);

/* Returns line `number`, from 1, without its end, or NULL if there is no such file or line. The text is not terminated;
 * *size is its length. It is valid until the next call. `lines` NULL: there are none. */
const char *cli_source_line(struct cli_source_lines *lines, const char *file, uint32_t number, size_t *size);

/* Copies line `number` without the blanks in front of it, as far as there is room. Returns `copy`, "" if there is no
 * such line. */
const char *cli_source_line_copy(struct cli_source_lines *lines, const char *file, uint32_t number, char *copy,
                                 size_t room);

#endif
