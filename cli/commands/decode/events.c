/* The events of a trace are shown, by one thread or several. */
#include "commands/shared/decode_counts.h"
#include "commands/decode/run.h"
#include "commands/shared/decode_threads.h"
#include "io/document.h"
#include "options/diagnostics.h"

#include <inttypes.h>

/* ---- decode and partial answers: the events, or the totals, of a capture or of a part of one. */

static ntr_status ignore_events(void *user, const ntr_event *events, size_t count) {
    (void)user, (void)events, (void)count;
    return NTR_OK;
}

/* ---- showing */

struct showing {
    struct decode *decode;
    struct cli_decode_output *output;
};

static ntr_status show_some(void *user, const ntr_event *events, size_t count) {
    const struct showing *s = user;

    if (!s->decode->no_spans) cli_decode_show_events(s->decode, s->output, events, count);
    return s->decode->out.done ? NTR_END : NTR_OK;
}

int cli_decode_answer(struct decode *d, struct cli_analysis *answer, struct cli_decode_output *output) {
    struct showing showing = {d, output};
    return cli_analysis_run(answer, show_some, &showing);
}

/* Shows the answer, which was opened, as the trace would be shown. */
static int show_answer(struct decode *d, struct cli_analysis *a) {
    const struct decode_options *o = d->options;
    const bool counts = o->output == CLI_SHOW_COUNT;
    struct cli_output *out = &d->out;

    if (cli_document_open(out, &o->result, cli_decode_form(d)) != CLI_OK) return CLI_FAILED;
    a->rated = o->result.format == CLI_FORMAT_JSON;
    d->no_spans = o->output == CLI_SHOW_NONE;
    d->trace = a->trace; /* owned by `a` */
    int status = counts ? cli_analysis_run(a, NULL, NULL) : cli_decode_show(d, a);
    if (counts && status != CLI_FAILED) {
        cli_write_counts(out, cli_format_of_rows(o->result.format), &a->totals);
        const int gaps = cli_trace_totals(&a->trace, &a->totals);
        status = cli_trace_status(&a->trace, a->totals.messages != 0, status == CLI_OK ? gaps : status);
    }
    if (counts) a->gaps = a->totals.gaps;
    if (status != CLI_FAILED) cli_analysis_end_document(a, out);
    return cli_output_close(out, status);
}

/* ---- */

int cli_decode_partial(struct decode *d, const char *path) {
    const struct decode_options *o = d->options;
    const struct cli_analysis_options options = {.stream = o->stream,
                                                 .images = o->images,
                                                 .selection = o->selection,
                                                 .jobs = o->jobs,
                                                 .debug_path = o->debug_path,
                                                 .partial = o->partial,
                                                 .shard = o->shard,
                                                 .index = o->index};
    struct cli_analysis a;

    if (o->strict || o->mid_stream || o->follow)
        return cli_fail("partial answers cannot be combined with --strict, --mid-stream and --follow");
    int status = cli_analysis_open(&a, path, &options);
    a.take_needs = NTR_TAKE_WHOLE;
    if (o->output == CLI_SHOW_COUNT) a.data.totals = &a.totals;
    if (status == CLI_OK && o->partial)
        status = cli_analysis_run(&a, a.data.totals ? NULL : ignore_events, NULL);
    else if (status == CLI_OK)
        status = show_answer(d, &a);
    ntr_event_sorter_free(d->sorter);
    cli_analysis_close(&a);
    return status;
}

/* Creates the event sorter if it is needed. */
static int open_sorter(struct decode *d) {
    if (!cli_decode_sorts(d)) return CLI_OK;
    ntr_event_sorter_new(0, NULL, &d->sorter);
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

static void take_all(struct decode *d, struct cli_decode_output *output, const ntr_event *events, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (events[i].kind != NTR_EVENT_SPAN)
            cli_decode_inspect(d, &events[i]);
        else if (d->rated)
            cli_quality_take(&d->quality, &events[i], ntr_event_times(&events[i]));
    }
    if (!d->no_spans) cli_decode_show_events(d, output, events, count);
}

/* Prints the events that are within the selection. Returns false if all further events are behind it. */
static bool take_part(struct decode *d, struct cli_decode_output *output, const ntr_event *events, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const ntr_event *e = &events[i];
        enum cli_place place = cli_window_event(&d->window, e);

        if (place == CLI_INSIDE) take_all(d, output, e, 1);
        d->any |= place == CLI_INSIDE;
        /* Events of several sources are not in order of time: events within the selection may follow. */
        if (place == CLI_BEHIND && !d->sorter) return false;
    }
    return true;
}

static int decode_serial(struct decode *d, struct cli_decode_output *output) {
    ntr_event events[DECODE_EVENTS];
    ntr_status status = NTR_OK;
    bool wanted = true;

    ntr_decoder_set_repeats(d->decoder, d->no_spans);
    while (wanted && !d->out.done && status != NTR_END) {
        size_t count = 0;
        status = ntr_decoder_read(d->decoder, events, DECODE_EVENTS, &count);
        d->any |= count && !d->part;
        if (d->part)
            wanted = take_part(d, output, events, count);
        else
            take_all(d, output, events, count);
        if (status < 0) return cli_decode_error(d, status, ntr_decoder_error(d->decoder));
        if (status == NTR_NEED_MORE && !cli_decode_feed(d)) return CLI_FAILED;
    }
    return CLI_OK;
}

/* ---- decoding with several threads */

struct decode_delivery {
    struct decode *decode;
    struct cli_decode_output *output;
};

static void deliver_events(void *user, const ntr_event *events, size_t count) {
    struct decode_delivery *s = user;

    s->decode->any = true;
    take_all(s->decode, s->output, events, count); /* a part of the trace is decoded by one thread */
}

static int finish_parallel(struct decode *d, const struct cli_threads *threads, ntr_status status) {
    if (status == NTR_NEED_MORE) return CLI_FAILED;
    if (status < 0) return cli_decode_error(d, status, threads->error);
    if (d->options->jobs > 1) cli_threads_report(threads);
    return CLI_OK;
}

static int decode_parallel(struct decode *d, const struct cli_decode_settings *settings,
                           struct cli_decode_output *output, uint64_t *missing) {
    struct decode_delivery delivery = {d, output};
    enum cli_span_place spans = cli_decode_output_spans(settings->show, settings->format);
    struct cli_decode_settings parts = *settings;
    struct cli_threads threads = {
        .settings = &parts,
        .all_spans = d->sorter != NULL,
        .spans = d->sorter && spans == CLI_SPANS_INDEPENDENT ? CLI_SPANS_IN_ORDER : spans,
        .trace = &d->trace,
        .out = &d->out,
        .events = deliver_events,
        .user = &delivery,
    };
    parts.source = cli_decode_output_source(output);
    ntr_status status = cli_threads_read(&threads, &d->config, d->jobs);

    *missing = threads.missing;
    return finish_parallel(d, &threads, status);
}

/* ---- */

int cli_decode_show(struct decode *d, struct cli_analysis *answer) {
    struct cli_decode_settings settings = {
        .show = (enum cli_show)d->options->output,
        .format = cli_format_of_rows(d->options->result.format),
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
