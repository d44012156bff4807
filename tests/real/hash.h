/* Hash of a sequence of program counters: depends on each of them and on their order. */
#ifndef NTRACE_TESTS_REAL_HASH_H
#define NTRACE_TESTS_REAL_HASH_H

#include <stdint.h>

static inline uint64_t pc_hash(uint64_t hash, uint64_t pc) {
    return ((hash << 7 | hash >> 57) ^ pc) * UINT64_C(0x9e3779b97f4a7c15);
}

#endif
