/* One variant of the quick decoder: include this after defining NTR_VARIANT (the ntr_quick it becomes) and
 * NTR_VARIANT_NAME, in a file compiled for the instructions it may use. */
#include "message/quick_pass.h"
#include "message/quick_run.h"

static size_t decode(const ntr_params *params, const uint8_t *bytes, ntr_message *message) {
    unsigned known = ntr_dialect_messages(params->dialect);
    return ntr_quick_run(params, known, bytes, ntr_window_of(bytes), message);
}

/* MSEO bits of 64 bytes of the stream; the current message begins in the first 32. A message then depends on the one
 * before it by two shifts, not by a load from memory. */
typedef struct mseo_view {
    const uint8_t *bytes;
    uint64_t low, high;
    unsigned at; /* index of the current message; from 32 on the view must move */
} mseo_view;

NTR_INLINE mseo_view look(const uint8_t *bytes) {
    ntr_window first = ntr_window_of(bytes), second = ntr_window_of(bytes + NTR_WINDOW);
    return (mseo_view){bytes, first.low | (uint64_t)second.low << 32, first.high | (uint64_t)second.high << 32, 0};
}

NTR_INLINE void move_on(mseo_view *v) {
    v->bytes += NTR_WINDOW;
    v->at -= NTR_WINDOW;
    ntr_window second = ntr_window_of(v->bytes + NTR_WINDOW);
    v->low = v->low >> 32 | (uint64_t)second.low << 32;
    v->high = v->high >> 32 | (uint64_t)second.high << 32;
}

static ntr_quick_progress check(const ntr_params *params, const uint8_t *bytes, size_t size, ntr_message_mix *mix) {
    enum { NEEDED = NTR_WINDOW + NTR_QUICK_READABLE };
    const ntr_params own = *params; /* a copy, so that the compiler may keep it in registers */
    unsigned known = ntr_dialect_messages(own.dialect);
    ntr_quick_progress p = {0};
    if (size < NEEDED) return p;
    mseo_view v = look(bytes);
    for (;;) {
        if (v.at >= NTR_WINDOW) {
            if ((size_t)(bytes + size - v.bytes) < NEEDED + NTR_WINDOW) break;
            move_on(&v);
        }
        const uint8_t *here = v.bytes + v.at;
        if (NTR_UNLIKELY(*here == NTR_IDLE)) {
            p.idle++;
            v.at++;
            continue;
        }
        ntr_window window = {(uint32_t)(v.low >> v.at), (uint32_t)(v.high >> v.at)};
        size_t length = ntr_quick_run(&own, known, here, window, NULL);
        if (!length) break;
        unsigned tcode = *here >> NTR_MSEO_BITS;
        mix->messages[tcode]++;
        mix->bytes[tcode] += length;
        p.messages++;
        v.at += (unsigned)length;
    }
    p.at = (size_t)(v.bytes - bytes) + v.at;
    return p;
}

static ntr_quick_progress pass(uint64_t tcodes, const uint8_t *bytes, size_t size) {
    return ntr_pass(tcodes, bytes, size);
}

const ntr_quick NTR_VARIANT = {NTR_VARIANT_NAME, decode, check, pass};
