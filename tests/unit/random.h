#ifndef NTR_TEST_RANDOM_H
#define NTR_TEST_RANDOM_H

#include <stdint.h>

/* splitmix64 */
static inline uint64_t next_random(uint64_t *state) {
    uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

#endif
