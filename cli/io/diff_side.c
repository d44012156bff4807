#include "io/diff_side.h"
#include "io/recognize.h"
#include "options/diagnostics.h"

#include <inttypes.h>

/* ---- a trace */

static void feed(struct cli_side *side) {
    ntr_bytes piece;
    bool last;

    if (!cli_trace_feed(&side->trace, &piece, &last))
        side->failed = true;
    else if (ntr_decoder_feed(side->decoder, piece.data, piece.size, last) != NTR_OK)
        side->failed = true;
}

static void fill(struct cli_side *side) {
    side->at = side->count = 0;
    side->status =
        ntr_decoder_read(side->decoder, side->events, sizeof side->events / sizeof *side->events, &side->count);
    if (side->status < 0) {
        cli_note("%s: %s", side->path, ntr_decoder_error(side->decoder));
        side->failed = true;
    } else if (side->status == NTR_NEED_MORE && !side->count) {
        feed(side);
    }
}

/* Callback of the comparison. Errors are reported here; the return value only ends the comparison. */
static ntr_status next_event(void *user, const ntr_event **event) {
    struct cli_side *side = user;

    do {
        while (side->at == side->count && !side->failed && side->status != NTR_END) fill(side);
        if (side->at == side->count) return side->failed ? NTR_E_IO : NTR_END;
        *event = &side->events[side->at++];
    } while (cli_window_event(side->window, *event) != CLI_INSIDE);
    if (ntr_event_is_doubtful(*event, side->trace.params.dialect)) side->reserved++;
    if (side->take) side->take(side->take_user, *event, 1);
    return NTR_OK;
}

int cli_side_open(struct cli_side *side, const char *path, const struct cli_stream *stream,
                  const struct cli_images *images, const struct cli_window *window, int source) {
    side->path = path;
    side->window = window;
    if (cli_trace_open(&side->trace, path, stream, NULL) != CLI_OK) return CLI_FAILED;
    side->trace.only = source + 1;
    if (cli_trace_program(&side->trace, images, stream, true) != CLI_OK) return CLI_FAILED;
    if (cli_trace_check_window(&side->trace, window) != CLI_OK) return CLI_FAILED;
    ntr_decoder_config config;
    ntr_decoder_config_init(&config);
    config.params = side->trace.params;
    config.program = side->trace.program;
    config.one_source = source >= 0;
    config.source = (uint16_t)(source >= 0 ? source : 0);
    side->decoder = cli_trace_decoder(&side->trace, &config);
    ntr_execution_init(&side->execution);
    side->execution.next_event = next_event;
    side->execution.user = side;
    return side->decoder ? CLI_OK : CLI_FAILED;
}

/* ---- a list of program counters */

static ntr_status next_address(void *user, uint64_t *address, uint64_t *line) {
    struct cli_side *side = user;
    const char *text;
    size_t length;

    while (!side->failed && cli_lines_next(&side->list, &text, &length)) {
        if (!length || *text == '#') continue;
        *line = side->list.number;
        if (cli_line_pc(text, length, true, address) && cli_line_fit(side->xlen, address)) return NTR_OK;
        cli_note("%s: line %" PRIu64 ": expected a program counter, found '%.*s'", side->path, side->list.number,
                 length > 40 ? 40 : (int)length, text);
        side->failed = true;
    }
    side->failed |= side->list.failed;
    return side->failed ? NTR_E_IO : NTR_END;
}

int cli_side_open_list(struct cli_side *side, const char *path, unsigned xlen) {
    side->path = path;
    side->xlen = xlen;
    if (cli_refuse_text(path, "a list of program counters", "list of numbers") != CLI_OK) return CLI_FAILED;
    if (cli_lines_open(&side->list, path) != CLI_OK) return CLI_FAILED;
    side->is_list = true;
    ntr_execution_init(&side->execution);
    side->execution.next_address = next_address;
    side->execution.user = side;
    return CLI_OK;
}

/* ---- both */

void cli_side_report(const struct cli_side *side, uint64_t gaps) {
    if (side->is_list) return;
    cli_trace_reserved(&side->trace, side->reserved);
    if (gaps) cli_note("%s: %" PRIu64 " gaps: execution in gaps is not compared", side->path, gaps);
}

void cli_side_close(struct cli_side *side) {
    if (side->is_list) {
        cli_lines_close(&side->list);
        return;
    }
    ntr_decoder_free(side->decoder);
    cli_trace_close(&side->trace);
}
