#include "commands/packed_spans.h"

size_t cli_packet_size(size_t count) {
    const size_t size = sizeof(struct cli_span_packet) + count * sizeof(struct cli_packed_span), align = sizeof(uint64_t);

    return (size + align - 1) / align * align;
}

/* Returns whether the event is a span that differs from `first` only in members of a packed span. */
static inline bool fits(const ntr_event *first, const ntr_event *e) {
    return e->kind == NTR_EVENT_SPAN && e->src == first->src && e->code == first->code && e->reason == first->reason &&
           e->time == first->time && e->last - e->address <= UINT32_MAX && e->message - first->message <= UINT16_MAX &&
           e->offset - first->offset <= UINT16_MAX && ntr_context_equal(&e->context, &first->context);
}

size_t cli_packet_fits(const ntr_event *events, size_t count) {
    size_t fitting = 0;

    while (fitting < count && fits(events, &events[fitting])) fitting++;
    return fitting;
}

void cli_packet_fill(struct cli_span_packet *packet, const ntr_event *events, size_t count) {
    packet->common = events[0];
    packet->count = count;
    for (size_t i = 0; i < count; i++) {
        const ntr_event *e = &events[i];
        packet->spans[i] = (struct cli_packed_span){.address = e->address,
                                                    .target = e->target,
                                                    .last = (uint32_t)(e->last - e->address),
                                                    .instructions = e->instructions,
                                                    .halfwords = e->halfwords,
                                                    .message = (uint16_t)(e->message - packet->common.message),
                                                    .offset = (uint16_t)(e->offset - packet->common.offset),
                                                    .end = e->end,
                                                    .flags = e->flags};
    }
}

size_t cli_packet_events(const struct cli_span_packet *packet, size_t first, ntr_event *events, size_t count) {
    const ntr_event common = packet->common;

    if (count > packet->count - first) count = packet->count - first;
    for (size_t i = 0; i < count; i++) {
        const struct cli_packed_span *span = &packet->spans[first + i];
        ntr_event *e = &events[i];
        *e = common;
        e->address = span->address;
        e->target = span->target;
        e->last = span->address + span->last;
        e->instructions = span->instructions;
        e->halfwords = span->halfwords;
        e->message += span->message;
        e->offset += span->offset;
        e->end = span->end;
        e->flags = span->flags;
    }
    return count;
}
