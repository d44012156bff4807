/* Frames of tt-dfd that are filled with another byte than 0xFF, which is idle and needs no container. docs/dialects.md
 * sections 6.8 and 10.
 *
 * The fill byte is a value of a register. It cannot end a message (MSEO 11 is idle in this dialect), nor begin one:
 * then it could not be told from a message. So a byte of this value is fill wherever a message could begin.
 *
 * Found by its form: frames of equal size all begin where a message may begin, and at least two of them have a message
 * and end in two or more bytes of the same value, which is no TCODE of the dialect. Example, frames of 64 bytes: `.. 1B
 * 80 80 80` ends the first one, `.. 0B 80 80` the second one. */
#include "transport/container.h"
#include "wire/framing.h"

#include <ntrace/message.h>
#include <ntrace/message_end.h>

#include <stdio.h>

enum { FRAME_UNIT = 64, FRAME_UNITS = 15, TAILS_LEAST = 2, TAIL_LEAST = 2 };

static bool can_fill(const ntr_dialect *dialect, uint8_t byte) {
    return !ntr_ends_message(byte) && !ntr_message_get(dialect, byte >> 2);
}

/* How many bytes of this value the frame ends in. */
static size_t tail_of(const uint8_t *frame, size_t size, uint8_t fill) {
    size_t n = 0;
    while (n < size && frame[size - 1 - n] == fill) n++;
    return n;
}

/* A byte of the file; `inside` is true inside a message. */
static bool is_fill(bool *inside, uint8_t byte, uint8_t fill) {
    if (!*inside && byte == fill) return true;
    *inside = !ntr_ends_message(byte);
    return false;
}

/* Does a message begin, or fill, at the beginning of each frame? */
static bool has_frames(ntr_bytes bytes, size_t frame, uint8_t fill) {
    bool inside = false;
    for (size_t i = 0; i < bytes.size; i++) {
        if (i % frame == 0 && inside) return false;
        is_fill(&inside, bytes.data[i], fill);
    }
    return true;
}

/* Returns the fill byte, or NTR_IDLE: there is none. */
static uint8_t fill_of(ntr_bytes bytes, size_t frame, const ntr_dialect *dialect) {
    uint8_t fill = NTR_IDLE;
    size_t tails = 0;

    for (size_t at = 0; at + frame <= bytes.size; at += frame) {
        const uint8_t last = bytes.data[at + frame - 1];
        if (ntr_ends_message(last)) continue;
        if (!can_fill(dialect, last) || (fill != NTR_IDLE && fill != last)) return NTR_IDLE;
        fill = last;
        const size_t tail = tail_of(bytes.data + at, frame, fill);
        tails += tail >= TAIL_LEAST && tail < frame;
    }
    return tails >= TAILS_LEAST && has_frames(bytes, frame, fill) ? fill : NTR_IDLE;
}

static ntr_status find(ntr_bytes beginning, ntr_container *c) {
    for (size_t units = 1; units <= FRAME_UNITS; units++) {
        const uint8_t fill = fill_of(beginning, units * FRAME_UNIT, c->params.dialect);
        if (fill == NTR_IDLE) continue;
        c->word = fill;
        snprintf(c->facts, sizeof c->facts, "filled with 0x%02x", fill);
        return NTR_OK;
    }
    return NTR_END;
}

static size_t read(ntr_container *c, ntr_bytes bytes, uint8_t *out) {
    for (size_t i = 0; i < bytes.size; i++) {
        const uint8_t byte = bytes.data[i];
        out[i] = is_fill(&c->inside, byte, (uint8_t)c->word) ? NTR_IDLE : byte;
    }
    return bytes.size;
}

const container_ops ntr_container_ttdfd = {
    .name = "tt-dfd", .producer = "Tenstorrent tt-dfd frames", .dialect = "tt-dfd", .find = find, .read = read};
