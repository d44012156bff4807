/* Writes bits as the bytes of a message. */
#ifndef NTR_MESSAGE_WRITER_H
#define NTR_MESSAGE_WRITER_H

#include "wire/mdo.h"

#include <ntrace/status.h>
#include <stdbool.h>

enum { NTR_WRITER_WORD = 8 * NTR_MDO_BITS }; /* bits written at once */

typedef struct ntr_writer {
    uint8_t *out;
    size_t capacity, size;
    uint64_t part;      /* bits not yet written, fewer than one MDO group */
    unsigned part_bits;
    bool full;          /* the buffer was too small */
} ntr_writer;

static inline void ntr_writer_init(ntr_writer *w, uint8_t *out, size_t capacity) {
    *w = (ntr_writer){.out = out, .capacity = capacity};
}

/* The first `groups` (up to 8) of these MDO groups as bytes. */
static inline void ntr_writer_groups(ntr_writer *w, uint64_t mdo, unsigned groups) {
    uint64_t word = ntr_scatter_mdo(mdo);
    if (w->capacity - w->size >= sizeof word) {
        ntr_store8(w->out + w->size, word);
    } else if (w->capacity - w->size >= groups) {
        for (unsigned i = 0; i < groups; i++) w->out[w->size + i] = (uint8_t)(word >> (8 * i));
    } else {
        w->full = true;
        return;
    }
    w->size += groups;
}

/* Append `bits` (up to one word) bits; `value` has no others. */
static inline void ntr_writer_word(ntr_writer *w, uint64_t value, unsigned bits) {
    w->part |= value << w->part_bits;
    w->part_bits += bits;
    unsigned groups = w->part_bits / NTR_MDO_BITS;
    if (!groups) return;
    ntr_writer_groups(w, w->part, groups);
    w->part >>= groups * NTR_MDO_BITS;
    w->part_bits -= groups * NTR_MDO_BITS;
}

/* Append the low `bits` bits of `value` (zeros above its 64). */
static inline void ntr_writer_put(ntr_writer *w, uint64_t value, unsigned bits) {
    for (; bits > NTR_WRITER_WORD && !w->full; bits -= NTR_WRITER_WORD) {
        ntr_writer_word(w, value & ((UINT64_C(1) << NTR_WRITER_WORD) - 1), NTR_WRITER_WORD);
        value >>= NTR_WRITER_WORD;
    }
    if (!w->full) ntr_writer_word(w, value & ((UINT64_C(1) << bits) - 1), bits);
}

/* End the variable field: fill its last byte. */
static inline void ntr_writer_end_field(ntr_writer *w) {
    if (w->part_bits && !w->full) ntr_writer_groups(w, w->part, 1);
    w->part = w->part_bits = 0;
    if (w->size && !w->full) w->out[w->size - 1] |= NTR_MSEO_FIELD;
}

/* End the message: its size, or NTR_E_SPACE. */
static inline int ntr_writer_end_message(ntr_writer *w) {
    ntr_writer_end_field(w);
    if (w->full) return NTR_E_SPACE;
    w->out[w->size - 1] |= NTR_MSEO_MESSAGE;
    return (int)w->size;
}

/* ---- the same into a large buffer, for messages whose fields are known to fit ------------------------------------ */

enum { NTR_QUICK_ROOM = 80 }; /* bytes: TCODE and SRC, then no field needs more than two words */

typedef struct ntr_quick_writer {
    uint8_t *at;
    uint64_t part; /* bits not yet written */
    unsigned bits; /* how many, at most 64 */
} ntr_quick_writer;

static inline void ntr_quick_put(ntr_quick_writer *w, uint64_t value, unsigned bits) {
    w->part |= value << w->bits;
    w->bits += bits;
}

/* Write the bits of the field as bytes; the last byte gets this MSEO. MSEO is added before the store, because reading a
 * byte back after a wider store is slow. */
static inline void ntr_quick_end_field(ntr_quick_writer *w, ntr_mseo mseo) {
    unsigned groups = (w->bits + NTR_MDO_BITS - 1) / NTR_MDO_BITS;
    uint64_t word = ntr_scatter_mdo(w->part), last = mseo;
    if (groups <= 8) {
        ntr_store8(w->at, word | last << (8 * (groups - 1)));
    } else {
        ntr_store8(w->at, word);
        ntr_store8(w->at + 8, ntr_scatter_mdo(w->part >> NTR_WRITER_WORD) | last << (8 * (groups - 9)));
    }
    w->at += groups;
    w->part = w->bits = 0;
}

/* ---- the same for a message of at most eight bytes: all fields are written at once --------------- */

typedef struct ntr_short_writer {
    uint64_t mdo, mseo;
    unsigned groups; /* above 8 the message is too long, and `mdo` and `mseo` are invalid */
} ntr_short_writer;

/* Append fields with `bits` (1 .. 48) bits in all; the last one ends with this MSEO. */
static inline void ntr_short_put(ntr_short_writer *w, uint64_t value, unsigned bits, ntr_mseo mseo) {
    w->mdo |= value << (w->groups * NTR_MDO_BITS & 63);
    w->groups += (bits + NTR_MDO_BITS - 1) / NTR_MDO_BITS;
    w->mseo |= (uint64_t)mseo << ((w->groups - 1) * 8 & 63);
}

static inline void ntr_short_store(const ntr_short_writer *w, uint8_t bytes[8]) {
    ntr_store8(bytes, ntr_scatter_mdo(w->mdo) | w->mseo);
}

#endif
