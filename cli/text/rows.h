/* Rows of named numbers, written as an aligned table or as JSON lines. */
#ifndef CLI_TEXT_ROWS_H
#define CLI_TEXT_ROWS_H

#include "io/output.h"
#include "options/options.h"

#define CLI_CELLS_MAX 12

struct cli_cell {
    const char *name; /* NULL ends the row */
    uint64_t value;
    double real;    /* used instead of `value` if `digits` > 0 */
    uint8_t digits; /* number of decimal places */
};

struct cli_row {
    const char *kind;  /* "message"; rows of one kind are consecutive and have the same cells */
    const char *label; /* "DirectBranch" */
    bool alone;        /* the only row of its kind; text has one line per cell */
    struct cli_cell cells[CLI_CELLS_MAX + 1];
};

struct cli_rows {
    struct cli_output *out;
    enum cli_format format;
    const char *kind; /* kind of the last row; NULL: none yet */
};

void cli_row_write(struct cli_rows *rows, const struct cli_row *row);

#define CLI_COUNT(title, number)        {.name = title, .value = number}
#define CLI_REAL(title, number, places) {.name = title, .real = number, .digits = places}

#endif
