/* A small generator of pseudo-random numbers: the same seed, the same run, everywhere. */
#ifndef NTRACE_TESTS_PRNG_H
#define NTRACE_TESTS_PRNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Given decisions: the input of a fuzzer decides until it is used up. */
typedef struct prng_tape {
    const uint8_t *bytes;
    size_t size, at;
} prng_tape;

typedef struct prng {
    uint64_t state;
    prng_tape *tape; /* NULL: none */
} prng;

/* Two bytes of the tape, repeated in every part of the number, so that they decide any question. */
static inline uint64_t prng_given(prng_tape *tape) {
    const uint8_t *b = tape->bytes + tape->at;
    tape->at += 2;
    return (uint64_t)(b[0] | b[1] << 8) * UINT64_C(0x0001000100010001);
}

/* splitmix64 */
static inline uint64_t prng_next(prng *p) {
    if (p->tape && p->tape->size - p->tape->at >= 2) return prng_given(p->tape);
    uint64_t z = p->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A generator of its own for each purpose, so that a new decision in one does not change the others. */
static inline prng prng_fork(prng *p) {
    return (prng){prng_next(p), p->tape};
}

/* 0 .. limit - 1 */
static inline unsigned prng_below(prng *p, unsigned limit) {
    return (unsigned)((prng_next(p) >> 32) * limit >> 32);
}

/* from .. to, both included */
static inline unsigned prng_range(prng *p, unsigned from, unsigned to) {
    return from + prng_below(p, to - from + 1);
}

static inline bool prng_chance(prng *p, unsigned in_thousand) {
    return prng_below(p, 1000) < in_thousand;
}

/* One of an array's elements. */
#define PRNG_PICK(p, array) ((array)[prng_below((p), sizeof(array) / sizeof *(array))])

#endif
