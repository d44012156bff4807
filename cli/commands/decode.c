#include "commands/decode_run.h"
#include "options/command.h"
#include "commands/decode_counts.h"
#include "commands/decode_threads.h"
#include "io/debug_files.h"
#include "io/follow.h"
#include "text/event_text.h"
#include "options/diagnostics.h"
#include "io/seek.h"

#include <inttypes.h>

#define DECODE_EVENTS 256 /* small enough for the L1 data cache */

#define S struct decode_options
static const struct cli_option decode_table[] = {
    CLI_CHOICE(
        0, "output", CLI_SHOW_NAMES, S, output, CLI_SHOW_SPAN,
        "what to print: pc (program counters), insn (instructions), branch, span (default), call, count (totals), itc "
        "(text of an instrumentation channel), event (all events, as JSON lines), none, or data (loads and stores, "
        "watchpoints, data acquisition)"),
    CLI_NUMBER(0, "channel", "N", S, channel, 0, 63, 0, "with --output itc: channel number, 0 to 63 (default 0)"),
    CLI_NUMBER('j', "jobs", "N", S, jobs, 1, 256, 0, CLI_JOBS_HELP),
    CLI_DEBUG_PATH(S, debug_path),
    CLI_FLAG('f', "follow", S, follow,
             "read on as the trace grows, until interrupted: a file, a pipe, or a TCP stream (tcp:HOST:PORT); sources are "
             "not ordered by time"),
    CLI_FLAG(0, "strict", S, strict, "stop at the first damaged message or gap"),
    CLI_STRING(0, "partial", "FILE", S, partial,
               "write what the output needs as a partial answer to FILE, for 'ntrace combine', and nothing else"),
    CLI_STRING(0, "shard", "I/N", S, shard, "with --partial: decode only the I-th of N parts of the trace"),
    CLI_FLAG(0, "mid-stream", S, mid_stream, "the stream starts in the middle of a message (a wrapped buffer)"),
    {0},
};
#undef S

static const struct cli_group groups[] = {
    CLI_OWN("options", decode_table),
    CLI_GROUP("program", cli_image_options, struct decode_options, images),
    CLI_GROUP("output", cli_result_options, struct decode_options, result),
    CLI_GROUP("part of the trace", cli_selection_options, struct decode_options, selection),
    CLI_GROUP("the stream", cli_stream_options, struct decode_options, stream),
    {0},
};

/* ---- opening */

static bool needs_program(const struct decode_options *o) {
    return o->output != CLI_SHOW_EVENT && o->output != CLI_SHOW_ITC && o->output != CLI_SHOW_DATA;
}

/* Returns whether the output has symbols. */
static bool shows_names(const struct decode_options *o) {
    return o->output == CLI_SHOW_INSN || o->output == CLI_SHOW_BRANCH || o->output == CLI_SHOW_SPAN ||
           o->output == CLI_SHOW_CALL || o->output == CLI_SHOW_DATA;
}

/* Returns whether events are sorted by time: the trace has several sources and timestamps. */
static bool needs_sorter(const struct decode *d) {
    bool many = cli_trace_many_sources(&d->trace) && !d->window.one_source;

    return many && !d->options->follow && d->trace.params.timestamps != NTR_TIMESTAMPS_OFF && d->options->output != CLI_SHOW_COUNT;
}

static enum cli_gain gain_of(const struct decode *d) {
    const enum cli_show show = (enum cli_show)d->options->output;
    const enum cli_span_place spans = cli_decode_output_spans(show);

    if (spans == CLI_SPANS_IN_ORDER || needs_sorter(d)) return CLI_GAIN_NONE;
    return spans == CLI_SPANS_INDEPENDENT ? CLI_GAIN_SOME : CLI_GAIN_ALL;
}

static int open_decoder(struct decode *d) {
    ntr_decoder_config_init(&d->config);
    d->config.params = d->trace.params;
    d->config.program = d->trace.program;
    d->config.one_source = d->window.one_source;
    d->config.source = d->window.source;
    d->config.strict = d->options->strict != 0;
    d->config.mid_stream = d->options->mid_stream != 0;
    d->part = cli_window_is_part(&d->window);
    d->no_spans = d->options->output == CLI_SHOW_NONE && !d->part;
    const enum cli_gain gain = gain_of(d);
    d->jobs = d->part || d->options->follow ? 1 : cli_threads_number(&d->trace, d->options->jobs, gain); /* a selection is decoded serially */
    d->decoder = cli_trace_decoder(&d->trace, &d->config);
    if (!d->decoder) return CLI_FAILED;
    /* Do not skip to the selection: --strict also stops at defects before it; with --mid-stream the offsets of the
     * index do not apply; several threads read the whole trace; messages are counted with their times. */
    bool from_the_start =
        d->config.strict || d->config.mid_stream || d->jobs > 1 || d->options->output == CLI_SHOW_COUNT;
    return from_the_start ? CLI_OK : cli_seek(&d->trace, &d->window, d->decoder);
}

/* ---- decoding */

/* Feeds the next part of the input to the decoder. Returns false at the end of the input or after an error. */
static bool feed(struct decode *d) {
    ntr_bytes span;
    bool last;

    return cli_trace_feed(&d->trace, &span, &last) &&
           ntr_decoder_feed(d->decoder, span.data, span.size, last) == NTR_OK;
}

static void report_gap(struct decode *d, const ntr_event *e) {
    const char *field = ntr_field_name((ntr_field)e->gap.field), *expected = cli_defect_expected((ntr_status)e->reason);

    if (!cli_defect_count(&d->defects)) return;
    cli_note("%s: byte 0x%" PRIx64 ", message #%" PRIu64 " %s%s%s: %s%s%s%s", d->trace.input.name, e->offset,
             e->message, ntr_tcode_name(d->trace.params.dialect, e->gap.tcode), field ? ", field " : "",
             field ? field : "", expected ? "expected " : "", expected ? expected : "", expected ? ", found: " : "",
             cli_gap_text(e));
}

/* Creates the event sorter if it is needed. */
static int open_sorter(struct decode *d) {
    if (!needs_sorter(d)) return CLI_OK;
    d->sorter = ntr_event_sorter_new(0, NULL);
    return d->sorter ? CLI_OK : cli_fail("%s: out of memory", d->trace.input.name);
}

static void show_sorted(struct decode *d, struct cli_decode_output *output, bool all) {
    ntr_event event;

    while (d->sorter && ntr_event_sorter_take(d->sorter, all, &event)) cli_decode_output_event(output, &event);
}

void cli_decode_show_events(struct decode *d, struct cli_decode_output *output, const ntr_event *events, size_t count) {
    if (!d->sorter) {
        cli_decode_output_events(output, events, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        ntr_event_sorter_put(d->sorter, &events[i]);
        show_sorted(d, output, false);
    }
}

static void inspect(struct decode *d, const ntr_event *event) {
    if (event->kind == NTR_EVENT_GAP) report_gap(d, event);
    if (event->kind == NTR_EVENT_VENDOR) d->reserved += ntr_tcode_is_reserved(d->trace.params.dialect, event->code);
}

static void take_all(struct decode *d, struct cli_decode_output *output, const ntr_event *events, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (events[i].kind != NTR_EVENT_SPAN) inspect(d, &events[i]);
    if (!d->no_spans) cli_decode_show_events(d, output, events, count);
}

/* Prints the events that are within the selection. Returns false if all further events are behind it. */
static bool take_part(struct decode *d, struct cli_decode_output *output, const ntr_event *events, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const ntr_event *e = &events[i];
        enum cli_place place = cli_window_event(&d->window, e);

        if (place == CLI_INSIDE) take_all(d, output, e, 1);
        /* Events of several sources are not in order of time: events within the selection may follow. */
        if (place == CLI_BEHIND && !d->sorter) return false;
    }
    return true;
}

static int report_error(const struct decode *d, ntr_status status, const char *error) {
    if (status == NTR_E_MEMORY) return cli_fail("%s: out of memory", d->trace.input.name);
    cli_note("%s: stopped at the first defect: %s", d->trace.input.name, *error ? error : ntr_status_text(status));
    return CLI_DEFECTS;
}

static int decode_serial(struct decode *d, struct cli_decode_output *output) {
    ntr_event events[DECODE_EVENTS];
    ntr_status status = NTR_OK;
    bool wanted = true;

    while (wanted && !d->out.done && status != NTR_END) {
        size_t count = 0;
        status = ntr_decoder_read(d->decoder, events, DECODE_EVENTS, &count);
        if (count) d->any = true;
        if (d->part)
            wanted = take_part(d, output, events, count);
        else
            take_all(d, output, events, count);
        if (status < 0) return report_error(d, status, ntr_decoder_error(d->decoder));
        if (status == NTR_NEED_MORE && !feed(d)) return CLI_FAILED;
    }
    return CLI_OK;
}

/* ---- decoding with several threads */

struct decode_delivery {
    struct decode *decode;
    struct cli_decode_output *output;
};

static void deliver_event(void *user, const ntr_event *event) {
    struct decode_delivery *s = user;

    s->decode->any = true;
    take_all(s->decode, s->output, event, 1); /* a part of the trace is decoded by one thread */
}

static int finish_parallel(struct decode *d, const struct cli_threads *threads, ntr_status status) {
    if (status == NTR_NEED_MORE) return CLI_FAILED;
    if (status < 0) return report_error(d, status, threads->error);
    if (d->options->jobs > 1) cli_threads_report(threads);
    return CLI_OK;
}

static int decode_parallel(struct decode *d, const struct cli_decode_settings *settings,
                           struct cli_decode_output *output, uint64_t *missing) {
    struct decode_delivery delivery = {d, output};
    enum cli_span_place spans = cli_decode_output_spans(settings->show);
    struct cli_threads threads = {
        .settings = settings,
        .spans = d->sorter && spans == CLI_SPANS_INDEPENDENT ? CLI_SPANS_IN_ORDER : spans,
        .trace = &d->trace,
        .out = &d->out,
        .event = deliver_event,
        .user = &delivery,
    };
    ntr_status status = cli_threads_read(&threads, &d->config, d->jobs);

    *missing = threads.missing;
    return finish_parallel(d, &threads, status);
}

/* ---- */

int cli_decode_show(struct decode *d, struct cli_analysis *answer) {
    struct cli_decode_settings settings = {
        .show = (enum cli_show)d->options->output,
        .format = (enum cli_format)d->options->result.format,
        .program = d->trace.program,
        .by_source = cli_trace_many_sources(&d->trace) && !d->window.one_source,
        .channel = (unsigned)d->options->channel,
    };
    struct cli_decode_output *output = cli_decode_output_open(&settings, &d->out);

    uint64_t missing = 0;

    if (!output) return CLI_FAILED;
    int status = open_sorter(d);
    if (status == CLI_OK && answer)
        status = cli_decode_answer(d, answer, output);
    else if (status == CLI_OK)
        status = d->jobs > 1 ? decode_parallel(d, &settings, output, &missing) : decode_serial(d, output);
    show_sorted(d, output, true);
    missing += cli_decode_output_missing(output);
    if (missing) cli_note("%s: %" PRIu64 " spans have no code in any image", d->trace.input.name, missing);
    cli_decode_output_close(output);
    return status == CLI_OK && missing ? CLI_DEFECTS : status;
}

/* ---- totals */

static ntr_status count_serial(struct decode *d, ntr_counts *counts) {
    ntr_status status = NTR_NEED_MORE;

    while (status == NTR_NEED_MORE && feed(d)) status = ntr_decoder_count(d->decoder, counts);
    return status;
}

static ntr_status count_parallel(struct decode *d, struct cli_threads *threads, ntr_counts *counts) {
    ntr_status status = cli_threads_count(threads, &d->config, d->jobs, counts);

    if (d->options->jobs > 1) cli_threads_report(threads);
    return status;
}

/* A span of the stream is read twice: messages are counted, then the events of the part. */
static bool feed_part(struct decode *d, struct cli_part_counts *part) {
    ntr_bytes span;
    bool last;

    return cli_trace_feed(&d->trace, &span, &last) && cli_part_counts_bytes(part, span, last) &&
           ntr_decoder_feed(d->decoder, span.data, span.size, last) == NTR_OK;
}

static ntr_status count_part(struct decode *d, struct cli_part_counts *part) {
    ntr_event events[DECODE_EVENTS];
    ntr_status status = NTR_OK;

    while (status >= 0 && status != NTR_END && !part->behind) {
        size_t count = 0;
        status = ntr_decoder_read(d->decoder, events, DECODE_EVENTS, &count);
        for (size_t i = 0; i < count; i++)
            if (cli_part_counts_event(part, &events[i])) inspect(d, &events[i]);
        if (status == NTR_NEED_MORE && !feed_part(d, part)) return NTR_NEED_MORE;
    }
    return status;
}

static int show_part_counts(struct decode *d) {
    struct cli_part_counts part;

    if (cli_part_counts_open(&part, &d->window, &d->trace, d->config.mid_stream) != CLI_OK) return CLI_FAILED;
    ntr_status status = count_part(d, &part);
    cli_part_counts_close(&part);
    if (status == NTR_NEED_MORE) return CLI_FAILED;
    d->any = part.counts.messages != 0;
    cli_write_counts(&d->out, (enum cli_format)d->options->result.format, &part.counts);
    return status < 0 ? report_error(d, status, ntr_decoder_error(d->decoder)) : CLI_OK;
}

static int show_counts(struct decode *d) {
    ntr_counts counts = {0};
    struct cli_threads threads = {.trace = &d->trace, .out = &d->out};

    if (d->part) return show_part_counts(d);
    ntr_status status = d->jobs > 1 ? count_parallel(d, &threads, &counts) : count_serial(d, &counts);
    if (status == NTR_NEED_MORE) return CLI_FAILED;
    d->any = counts.messages != 0;
    cli_write_counts(&d->out, (enum cli_format)d->options->result.format, &counts);
    if (status < 0) return report_error(d, status, d->jobs > 1 ? threads.error : ntr_decoder_error(d->decoder));
    return cli_trace_totals(&d->trace, &counts);
}

/* ---- */

static int decode_trace(struct decode *d) {
    const struct decode_options *o = d->options;

    if (cli_trace_program(&d->trace, &o->images, &o->stream, needs_program(o)) != CLI_OK) return CLI_FAILED;
    if (shows_names(o) && cli_debug_files_load(d->trace.program, o->debug_path) != CLI_OK) return CLI_FAILED;
    if (open_decoder(d) != CLI_OK) return CLI_FAILED;
    if (cli_output_open(&d->out, d->options->result.path) != CLI_OK) return CLI_FAILED;
    int status = d->options->output == CLI_SHOW_COUNT ? show_counts(d) : cli_decode_show(d, NULL);
    cli_trace_reserved(&d->trace, d->reserved);
    d->defects.hint = cli_trace_hint(&d->trace);
    int defects = cli_defect_summary(&d->defects);
    bool any = d->any || d->window.from.unit; /* the selection may start behind the end */
    return cli_output_close(&d->out, cli_trace_status(&d->trace, any, status == CLI_OK ? defects : status));
}

/* Shows what was decoded so far while the trace does not grow. */
static bool show_now(void *user) {
    struct decode *d = user;
    if (d->out.used) cli_output_flush(&d->out);
    return !d->out.done;
}

static int decode_run(const void *options, char **operands) {
    struct decode d = {.options = options, .defects.file = operands[0]};

    if (d.options->follow) cli_follow_begin(show_now, &d);

    if (cli_selection_window(&d.options->selection, &d.window) != CLI_OK) return CLI_FAILED;
    if (d.options->partial || cli_partials_seen(operands[0])) return cli_decode_partial(&d, operands[0]);
    if (d.options->shard) return cli_fail("--shard expects --partial FILE: a part is no answer");
    if (cli_trace_open(&d.trace, operands[0], &d.options->stream, &d.options->images) != CLI_OK) return CLI_FAILED;
    int status = decode_trace(&d);
    ntr_decoder_free(d.decoder);
    ntr_event_sorter_free(d.sorter);
    cli_trace_close(&d.trace);
    return status;
}

const struct cli_command cli_decode = {
    .operands = "TRACE",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .size = sizeof(struct decode_options),
    .run = decode_run,
    .about = "Reconstructs the execution from the trace and the image of the program.\n"
             "\n"
             "Where the trace does not determine the execution (lost or damaged messages, code without image) there\n"
             "is a gap. Each gap is reported on standard error with its place and reason. Decoding resumes at the\n"
             "next synchronizing message, and the exit status is 1. docs/output.md describes the forms of the\n"
             "output.",
    .examples = "  ntrace decode trace.nex -e program.elf --output insn\n"
                "  ntrace decode - -e program.elf --output pc <trace.nex.zst\n"
                "  ntrace decode capture.nex -e vmlinux -e app:ctx=738 --src-bits 2 --src 1 --output call\n"
                "  ntrace decode trace.nex -e libfoo.so@0x4000801000 -e app --output count",
};
