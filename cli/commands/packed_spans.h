/* Spans in less memory, on the way from a worker thread to the thread that counts them: what is equal in the spans of a
 * packet is stored once. Events that do not fit into a packet are passed as they are.
 *
 * A packet begins with the event without the members of spans, followed by `count` packed spans. */
#ifndef CLI_COMMANDS_PACKED_SPANS_H
#define CLI_COMMANDS_PACKED_SPANS_H

#include <ntrace/event.h>

struct cli_packed_span {
    uint64_t address, target;
    uint32_t last; /* distance from `address` */
    uint32_t instructions, halfwords;
    uint16_t message, offset; /* distance from those of the packet */
    uint8_t end, flags;
};

struct cli_span_packet {
    ntr_event common; /* source, context, offset, message and time of the first span */
    size_t count;
    struct cli_packed_span spans[];
};

/* Bytes of a packet. */
size_t cli_packet_size(size_t count);

/* Returns the number of leading events that can be in one packet. */
size_t cli_packet_fits(const ntr_event *events, size_t count);

/* Packs that many events. `packet` has room for them. */
void cli_packet_fill(struct cli_span_packet *packet, const ntr_event *events, size_t count);

/* Restores at most `count` events from number `first` on. Returns how many. */
size_t cli_packet_events(const struct cli_span_packet *packet, size_t first, ntr_event *events, size_t count);

#endif
