/* Text input line by line, however long the input; a line is at most CLI_LINE_MAX characters. */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include "input.h"

#define CLI_LINE_MAX 65535u

struct cli_lines {
    struct cli_input input;
    ntr_bytes span;
    uint64_t number; /* of the line given out last, from 1 */
    char *kept;      /* a line that was cut by the end of a span is put together here */
    bool last, failed;
};

/* Returns CLI_OK, or CLI_FAILED after telling why. */
int cli_lines_open(struct cli_lines *lines, const char *path);

/* The next line without its end (LF or CR LF); it lives until the next call. False at the end, or with `failed` set
 * after telling why. */
bool cli_lines_next(struct cli_lines *lines, const char **text, size_t *length);

/* The program counter in a line, hexadecimal with or without 0x, blanks around it. */
bool cli_line_pc(const char *text, size_t length, uint64_t *pc);

void cli_lines_close(struct cli_lines *lines);

#endif
