/* Branch outcomes that wait to be walked: one pattern, as many times as told.
 *
 * The outcomes stay packed and a repeat stays a number, so memory is bounded however much history a
 * message stands for. N-Trace 1.0 sections 6.8 and 7.2; runs: docs/dialects.md section 1.2. */
#ifndef NTR_DECODER_HISTORY_H
#define NTR_DECODER_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ntr_history {
    uint64_t bits;    /* next outcome in bit 63 */
    uint64_t left;    /* outcomes in `bits` */
    uint64_t pattern; /* what `bits` is refilled with */
    uint64_t length;  /* outcomes in `pattern` */
    uint64_t repeats;   /* how many times */
} ntr_history;

/* The history of a HIST value (with stop-bit, not 0), `times` times. */
static inline ntr_history ntr_history_of(uint64_t hist, uint64_t times) {
    unsigned stop = 63u - (unsigned)__builtin_clzll(hist);
    if (stop == 0 || times == 0) return (ntr_history){0};
    uint64_t bits = hist << (64 - stop);
    return (ntr_history){bits, stop, bits, stop, times - 1};
}

/* The same outcome `times` times. */
static inline ntr_history ntr_history_run(bool taken, uint64_t times) {
    uint64_t bits = taken ? UINT64_MAX : 0;
    unsigned rest = times % 64;
    return (ntr_history){bits, rest, bits, 64, times / 64};
}

/* Have an outcome in bit 63 if there is one at all. */
static inline bool ntr_history_refill(ntr_history *history) {
    if (history->left) return true;
    if (!history->repeats) return false;
    history->repeats--;
    history->bits = history->pattern;
    history->left = history->length;
    return true;
}

static inline bool ntr_history_empty(const ntr_history *history) {
    return !history->left && !history->repeats;
}

/* Take the next outcome; there must be one in `bits`. */
static inline bool ntr_history_take(ntr_history *history) {
    bool taken = history->bits >> 63;
    history->bits <<= 1;
    history->left--;
    return taken;
}

#endif
