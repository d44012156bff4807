/* Spans in less memory, on the way from a worker thread to the thread that counts them: what is equal in the spans of a
 * packet is stored once. Events that do not fit into a packet are passed as they are.
 *
 * A packet begins with the event without the members of spans, followed by `count` packed spans. */
#ifndef NTR_ANALYZER_PACKED_SPANS_H
#define NTR_ANALYZER_PACKED_SPANS_H

#include <ntrace/event.h>

struct ntr_packed_span {
    uint64_t address, target;
    uint32_t last; /* distance from `address` */
    uint32_t instructions, halfwords;
    uint16_t message, offset; /* distance from those of the packet */
    uint8_t end, flags;
};

struct ntr_span_packet {
    ntr_event common; /* source, context, offset, message, time and repeats of the first span */
    size_t count;
    struct ntr_packed_span spans[];
};

/* Bytes of a packet. */
size_t ntr_packet_size(size_t count);

/* Packs the leading events that can be in one packet; `packet` has room for all. Returns their number. */
size_t ntr_packet_fill(struct ntr_span_packet *packet, const ntr_event *events, size_t count);

/* Room for restored events. They have the members that are equal in the packet; only the others are written for each
 * packet. */
enum { NTR_UNPACKED_MOST = 128 }; /* 14 KB: they stay in the first-level cache */
struct ntr_unpacked_spans {
    ntr_event events[NTR_UNPACKED_MOST];
    bool begun;
};

/* Restores events from number `first` on. Returns how many. `to` is zero before the first call. */
size_t ntr_packet_events(const struct ntr_span_packet *packet, size_t first, struct ntr_unpacked_spans *to);

#endif
