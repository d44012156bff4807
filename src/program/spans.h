/* A sorted array of disjoint address ranges, each with one value: who covers this address?
 *
 * Both the map of the images and the symbol tables are made by laying ranges over one another, one at a time or
 * all at once. Ranges are inclusive, so that one may reach the very last address. */
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
    uint32_t rank; /* for ntr_spans_flatten only */
} ntr_span;

typedef struct ntr_spans {
    ntr_span *items;
    size_t count, capacity;
} ntr_spans;

/* The value a range gets where `below` (or NTR_SPANS_NONE) was; NTR_SPANS_NONE when out of memory. */
typedef uint32_t (*ntr_spans_combine)(void *user, uint32_t below);

/* Lay [first, last] over what is there. Neighbours that get the same value become one.
 * 0, or -1 when out of memory (nothing changed then). */
int ntr_spans_overlay(ntr_spans *spans, const ntr_allocator *allocator, uint64_t first, uint64_t last,
                      ntr_spans_combine combine, void *user);

/* Make empty `spans` out of `count` ranges laid one over the other: where they overlap the later one wins.
 * `laid` is sorted by this. 0, or -1 when out of memory. */
int ntr_spans_flatten(ntr_spans *spans, const ntr_allocator *allocator, ntr_span *laid, size_t count);

/* Index of the first span that ends at or after `address`; `count` when there is none. */
size_t ntr_spans_seek(const ntr_spans *spans, uint64_t address);

/* The span that holds `address`, or NULL. */
const ntr_span *ntr_spans_find(const ntr_spans *spans, uint64_t address);

void ntr_spans_release(ntr_spans *spans, const ntr_allocator *allocator);

#endif
