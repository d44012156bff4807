/* Where two sequences of steps agree. For difference.c. */
#ifndef NTR_ANALYSIS_ALIGN_H
#define NTR_ANALYSIS_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Steps as hashes: equal steps have equal ones. */
typedef struct ntr_hashes {
    const uint64_t *hash;
    size_t count;
} ntr_hashes;

/* Finds the place in `text` at which most of the beginning of `pattern` follows; the first one of several. `z`: room
 * for pattern.count + text.count numbers. Returns how many steps are equal there; 0: nowhere. */
size_t ntr_align_longest(ntr_hashes pattern, ntr_hashes text, uint32_t *z, size_t *at);

/* Finds the i and j with the smallest sum such that `count` steps are equal from the i-th of `a` and the j-th of `b`.
 * `table`: room for ntr_align_table(b.count) numbers. Returns whether there are any. */
bool ntr_align_nearest(ntr_hashes a, ntr_hashes b, size_t count, uint32_t *table, size_t *i, size_t *j);

/* A power of two, at least 2 * count. */
size_t ntr_align_table(size_t count);

#endif
