#include "options/options.h"
#include "io/defects.h"
#include "io/document.h"
#include "io/output.h"
#include "options/diagnostics.h"
#include "options/selection.h"
#include "text/quality.h"
#include "text/statistics.h"
#include "io/message_window.h"
#include "io/trace.h"

#include <ntrace/decoder.h>
#include <stdio.h>
#include <stdlib.h>
#include "text/rows.h"
#include <ntrace/clock.h>
#include <ntrace/message.h>
#include <ntrace/values.h>

/* ---- messages that a full FIFO has lost: how often, and for how long there is no trace */

struct losses {
    struct loss_source {
        ntr_clock clock;
        uint64_t last, since; /* times; `since`: of the last message before the loss */
        bool timed, losing;
    } *sources; /* by SRC */
    uint64_t overflows;
    uint64_t ticks, lost; /* of all sources: with and without trace; without trace */
};

/* Returns false when out of memory. */
static bool losses_open(struct losses *losses) {
    *losses = (struct losses){.sources = calloc(CLI_SOURCES, sizeof *losses->sources)};
    return losses->sources != NULL;
}

static void losses_release(struct losses *losses) {
    free(losses->sources);
}

static void pass_time(struct losses *losses, struct loss_source *s, bool ends) {
    const uint64_t time = s->clock.time;

    if (!s->timed) s->last = time;
    s->timed = true;
    if (time < s->last) return; /* the clock was set */
    losses->ticks += time - s->last;
    s->last = time;
    if (!ends) return;
    if (s->losing) losses->lost += time - s->since;
    s->losing = false;
}

static void losses_add(struct losses *losses, const ntr_params *params, const ntr_message *m) {
    if (m->defect || m->tcode == NTR_TCODE_NONE) return;
    struct loss_source *s = &losses->sources[NTR_HAS(m, SRC) ? m->src % CLI_SOURCES : 0];
    const uint64_t before = s->last; /* an encoder sends Error when its FIFO has room again */
    ntr_clock_follow(&s->clock, params, m);
    const bool lost = m->tcode == NTR_TCODE_ERROR && m->etype == NTR_ETYPE_OVERRUN;
    if (s->clock.known && NTR_HAS(m, TSTAMP)) pass_time(losses, s, !lost);
    if (!lost) return;
    losses->overflows++;
    if (s->timed && !s->losing) s->since = before;
    s->losing = s->timed;
    ntr_clock_lose(&s->clock);
}

/* Writes a row if messages were lost. `rate`: ticks in a second; 0: not known. */
static void losses_write(const struct losses *losses, uint64_t rate, struct cli_rows *rows) {
    struct cli_row row = {"lost", "FIFO overflows", true, {CLI_COUNT("overflows", losses->overflows)}};
    size_t cells = 1;

    if (!losses->overflows) return;
    if (losses->ticks) {
        row.cells[cells++] = (struct cli_cell)CLI_COUNT("ticks without trace", losses->lost);
        row.cells[cells++] = (struct cli_cell)CLI_REAL("% of the time without trace",
                                                       100.0 * (double)losses->lost / (double)losses->ticks, 2);
    }
    if (losses->ticks && rate)
        row.cells[cells++] = (struct cli_cell)CLI_REAL(
            "overflows a second of each hart", (double)losses->overflows * (double)rate / (double)losses->ticks, 1);
    cli_row_write(rows, &row);
}

/* ---- the command */

struct stat_options {
    struct cli_stream stream;
    struct cli_images images;
    struct cli_selection selection;
    struct cli_result result;
    int64_t tick_rate;
};

static const struct cli_option stat_table[] = {
    CLI_CHOICE(0, "format", "text|jsonl|json", struct stat_options, result.format, CLI_FORMAT_TEXT,
               "output format: tables (default), JSON lines, or JSON: one document with the rows and their quality"),
    CLI_NUMBER(0, "tick-rate", "HZ", struct stat_options, tick_rate, 1, INT64_MAX, 0,
               "ticks of the timestamps in a second, for overflows a second (default: that of the bundle)"),
    {0},
};

static const struct cli_group groups[] = {
    CLI_OWN("options", stat_table),
    CLI_GROUP("program", cli_image_options, struct stat_options, images),
    CLI_GROUP("output", cli_path_options, struct stat_options, result),
    CLI_GROUP("window", cli_selection_options, struct stat_options, selection),
    CLI_GROUP("stream", cli_stream_options, struct stat_options, stream),
    {0},
};

/* The decoder that counts the execution of the same bytes; `decoder` is NULL without a program. */
struct execution {
    ntr_decoder *decoder;
    ntr_counts counts;
    ntr_status status;
    struct cli_quality quality;
};

static void count_execution(void *user, ntr_bytes piece, bool last) {
    struct execution *e = user;

    if (e->status < 0 || ntr_decoder_feed(e->decoder, piece.data, piece.size, last) != NTR_OK) return;
    do e->status = ntr_decoder_count(e->decoder, &e->counts);
    while (e->status == NTR_OK);
}

static int open_execution(struct execution *e, struct cli_trace *trace, const struct cli_window *window) {
    ntr_decoder_config config;

    ntr_decoder_config_init(&config);
    config.params = trace->params;
    config.program = trace->program;
    config.one_source = window->one_source;
    config.source = window->source;
    e->decoder = cli_trace_decoder(trace, &config);
    if (!e->decoder) return CLI_FAILED;
    e->quality.program = trace->program;
    ntr_decoder_set_count_callback(e->decoder, cli_quality_take, &e->quality);
    trace->tap = count_execution;
    trace->tap_user = e;
    return CLI_OK;
}

static int write_execution(struct execution *e, struct cli_trace *trace, struct cli_rows *rows) {
    if (!e->decoder) return CLI_OK;
    if (e->status < 0) return cli_fail("%s: %s", trace->input.name, ntr_status_text(e->status));
    if (e->quality.failed) return cli_fail("out of memory");
    cli_statistics_write_execution(&e->counts, rows);
    cli_quality_write(&e->quality, &trace->fit, trace->input.name, rows);
    return cli_trace_totals(trace, &e->counts);
}

/* Of a JSON document. */
static void write_quality(struct execution *e, const struct cli_trace *trace, const struct cli_window *window,
                          struct cli_output *out) {
    struct cli_quality *q = &e->quality;

    if (!window->from.unit && !window->to.unit) {
        q->read = true;
        q->messages = trace->reader.number;
        q->bytes = ntr_reader_offset(&trace->reader);
    }
    q->unfollowed = !e->decoder;
    q->unplaced = !e->decoder;
    cli_quality_images(q, trace);
    cli_quality_document(q, out);
}

static int count_messages(struct cli_trace *trace, const struct cli_window *window, struct cli_statistics *statistics,
                          struct losses *losses) {
    struct cli_defects defects = {.file = trace->input.name};
    struct cli_message_window part;
    ntr_message message;
    bool behind = false, any = false;

    if (cli_message_window_open(&part, window, trace) != CLI_OK) return CLI_FAILED;
    while (!behind && cli_trace_message(trace, &message) == NTR_OK) {
        if (!cli_message_window_has(&part, &message, &behind)) continue;
        any = true;
        if (message.defect) cli_defect_add(&defects, &trace->params, &message);
        cli_statistics_add(statistics, &message);
        losses_add(losses, &trace->params, &message);
    }
    cli_message_window_close(&part);
    return cli_trace_part_status(trace, window, any, cli_defect_summary(&defects));
}

/* What file the stream is in, and the parameters that its header gives. */
static void write_container(const struct cli_trace *trace, struct cli_rows *rows) {
    const ntr_container *c = &trace->container;
    char label[200];

    if (!c->name) return;
    snprintf(label, sizeof label, "%s: %s", c->producer, c->facts);
    struct cli_row row = {"container",
                          label,
                          true,
                          {CLI_COUNT("SRC bits", c->params.src_bits), CLI_COUNT("address bits", c->params.addr_bits),
                           CLI_COUNT("timestamp bits", c->params.ts_width)}};
    cli_row_write(rows, &row);
}

/* perf.data: who wrote the trace, and the processes in it. */
static void write_processes(const struct cli_trace *trace, struct cli_rows *rows) {
    const ntr_perf_process *process;
    size_t count = 0;

    if (!trace->perf) return;
    while (ntr_perf_data_process(trace->perf, count)) count++;
    const struct cli_row producer = {
        "perf.data", ntr_perf_data_producer(trace->perf), true, {CLI_COUNT("processes", count)}};
    cli_row_write(rows, &producer);
    for (size_t i = 0; (process = ntr_perf_data_process(trace->perf, i)); i++) {
        const struct cli_row row = {"process",
                                    process->name,
                                    false,
                                    {CLI_COUNT("pid", process->pid), CLI_COUNT("context", process->context),
                                     CLI_COUNT("bytes", process->bytes)}};
        cli_row_write(rows, &row);
    }
}

static const char *source_name(const void *user, uint16_t src) {
    const ntr_bundle_source *source = cli_trace_source(user, src);

    return source ? source->name : NULL;
}

static int stat_trace(struct cli_trace *trace, const struct cli_window *window, struct execution *execution,
                      uint64_t tick_rate, struct cli_rows *rows) {
    struct cli_statistics *statistics = calloc(1, sizeof *statistics);

    struct losses losses;
    int status = losses_open(&losses) && statistics ? count_messages(trace, window, statistics, &losses)
                                                    : cli_fail("out of memory");
    if (statistics && status != CLI_FAILED) {
        write_container(trace, rows);
        write_processes(trace, rows);
        statistics->source_name = source_name;
        statistics->user = trace;
        cli_statistics_write(statistics, trace->params.dialect, trace->input.name, ntr_reader_idle(&trace->reader),
                             rows);
        losses_write(&losses, tick_rate, rows);
        int executed = write_execution(execution, trace, rows);
        if (executed > status) status = executed;
        write_quality(execution, trace, window, rows->out);
    }
    losses_release(&losses);
    free(statistics);
    return status;
}

/* Loads the program if the options or the bundle name one. The execution is counted only for the whole trace: a
 * selection may start between two synchronizing messages, where the state of the execution is not known. */
static int open_program(struct cli_trace *trace, const struct stat_options *o, const struct cli_window *window,
                        struct execution *execution) {
    ntr_image_info first;

    if (window->from.unit || window->to.unit) return CLI_OK;
    trace->only = window->one_source ? window->source + 1 : 0;
    if (cli_trace_program(trace, &o->images, &o->stream, false) != CLI_OK) return CLI_FAILED;
    if (ntr_program_image(trace->program, 0, &first) != NTR_OK) return CLI_OK;
    if (cli_trace_fit(trace) != CLI_OK) return CLI_FAILED;
    return open_execution(execution, trace, window);
}

static int stat_run(const void *options, char **operands) {
    const struct stat_options *o = options;
    struct cli_trace trace;
    struct cli_output out;
    struct cli_window window;
    struct execution execution = {0};

    if (cli_selection_window(&o->selection, &window) != CLI_OK) return CLI_FAILED;
    if (cli_trace_open(&trace, operands[0], &o->stream, &o->images) != CLI_OK) return CLI_FAILED;
    int status = open_program(&trace, o, &window, &execution);
    if (status == CLI_OK) status = cli_trace_check_window(&trace, &window);
    const struct cli_result result = cli_result_of_third(o->result);
    if (status == CLI_OK) status = cli_document_open(&out, &result, "stat");
    if (status == CLI_OK) {
        const uint64_t rate = o->tick_rate   ? (uint64_t)o->tick_rate
                              : trace.bundle ? ntr_bundle_capture(trace.bundle)->ticks_per_second
                                             : 0;
        struct cli_rows rows = {&out, cli_format_of_rows(result.format), NULL};
        status = cli_output_close(&out, stat_trace(&trace, &window, &execution, rate, &rows));
    }
    ntr_decoder_free(execution.decoder);
    cli_quality_release(&execution.quality);
    cli_trace_close(&trace);
    return status;
}

const struct cli_command cli_stat = {
    .operands = "TRACE",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .size = sizeof(struct stat_options),
    .run = stat_run,
    .next = "check",
    .about =
        "Shows the size of the stream, its mix of messages and fields, the reasons of synchronizations and\n"
        "stops, and the share of each source. 'longest gap' is the longest run of bytes without a synchronizing\n"
        "message. 'FIFO overflows' says how often messages were lost, and for which share of the time. With a program, also shows totals of the execution and the trace bits per instruction.",
    .examples = "  ntrace stat trace.nex\n"
                "  ntrace stat --src-bits 2 --format jsonl capture.nex.zst",
};
