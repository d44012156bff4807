/* Where a stream is cut for the parts that are decoded apart. */
#include <ntrace/partial.h>

#include "base/allocator.h"

#include <stdlib.h>

static int by_offset(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Returns the first offset that is not below `wanted`, or the last one. */
static uint64_t nearest(const uint64_t *offsets, size_t count, uint64_t wanted) {
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (offsets[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count ? offsets[low] : count ? offsets[count - 1] : 0;
}

ntr_status ntr_partial_cut(const ntr_index *index, uint32_t number, uint32_t count, const ntr_allocator *allocator,
                           uint64_t *begin, uint64_t *end) {
    if (!number || number > count) return NTR_E_INVALID;
    size_t points_count;
    const ntr_point *points = ntr_index_points(index, &points_count);
    uint64_t *offsets = ntr_alloc(allocator, points_count + 1, sizeof *offsets);
    if (!offsets) return NTR_E_MEMORY;
    for (size_t i = 0; i < points_count; i++) offsets[i] = points[i].offset;
    if (points_count) qsort(offsets, points_count, sizeof *offsets, by_offset);
    const uint64_t last = points_count ? offsets[points_count - 1] : 0;
    uint64_t cuts[2];
    for (unsigned k = 0; k < 2; k++) {
        const uint64_t part = number - 1 + k, wanted = last / count * part + last % count * part / count;
        cuts[k] = part == 0 ? 0 : part == count ? UINT64_MAX : nearest(offsets, points_count, wanted);
    }
    *begin = cuts[0];
    *end = cuts[1];
    ntr_dealloc(allocator, offsets);
    return NTR_OK;
}
