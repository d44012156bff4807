#include "analysis/function_ranges.h"

#include "base/allocator.h"

#include <string.h>

struct ntr_range_leaf {
    size_t count;
    ntr_function_range ranges[NTR_RANGES_IN_LEAF];
};

void ntr_function_ranges_free(ntr_function_ranges *r, const ntr_allocator *allocator) {
    for (size_t i = 0; i < r->count; i++) ntr_dealloc(allocator, r->leaves[i]);
    ntr_dealloc(allocator, r->leaves);
}

/* Returns the number of leaves that begin at or below `address`. */
static size_t leaves_below(const ntr_function_ranges *r, uint64_t address) {
    size_t low = 0, high = r->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (r->leaves[middle]->ranges[0].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the number of ranges of the leaf that begin at or below `address`. */
static size_t ranges_below(const struct ntr_range_leaf *leaf, uint64_t address) {
    size_t low = 0, high = leaf->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (leaf->ranges[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Removes range number `place` of a leaf. */
static void drop(ntr_function_ranges *r, size_t leaf_place, size_t place, const ntr_allocator *allocator) {
    struct ntr_range_leaf *leaf = r->leaves[leaf_place];
    r->last = NULL;
    leaf->count--;
    memmove(&leaf->ranges[place], &leaf->ranges[place + 1], (leaf->count - place) * sizeof *leaf->ranges);
    if (leaf->count) return;
    ntr_dealloc(allocator, leaf);
    r->count--;
    memmove(&r->leaves[leaf_place], &r->leaves[leaf_place + 1],
            (r->count - leaf_place) * sizeof(struct ntr_range_leaf *));
}

const ntr_function_range *ntr_function_ranges_find(ntr_function_ranges *r, uint64_t address, uint64_t position,
                                                   uint64_t *low, uint64_t *high, const ntr_allocator *allocator) {
    if (r->last && ntr_function_range_holds(r->last, address, position)) return r->last;
    *low = 0;
    *high = UINT64_MAX;
    const size_t next_leaf = leaves_below(r, address);
    if (next_leaf < r->count) *high = r->leaves[next_leaf]->ranges[0].low;
    if (next_leaf == 0) return NULL;
    const struct ntr_range_leaf *leaf = r->leaves[next_leaf - 1];
    const size_t next = ranges_below(leaf, address); /* at least 1 */
    if (next < leaf->count) *high = leaf->ranges[next].low;
    const ntr_function_range *below = &leaf->ranges[next - 1];
    *low = below->high;
    if (address >= below->high) return NULL;
    if (ntr_function_range_holds(below, address, position)) return r->last = below;
    drop(r, next_leaf - 1, next - 1, allocator);
    return ntr_function_ranges_find(r, address, position, low, high, allocator);
}

static struct ntr_range_leaf *insert_leaf(ntr_function_ranges *r, size_t place, const ntr_allocator *allocator) {
    struct ntr_range_leaf *leaf = ntr_alloc(allocator, 1, sizeof *leaf);
    if (!leaf ||
        ntr_reserve(allocator, (void **)&r->leaves, &r->capacity, r->count + 1, sizeof(struct ntr_range_leaf *))) {
        ntr_dealloc(allocator, leaf);
        return NULL;
    }
    memmove(&r->leaves[place + 1], &r->leaves[place], (r->count - place) * sizeof(struct ntr_range_leaf *));
    r->leaves[place] = leaf;
    r->count++;
    return leaf;
}

/* Moves the upper half of a full leaf to a new one. Returns false when out of memory. */
static bool split(ntr_function_ranges *r, size_t place, const ntr_allocator *allocator) {
    enum { HALF = NTR_RANGES_IN_LEAF / 2 };
    struct ntr_range_leaf *upper = insert_leaf(r, place + 1, allocator), *lower = r->leaves[place];
    if (!upper) return false;
    memcpy(upper->ranges, &lower->ranges[HALF], (NTR_RANGES_IN_LEAF - HALF) * sizeof *upper->ranges);
    upper->count = NTR_RANGES_IN_LEAF - HALF;
    lower->count = HALF;
    return true;
}

const ntr_function_range *ntr_function_ranges_add(ntr_function_ranges *r, const ntr_function_range *range,
                                                  const ntr_allocator *allocator) {
    size_t below = leaves_below(r, range->low);
    r->last = NULL;
    if (r->count == 0 && !insert_leaf(r, 0, allocator)) return NULL;
    if (below) below--;
    if (r->leaves[below]->count == NTR_RANGES_IN_LEAF) {
        if (!split(r, below, allocator)) return NULL;
        if (range->low >= r->leaves[below + 1]->ranges[0].low) below++;
    }
    struct ntr_range_leaf *leaf = r->leaves[below];
    if (!leaf) return NULL;
    const size_t place = ranges_below(leaf, range->low);
    ntr_function_range *lower = place ? &leaf->ranges[place - 1] : NULL;
    if (lower && lower->high == range->low && lower->number == range->number &&
        lower->valid.from == range->valid.from && lower->valid.last == range->valid.last) {
        lower->high = range->high;
        return lower;
    }
    memmove(&leaf->ranges[place + 1], &leaf->ranges[place], (leaf->count - place) * sizeof *leaf->ranges);
    leaf->ranges[place] = *range;
    leaf->count++;
    return &leaf->ranges[place];
}
