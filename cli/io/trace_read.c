#include "io/trace.h"
#include "options/diagnostics.h"

#include <string.h>

/* Returns whether the bytes of the input are those of the stream, and nothing was read ahead. */
static bool is_direct(const struct cli_trace *trace) {
    return !trace->ahead_size && !trace->ahead_last &&
           (!trace->container.name || ntr_container_is_plain(&trace->container));
}

/* Copies from a span of cli_trace_feed. */
static bool copy_rest(struct cli_trace *trace, uint8_t *to, size_t capacity, size_t *got, bool *last) {
    if (!trace->rest.size && !trace->rest_last && !cli_trace_feed(trace, &trace->rest, &trace->rest_last)) return false;
    *got = trace->rest.size < capacity ? trace->rest.size : capacity;
    if (*got) memcpy(to, trace->rest.data, *got);
    trace->rest = (ntr_bytes){*got ? trace->rest.data + *got : NULL, trace->rest.size - *got};
    *last = trace->rest_last && !trace->rest.size;
    return true;
}

static bool read_direct(struct cli_trace *trace, uint8_t *to, size_t capacity, size_t *got, bool *last) {
    cli_progress_step(&trace->progress, cli_input_position(&trace->input));
    trace->failed = cli_input_read(&trace->input, to, capacity, got, last) != CLI_OK;
    if (!trace->failed && trace->tap) trace->tap(trace->tap_user, (ntr_bytes){to, *got}, *last);
    return !trace->failed;
}

ntr_status cli_trace_read(void *user, uint8_t *to, size_t capacity, size_t *got, bool *last) {
    struct cli_trace *trace = user;
    const bool direct = !trace->rest.size && !trace->rest_last && is_direct(trace);

    *got = 0;
    *last = false;
    if (trace->failed || cli_progress_stopped()) return NTR_NEED_MORE;
    return (direct ? read_direct : copy_rest)(trace, to, capacity, got, last) ? NTR_OK : NTR_NEED_MORE;
}
