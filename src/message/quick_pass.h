/* Skips messages without decoding fields, 32 bytes at a time, by their TCODEs. */
#ifndef NTR_MESSAGE_QUICK_PASS_H
#define NTR_MESSAGE_QUICK_PASS_H

#include "message/quick.h"
#include "wire/ends.h"

#if defined(__AVX2__) && !defined(NTR_PORTABLE)

/* Which of 32 bytes are idle, one bit each. */
static inline uint32_t ntr_pass_idle(const uint8_t *bytes) {
    __m256i all = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(all, _mm256_set1_epi8((char)NTR_IDLE)));
}

/* The set as a table for byte shuffles: entry h has bit l set when TCODE 4*h + l is in the set. */
typedef struct ntr_pass_set {
    __m256i by_high;
} ntr_pass_set;

static inline ntr_pass_set ntr_pass_set_of(uint64_t tcodes) {
    uint8_t by_high[16];
    for (unsigned i = 0; i < 16; i++) by_high[i] = (uint8_t)(tcodes >> (4 * i) & 15);
    return (ntr_pass_set){_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)by_high))};
}

/* Bytes of `starts` (the caller ignores others) that do not begin with a TCODE of the set. */
static inline uint32_t ntr_pass_strange(ntr_pass_set set, const uint8_t *bytes, uint32_t starts) {
    (void)starts;
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i bits = _mm256_broadcastsi128_si256(_mm_set1_epi32(0x08040201)); /* 1 << l, by the two low bits l */
    __m256i all = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(all, 4), nibble);
    __m256i low = _mm256_and_si256(_mm256_srli_epi16(all, NTR_MSEO_BITS), _mm256_set1_epi8(3));
    __m256i in = _mm256_and_si256(_mm256_shuffle_epi8(set.by_high, high), _mm256_shuffle_epi8(bits, low));
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(in, _mm256_setzero_si256()));
}

#else

static inline uint32_t ntr_pass_idle(const uint8_t *bytes) {
    uint32_t idle = 0;
    for (unsigned i = 0; i < NTR_WINDOW; i++) idle |= (uint32_t)(bytes[i] == NTR_IDLE) << i;
    return idle;
}

typedef struct ntr_pass_set {
    uint64_t tcodes;
} ntr_pass_set;

static inline ntr_pass_set ntr_pass_set_of(uint64_t tcodes) {
    return (ntr_pass_set){tcodes};
}

static inline uint32_t ntr_pass_strange(ntr_pass_set set, const uint8_t *bytes, uint32_t starts) {
    uint32_t strange = 0;
    for (; starts; starts &= starts - 1) {
        unsigned at = (unsigned)__builtin_ctz(starts);
        strange |= (uint32_t)(~set.tcodes >> (bytes[at] >> NTR_MSEO_BITS) & 1) << at;
    }
    return strange;
}

#endif

static inline ntr_quick_progress ntr_pass(uint64_t tcodes, const uint8_t *bytes, size_t size) {
    const ntr_pass_set set = ntr_pass_set_of(tcodes);
    ntr_quick_progress p = {0};
    uint32_t starts = 1; /* the window begins with a message */
    for (size_t at = 0; size - at >= NTR_WINDOW; at += NTR_WINDOW) {
        ntr_window w = ntr_window_of(bytes + at);
        uint32_t ends = ntr_window_ends(w);
        starts |= ends << 1;
        uint32_t idle = starts & ends ? starts & ends & ntr_pass_idle(bytes + at) : 0;
        uint32_t first = starts & ~idle;
        uint32_t wrong =
            ntr_window_reserved(w) | (first & (ntr_window_no_start(w) | ntr_pass_strange(set, bytes + at, first)));
        starts = ends >> 31;
        if (wrong) {
            uint32_t good = (wrong & -wrong) - 1;
            ends &= good;
            idle &= good;
        }
        if (ends) p.at = at + NTR_WINDOW - (size_t)__builtin_clz(ends);
        p.idle += (uint64_t)__builtin_popcount(idle);
        p.messages += (uint64_t)__builtin_popcount(ends & ~idle);
        if (wrong || !ends) break;
    }
    return p;
}

#endif
