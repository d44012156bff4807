/* decode and partial answers: the events, or the totals, of a capture or of a part of one. */
#include "commands/decode_counts.h"
#include "commands/decode_run.h"
#include "options/diagnostics.h"

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

    if (cli_output_open(out, o->result.path) != CLI_OK) return CLI_FAILED;
    d->no_spans = o->output == CLI_SHOW_NONE;
    d->trace = a->trace; /* owned by `a` */
    int status = counts ? cli_analysis_run(a, NULL, NULL) : cli_decode_show(d, a);
    if (counts && status != CLI_FAILED) {
        cli_write_counts(out, (enum cli_format)o->result.format, &a->totals);
        const int gaps = cli_trace_totals(&a->trace, &a->totals);
        status = cli_trace_status(&a->trace, a->totals.messages != 0, status == CLI_OK ? gaps : status);
    }
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
    if (o->output == CLI_SHOW_COUNT) a.data.totals = &a.totals;
    if (status == CLI_OK && o->partial)
        status = cli_analysis_run(&a, a.data.totals ? NULL : ignore_events, NULL);
    else if (status == CLI_OK)
        status = show_answer(d, &a);
    ntr_event_sorter_free(d->sorter);
    cli_analysis_close(&a);
    return status;
}
