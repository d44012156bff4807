/* Writer: bits in, message bytes out. */
#ifndef NTR_MESSAGE_WRITER_H
#define NTR_MESSAGE_WRITER_H

#include "wire/mdo.h"

#include <ntrace/status.h>
#include <stdbool.h>

typedef struct ntr_writer {
    uint8_t *out;
    size_t capacity, size;
    unsigned part;      /* bits not yet written, fewer than one MDO group */
    unsigned part_bits;
    bool full;          /* something did not fit */
} ntr_writer;

static inline void ntr_writer_init(ntr_writer *w, uint8_t *out, size_t capacity) {
    *w = (ntr_writer){.out = out, .capacity = capacity};
}

static inline void ntr_writer_byte(ntr_writer *w, unsigned mdo) {
    if (w->size < w->capacity) w->out[w->size++] = (uint8_t)(mdo << NTR_MSEO_BITS);
    else w->full = true;
}

/* Append the low `bits` bits of `value` (zeros above its 64). */
static inline void ntr_writer_put(ntr_writer *w, uint64_t value, unsigned bits) {
    while (w->part_bits + bits >= NTR_MDO_BITS && !w->full) {
        unsigned taken = NTR_MDO_BITS - w->part_bits;
        ntr_writer_byte(w, (w->part | (unsigned)value << w->part_bits) & 0x3f);
        value >>= taken;
        bits -= taken;
        w->part = w->part_bits = 0;
    }
    if (w->full) return;
    w->part |= ((unsigned)value & ((1u << bits) - 1)) << w->part_bits;
    w->part_bits += bits;
}

/* End the variable field: fill its last byte. */
static inline void ntr_writer_end_field(ntr_writer *w) {
    if (w->part_bits) ntr_writer_byte(w, w->part);
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

#endif
