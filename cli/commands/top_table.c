#include "commands/top_table.h"
#include "text/symbol_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { PROBES = 16, MILLION = 1000000 };

static size_t slot_of(uint64_t key) {
    return (size_t)(key * 0x9e3779b97f4a7c15u >> 40) % TOP_ROWS;
}

static void count(struct top_table *t, const struct top_row *what, uint64_t by) {
    for (size_t i = 0, at = slot_of(what->key ^ what->detail ^ what->kind); i < PROBES; i++, at = (at + 1) % TOP_ROWS) {
        struct top_row *row = &t->rows[at];
        if (row->kind == TOP_FREE) *row = *what;
        if (row->kind != what->kind || row->key != what->key || row->detail != what->detail) continue;
        row->count += by;
        return;
    }
    t->others += what->kind == TOP_FUNCTION ? by : 0;
}

/* Code of a context: the privilege mode does not matter. */
static bool same_space(const ntr_context *a, const ntr_context *b) {
    return a->scontext == b->scontext && a->hcontext == b->hcontext && a->has_scontext == b->has_scontext &&
           a->has_hcontext == b->has_hcontext;
}

/* Returns the function that has the address. */
static const struct top_function *function_of(struct top_table *t, const ntr_event *event) {
    struct top_function *cached = &t->cache[slot_of(event->address ^ event->context.scontext)];
    ntr_symbol symbol;

    if (cached->valid && cached->address == event->address && same_space(&cached->context, &event->context))
        return cached;
    const bool named = ntr_program_symbol(t->program, &event->context, event->address, &symbol) == NTR_OK;
    *cached = (struct top_function){event->address, named ? symbol.address : event->address & ~(uint64_t)0xfff,
                                    named ? (uintptr_t)symbol.name : 0, event->context, true};
    return cached;
}

ntr_status top_table_take(void *user, const ntr_event *event, uint64_t times) {
    struct top_table *t = user;

    if (event->kind == NTR_EVENT_GAP) t->gaps++;
    if (event->kind != NTR_EVENT_SPAN) return NTR_OK;
    const uint64_t instructions = event->instructions * times;
    const struct top_function *function = function_of(t, event);
    const uint64_t context = (uint64_t)event->src << 48 | (event->context.scontext & 0xffffffffffff);
    t->instructions += instructions;
    count(t, &(struct top_row){TOP_FUNCTION, function->start, 0, function->detail, event->context}, instructions);
    count(t, &(struct top_row){TOP_CONTEXT, context, 0, 0, event->context}, instructions);
    if (event->end >= NTR_END_EXCEPTION && event->end <= NTR_END_TRAP)
        count(t, &(struct top_row){TOP_TRAP, event->target, 0, event->end, event->context}, times);
    return NTR_OK;
}

static int by_count(const void *a, const void *b) {
    const struct top_row *x = a, *y = b;
    if (x->kind != y->kind) return x->kind == TOP_FREE ? 1 : y->kind == TOP_FREE ? -1 : (int)x->kind - (int)y->kind;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->detail < y->detail ? -1 : x->detail > y->detail;
}

static void show_row(const struct top_table *t, struct cli_output *out, const struct top_row *row) {
    char name[CLI_SYMBOL_MAX + 1];

    *cli_put_symbol(name, "", "", t->program, &row->context, row->key) = 0;
    switch (row->kind) {
    case TOP_FUNCTION:
        cli_output_print(out, "%6.2f %%  %s",
                         t->instructions ? 100.0 * (double)row->count / (double)t->instructions : 0, *name ? name : "");
        break;
    case TOP_CONTEXT:
        cli_output_print(out, "%6.2f %%  source %" PRIu64 ", context 0x%" PRIx64,
                         t->instructions ? 100.0 * (double)row->count / (double)t->instructions : 0, row->key >> 48,
                         row->key & 0xffffffffffff);
        break;
    default:
        cli_output_print(out, "%6" PRIu64 "    %s to %s", row->count,
                         row->detail == NTR_END_EXCEPTION   ? "exception"
                         : row->detail == NTR_END_INTERRUPT ? "interrupt"
                                                            : "trap",
                         *name ? name : "");
        break;
    }
    if (!*name && row->kind != TOP_CONTEXT) cli_output_print(out, "0x%" PRIx64, row->key);
    cli_output_text(out, "\n");
}

/* The window of the terminal, of which each table is to leave nothing above; 0: no terminal, or its size is not known.
 */
static int64_t window_lines(void) {
    struct winsize window = {0};
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 ? window.ws_row : 0;
}

/* How many rows of each kind are shown. Few contexts and traps leave their lines to functions. */
static void fit(const struct top_table *t, int64_t rows, int64_t most[TOP_KINDS]) {
    enum { OTHER_LINES = 3, QUARTER = 4 }; /* the first, "others", and that of the cursor */
    const int64_t lines = window_lines();
    int64_t room = lines > OTHER_LINES ? lines - OTHER_LINES : 1;

    for (int kind = 0; kind < TOP_KINDS; kind++) most[kind] = 0;
    for (size_t i = 0; i < TOP_ROWS && t->rows[i].kind != TOP_FREE; i++)
        most[t->rows[i].kind] += most[t->rows[i].kind] < rows;
    if (!lines) return;
    const int64_t part = room / QUARTER;
    for (int kind = TOP_CONTEXT; kind < TOP_KINDS; kind++) {
        if (most[kind] > part) most[kind] = part;
        room -= most[kind];
    }
    if (most[TOP_FUNCTION] > room) most[TOP_FUNCTION] = room;
}

void top_table_show(struct top_table *t, struct cli_output *out, double seconds, uint64_t bytes, int64_t rows) {
    const bool terminal = isatty(STDOUT_FILENO);
    int64_t most[TOP_KINDS];

    qsort(t->rows, TOP_ROWS, sizeof t->rows[0], by_count);
    fit(t, rows, most);
    if (terminal) cli_output_text(out, "\033[?7l\033[H\033[2J"); /* long names are cut: lines are not wrapped */
    cli_output_print(
        out, "%.1f s: %.3f million instructions, %.3f MB of trace, %" PRIu64 " gaps (%" PRIu64 " in all)\n", seconds,
        (double)t->instructions / MILLION, (double)bytes / MILLION, t->gaps, t->all_gaps + t->gaps);
    for (size_t i = 0; i < TOP_ROWS && t->rows[i].kind != TOP_FREE; i++) {
        if (most[t->rows[i].kind]-- > 0) show_row(t, out, &t->rows[i]);
    }
    if (t->others) cli_output_print(out, "%6.2f %%  others\n", 100.0 * (double)t->others / (double)t->instructions);
    cli_output_text(out, terminal ? "\033[?7h" : "\n");
    cli_output_flush(out);
}

void top_table_clear(struct top_table *t) {
    memset(t->rows, 0, sizeof t->rows);
    t->all_gaps += t->gaps;
    t->instructions = t->others = t->gaps = 0;
}
