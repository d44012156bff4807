#include "options/command.h"
#include "text/decode_output.h"
#include "commands/decode_threads.h"
#include "io/defects.h"
#include "text/event_text.h"
#include "io/images.h"
#include "options/diagnostics.h"
#include "io/seek.h"
#include "options/selection.h"
#include "io/trace.h"

#include <inttypes.h>
#include <ntrace/decoder.h>
#include <ntrace/event_sorter.h>

#define EVENTS_AT_ONCE 256 /* they stay in the nearest cache */

struct decode_options {
    struct cli_stream stream;
    struct cli_images images;
    struct cli_selection selection;
    struct cli_result result;
    int output, strict, mid_stream;
    int64_t channel, jobs;
};

#define S struct decode_options
static const struct cli_option decode_table[] = {
    CLI_CHOICE(
        0, "output", CLI_SHOW_NAMES, S, output, CLI_SHOW_SPAN,
        "what to show: program counters, instructions, branches, spans of straight code, calls, totals only, the "
        "text of an instrumentation channel, every event (as JSON lines), or nothing"),
    CLI_NUMBER(0, "channel", "N", S, channel, 0, 63, 0, "with --output itc: the channel, 0 to 63 (default 0)"),
    CLI_NUMBER('j', "jobs", "N", S, jobs, 1, 256, 0,
               "how many threads decode (default: for large files, as many as there are processors)"),
    CLI_FLAG(0, "strict", S, strict, "stop at the first defect"),
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

/* Everything one run works with. */
struct decode {
    const struct decode_options *options;
    struct cli_trace trace;
    struct cli_window window;
    struct cli_output out;
    struct cli_defects defects;
    ntr_decoder_config config;
    ntr_decoder *decoder;
    unsigned jobs;
    ntr_event_sorter *order; /* NULL: events come out as the stream has them */
    uint64_t reserved; /* messages */
    bool any;          /* something was decoded */
    bool part;         /* of the trace only */
};

/* ---- opening */

static bool needs_program(const struct decode_options *o) {
    return o->output != CLI_SHOW_EVENT && o->output != CLI_SHOW_ITC;
}

static int open_decoder(struct decode *d) {
    d->config = (ntr_decoder_config){
        .size = sizeof d->config,
        .params = d->trace.params,
        .program = d->trace.program,
        .one_source = d->window.one_source,
        .source = d->window.source,
        .strict = d->options->strict != 0,
        .mid_stream = d->options->mid_stream != 0,
    };

    d->part = d->window.from.unit || d->window.to.unit;
    d->jobs = d->part ? 1 : cli_threads_number(&d->trace, d->options->jobs); /* parts want one thread */
    d->decoder = cli_trace_decoder(&d->trace, &d->config);
    if (!d->decoder) return CLI_FAILED;
    /* Defects before the window count, offsets are others, or there is no window. */
    bool from_the_start = d->config.strict || d->config.mid_stream || d->jobs > 1;
    return from_the_start ? CLI_OK : cli_seek(&d->trace, &d->window, d->decoder);
}

/* ---- decoding */

/* Give the decoder the next span of the input. */
static bool feed(struct decode *d) {
    ntr_bytes span;
    bool last;

    return cli_trace_feed(&d->trace, &span, &last) &&
           ntr_decoder_feed(d->decoder, span.data, span.size, last) == NTR_OK;
}

static void tell_gap(struct decode *d, const ntr_event *e) {
    const char *field = ntr_field_name((ntr_field)e->gap.field), *expected = cli_defect_expected((ntr_status)e->reason);

    if (!cli_defect_count(&d->defects)) return;
    cli_note("%s: byte 0x%" PRIx64 ", message #%" PRIu64 " %s%s%s: %s%s%s%s", d->trace.input.name, e->offset,
             e->message, ntr_tcode_name(d->trace.params.dialect, e->gap.tcode), field ? ", field " : "",
             field ? field : "", expected ? "expected " : "", expected ? expected : "", expected ? ", found: " : "",
             cli_gap_words(e));
}

/* Sources are told in the order of time, where they have one. */
static int open_request(struct decode *d) {
    bool many = cli_trace_many_sources(&d->trace) && !d->window.one_source;

    if (!many || d->trace.params.timestamps == NTR_TIMESTAMPS_OFF) return CLI_OK;
    d->order = ntr_event_sorter_new(0, NULL);
    return d->order ? CLI_OK : cli_fail("%s: out of memory", d->trace.input.name);
}

static void show_ordered(struct decode *d, struct cli_decode_output *output, bool all) {
    ntr_event event;

    while (d->order && ntr_event_sorter_take(d->order, all, &event)) cli_decode_output_event(output, &event);
}

static void show_event(struct decode *d, struct cli_decode_output *output, const ntr_event *event) {
    if (d->order) {
        ntr_event_sorter_put(d->order, event);
        show_ordered(d, output, false);
    } else {
        cli_decode_output_event(output, event);
    }
}

/* Hand one event on. Returns whether more is wanted. */
static inline bool take_event(struct decode *d, struct cli_decode_output *output, const ntr_event *event) {
    const uint64_t *time = event->flags & NTR_EVENT_TIME ? &event->time : NULL;
    enum cli_place place = d->part ? cli_window_place(&d->window, event->message, event->offset, time) : CLI_INSIDE;

    if (place == CLI_INSIDE) {
        if (event->kind == NTR_EVENT_GAP) tell_gap(d, event);
        if (event->kind == NTR_EVENT_VENDOR) d->reserved += ntr_tcode_is_reserved(d->trace.params.dialect, event->code);
        show_event(d, output, event);
    }
    /* Several sources may not be in order: only one source can be behind for good. */
    return place != CLI_BEHIND || d->order;
}

static int tell_status(struct decode *d, ntr_status status) {
    if (status == NTR_E_MEMORY) return cli_fail("%s: out of memory", d->trace.input.name);
    cli_note("%s: stopped at the first defect: %s", d->trace.input.name, ntr_status_text(status));
    return CLI_DEFECTS;
}

static int decode_events(struct decode *d, struct cli_decode_output *output) {
    ntr_event events[EVENTS_AT_ONCE];
    ntr_status status = NTR_OK;
    bool wanted = true;

    while (wanted && !d->out.done && status != NTR_END) {
        size_t count = 0;
        status = ntr_decoder_read(d->decoder, events, EVENTS_AT_ONCE, &count);
        if (count) d->any = true;
        for (size_t i = 0; i < count && wanted; i++) wanted = take_event(d, output, &events[i]);
        if (status < 0) return tell_status(d, status);
        if (status == NTR_NEED_MORE && !feed(d)) return CLI_FAILED;
    }
    return CLI_OK;
}

/* ---- with many threads */

struct sharing {
    struct decode *decode;
    struct cli_decode_output *output;
};

static void take_shared(void *user, const ntr_event *event) {
    struct sharing *s = user;

    s->decode->any = true;
    take_event(s->decode, s->output, event);
}

static int end_sharing(struct decode *d, const struct cli_threads *threads, ntr_status status) {
    if (status == NTR_NEED_MORE) return CLI_FAILED;
    if (status < 0) return tell_status(d, status);
    if (d->options->jobs > 1) cli_threads_report(threads);
    return CLI_OK;
}

static int share_events(struct decode *d, const struct cli_decode_settings *settings, struct cli_decode_output *output,
                        uint64_t *missing) {
    struct sharing sharing = {d, output};
    enum cli_span_place spans = cli_decode_output_spans(settings->show);
    struct cli_threads threads = {
        .settings = settings,
        .spans = d->order && spans == CLI_SPANS_INDEPENDENT ? CLI_SPANS_IN_ORDER : spans,
        .trace = &d->trace,
        .out = &d->out,
        .event = take_shared,
        .user = &sharing,
    };
    ntr_status status = cli_threads_read(&threads, &d->config, d->jobs);

    *missing = threads.missing;
    return end_sharing(d, &threads, status);
}

/* ---- */

static int show_events(struct decode *d) {
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
    int status = open_request(d);
    if (status == CLI_OK)
        status = d->jobs > 1 ? share_events(d, &settings, output, &missing) : decode_events(d, output);
    show_ordered(d, output, true);
    missing += cli_decode_output_missing(output);
    if (missing) cli_note("%s: %" PRIu64 " spans have no code in any image", d->trace.input.name, missing);
    cli_decode_output_close(output);
    return status == CLI_OK && missing ? CLI_DEFECTS : status;
}

/* ---- totals */

static void write_count(struct cli_output *out, enum cli_format format, bool first, const char *name, uint64_t value) {
    static const char *const forms[] = {"%s%s %" PRIu64 "\n", "%s\"%s\":%" PRIu64, "%s%s,%" PRIu64 "\n"};

    cli_output_print(out, forms[format], format != CLI_FORMAT_JSONL ? "" : first ? "{" : ",", name, value);
}

static void write_counts(struct cli_output *out, enum cli_format format, const ntr_counts *c) {
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"instructions", c->instructions},
        {"halfwords", c->halfwords},
        {"spans", c->spans},
        {"branches", c->branches},
        {"taken", c->taken},
        {"calls", c->calls},
        {"returns", c->returns},
        {"exceptions", c->exceptions},
        {"interrupts", c->interrupts},
        {"gaps", c->gaps},
        {"messages", c->messages},
        {"bytes", c->bytes},
    };

    if (format == CLI_FORMAT_CSV) cli_output_text(out, "name,value\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        write_count(out, format, i == 0, rows[i].name, rows[i].value);
    if (format == CLI_FORMAT_JSONL) cli_output_text(out, "}\n");
}

static ntr_status count_alone(struct decode *d, ntr_counts *counts) {
    ntr_status status = NTR_NEED_MORE;

    while (status == NTR_NEED_MORE && feed(d)) status = ntr_decoder_count(d->decoder, counts);
    return status;
}

static ntr_status count_shared(struct decode *d, ntr_counts *counts) {
    struct cli_threads threads = {.trace = &d->trace, .out = &d->out};
    ntr_status status = cli_threads_count(&threads, &d->config, d->jobs, counts);

    if (d->options->jobs > 1) cli_threads_report(&threads);
    return status;
}

static int show_counts(struct decode *d) {
    ntr_counts counts = {0};

    if (d->part) return cli_fail("--output count counts all: no --from, no --to");
    ntr_status status = d->jobs > 1 ? count_shared(d, &counts) : count_alone(d, &counts);
    if (status == NTR_NEED_MORE) return CLI_FAILED;
    d->any = counts.messages != 0;
    write_counts(&d->out, (enum cli_format)d->options->result.format, &counts);
    if (status < 0) return tell_status(d, status);
    return cli_trace_totals(&d->trace, &counts);
}

/* ---- */

static int decode_trace(struct decode *d) {
    const struct decode_options *o = d->options;

    if (cli_trace_program(&d->trace, &o->images, &o->stream, needs_program(o)) != CLI_OK) return CLI_FAILED;
    if (open_decoder(d) != CLI_OK) return CLI_FAILED;
    if (cli_output_open(&d->out, d->options->result.path) != CLI_OK) return CLI_FAILED;
    int status = d->options->output == CLI_SHOW_COUNT ? show_counts(d) : show_events(d);
    cli_trace_reserved(&d->trace, d->reserved);
    d->defects.hint = cli_trace_hint(&d->trace);
    int defects = cli_defect_summary(&d->defects);
    bool any = d->any || d->window.from.unit; /* all may lie before the window */
    return cli_output_close(&d->out, cli_trace_status(&d->trace, any, status == CLI_OK ? defects : status));
}

static int decode_run(const void *options, char **operands) {
    struct decode d = {.options = options, .defects.file = operands[0]};

    if (cli_selection_window(&d.options->selection, &d.window) != CLI_OK) return CLI_FAILED;
    if (cli_trace_open(&d.trace, operands[0], &d.options->stream) != CLI_OK) return CLI_FAILED;
    int status = decode_trace(&d);
    ntr_decoder_free(d.decoder);
    ntr_event_sorter_free(d.order);
    cli_trace_close(&d.trace);
    return status;
}

const struct cli_command cli_decode = {
    .operands = "TRACE",
    .least = 1,
    .most = 1,
    .groups = groups,
    .size = sizeof(struct decode_options),
    .run = decode_run,
    .about = "Reconstructs what was executed, from the trace and the program's image.\n"
             "\n"
             "What the trace does not tell (lost or damaged messages, code without image) is a gap: it is told on\n"
             "standard error with its place and reason, decoding goes on at the next place that is sure, and the exit\n"
             "status is 1. docs/output.md describes every form of the output.",
    .examples = "  ntrace decode trace.nex -e program.elf --output insn\n"
                "  ntrace decode - -e program.elf --output pc <trace.nex.zst\n"
                "  ntrace decode capture.nex -e vmlinux -e app:ctx=738 --src-bits 2 --src 1 --output call\n"
                "  ntrace decode trace.nex -e libfoo.so@0x4000801000 -e app --output count",
};
