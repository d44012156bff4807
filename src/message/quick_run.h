/* The quick decoder of quick.h, inlined into the loops that use it.
 *
 * Idea: each row of messages.def becomes straight-line code. F, IF and OPT expand to inlined calls with constant
 * arguments. The ends of all fields are known beforehand from the MSEO bits of a 32-byte window, so that no field
 * waits for the one before it. Invariant: `ends` has one bit for each field that is not taken yet, and `at` is the
 * first byte behind the last field taken. On any defect the code returns false, and decode.c decodes the message again
 * to find the reason. Example: DirectBranch `0C 2B` with SRC[0]: its ends are bit 1; the first segment holds TCODE 3 in
 * bits 0..5 and I-CNT 10 in bits 6..11. */
#ifndef NTR_MESSAGE_QUICK_RUN_H
#define NTR_MESSAGE_QUICK_RUN_H

#include "message/quick.h"
#include "message/table.h"
#include "wire/ends.h"

#define NTR_INLINE      static inline __attribute__((always_inline))
#define NTR_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* fields.def as constants. */
enum {
#define NTR_FIELD(id, member, text, shape, bits, base, about)                                                          \
    NTR_SHAPE_OF_##id = NTR_SHAPE_##shape, NTR_BITS_OF_##id = (bits),
#include <ntrace/fields.def>
#undef NTR_FIELD
};

typedef struct ntr_line {
    const uint8_t *bytes;
    ntr_message *message; /* NULL: only check */
    uint32_t ends;        /* bit i: byte i ends a field that has not been taken */
    uint32_t at;          /* first byte after the last field taken */
    uint32_t size;        /* of the message */
    uint64_t word;        /* the bytes of the first segment */
    uint32_t used, bits;  /* MDO bits of the first segment: taken, all */
    bool open;            /* still in the first segment */
    ntr_fields present;
    uint64_t value[NTR_FIELD_COUNT + 1]; /* one more for NTR_FIELD_NONE */
} ntr_line;

typedef struct ntr_gathered {
    uint64_t bits;
    uint64_t over; /* not 0: set bits above the 64 */
} ntr_gathered;

/* A field of 9 to 16 bytes. It takes and returns values, because taking the address of ntr_line would keep all of it in
 * memory. */
static __attribute__((noinline)) ntr_gathered ntr_gather_long(const uint8_t *bytes, unsigned count) {
    if (count > 16) return (ntr_gathered){.over = 1};
    uint64_t rest = ntr_gather_mdo(ntr_load8(bytes + 8) << 8 * (16 - count) >> 8 * (16 - count));
    return (ntr_gathered){ntr_gather_mdo(ntr_load8(bytes)) | rest << 48, rest >> 16};
}

/* The first `count` bytes, up to 8. */
NTR_INLINE uint64_t ntr_load_some(const uint8_t *bytes, unsigned count) {
    unsigned unused = (64 - 8 * count) & 63;
    return ntr_load8(bytes) << unused >> unused;
}

NTR_INLINE void ntr_quick_keep(ntr_line *q, unsigned field, uint64_t value, unsigned bits) {
    q->value[field] = value;
    q->present |= NTR_FIELD_BIT(field);
    if (!q->message) return;
    q->message->value[field] = value;
    q->message->width[field] = (uint16_t)bits;
}

/* The following functions return false when decode.c has to decode the message. */

/* Fixed fields are in the first segment. ntr_quick_take_rest checks that they fit. */
NTR_INLINE void ntr_quick_take_fixed(ntr_line *q, unsigned field, unsigned bits) {
    uint64_t value = ntr_gather_mdo(q->word) >> q->used & ((UINT64_C(1) << bits) - 1);
    ntr_quick_keep(q, field, value, bits);
    q->used += bits;
}

/* The variable field of the first segment: the bits that the fixed fields leave. */
NTR_INLINE bool ntr_quick_take_rest(ntr_line *q, unsigned field) {
    if (NTR_UNLIKELY(q->used >= q->bits)) return false;
    ntr_quick_keep(q, field, ntr_gather_mdo(q->word) >> q->used, q->bits - q->used);
    q->open = false;
    return true;
}

/* A variable field that shares no byte with another. */
NTR_INLINE bool ntr_quick_take_next(ntr_line *q, unsigned field) {
    if (NTR_UNLIKELY(!q->ends)) return false;
    const uint8_t *bytes = q->bytes + q->at;
    unsigned last = (unsigned)__builtin_ctz(q->ends), count = last + 1 - q->at;
    q->at = last + 1;
    q->ends &= q->ends - 1;
    if (NTR_UNLIKELY(count > 8)) {
        ntr_gathered all = ntr_gather_long(bytes, count);
        ntr_quick_keep(q, field, all.bits, NTR_MDO_BITS * count);
        return all.over == 0;
    }
    ntr_quick_keep(q, field, ntr_gather_mdo(ntr_load_some(bytes, count)), NTR_MDO_BITS * count);
    return true;
}

/* Check the rules of all dialects at once; decode.c checks those of the stream's dialect. */
NTR_INLINE bool ntr_quick_keeps_rules(const ntr_line *q, unsigned field) {
#define SLOT(field) (NTR_FIELD_##field == NTR_FIELD_NONE ? (unsigned)NTR_FIELD_COUNT : (unsigned)NTR_FIELD_##field)
#define NTR_RULE(id, condition, when, low, high, set, defect)                                                          \
    if (field == NTR_FIELD_##id && (SLOT(condition) == NTR_FIELD_COUNT || q->value[SLOT(condition)] == (when)) &&      \
        NTR_UNLIKELY(q->value[field] - (low) > (high) - (uint64_t)(low)))                                              \
        return false;
#include "message/rules.def"
#undef NTR_RULE
#undef SLOT
    return true;
}

NTR_INLINE bool ntr_quick_take(ntr_line *q, unsigned field, unsigned shape, unsigned bits) {
    if (shape == NTR_SHAPE_MORE) return true; /* longer fields are refused */
    if (shape == NTR_SHAPE_FIXED)
        ntr_quick_take_fixed(q, field, bits);
    else if (!(q->open ? ntr_quick_take_rest(q, field) : ntr_quick_take_next(q, field)))
        return false;
    return ntr_quick_keeps_rules(q, field);
}

/* An optional field that is left out reads 0. */
NTR_INLINE bool ntr_quick_leave_out(ntr_line *q, unsigned field) {
    q->open = false;
    if (q->message) q->message->value[field] = q->message->width[field] = 0;
    return true;
}

/* The rows of messages.def. An entry that fails returns from the function. */
#define TAKE(x) ntr_quick_take(q, NTR_FIELD_##x, NTR_SHAPE_OF_##x, NTR_BITS_OF_##x)
#define OR_RETURN(entry)                                                                                               \
    __extension__({                                                                                                    \
        if (!(entry)) return false;                                                                                    \
    })
#define F(x)        OR_RETURN(TAKE(x))
#define IF(x, c, v) OR_RETURN(q->value[NTR_FIELD_##c] != (v) || TAKE(x))
#define OPT(x)                                                                                                         \
    OR_RETURN((q->open ? q->used == q->bits : q->ends == 0) ? ntr_quick_leave_out(q, NTR_FIELD_##x) : TAKE(x))

NTR_INLINE void ntr_quick_source(ntr_line *q, unsigned src_bits) {
    ntr_quick_take_fixed(q, NTR_FIELD_SRC, src_bits);
    q->present = src_bits ? NTR_FIELD_BIT(NTR_FIELD_SRC) : 0;
}

/* SRC is taken in each case, so that the compiler sees which cases read the first segment. */
NTR_INLINE bool ntr_quick_payload(ntr_line *q, unsigned tcode, unsigned src_bits, unsigned known) {
    switch (tcode) {
#define NTR_MESSAGE(id, tcode, text, set, role, flags, about, ...)                                                     \
    case tcode:                                                                                                        \
        if (!(known & NTR_MESSAGES_##set)) return false;                                                               \
        ntr_quick_source(q, src_bits);                                                                                 \
        __VA_ARGS__;                                                                                                   \
        return true;
#define NTR_MESSAGE_ALSO(...) /* decoded by decode.c */
#include <ntrace/messages.def>
#undef NTR_MESSAGE
#undef NTR_MESSAGE_ALSO
    default: return false;
    }
}

#undef TAKE
#undef OR_RETURN
#undef F
#undef IF
#undef OPT

/* Find the ends of the fields and load the first segment. `window` begins with the message. */
NTR_INLINE bool ntr_quick_frame(ntr_line *q, ntr_window window) {
    uint32_t ends = ntr_window_ends(window);
    if (NTR_UNLIKELY(!ends)) return false;
    uint32_t within = ends ^ (ends - 1); /* up to the first end */
    q->size = (uint32_t)__builtin_ctz(ends) + 1; /* early, because the next message depends only on this */
    if (NTR_UNLIKELY(ntr_window_reserved(window) & within)) return false;
    q->ends = ntr_window_field_ends(window) & within;
    q->at = (uint32_t)__builtin_ctz(q->ends) + 1;
    q->ends &= q->ends - 1;
    q->word = ntr_load_some(q->bytes, q->at);
    q->bits = NTR_MDO_BITS * q->at;
    q->open = true;
    return q->at <= 8;
}

/* `known`: the dialect's set of messages. */
NTR_INLINE size_t ntr_quick_run(const ntr_params *params, unsigned known, const uint8_t *bytes, ntr_window window,
                                ntr_message *message) {
    ntr_line state = {.bytes = bytes, .message = message}, *q = &state;
    unsigned tcode = bytes[0] >> NTR_MSEO_BITS;
    if (!ntr_quick_frame(q, window)) return 0;
    q->used = NTR_TCODE_BITS;
    if (!ntr_quick_payload(q, tcode, params->src_bits, known)) return 0;
    if (q->ends) {
        if (params->timestamps == NTR_TIMESTAMPS_OFF || params->ts_fixed) return 0;
        if (!ntr_quick_take_next(q, NTR_FIELD_TSTAMP) || q->ends) return 0;
    }
    if (message) {
        message->raw = (ntr_bytes){bytes, q->size};
        message->size = q->size;
        message->tcode = (uint8_t)tcode;
        message->defect = NTR_OK;
        message->defect_field = NTR_FIELD_NONE;
        message->present = q->present;
    }
    return q->size;
}

#endif
