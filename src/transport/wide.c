/* MDO of 14 or 30 bits: groups of 2 or 4 bytes, little endian, with MSEO in bits 1:0. Fields follow each other as in
 * groups of 8 bits; a variable field, and a message, ends with the group whose MSEO says so. A group of ones at the
 * start of a message is idle.
 *
 * Example, 14 bits: the group 8321 is MDO 20c8, MSEO 01. In groups of 6 bits this is MDO 08, 03, 02: the bytes 20 0c
 * 09. The last group of a field may have zero bits that groups of 6 bits would not need; they stay. */
#include "transport/transports.h"

enum { MSEO_BITS = 2, MSEO_MASK = 3, NARROW_BITS = 6, NARROW_MASK = 63 };

typedef struct wide_reader {
    ntr_transport_reader base;
    uint8_t width;   /* bytes of a group: 2 or 4 */
    uint32_t group;  /* its bytes so far */
    uint8_t bytes;   /* number of them */
    uint64_t bits;   /* of the field, not given yet */
    uint8_t count;   /* fewer than 6 between groups */
    bool inside;
} wide_reader;

typedef struct wide_writer {
    ntr_transport_writer base;
    uint8_t width;
    uint64_t bits;
    uint8_t count;
    bool inside;
} wide_writer;

static unsigned mdo_bits(unsigned width) {
    return 8 * width - MSEO_BITS;
}

/* ---- reader */

static ntr_status read_start(ntr_transport_reader *base, uint8_t width) {
    ((wide_reader *)base)->width = width;
    ((wide_reader *)base)->inside = base->options.begin == NTR_BEGIN_ANYWHERE;
    return NTR_OK;
}

static ntr_status read_start_14(ntr_transport_reader *base) {
    return read_start(base, 2);
}
static ntr_status read_start_30(ntr_transport_reader *base) {
    return read_start(base, 4);
}

static ntr_status give(wide_reader *r, unsigned mseo) {
    const uint8_t byte = (uint8_t)((r->bits & NARROW_MASK) << MSEO_BITS | mseo);
    r->bits >>= NARROW_BITS;
    r->count = r->count > NARROW_BITS ? (uint8_t)(r->count - NARROW_BITS) : 0;
    return reader_give(&r->base, 0, &byte, 1);
}

static ntr_status take_group(wide_reader *r, uint32_t group) {
    const unsigned mdo = mdo_bits(r->width), mseo = group & MSEO_MASK;
    const uint32_t idle = UINT32_MAX >> (32 - MSEO_BITS - mdo);

    if (!r->inside && group == idle) return NTR_OK;
    r->bits |= (uint64_t)(group >> MSEO_BITS) << r->count;
    r->count = (uint8_t)(r->count + mdo);
    while (r->count > NARROW_BITS || (!mseo && r->count == NARROW_BITS)) TRY(give(r, 0));
    if (mseo) TRY(give(r, mseo));
    r->inside = mseo != MSEO_MASK;
    return NTR_OK;
}

static ntr_status read_beat(ntr_transport_reader *base, unsigned beat) {
    wide_reader *r = (wide_reader *)base;
    r->group |= (uint32_t)beat << 8 * r->bytes;
    if (++r->bytes < r->width) return NTR_OK;
    const uint32_t group = r->group;
    r->group = r->bytes = 0;
    return take_group(r, group);
}

static ntr_status read_end(ntr_transport_reader *base) {
    if (((wide_reader *)base)->bytes) reader_note(base, NTR_NOTE_LOST, NTR_E_TRUNCATED, base->position, 0);
    return NTR_OK;
}

/* ---- writer */

static ntr_status write_start_14(ntr_transport_writer *base) {
    return ((wide_writer *)base)->width = 2, NTR_OK;
}
static ntr_status write_start_30(ntr_transport_writer *base) {
    return ((wide_writer *)base)->width = 4, NTR_OK;
}

static ntr_status put_group(wide_writer *w, unsigned mseo) {
    const unsigned mdo = mdo_bits(w->width);
    const uint64_t group = (w->bits & (((uint64_t)1 << mdo) - 1)) << MSEO_BITS | mseo;
    w->bits >>= mdo;
    w->count = w->count > mdo ? (uint8_t)(w->count - mdo) : 0;
    for (unsigned i = 0; i < w->width; i++) TRY(writer_give(&w->base, group >> 8 * i & 0xff));
    return NTR_OK;
}

static ntr_status write_byte(ntr_transport_writer *base, unsigned id, uint8_t byte) {
    wide_writer *w = (wide_writer *)base;
    const unsigned mdo = mdo_bits(w->width), mseo = byte & MSEO_MASK;

    (void)id;
    if (message_byte(&w->inside, byte) == BYTE_IDLE) return NTR_OK;
    w->bits |= (uint64_t)(byte >> MSEO_BITS) << w->count;
    w->count = (uint8_t)(w->count + NARROW_BITS);
    while (w->count > mdo || (!mseo && w->count == mdo)) TRY(put_group(w, 0));
    return mseo ? put_group(w, mseo) : NTR_OK;
}

static ntr_status write_idle(ntr_transport_writer *base, uint32_t count) {
    const wide_writer *w = (const wide_writer *)base;
    return w->inside ? NTR_E_STATE : writer_give_many(base, 0xff, count * w->width);
}

#define WIDE_OPS(bits)                                                                                                 \
    const transport_ops ntr_mdo##bits##_ops = {.reader_size = sizeof(wide_reader),                                     \
                                               .writer_size = sizeof(wide_writer),                                     \
                                               .read_start = read_start_##bits,                                        \
                                               .read_beat = read_beat,                                                 \
                                               .read_end = read_end,                                                   \
                                               .write_start = write_start_##bits,                                      \
                                               .write_byte = write_byte,                                               \
                                               .write_idle = write_idle}

WIDE_OPS(14);
WIDE_OPS(30);
