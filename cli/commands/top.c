#include "commands/top_table.h"
#include "io/follow.h"
#include "io/output.h"
#include "io/progress.h"
#include "io/trace.h"
#include "options/command.h"
#include "options/diagnostics.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

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
    CLI_NUMBER('n', "rows", "N", S, rows, 1, SHOWN_MAX, 20, "functions of each table (default 20)"),
    CLI_FLAG('f', "follow", S, follow, "wait for a file to grow even if it has not grown for a while"),
    CLI_NUMBER(0, "count", "N", S, count, 0, INT32_MAX, 0, "end after N tables (default 0: when interrupted)"),
    {0},
};
#undef S

static const struct cli_group groups[] = {
    CLI_OWN("options", own_options),
    CLI_GROUP("program", cli_image_options, struct top_options, images),
    CLI_GROUP("the stream", cli_stream_options, struct top_options, stream),
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
    ntr_bytes span;
    bool last;

    if (!cli_trace_feed(&t->trace, &span, &last)) return false;
    t->bytes += span.size;
    return ntr_decoder_feed(t->decoder, span.data, span.size, last) == NTR_OK;
}

static int watch(struct top *t) {
    ntr_counts counts = {0};
    ntr_status status = NTR_NEED_MORE;

    t->began = now_ns();
    while (status != NTR_END && !is_complete(t)) {
        status = ntr_decoder_count(t->decoder, &counts);
        if (status < 0) return cli_fail("%s: %s", t->trace.input.name, ntr_decoder_error(t->decoder));
        if (status != NTR_NEED_MORE) continue;
        show(t, false);
        if (!feed(t)) return CLI_FAILED;
    }
    if (status == NTR_END) show(t, true);
    return t->table.all_gaps ? CLI_DEFECTS : CLI_OK;
}

static int open_decoder(struct top *t) {
    ntr_decoder_config config;

    if (cli_trace_program(&t->trace, &t->options->images, &t->options->stream, true) != CLI_OK) return CLI_FAILED;
    ntr_decoder_config_init(&config);
    config.params = t->trace.params;
    config.program = t->trace.program;
    t->decoder = cli_trace_decoder(&t->trace, &config);
    if (!t->decoder) return CLI_FAILED;
    t->table.program = t->trace.program;
    ntr_decoder_set_count_callback(t->decoder, top_table_take, &t->table);
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
