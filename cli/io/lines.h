/* Reads text line by line. Memory use does not depend on the length of the input; a line has at most CLI_LINE_MAX
 * characters. */
#ifndef CLI_IO_LINES_H
#define CLI_IO_LINES_H

#include "io/input.h"

#define CLI_LINE_MAX 65535u

struct cli_lines {
    struct cli_input input;
    ntr_bytes piece;
    uint64_t number; /* number of the line returned last, from 1 */
    char *partial;      /* buffer for a line that continues over pieces */
    bool last, failed;
};

/* Opens `path`; "-" is standard input. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_lines_open(struct cli_lines *lines, const char *path);

/* Reads the next line, without its end (LF or CR LF); it is valid until the next call. Returns false at the end of the
 * input, or after reporting an error (`failed` is set). */
bool cli_lines_next(struct cli_lines *lines, const char **text, size_t *length);

/* Parses a line that holds a program counter in hexadecimal, with 0x (optional if `bare`), surrounded by blanks.
 * Returns false if the line is something else. */
static inline bool cli_line_pc(const char *text, size_t length, bool bare, uint64_t *pc) {
    uint64_t value = 0;

    while (length && (*text == ' ' || *text == '\t')) text++, length--;
    while (length && (text[length - 1] == ' ' || text[length - 1] == '\t')) length--;
    bool prefixed = length > 2 && text[0] == '0' && (text[1] | 0x20) == 'x';
    if (prefixed)
        text += 2, length -= 2;
    else if (!bare)
        return false;
    if (length < 1 || length > 16) return false;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned char)text[i] - '0', letter = ((unsigned char)text[i] | 0x20u) - 'a';
        if (digit > 9 && letter > 5) return false;
        value = value << 4 | (digit <= 9 ? digit : letter + 10);
    }
    *pc = value;
    return true;
}

/* Simulators of RV32 write addresses with 32 bits, or sign-extended to 64. Cuts the address for a program of `xlen`
 * bits; 0: not known. Returns false if it has more bits. */
static inline bool cli_line_fit(unsigned xlen, uint64_t *pc) {
    const uint64_t upper = *pc >> 31;

    if (xlen != 32) return true;
    *pc = (uint32_t)*pc;
    return upper < 2 || upper == (UINT64_C(1) << 33) - 1;
}

void cli_lines_close(struct cli_lines *lines);

#endif
