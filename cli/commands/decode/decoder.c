/* The decoder of `ntrace decode`: opened, fed; defects that it finds are reported. */
#include "commands/decode/run.h"
#include "commands/shared/decode_threads.h"
#include "options/diagnostics.h"
#include "text/event_text.h"

#include <inttypes.h>

const char *cli_decode_form(const struct decode *d) {
    switch ((enum cli_show)d->options->output) {
    case CLI_SHOW_PC:
    case CLI_SHOW_INSN: return "instructions";
    case CLI_SHOW_COUNT: return "counts";
    default: return "events";
    }
}

/* Returns whether events are sorted by time: the trace has several sources and timestamps. */
bool cli_decode_sorts(const struct decode *d) {
    bool many = cli_trace_many_sources(&d->trace) && !d->window.one_source;

    return many && !d->options->follow && d->trace.params.timestamps != NTR_TIMESTAMPS_OFF &&
           d->options->output != CLI_SHOW_COUNT;
}

static enum cli_gain gain_of(const struct decode *d) {
    const enum cli_show show = (enum cli_show)d->options->output;
    const enum cli_span_place spans = cli_decode_output_spans(show, cli_format_of_rows(d->options->result.format));

    if (spans == CLI_SPANS_IN_ORDER || cli_decode_sorts(d)) return CLI_GAIN_NONE;
    return spans == CLI_SPANS_INDEPENDENT || show == CLI_SHOW_COUNT ? CLI_GAIN_SOME : CLI_GAIN_ALL;
}

int cli_decode_open(struct decode *d) {
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
    d->jobs = d->part || d->options->follow || d->rated
                  ? 1
                  : cli_threads_number(&d->trace, d->options->jobs, gain); /* a selection is decoded serially */
    d->decoder = cli_trace_decoder(&d->trace, &d->config);
    if (!d->decoder) return CLI_FAILED;
    /* Do not skip to the selection: --strict also stops at defects before it; with --mid-stream the offsets of the
     * index do not apply; several threads read the whole trace; messages that are selected by time are counted from the
     * beginning, where the times of all sources are known. */
    const bool timed = d->options->output == CLI_SHOW_COUNT && d->window.from.unit == CLI_UNIT_TIME;
    const bool from_the_start = d->config.strict || d->config.mid_stream || d->jobs > 1 || timed;
    d->begin = (struct cli_begin){.message = 1};
    return from_the_start ? CLI_OK : cli_seek(&d->trace, &d->window, d->decoder, &d->begin);
}

/* Feeds the next part of the input to the decoder. Returns false at the end of the input or after an error. */
bool cli_decode_feed(struct decode *d) {
    ntr_bytes piece;
    bool last;

    return cli_trace_feed(&d->trace, &piece, &last) &&
           ntr_decoder_feed(d->decoder, piece.data, piece.size, last) == NTR_OK;
}

static void report_gap(struct decode *d, const ntr_event *e) {
    const char *field = ntr_field_name((ntr_field)e->gap.field), *expected = cli_defect_expected((ntr_status)e->reason);

    if (!cli_defect_count_gap(&d->defects)) return;
    cli_note("%s: byte 0x%" PRIx64 ", message #%" PRIu64 " %s%s%s: %s%s%s%s", d->trace.input.name, e->offset,
             e->message, ntr_tcode_name(d->trace.params.dialect, e->gap.tcode), field ? ", field " : "",
             field ? field : "", expected ? "expected " : "", expected ? expected : "", expected ? ", found: " : "",
             cli_gap_text(e));
}

void cli_decode_inspect(struct decode *d, const ntr_event *event) {
    if (d->rated && event->kind == NTR_EVENT_GAP && d->options->output != CLI_SHOW_COUNT)
        cli_quality_gap(&d->quality, event);
    if (event->kind == NTR_EVENT_GAP) report_gap(d, event);
    if (ntr_event_is_doubtful(event, d->trace.params.dialect)) d->reserved++;
}

int cli_decode_error(const struct decode *d, ntr_status status, const char *error) {
    if (status == NTR_E_MEMORY || status == NTR_E_TOTAL)
        return cli_fail("%s: %s", d->trace.input.name, ntr_status_text(status));
    cli_note("%s: stopped at the first defect: %s", d->trace.input.name, *error ? error : ntr_status_text(status));
    return CLI_DEFECTS;
}
