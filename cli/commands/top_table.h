/* What was executed in one interval: functions, contexts and traps, in tables of a fixed size by open addressing. What
 * does not fit is counted as "others", so that memory stays the same however long the trace is. */
#ifndef CLI_COMMANDS_TOP_TABLE_H
#define CLI_COMMANDS_TOP_TABLE_H

#include "io/output.h"

#include <ntrace/decoder.h>

enum { TOP_ROWS = 8192 };

enum top_kind { TOP_FREE, TOP_FUNCTION, TOP_CONTEXT, TOP_TRAP, TOP_KINDS };

struct top_row {
    enum top_kind kind;
    uint64_t key, count;
    uintptr_t detail; /* function: identifies the symbol, because processes have functions at the same address; trap:
                         ntr_end */
    ntr_context context; /* for names */
};

struct top_function {
    uint64_t address, start; /* of code, and of its function */
    uintptr_t detail;
    ntr_context context;
    bool valid;
};

struct top_table {
    const ntr_program *program;
    struct top_row rows[TOP_ROWS];
    struct top_function cache[TOP_ROWS];
    uint64_t instructions, others, gaps, all_gaps; /* all_gaps: of the tables before */
};

/* Count callback of the decoder (`user`: the table): a span that was executed `times` times. Returns NTR_OK. */
ntr_status top_table_take(void *user, const ntr_event *event, uint64_t times);

/* Prints the table of an interval with so many bytes of trace: at most `rows` rows of each kind, and on a terminal not
 * more than its window has lines. Sorts the rows. */
void top_table_show(struct top_table *t, struct cli_output *out, double seconds, uint64_t bytes, int64_t rows);

/* Begins the next interval. */
void top_table_clear(struct top_table *t);

#endif
