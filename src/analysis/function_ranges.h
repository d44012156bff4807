/* The ranges of code whose function is known, in one context.
 *
 * Idea: sorted, disjoint ranges in leaves of bounded size, so that adding one moves few others: code that a program
 * makes while it runs is found in tens of thousands of ranges. Invariant: every leaf has at least one range, and all
 * ranges of a leaf lie below those of the next. A range that continues the one below it, of the same function
 * and at the same stream offsets, extends that one. */
#ifndef NTR_ANALYSIS_FUNCTION_RANGES_H
#define NTR_ANALYSIS_FUNCTION_RANGES_H

#include <ntrace/program.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A range of code of one function in one context. A range that was returned stays valid; it may be a part of one that
 * is returned later. */
typedef struct ntr_function_range {
    uint64_t low, high; /* addresses [low, high) */
    ntr_validity valid; /* stream offsets */
    uint32_t number;
    bool cut; /* the function begins before `low`: other code was there */
} ntr_function_range;

static inline bool ntr_function_range_holds(const ntr_function_range *range, uint64_t address, uint64_t position) {
    return address >= range->low && address < range->high && position >= range->valid.from &&
           position <= range->valid.last;
}

static inline bool ntr_function_range_begins(const ntr_function_range *range, uint64_t address) {
    return range->low == address && !range->cut;
}

#define NTR_RANGES_IN_LEAF 256

struct ntr_range_leaf;

typedef struct ntr_function_ranges {
    struct ntr_range_leaf **leaves;
    size_t count, capacity;
    const ntr_function_range *last; /* the last one found; NULL: none */
} ntr_function_ranges;

void ntr_function_ranges_free(ntr_function_ranges *ranges, const ntr_allocator *allocator);

/* Returns the range that contains `address` at a stream offset, or NULL. Then *low and *high are the ends of the free
 * space around it. A range that holds at other offsets only is removed: streams are mostly read in one direction. The
 * result is valid until the next call. */
const ntr_function_range *ntr_function_ranges_find(ntr_function_ranges *ranges, uint64_t address, uint64_t position,
                                                   uint64_t *low, uint64_t *high, const ntr_allocator *allocator);

/* Adds a range that overlaps no other. Returns the range that contains it now, or NULL when out of memory. */
const ntr_function_range *ntr_function_ranges_add(ntr_function_ranges *ranges, const ntr_function_range *range,
                                                  const ntr_allocator *allocator);

#endif
