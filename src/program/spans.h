/* A sorted array of disjoint address ranges, each with a value.
 *
 * The map of the images and the symbol tables are built by laying ranges over each other, one by one
 * (ntr_spans_overlay) or all at once (ntr_spans_flatten). Example: [0, 9] = A, then [4, 5] = B results in [0, 3] = A,
 * [4, 5] = B, [6, 9] = A. Ranges include their last address, so that they can extend to the end of the address
 * space. */
#ifndef NTR_PROGRAM_SPANS_H
#define NTR_PROGRAM_SPANS_H

#include <ntrace/allocator.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NTR_SPANS_NONE UINT32_MAX

typedef struct ntr_span {
    uint64_t first, last;
    uint32_t value;
    uint32_t rank; /* used by ntr_spans_flatten only */
} ntr_span;

typedef struct ntr_spans {
    ntr_span *items;
    size_t count, capacity;
} ntr_spans;

/* Returns the value of a new range where the value was `below` (NTR_SPANS_NONE: no range); NTR_SPANS_NONE when out of
 * memory. */
typedef uint32_t (*ntr_spans_combine)(void *user, uint32_t below);

/* Lays [first, last] over the existing ranges. Adjacent ranges with the same value are merged. Returns 0, or -1 when
 * out of memory; nothing is changed then. */
int ntr_spans_overlay(ntr_spans *spans, const ntr_allocator *allocator, uint64_t first, uint64_t last,
                      ntr_spans_combine combine, void *user);

/* Fills empty `spans` with `count` ranges laid over each other: where they overlap the later one is visible. Sorts
 * `laid`. Returns 0, or -1 when out of memory. */
int ntr_spans_flatten(ntr_spans *spans, const ntr_allocator *allocator, ntr_span *laid, size_t count);

/* Returns the index of the first span that ends at or after `address`, or `count` when there is none. */
size_t ntr_spans_seek(const ntr_spans *spans, uint64_t address);

/* Returns the span that contains `address`, or NULL. */
const ntr_span *ntr_spans_find(const ntr_spans *spans, uint64_t address);

/* Limits [*first, *last] to the span that contains `address`, or to the free space around it. Returns whether there is
 * such a span. */
bool ntr_spans_limit(const ntr_spans *spans, uint64_t address, uint64_t *first, uint64_t *last);

void ntr_spans_release(ntr_spans *spans, const ntr_allocator *allocator);

#endif
