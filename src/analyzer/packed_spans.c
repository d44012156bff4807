#include "analyzer/packed_spans.h"

size_t ntr_packet_size(size_t count) {
    const size_t size = sizeof(struct ntr_span_packet) + count * sizeof(struct ntr_packed_span),
                 align = sizeof(uint64_t);

    return (size + align - 1) / align * align;
}

/* Returns whether the event is a span that differs from `first` only in members of a packed span. */
static inline bool fits(const ntr_event *first, const ntr_event *e) {
    return e->kind == NTR_EVENT_SPAN && e->src == first->src && e->code == first->code && e->reason == first->reason &&
           e->time == first->time && e->repeats == first->repeats && e->last - e->address <= UINT32_MAX &&
           e->message - first->message <= UINT16_MAX && e->offset - first->offset <= UINT16_MAX &&
           ntr_context_equal(&e->context, &first->context);
}

static struct ntr_packed_span pack(const ntr_event *common, const ntr_event *e) {
    return (struct ntr_packed_span){.address = e->address,
                                    .target = e->target,
                                    .last = (uint32_t)(e->last - e->address),
                                    .instructions = e->instructions,
                                    .halfwords = e->halfwords,
                                    .message = (uint16_t)(e->message - common->message),
                                    .offset = (uint16_t)(e->offset - common->offset),
                                    .end = e->end,
                                    .flags = e->flags};
}

size_t ntr_packet_fill(struct ntr_span_packet *packet, const ntr_event *events, size_t count) {
    size_t packed = 0;

    for (; packed < count && fits(&events[0], &events[packed]); packed++)
        packet->spans[packed] = pack(&events[0], &events[packed]);
    packet->common = events[0];
    packet->count = packed;
    return packed;
}

/* Returns whether the events of the packet before have the members that are equal in this packet. */
static bool has_common(const struct ntr_unpacked_spans *u, const ntr_event *common) {
    const ntr_event *e = &u->events[0];

    return u->begun && e->src == common->src && e->code == common->code && e->reason == common->reason &&
           e->time == common->time && e->repeats == common->repeats && ntr_context_equal(&e->context, &common->context);
}

static void set_common(struct ntr_unpacked_spans *u, const ntr_event *common) {
    for (size_t i = 0; i < NTR_UNPACKED_MOST; i++) u->events[i] = *common;
    u->begun = true;
}

size_t ntr_packet_events(const struct ntr_span_packet *packet, size_t first, struct ntr_unpacked_spans *to) {
    const size_t left = packet->count - first, count = left < NTR_UNPACKED_MOST ? left : NTR_UNPACKED_MOST;
    const uint64_t message = packet->common.message, offset = packet->common.offset;

    if (first == 0 && !has_common(to, &packet->common)) set_common(to, &packet->common);
    for (size_t i = 0; i < count; i++) {
        const struct ntr_packed_span *span = &packet->spans[first + i];
        ntr_event *e = &to->events[i];
        e->address = span->address;
        e->target = span->target;
        e->last = span->address + span->last;
        e->instructions = span->instructions;
        e->halfwords = span->halfwords;
        e->message = message + span->message;
        e->offset = offset + span->offset;
        e->end = span->end;
        e->flags = span->flags;
    }
    return count;
}
