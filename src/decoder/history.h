/* A branch history: outcomes that are not walked yet.
 *
 * Idea: the outcomes stay packed in one word, and a repeated pattern stays a number. So the memory is constant, however
 * many branches a message stands for. Invariant: the outcomes still to take are the `left` highest bits of `bits`,
 * followed by `repeats` times the `length` highest bits of `pattern`. Example: HIST 0b101 with HREPEAT 1000 is the
 * pattern "not taken, taken", length 2, repeats 999 after the first.
 *
 * N-Trace 1.0 sections 6.8 and 7.2; runs of equal outcomes: docs/dialects.md section 1.2. */
#ifndef NTR_DECODER_HISTORY_H
#define NTR_DECODER_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ntr_history {
    uint64_t bits;    /* the next outcome is bit 63 */
    uint64_t left;    /* number of outcomes in `bits` */
    uint64_t pattern; /* copied to `bits` when it is empty */
    uint64_t length;  /* number of outcomes in `pattern` */
    uint64_t repeats; /* how many times `pattern` follows */
} ntr_history;

/* Returns the history of a HIST value (with stop-bit, not 0), `times` times. */
static inline ntr_history ntr_history_of(uint64_t hist, uint64_t times) {
    unsigned stop = 63u - (unsigned)__builtin_clzll(hist);
    if (stop == 0 || times == 0) return (ntr_history){0};
    uint64_t bits = hist << (64 - stop);
    return (ntr_history){bits, stop, bits, stop, times - 1};
}

/* Returns the same outcome `times` times. */
static inline ntr_history ntr_history_run(bool taken, uint64_t times) {
    uint64_t bits = taken ? UINT64_MAX : 0;
    unsigned rest = times % 64;
    return (ntr_history){bits, rest, bits, 64, times / 64};
}

/* Move the next outcome to bit 63. Returns false when the history is empty. */
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

/* Take the next outcome. `left` must not be 0: call ntr_history_refill first. */
static inline bool ntr_history_take(ntr_history *history) {
    bool taken = history->bits >> 63;
    history->bits <<= 1;
    history->left--;
    return taken;
}

#endif
