/* MSEO of sixteen bytes at once, as one bit a byte. Every variant gives the same answer (test_window). */
#ifndef NTR_WIRE_WINDOW_H
#define NTR_WIRE_WINDOW_H

#include "wire/mdo.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { NTR_WINDOW = 16 };

typedef struct ntr_window {
    uint32_t low, high; /* bit i: the low (high) bit of byte i's MSEO */
} ntr_window;

/* Bit 0 of each byte of a word, gathered into eight bits: no two of the shifted copies meet. */
static inline uint32_t ntr_gather_low(uint64_t word) {
    return (uint32_t)(((word & NTR_BYTES_LOW) * UINT64_C(0x0102040810204080)) >> 56);
}

static inline ntr_window ntr_window_portable(const uint8_t *bytes) {
    uint64_t first = ntr_load8(bytes), second = ntr_load8(bytes + 8);
    return (ntr_window){ntr_gather_low(first) | ntr_gather_low(second) << 8,
                        ntr_gather_low(first >> 1) | ntr_gather_low(second >> 1) << 8};
}

#if defined(__SSE2__)
/* The bit wanted is shifted to the top of its byte, where movemask looks. */
static inline ntr_window ntr_window_sse2(const uint8_t *bytes) {
    __m128i all = _mm_loadu_si128((const __m128i *)(const void *)bytes);
    return (ntr_window){(uint32_t)_mm_movemask_epi8(_mm_slli_epi16(all, 7)),
                        (uint32_t)_mm_movemask_epi8(_mm_slli_epi16(all, 6))};
}
#endif

static inline ntr_window ntr_window_of(const uint8_t *bytes) {
#if defined(__SSE2__)
    return ntr_window_sse2(bytes);
#else
    return ntr_window_portable(bytes);
#endif
}

#endif
