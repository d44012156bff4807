/* Loops of the Python package that would be slow in Python. Everything else is in the libraries. */
#include <ntrace/tools.h>
#include <ntrace/infer.h>

/* Writes the retired instructions of the spans in events[*at] to events[count - 1], until `out` is full or all are done.
 * *at is the event that is next; NULL in `src` is allowed. A span that was begun is continued by the next call. */
static ntr_status ntrace_expand(ntr_instructions *expander, const ntr_event *events, size_t count, size_t *at,
                                ntr_instruction *out, uint16_t *src, size_t capacity, size_t *filled) {
    size_t n = 0;

    while (n < capacity) {
        ntr_status status = *at ? ntr_instructions_next(expander, &out[n]) : NTR_END;
        if (status == NTR_OK) {
            if (src) src[n] = events[*at - 1].src;
            n++;
            continue;
        }
        *filled = n;
        if (status < 0 && status != NTR_E_NO_IMAGE) return status;
        while (*at < count && events[*at].kind != NTR_EVENT_SPAN) ++*at;
        if (*at == count) return NTR_END;
        ntr_instructions_begin(expander, &events[(*at)++]);
    }
    *filled = n;
    return NTR_OK;
}

/* `read` of an analyzer; `user` is the ntr_stream_reader. */
static ntr_status ntrace_read_stream(void *user, uint8_t *to, size_t capacity, size_t *got, bool *last) {
    return ntr_stream_reader_read(user, to, capacity, got, last);
}

/* Moves the spans among the events to the front, in their order. Returns their number. */
static size_t ntrace_keep_spans(ntr_event *events, size_t count) {
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (events[i].kind != NTR_EVENT_SPAN) continue;
        if (kept != i) events[kept] = events[i];
        kept++;
    }
    return kept;
}
