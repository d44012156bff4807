/* Helpers of the transport tests: sinks that keep what they get, and random N-Trace streams. */
#ifndef TEST_RECORDER_H
#define TEST_RECORDER_H

#include <ntrace/transport.h>

#include <stdlib.h>
#include <string.h>

/* xorshift64*: the same sequence everywhere. */
static inline uint64_t random_next(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1dull;
}

static inline unsigned random_below(uint64_t *state, unsigned limit) {
    return (unsigned)((random_next(state) >> 33) % limit);
}

/* ---- what a writer gives */

typedef struct beats {
    uint16_t *data;
    size_t count, capacity;
} beats;

static inline void beats_add(beats *all, uint16_t beat) {
    if (all->count == all->capacity) {
        all->capacity = all->capacity ? 2 * all->capacity : 1024;
        all->data = realloc(all->data, all->capacity * sizeof all->data[0]);
        assert_non_null(all->data);
    }
    all->data[all->count++] = beat;
}

static inline ntr_status take_beats(void *user, const uint16_t *data, size_t count) {
    for (size_t i = 0; i < count; i++) beats_add(user, data[i]);
    return NTR_OK;
}

/* ---- what a reader gives */

enum { STREAM_BYTES = 1 << 16, IDS = 128, NOTES = 64 };

typedef struct streams {
    uint8_t data[IDS][STREAM_BYTES];
    size_t size[IDS];
    ntr_transport_note notes[NOTES];
    size_t note_count;
} streams;

static inline ntr_status take_bytes(void *user, unsigned id, const uint8_t *bytes, size_t size) {
    streams *all = user;
    assert_in_range(id, 0, IDS - 1);
    assert_true(all->size[id] + size <= STREAM_BYTES);
    memcpy(all->data[id] + all->size[id], bytes, size);
    all->size[id] += size;
    return NTR_OK;
}

static inline void take_note(void *user, const ntr_transport_note *note) {
    streams *all = user;
    if (all->note_count < NOTES) all->notes[all->note_count++] = *note;
}

static inline void streams_clear(streams *all) {
    memset(all->size, 0, sizeof all->size);
    all->note_count = 0;
}

static inline size_t count_notes(const streams *all, ntr_note_kind kind) {
    size_t count = 0;
    for (size_t i = 0; i < all->note_count; i++) count += all->notes[i].kind == kind;
    return count;
}

/* ---- random messages: correctly framed, sizes as real ones, every bit pattern */

static inline size_t random_message(uint64_t *seed, uint8_t *out, unsigned max) {
    static const uint8_t syncs[] = {9, 11, 12, 29};
    const size_t size = 1 + random_below(seed, max);
    for (size_t i = 0; i < size; i++) {
        const unsigned style = random_below(seed, 4); /* many all-zero and all-one bytes, as addresses have */
        const unsigned mdo = style == 0 ? 0 : style == 1 ? 0x3f : random_below(seed, 64);
        const unsigned mseo = i + 1 == size ? 3 : i == 0 ? 0 : random_below(seed, 2);
        out[i] = (uint8_t)(mdo << 2 | mseo);
    }
    if (size > 1 && random_below(seed, 4) == 0) out[0] = (uint8_t)(syncs[random_below(seed, 4)] << 2);
    if (size == 1) out[0] = 0; /* a message has two bytes at least: the first cannot end it */
    if (size == 1) out[1] = 3;
    return size == 1 ? 2 : size;
}

#endif
