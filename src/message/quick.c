/* Each message of messages.def becomes a straight line of code: the row's F, IF and OPT expand to calls that are
 * inlined with constant arguments. Where fields end is known beforehand, from the MSEO bits of a whole window, so
 * that nothing waits for anything. Whatever is not as it should be sets `odd` and is left to decode.c, which knows
 * the reasons. */
#include "message/quick.h"

#include "message/table.h"
#include "wire/window.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* fields.def as constants. */
enum {
#define NTR_FIELD(id, member, text, shape, bits, base, about) SHAPE_##id = NTR_SHAPE_##shape, BITS_##id = (bits),
#include <ntrace/fields.def>
#undef NTR_FIELD
};

typedef struct quick {
    const ntr_params *params;
    const uint8_t *bytes;
    ntr_message *message; /* NULL: nobody wants to see it */
    uint32_t ends;        /* bit i: byte i ends a field that has not been taken */
    uint32_t at;          /* first byte after the segment */
    uint64_t segment;     /* its bits that have not been taken */
    uint32_t bits;        /* how many */
    bool open;            /* there is a segment whose variable field has not been taken */
    bool odd;
    ntr_fields present;
    uint64_t value[NTR_FIELD_COUNT + 1]; /* one more for NTR_FIELD_NONE */
} quick;

typedef struct gathered {
    uint64_t bits;
    uint64_t over; /* ones above the 64 */
} gathered;

/* A segment of 9 to 16 bytes. By value: an address taken would keep all of `quick` in memory. */
static __attribute__((noinline)) gathered gather_long(const uint8_t *bytes, unsigned count) {
    if (count < 9 || count > 16) return (gathered){.over = 1};
    uint64_t rest = ntr_gather_mdo(ntr_load8(bytes + 8) << 8 * (16 - count) >> 8 * (16 - count));
    return (gathered){ntr_gather_mdo(ntr_load8(bytes)) | rest << 48, rest >> 16};
}

ALWAYS_INLINE void next_segment(quick *q) {
    q->odd |= !q->ends;
    unsigned last = (unsigned)__builtin_ctz(q->ends | 1u << 31);
    unsigned count = last + 1 - q->at;
    const uint8_t *bytes = q->bytes + q->at;
    if (UNLIKELY(count - 1 >= 8)) {
        gathered all = gather_long(bytes, count);
        q->segment = all.bits;
        q->odd |= all.over != 0;
    } else {
        unsigned unused = 64 - 8 * count;
        q->segment = ntr_gather_mdo(ntr_load8(bytes) << unused >> unused);
    }
    q->bits = NTR_MDO_BITS * count;
    q->at = last + 1;
    q->ends &= q->ends - 1;
    q->open = true;
}

ALWAYS_INLINE void keep(quick *q, unsigned field, uint64_t value, unsigned bits) {
    q->value[field] = value;
    q->present |= NTR_FIELD_BIT(field);
    if (!q->message) return;
    q->message->value[field] = value;
    q->message->width[field] = (uint16_t)bits;
}

ALWAYS_INLINE void take_fixed(quick *q, unsigned field, unsigned bits) {
    if (!q->open) next_segment(q);
    q->odd |= q->bits < bits;
    keep(q, field, q->segment & ((UINT64_C(1) << bits) - 1), bits);
    q->segment >>= bits;
    q->bits -= bits;
}

/* What rules.def forbids in any dialect is odd. */
ALWAYS_INLINE bool breaks_a_rule(const quick *q, unsigned field) {
#define SLOT(field) (NTR_FIELD_##field == NTR_FIELD_NONE ? (unsigned)NTR_FIELD_COUNT : (unsigned)NTR_FIELD_##field)
#define NTR_RULE(id, condition, when, low, high, set, defect)                                        \
    if (field == NTR_FIELD_##id && (SLOT(condition) == NTR_FIELD_COUNT || q->value[SLOT(condition)] == (when)) && \
        q->value[field] - (low) > (high) - (uint64_t)(low))                                          \
        return true;
#include "message/rules.def"
#undef NTR_RULE
#undef SLOT
    return false;
}

ALWAYS_INLINE void take(quick *q, unsigned field, unsigned shape, unsigned bits) {
    if (shape == NTR_SHAPE_FIXED) {
        take_fixed(q, field, bits);
    } else {
        if (!q->open) next_segment(q);
        q->odd |= !q->bits;
        keep(q, field, q->segment, q->bits);
        q->open = false;
    }
    q->odd |= breaks_a_rule(q, field);
}

/* Nothing of it is there, neither here nor in a byte of its own. */
ALWAYS_INLINE void leave_out(quick *q, unsigned field) {
    q->open = false;
    if (q->message) q->message->value[field] = q->message->width[field] = 0;
}

/* The rows of messages.def. */
#define F(x) take(q, NTR_FIELD_##x, SHAPE_##x, BITS_##x)
#define IF(x, c, v) (q->value[NTR_FIELD_##c] == (v) ? F(x) : (void)0)
#define OPT(x) ((q->open ? q->bits == 0 : q->ends == 0) ? leave_out(q, NTR_FIELD_##x) : F(x))

ALWAYS_INLINE void take_payload(quick *q, unsigned tcode) {
    switch (tcode) {
#define NTR_MESSAGE(id, tcode, text, set, about, ...) \
    case tcode:                                       \
        q->odd |= !(ntr_dialect_messages(q->params->dialect) & NTR_MESSAGES_##set); \
        (void)(__VA_ARGS__);                          \
        break;
#include <ntrace/messages.def>
#undef NTR_MESSAGE
    default: q->odd = true;
    }
}

ALWAYS_INLINE size_t run(const ntr_params *params, const uint8_t *bytes, ntr_message *message) {
    quick state = {.params = params, .bytes = bytes, .message = message}, *q = &state;
    ntr_window window = ntr_window_of(bytes);
    uint32_t ends = window.low & window.high;
    if (UNLIKELY(!ends)) {
        ntr_window more = ntr_window_of(bytes + NTR_WINDOW);
        window.low |= more.low << NTR_WINDOW;
        window.high |= more.high << NTR_WINDOW;
        ends = window.low & window.high;
        if (!ends) return 0;
    }
    uint32_t within = ends ^ (ends - 1); /* up to the first end */
    if (UNLIKELY(window.high & ~window.low & within)) return 0;
    q->ends = window.low & within;
    next_segment(q);
    unsigned tcode = (unsigned)q->segment & ((1u << NTR_TCODE_BITS) - 1);
    q->segment >>= NTR_TCODE_BITS;
    q->bits -= NTR_TCODE_BITS;
    if (params->src_bits) take_fixed(q, NTR_FIELD_SRC, params->src_bits);
    take_payload(q, tcode);
    if (q->ends) {
        take(q, NTR_FIELD_TSTAMP, SHAPE_TSTAMP, BITS_TSTAMP);
        q->odd |= params->timestamps == NTR_TIMESTAMPS_OFF;
    }
    if (q->odd || q->ends) return 0;
    if (message) {
        message->raw = (ntr_bytes){bytes, q->at};
        message->size = q->at;
        message->tcode = (uint8_t)tcode;
        message->defect = NTR_OK;
        message->defect_field = NTR_FIELD_NONE;
        message->present = q->present;
    }
    return q->at;
}

size_t ntr_quick_decode(const ntr_params *params, const uint8_t *bytes, ntr_message *message) {
    return run(params, bytes, message);
}

size_t ntr_quick_check(const ntr_params *params, const uint8_t *bytes) { return run(params, bytes, NULL); }
