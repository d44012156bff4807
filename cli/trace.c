#include "trace.h"
#include "report.h"

int cli_trace_open(struct cli_trace *trace, const char *path, const struct cli_stream *stream) {
    *trace = (struct cli_trace){.input.fd = -1};
    if (cli_stream_params(stream, NULL, &trace->params) != CLI_OK) return CLI_FAILED;
    if (cli_input_open(&trace->input, path) != CLI_OK) return CLI_FAILED;
    ntr_status status = ntr_reader_init(&trace->reader, &trace->params);
    if (status == NTR_OK) return CLI_OK;
    cli_trace_close(trace);
    return cli_fail("%s: %s", path, ntr_status_text(status));
}

static bool feed(struct cli_trace *trace) {
    ntr_bytes span;
    bool last;

    if (cli_input_next(&trace->input, &span, &last) != CLI_OK) {
        trace->failed = true;
        return false;
    }
    return ntr_reader_feed(&trace->reader, span.data, span.size, last) == NTR_OK;
}

ntr_status cli_trace_message(struct cli_trace *trace, ntr_message *message) {
    for (;;) {
        ntr_status status = ntr_reader_next(&trace->reader, message);
        if (status != NTR_NEED_MORE) return status;
        if (!feed(trace)) return NTR_END;
    }
}

int cli_trace_status(const struct cli_trace *trace, bool any, int status) {
    if (trace->failed) return CLI_FAILED;
    if (status != CLI_OK) return status;
    if (!any)
        cli_note("%s: byte 0x0: expected messages, found %s", trace->input.name,
                 trace->input.consumed ? "idle bytes only" : "an empty file");
    return any && !trace->input.damaged ? CLI_OK : CLI_DEFECTS;
}

void cli_trace_close(struct cli_trace *trace) {
    cli_input_close(&trace->input);
}
