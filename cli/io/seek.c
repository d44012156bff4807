#include "io/seek.h"
#include "io/index_file.h"
#include "options/diagnostics.h"

/* Whether the options read the stream's messages as the bundle says, so that its index holds. */
static bool as_described(const ntr_params *params, const ntr_params *described) {
    return params->dialect == described->dialect && params->src_bits == described->src_bits &&
           params->timestamps == described->timestamps && params->ts_width == described->ts_width;
}

static ntr_unit unit_of(const struct cli_point *point) {
    return point->unit == CLI_UNIT_MESSAGE ? NTR_UNIT_MESSAGE
           : point->unit == CLI_UNIT_BYTE  ? NTR_UNIT_OFFSET
                                           : NTR_UNIT_TIME;
}

static uint64_t least_offset(const ntr_point *points, size_t count) {
    uint64_t least = points[0].offset;

    for (size_t i = 1; i < count; i++)
        if (points[i].offset < least) least = points[i].offset;
    return least;
}

static int begin_at(struct cli_trace *trace, ntr_decoder *decoder, const ntr_point *points, size_t count) {
    ntr_status status = ntr_decoder_begin(decoder, points, count);

    if (status != NTR_OK) return cli_fail("%s: %s", trace->input.name, ntr_status_text(status));
    cli_trace_skip(trace, least_offset(points, count));
    return CLI_OK;
}

int cli_seek(struct cli_trace *trace, const struct cli_window *window, ntr_decoder *decoder) {
    const uint16_t *source = window->one_source ? &window->source : NULL;
    const ntr_point *points;
    size_t count;

    if (!trace->bundle || !window->from.unit) return CLI_OK;
    if (!as_described(&trace->params, &ntr_bundle_capture(trace->bundle)->params)) return CLI_OK;
    struct cli_indexed indexed = {trace->folder, ntr_bundle_stream(trace->bundle), &trace->params};
    ntr_index *index = cli_index_open(&indexed);
    if (!index) return CLI_OK;
    ntr_status status = ntr_index_find(index, unit_of(&window->from), window->from.value, source, &points, &count);
    int result = status == NTR_OK ? begin_at(trace, decoder, points, count) : CLI_OK;
    ntr_index_free(index);
    return result;
}
