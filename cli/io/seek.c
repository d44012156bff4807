#include "io/seek.h"
#include "options/diagnostics.h"

static ntr_unit index_unit(const struct cli_point *point) {
    return point->unit == CLI_UNIT_MESSAGE ? NTR_UNIT_MESSAGE
           : point->unit == CLI_UNIT_BYTE  ? NTR_UNIT_OFFSET
                                           : NTR_UNIT_TIME;
}

static bool proceed(void *user, uint64_t done, uint64_t whole) {
    (void)user, (void)done, (void)whole;
    return !cli_progress_stopped();
}

ntr_index *cli_bundle_index(struct cli_trace *trace) {
    ntr_bundle_index_config config;
    ntr_index *index;

    ntr_bundle_index_config_init(&config);
    config.params = &trace->params;
    config.proceed = proceed;
    return ntr_bundle_index(trace->bundle, &config, &index) == NTR_OK ? index : NULL;
}

int cli_seek(struct cli_trace *trace, const struct cli_window *window, ntr_decoder *decoder) {
    const uint16_t *source = window->one_source ? &window->source : NULL;

    if (!trace->bundle || !window->from.unit) return CLI_OK;
    ntr_index *index = cli_bundle_index(trace);
    if (!index) return CLI_OK;
    ntr_status status = ntr_bundle_begin(index, index_unit(&window->from), window->from.value, source,
                                         trace->input.reader, decoder);
    ntr_index_free(index);
    return status < 0 ? cli_fail("%s: %s", trace->input.name, ntr_status_text(status)) : CLI_OK;
}
