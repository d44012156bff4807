/* What is in the sinks of a modelled system when a capture ends: copied to the stream, with the offsets of its
 * messages. */
#include "base/allocator.h"
#include "capture/system.h"
#include "capture/system_state.h"

#include <ntrace/framer.h>
#include <ntrace/system.h>

#include <inttypes.h>
#include <string.h>

struct ram_content {
    const ntr_allocator *allocator;
    uint8_t *bytes;
    size_t size, capacity;
};

static ntr_status collect(void *user, unsigned id, const uint8_t *bytes, size_t size) {
    struct ram_content *content = user;

    (void)id;
    if (ntr_reserve(content->allocator, (void **)&content->bytes, &content->capacity, content->size + size, 1))
        return NTR_E_MEMORY;
    memcpy(content->bytes + content->size, bytes, size);
    content->size += size;
    return NTR_OK;
}

/* Calls `take` for each message of a sink, with the offset in the sink at which it ends. */
static void each_message(struct ntr_capture_system *s, const struct ram_content *content, bool cut,
                         void (*take)(struct ntr_capture_system *s, ntr_bytes message, uint64_t end, void *user),
                         void *user) {
    ntr_framer framer;
    ntr_slice slice;

    ntr_framer_init(&framer, false);
    if (cut) ntr_framer_seek_start(&framer);
    ntr_framer_feed(&framer, content->bytes, content->size, true);
    while (ntr_framer_next(&framer, &slice) == NTR_OK)
        if (slice.defect == NTR_OK) take(s, slice.raw, slice.offset + slice.size, user);
}

static void count_message(struct ntr_capture_system *s, ntr_bytes message, uint64_t end, void *user) {
    uint64_t *counts = user;

    (void)end;
    counts[ntr_capture_arrivals_source(&s->arrivals, message)]++;
}

static void put_arrival(struct ntr_capture_system *s, ntr_bytes message, uint64_t end, void *user) {
    const uint64_t *base = user;

    ntr_capture_arrivals_put(&s->arrivals, message, *base + end);
}

/* The sink has wrapped: of each encoder that leads to it, the newest messages are there. */
static bool skip_lost(struct ntr_capture_system *s, size_t sink, const struct ram_content *content) {
    uint64_t *counts = ntr_alloc(s->allocator, NTR_ARRIVALS_SOURCES, sizeof *counts);
    ntr_system_component encoder;
    uint16_t src;

    if (!counts) return false;
    each_message(s, content, true, count_message, counts);
    for (unsigned hart = 0; hart < SYSTEM_HARTS; hart++) {
        if (!ntr_capture_system_source(s, hart, &src) || !ntr_capture_system_get(s, s->encoder_of[hart] - 1, &encoder))
            continue;
        if (!ntr_system_leads(s->system, s->encoder_of[hart] - 1, sink) || encoder.encoder.messages < counts[src])
            continue;
        ntr_capture_arrivals_skip(&s->arrivals, src, encoder.encoder.messages - counts[src], s->stream->offset);
    }
    ntr_dealloc(s->allocator, counts);
    return true;
}

/* What stands for the messages of the sink in the stream, which ends where they will be written: put_whole leaves out
 * what is in front of the first whole message. */
static ntr_status note_arrivals(struct ntr_capture_system *s, size_t sink, const struct ram_content *content,
                                bool cut) {
    uint64_t base = s->stream->offset;
    size_t front = 0;

    if (cut && !skip_lost(s, sink, content)) return NTR_E_MEMORY;
    if (cut)
        while (front < content->size && !ntr_ends_message(content->bytes[front++])) continue;
    base -= front;
    each_message(s, content, cut, put_arrival, &base);
    return NTR_OK;
}

/* Write whole messages only, so that the content of another sink can follow. `cut`: the first message has lost its
 * beginning. */
static void put_whole(struct ntr_capture_system *s, const struct ram_content *content, bool cut) {
    size_t from = 0, to = content->size;

    if (cut)
        while (from < to && !ntr_ends_message(content->bytes[from++])) continue;
    while (to > from && !ntr_ends_message(content->bytes[to - 1])) to--;
    while (from < to) {
        size_t part = to - from < 65536 ? to - from : 65536;
        ntr_bundle_writer_put(s->stream, content->bytes + from, part);
        from += part;
    }
}

static ntr_status read_ram(struct ntr_capture_system *s, size_t index, const char *name) {
    struct ram_content content = {.allocator = s->allocator};
    bool cut;
    ntr_status status = ntr_system_read_ram(s->system, index, collect, &content, &cut);

    if (status == NTR_OK) status = note_arrivals(s, index, &content, cut);
    if (status == NTR_OK) {
        put_whole(s, &content, cut);
        if (cut) ntr_capture_system_add_loss(s, "%s: wrapped; it holds the last %zu bytes", name, content.size);
    }
    ntr_dealloc(content.allocator, content.bytes);
    return status == NTR_OK ? NTR_OK : ntr_capture_fail(s->reason, status, "%s: %s", name, ntr_status_text(status));
}

static void list_losses(struct ntr_capture_system *s) {
    ntr_system_component one;

    if (s->untraced)
        ntr_capture_system_add_loss(
            s, "the program had more threads than the system has encoders; the others were not traced");
    for (size_t i = 0; ntr_capture_system_get(s, i, &one); i++) {
        if (one.encoder.overflows)
            ntr_capture_system_add_loss(
                s, "%s: overflowed %" PRIu64 " times; %" PRIu64 " halfwords of code are counted by no message",
                one.name, one.encoder.overflows, one.encoder.lost_halfwords);
        else if (one.counts.lost_bytes)
            ntr_capture_system_add_loss(s, "%s: discarded %" PRIu64 " bytes", one.name, one.counts.lost_bytes);
    }
}

ntr_status ntr_capture_system_finish(struct ntr_capture_system *s) {
    ntr_system_component one;

    /* Behind a sink that stopped because it was full, other components do not become empty: what they hold is lost. */
    if (ntr_system_stop(s->system) != NTR_OK) ntr_capture_system_add_loss(s, "%s", ntr_system_error(s->system));
    for (size_t i = 0; ntr_capture_system_get(s, i, &one); i++) {
        if (one.kind != NTR_COMPONENT_RAM || !ntr_capture_system_wants(s, &one)) continue;
        ntr_status status = read_ram(s, i, one.name);
        if (status != NTR_OK) return status;
    }
    ntr_capture_arrivals_finish(&s->arrivals, s->stream->offset);
    list_losses(s);
    return NTR_OK;
}
