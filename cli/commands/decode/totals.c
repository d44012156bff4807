/* --show count: totals of a trace, or of a part of it. */
#include "commands/shared/decode_counts.h"
#include "commands/decode/run.h"
#include "commands/shared/decode_threads.h"
#include "options/diagnostics.h"

static ntr_status count_serial(struct decode *d, ntr_counts *counts) {
    ntr_status status = NTR_NEED_MORE;

    if (d->rated) ntr_decoder_set_count_callback(d->decoder, cli_quality_take, &d->quality);
    while (status == NTR_NEED_MORE && cli_decode_feed(d)) status = ntr_decoder_count(d->decoder, counts);
    return status;
}

static ntr_status count_parallel(struct decode *d, struct cli_threads *threads, ntr_counts *counts) {
    ntr_status status = cli_threads_count(threads, &d->config, d->jobs, counts);

    if (d->options->jobs > 1) cli_threads_report(threads);
    return status;
}

/* A piece of the stream is read twice: messages are counted, then the events of the part. */
static bool feed_part(struct decode *d, struct cli_part_counts *part) {
    ntr_bytes piece;
    bool last;

    return cli_trace_feed(&d->trace, &piece, &last) && cli_part_counts_bytes(part, piece, last) &&
           ntr_decoder_feed(d->decoder, piece.data, piece.size, last) == NTR_OK;
}

static ntr_status count_part(struct decode *d, struct cli_part_counts *part) {
    ntr_event events[DECODE_EVENTS];
    ntr_status status = NTR_OK;

    while (status >= 0 && status != NTR_END && !part->behind) {
        size_t count = 0;
        status = ntr_decoder_read(d->decoder, events, DECODE_EVENTS, &count);
        for (size_t i = 0; i < count; i++)
            if (cli_part_counts_event(part, &events[i])) {
                cli_decode_inspect(d, &events[i]);
                if (d->rated) cli_quality_take(&d->quality, &events[i], ntr_event_times(&events[i]));
            }
        if (status == NTR_NEED_MORE && !feed_part(d, part)) return NTR_NEED_MORE;
    }
    return status;
}

/* The messages are those of all sources. */
static bool has_any(const struct decode *d, const ntr_counts *counts) {
    return d->window.one_source ? counts->spans || counts->gaps : counts->messages != 0;
}

static int show_part_counts(struct decode *d) {
    struct cli_part_counts part;

    if (cli_part_counts_open(&part, &d->window, &d->trace, &d->begin, d->config.mid_stream) != CLI_OK)
        return CLI_FAILED;
    ntr_decoder_set_repeats(d->decoder, true);
    ntr_status status = count_part(d, &part);
    cli_part_counts_close(&part);
    if (status == NTR_NEED_MORE) return CLI_FAILED;
    d->any = has_any(d, &part.counts);
    cli_write_counts(&d->out, cli_format_of_rows(d->options->result.format), &part.counts);
    return status < 0 ? cli_decode_error(d, status, ntr_decoder_error(d->decoder)) : CLI_OK;
}

int cli_decode_show_totals(struct decode *d) {
    ntr_counts counts = {0};
    struct cli_threads threads = {.trace = &d->trace, .out = &d->out};

    if (d->part) return show_part_counts(d);
    ntr_status status = d->jobs > 1 ? count_parallel(d, &threads, &counts) : count_serial(d, &counts);
    if (status == NTR_NEED_MORE) return CLI_FAILED;
    d->any = has_any(d, &counts);
    cli_write_counts(&d->out, cli_format_of_rows(d->options->result.format), &counts);
    if (status < 0) return cli_decode_error(d, status, d->jobs > 1 ? threads.error : ntr_decoder_error(d->decoder));
    return cli_trace_totals(&d->trace, &counts);
}
