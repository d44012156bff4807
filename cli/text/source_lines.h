/* Single lines of source files, kept: neighbouring instructions come from files in turns where code is inlined. */
#ifndef CLI_TEXT_SOURCE_LINES_H
#define CLI_TEXT_SOURCE_LINES_H

#include <ntrace/export.h>

struct cli_source_lines;

/* `read` and `user` tell the text of a file; `read` NULL: there is none. NULL when out of memory. */
struct cli_source_lines *cli_source_lines_open(ntr_read_source read, void *user);
void cli_source_lines_close(struct cli_source_lines *lines);

/* Line `number`, from 1, without its end; NULL when there is no such file or line. Not terminated; it lives until the
 * next call. */
const char *cli_source_line(struct cli_source_lines *lines, const char *file, uint32_t number, size_t *size);

#endif
