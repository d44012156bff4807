/* Text input line by line, however long the input; a line is at most CLI_LINE_MAX characters. */
#ifndef CLI_IO_LINES_H
#define CLI_IO_LINES_H

#include "io/input.h"

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

/* The program counter in a line, blanks around it: hexadecimal, with 0x, or without where `bare`. */
static inline bool cli_line_pc(const char *text, size_t length, bool bare, uint64_t *pc) {
    uint64_t value = 0;

    while (length && (*text == ' ' || *text == '\t')) text++, length--;
    while (length && (text[length - 1] == ' ' || text[length - 1] == '\t')) length--;
    bool prefixed = length > 2 && text[0] == '0' && (text[1] | 0x20) == 'x';
    if (prefixed) text += 2, length -= 2;
    else if (!bare) return false;
    if (length < 1 || length > 16) return false;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned char)text[i] - '0', letter = ((unsigned char)text[i] | 0x20u) - 'a';
        if (digit > 9 && letter > 5) return false;
        value = value << 4 | (digit <= 9 ? digit : letter + 10);
    }
    *pc = value;
    return true;
}

void cli_lines_close(struct cli_lines *lines);

#endif
