/* The MSEO bits of 32 bytes, one bit for each byte. All variants give the same result (tests/unit/wire). */
#ifndef NTR_WIRE_WINDOW_H
#define NTR_WIRE_WINDOW_H

#include "wire/mdo.h"

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#endif

enum { NTR_WINDOW = 32 };

typedef struct ntr_window {
    uint32_t low, high; /* bit i: the low (high) bit of byte i's MSEO */
} ntr_window;

/* Bit 0 of each byte of a word, gathered into eight bits. The multiplication adds shifted copies that do not overlap.
 */
static inline uint32_t ntr_gather_low(uint64_t word) {
    return (uint32_t)(((word & NTR_BYTES_LOW) * UINT64_C(0x0102040810204080)) >> 56);
}

static inline ntr_window ntr_window_portable(const uint8_t *bytes) {
    ntr_window window = {0, 0};
    for (unsigned i = 0; i < NTR_WINDOW; i += 8) {
        uint64_t word = ntr_load8(bytes + i);
        window.low |= ntr_gather_low(word) << i;
        window.high |= ntr_gather_low(word >> 1) << i;
    }
    return window;
}

#if defined(NTR_PORTABLE)

static inline ntr_window ntr_window_of(const uint8_t *bytes) {
    return ntr_window_portable(bytes);
}

#elif defined(__AVX2__)

/* movemask reads the top bit of each byte, so the bit is shifted there. */
static inline ntr_window ntr_window_of(const uint8_t *bytes) {
    __m256i all = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    return (ntr_window){(uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(all, 7)),
                        (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(all, 6))};
}

#elif defined(__SSE2__)

static inline uint32_t ntr_top_bits(__m128i first, __m128i second) {
    return (uint32_t)_mm_movemask_epi8(first) | (uint32_t)_mm_movemask_epi8(second) << 16;
}

/* movemask reads the top bit of each byte, so the bit is shifted there. */
static inline ntr_window ntr_window_of(const uint8_t *bytes) {
    __m128i first = _mm_loadu_si128((const __m128i *)(const void *)bytes);
    __m128i second = _mm_loadu_si128((const __m128i *)(const void *)(bytes + 16));
    return (ntr_window){ntr_top_bits(_mm_slli_epi16(first, 7), _mm_slli_epi16(second, 7)),
                        ntr_top_bits(_mm_slli_epi16(first, 6), _mm_slli_epi16(second, 6))};
}

#elif defined(__aarch64__) && defined(__ARM_NEON)

/* Each byte keeps the bit of its own position; adding neighbours three times combines eight bytes into one. */
static inline uint32_t ntr_places(uint8x16_t first, uint8x16_t second) {
    static const uint8_t place[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t mine = vld1q_u8(place);
    uint8x16_t sum = vpaddq_u8(vandq_u8(first, mine), vandq_u8(second, mine));
    sum = vpaddq_u8(sum, sum);
    sum = vpaddq_u8(sum, sum);
    return vgetq_lane_u32(vreinterpretq_u32_u8(sum), 0);
}

static inline ntr_window ntr_window_of(const uint8_t *bytes) {
    uint8x16_t first = vld1q_u8(bytes), second = vld1q_u8(bytes + 16);
    uint8x16_t low = vdupq_n_u8(1), high = vdupq_n_u8(2);
    return (ntr_window){ntr_places(vtstq_u8(first, low), vtstq_u8(second, low)),
                        ntr_places(vtstq_u8(first, high), vtstq_u8(second, high))};
}

#else

static inline ntr_window ntr_window_of(const uint8_t *bytes) {
    return ntr_window_portable(bytes);
}

#endif

#endif
