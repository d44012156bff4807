/* What the plugin count_pcs.c has seen of a process: a file with one of these for each virtual CPU. */
#ifndef NTRACE_TESTS_REAL_SEEN_H
#define NTRACE_TESTS_REAL_SEEN_H

#include "tests/real/hash.h"

#include <stdint.h>

enum { CPUS = 4096, TAIL = 1024 };

struct seen {
    uint64_t executes; /* 1: the CPU has executed something */
    uint64_t open;     /* 1: its last instruction is not counted, because it is not known whether it retired */
    uint64_t stored;   /* instructions that retired; the last ones are in `tail` */
    uint64_t hash;     /* of those that are no longer in `tail` */
    uint64_t tail[TAIL];
};

static inline void seen_retire(struct seen *seen, uint64_t pc) {
    uint64_t *slot = &seen->tail[seen->stored % TAIL];
    if (seen->stored++ >= TAIL) seen->hash = pc_hash(seen->hash, *slot);
    *slot = pc;
}

#endif
