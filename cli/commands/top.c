#include "io/follow.h"
#include "io/output.h"
#include "io/progress.h"
#include "io/trace.h"
#include "options/options.h"
#include "options/diagnostics.h"
#include "text/symbol_text.h"

#include <ntrace/decoder.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TOP_ROWS = 8192 };

enum top_kind { TOP_FREE, TOP_FUNCTION, TOP_CONTEXT, TOP_TRAP, TOP_KINDS };

struct top_row {
    enum top_kind kind;
    uint64_t key, count;
    uintptr_t detail; /* function: identifies the symbol, because processes have functions at the same address; trap:
                         ntr_span_end */
    ntr_context context; /* for names, */
    uint64_t position;   /* ... and a stream offset */
};

struct top_function {
    uint64_t address, start; /* of code, and of its function */
    uintptr_t detail;
    ntr_context context;
    ntr_validity valid; /* stream offsets; `last` 0: an empty slot */
};

struct top_table {
    const ntr_program *program;
    struct top_row rows[TOP_ROWS];
    struct top_function cache[TOP_ROWS];
    uint64_t instructions, others, gaps, all_gaps; /* all_gaps: of the tables before */
};

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

    if (event->offset >= cached->valid.from && event->offset <= cached->valid.last &&
        cached->address == event->address && same_space(&cached->context, &event->context))
        return cached;
    const ntr_place place = ntr_event_place(event, event->address);
    const bool named = ntr_program_symbol(t->program, place, &symbol) == NTR_OK;
    *cached = (struct top_function){event->address, named ? symbol.address : event->address & ~(uint64_t)0xfff,
                                    named ? (uintptr_t)symbol.name : 0, event->context,
                                    ntr_program_validity(t->program, place, place.address)};
    return cached;
}

/* Count callback of the decoder (`user`: the table): a span that was executed `times` times. Returns NTR_OK. */
static ntr_status top_table_take(void *user, const ntr_event *event, uint64_t times) {
    struct top_table *t = user;

    if (event->kind == NTR_EVENT_GAP) t->gaps++;
    if (event->kind != NTR_EVENT_SPAN) return NTR_OK;
    const uint64_t instructions = event->instructions * times;
    const struct top_function *function = function_of(t, event);
    const uint64_t context = (uint64_t)event->src << 48 | (event->context.scontext & 0xffffffffffff);
    t->instructions += instructions;
    count(t, &(struct top_row){TOP_FUNCTION, function->start, 0, function->detail, event->context, event->offset},
          instructions);
    count(t, &(struct top_row){TOP_CONTEXT, context, 0, 0, event->context, event->offset}, instructions);
    if (event->end >= NTR_SPAN_EXCEPTION && event->end <= NTR_SPAN_TRAP)
        count(t, &(struct top_row){TOP_TRAP, event->target, 0, event->end, event->context, event->offset}, times);
    return NTR_OK;
}

/* Spans end where symbols change (ntr_decoder_set_division). `user`: the table. */
static bool same_symbol(void *user, const ntr_context *context, uint64_t position, const uint64_t *addresses,
                        size_t count) {
    const struct top_table *t = user;
    uint64_t first = 0;

    for (size_t i = 0; i < count; i++) {
        ntr_symbol symbol;
        const bool named =
            ntr_program_symbol(t->program, ntr_place_at(context, position, addresses[i]), &symbol) == NTR_OK;
        const uint64_t start = named ? symbol.address : UINT64_MAX;
        if (i && start != first) return false;
        first = start;
    }
    return true;
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

    *cli_put_symbol(name, "", "", t->program, ntr_place_at(&row->context, row->position, row->key)) = 0;
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
                         row->detail == NTR_SPAN_EXCEPTION   ? "exception"
                         : row->detail == NTR_SPAN_INTERRUPT ? "interrupt"
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

/* Prints the table of an interval with so many bytes of trace: at most `rows` rows of each kind, and on a terminal not
 * more than its window has lines. Sorts the rows. */
static void top_table_show(struct top_table *t, struct cli_output *out, double seconds, uint64_t bytes, int64_t rows) {
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

/* Begins the next interval. */
static void top_table_clear(struct top_table *t) {
    memset(t->rows, 0, sizeof t->rows);
    t->all_gaps += t->gaps;
    t->instructions = t->others = t->gaps = 0;
}

enum { SHOWN_MAX = 1000, FINISHED_SECONDS = 5, INTERVAL_MAX_MS = 3600000, NS_IN_MS = 1000000, NS_IN_S = 1000000000 };

struct top_options {
    struct cli_stream stream;
    struct cli_images images;
    int64_t interval, rows, count;
    int follow;
};

#define S struct top_options
static const struct cli_option own_options[] = {
    CLI_NUMBER(0, "interval", "MS", S, interval, 10, INTERVAL_MAX_MS, 1000,
               "milliseconds of each table (default 1000)"),
    CLI_NUMBER('n', "top", "N", S, rows, 1, SHOWN_MAX, 20, "functions of each table (default 20)"),
    CLI_FLAG('f', "follow", S, follow, "wait for a file to grow even if it has not grown for a while"),
    CLI_NUMBER(0, "count", "N", S, count, 0, INT32_MAX, 0, "end after N tables (default 0: when interrupted)"),
    {0},
};
#undef S

static const struct cli_group groups[] = {
    CLI_OWN("options", own_options),
    CLI_GROUP("program", cli_image_options, struct top_options, images),
    CLI_GROUP("stream", cli_stream_options, struct top_options, stream),
    {0},
};

struct top {
    const struct top_options *options;
    struct cli_trace trace;
    struct cli_output out;
    ntr_decoder *decoder;
    struct top_table table;
    uint64_t bytes; /* of this interval */
    uint64_t began; /* nanoseconds */
    int64_t shown;
    bool live; /* else one table for all of a file */
};

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * NS_IN_S + (uint64_t)time.tv_nsec;
}

/* Shows the table and begins the next one, if the interval is over or the trace has ended. */
static void show(struct top *t, bool ended) {
    const uint64_t now = now_ns(), elapsed = now - t->began;

    if (!ended && (!t->live || elapsed < (uint64_t)t->options->interval * NS_IN_MS)) return;
    ntr_decoder_flush_counts(t->decoder); /* top_table_take returns no error */
    if (ended && !t->table.instructions && t->shown) return;
    top_table_show(&t->table, &t->out, (double)elapsed / NS_IN_S, t->bytes, t->options->rows);
    top_table_clear(&t->table);
    t->bytes = 0;
    t->began = now;
    t->shown++;
}

static bool is_complete(const struct top *t) {
    return t->out.done || (t->options->count && t->shown >= t->options->count);
}

static bool idle(void *user) {
    struct top *t = user;
    if (t->decoder && !is_complete(t)) show(t, false);
    return !is_complete(t);
}

/* ---- */

static bool feed(struct top *t) {
    ntr_bytes piece;
    bool last;

    if (!cli_trace_feed(&t->trace, &piece, &last)) return false;
    t->bytes += piece.size;
    return ntr_decoder_feed(t->decoder, piece.data, piece.size, last) == NTR_OK;
}

static int watch(struct top *t) {
    ntr_counts counts = {0};
    ntr_status status = NTR_NEED_MORE;

    t->began = now_ns();
    while (status != NTR_END && !is_complete(t)) {
        status = ntr_decoder_count(t->decoder, &counts);
        if (status == NTR_E_STOPPED) break;
        if (status < 0) return cli_fail("%s: %s", t->trace.input.name, ntr_decoder_error(t->decoder));
        if (status != NTR_NEED_MORE) continue;
        show(t, false);
        if (!feed(t)) return CLI_FAILED;
    }
    if (status == NTR_END || status == NTR_E_STOPPED) show(t, true);
    return t->table.all_gaps ? CLI_DEFECTS : CLI_OK;
}

static int open_decoder(struct top *t) {
    ntr_decoder_config config;

    if (cli_trace_program(&t->trace, &t->options->images, &t->options->stream, true) != CLI_OK) return CLI_FAILED;
    ntr_decoder_config_init(&config);
    config.params = t->trace.params;
    config.program = t->trace.program;
    config.proceed = cli_progress_proceed;
    t->decoder = cli_trace_decoder(&t->trace, &config);
    if (!t->decoder) return CLI_FAILED;
    t->table.program = t->trace.program;
    ntr_decoder_set_count_callback(t->decoder, top_table_take, &t->table);
    ntr_decoder_set_division(t->decoder, same_symbol, &t->table);
    return CLI_OK;
}

/* A bundle, or a file that has not changed for a while. */
static bool is_finished(const char *path) {
    struct stat info;

    if (stat(path, &info) != 0) return false; /* standard input, a stream, or an error to be reported later */
    if (S_ISDIR(info.st_mode)) return true;
    return S_ISREG(info.st_mode) && info.st_mtime + FINISHED_SECONDS < time(NULL);
}

static int top_run(const void *options, char **operands) {
    struct top *t = calloc(1, sizeof *t);

    if (!t) return cli_fail("out of memory");
    t->options = options;
    t->live = t->options->follow || !is_finished(operands[0]);
    if (t->live)
        cli_follow_begin(idle, t);
    else
        cli_note("%s: the file does not grow; one table for all of it (--follow waits for more)", operands[0]);
    int status = cli_trace_open(&t->trace, operands[0], &t->options->stream, &t->options->images);
    if (status == CLI_OK) {
        status = cli_output_open(&t->out, NULL);
        if (status == CLI_OK && open_decoder(t) != CLI_OK) status = CLI_FAILED;
        if (status == CLI_OK) status = cli_trace_status(&t->trace, true, watch(t));
        if (t->out.buffer) status = cli_output_close(&t->out, status);
        ntr_decoder_free(t->decoder);
        cli_trace_close(&t->trace);
    }
    free(t);
    return status;
}

const struct cli_command cli_top = {
    .operands = "TRACE",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .size = sizeof(struct top_options),
    .run = top_run,
    .about =
        "Shows what a live trace executes: once in a second, the functions, the contexts of each source, and the\n"
        "interrupts and exceptions of that second. TRACE is a file that grows, a pipe (-), or a TCP stream\n"
        "(tcp:HOST:PORT); a connection that ends is made again. Memory does not grow with the trace. Of a bundle, and\n"
        "of a file that has not grown for five seconds, one table of all is shown.\n"
        "\n"
        "On a terminal, each table replaces the one before, and fits the window. The command ends when it is interrupted, or when a pipe\n"
        "ends. The exit status is 1 if there were gaps.",
    .examples = "  ntrace top tcp:probe:5000 -e firmware.elf --src-bits 2\n"
                "  ntrace top capture.nex -e firmware.elf --interval 500",
};
