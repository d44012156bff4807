/* Where a message ends: at the byte with MSEO 11. The only code that finds message ends: in single bytes, in words of 8
 * bytes and in windows of 32 bytes. N-Trace 1.0 section 2.
 *
 * A set of bytes is a bit mask: bit 8*i stands for byte i of a word, bit i for byte i of a window. A byte with the
 * reserved MSEO 10 does not end a message. Example: in a word with MSEO 00, 01, 11, 00, ... ntr_word_ends has bit 16
 * set, and ntr_word_size of it is 3. */
#ifndef NTR_WIRE_ENDS_H
#define NTR_WIRE_ENDS_H

#include "wire/window.h"

#include <ntrace/message_end.h>

/* ---- words */

static inline uint64_t ntr_word_ends(uint64_t word) {
    return word & word >> 1 & NTR_BYTES_LOW;
}

static inline uint64_t ntr_word_reserved(uint64_t word) {
    return ~word & word >> 1 & NTR_BYTES_LOW;
}

/* Bytes that end a field or a message, or are reserved: those at which a decoder must stop. */
static inline uint64_t ntr_word_stops(uint64_t word) {
    return (word | word >> 1) & NTR_BYTES_LOW;
}

/* Returns the number of bytes up to and including the first one of the set. The set must not be empty. */
static inline unsigned ntr_word_size(uint64_t set) {
    return (unsigned)__builtin_ctzll(set) / 8 + 1;
}

/* Returns the word with all bytes after the first one of the set `ends` cleared. */
static inline uint64_t ntr_word_up_to(uint64_t word, uint64_t ends) {
    return word & (((ends & -ends) << 8) - 1);
}

/* ---- windows */

static inline uint32_t ntr_window_ends(ntr_window window) {
    return window.low & window.high;
}

static inline uint32_t ntr_window_reserved(ntr_window window) {
    return window.high & ~window.low;
}

/* Bytes that end a field or a message. */
static inline uint32_t ntr_window_field_ends(ntr_window window) {
    return window.low;
}

/* Bytes that cannot start a message. */
static inline uint32_t ntr_window_no_start(ntr_window window) {
    return window.low | window.high;
}

/* ---- pieces */

/* Returns the index of the first byte that ends a message; `size` when there is none. */
size_t ntr_find_end(const uint8_t *data, size_t size);

/* The same, fast for short messages. *damaged: a byte before the end has the reserved MSEO, or the message is longer
 * than NTR_MESSAGE_BYTES_MAX. */
static inline size_t ntr_find_end_checked(const uint8_t *data, size_t size, bool *damaged) {
    enum { NEAR = 16 };
    *damaged = false;
    if (size >= 8) {
        uint64_t word = ntr_load8(data), ends = ntr_word_ends(word);
        *damaged = ends && ntr_word_reserved(word) & (ends - 1);
        if (ends) return ntr_word_size(ends) - 1;
    }
    size_t near = size < NEAR ? size : NEAR;
    bool reserved = false;
    for (size_t i = 0; i < near; i++) {
        reserved |= ntr_mseo_of(data[i]) == NTR_MSEO_RESERVED;
        if (!ntr_ends_message(data[i])) continue;
        *damaged = reserved;
        return i;
    }
    size_t end = near + ntr_find_end(data + near, size - near);
    for (size_t i = near; i < end && !reserved; i++) reserved = ntr_mseo_of(data[i]) == NTR_MSEO_RESERVED;
    *damaged = reserved || end >= NTR_MESSAGE_BYTES_MAX;
    return end;
}

#endif
