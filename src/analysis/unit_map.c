#include "analysis/unit_map.h"

#include "base/allocator.h"

#include <stdlib.h>

static bool is_code(const ntr_unit_map *map, uint64_t address) {
    for (size_t i = 0; i < map->section_count; i++)
        if (address >= map->sections[i].low && address < map->sections[i].high) return true;
    return map->section_count == 0;
}

static ntr_status add(const ntr_allocator *allocator, ntr_unit_range **ranges, size_t *count, size_t *capacity,
                      ntr_unit_range range) {
    if (range.low >= range.high) return NTR_OK; /* empty, or beyond the address space */
    if (ntr_reserve(allocator, (void **)ranges, capacity, *count + 1, sizeof **ranges)) return NTR_E_MEMORY;
    (*ranges)[(*count)++] = range;
    return NTR_OK;
}

/* Adjacent sections become one, so that there are few of them. */
ntr_status ntr_unit_map_add_section(ntr_unit_map *map, uint64_t low, uint64_t high) {
    ntr_unit_range *last = map->section_count ? &map->sections[map->section_count - 1] : NULL;
    if (last && low >= last->high && low - last->high < 16 && high > low) {
        last->high = high;
        return NTR_OK;
    }
    return add(map->allocator, &map->sections, &map->section_count, &map->section_capacity,
               (ntr_unit_range){low, high, NTR_UNIT_NONE});
}

ntr_status ntr_unit_map_add(ntr_unit_map *map, uint64_t low, uint64_t high, uint32_t unit) {
    if (!is_code(map, low)) return NTR_OK;
    return add(map->allocator, &map->ranges, &map->range_count, &map->range_capacity,
               (ntr_unit_range){low, high, unit});
}

static int range_compare(const void *a, const void *b) {
    const ntr_unit_range *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

/* Ranges that contain the current address, as a heap: the first unit is at the top. */
typedef struct range_heap {
    const ntr_unit_range **items;
    size_t count;
} range_heap;

static void swap(range_heap *h, size_t a, size_t b) {
    const ntr_unit_range *item = h->items[a];
    h->items[a] = h->items[b];
    h->items[b] = item;
}

static void push(range_heap *h, const ntr_unit_range *range) {
    size_t at = h->count++;
    h->items[at] = range;
    for (; at && h->items[at]->unit < h->items[(at - 1) / 2]->unit; at = (at - 1) / 2) swap(h, at, (at - 1) / 2);
}

static void pop(range_heap *h) {
    h->items[0] = h->items[--h->count];
    for (size_t at = 0, child; (child = 2 * at + 1) < h->count; at = child) {
        if (child + 1 < h->count && h->items[child + 1]->unit < h->items[child]->unit) child++;
        if (h->items[at]->unit <= h->items[child]->unit) break;
        swap(h, at, child);
    }
}

static bool are_disjoint(const ntr_unit_map *map) {
    for (size_t i = 1; i < map->range_count; i++)
        if (map->ranges[i].low < map->ranges[i - 1].high) return false;
    return true;
}

/* Goes through the addresses. At each one, the first of the units that name it has it. */
static ntr_status make_disjoint(ntr_unit_map *map, range_heap *active) {
    ntr_unit_range *made = NULL;
    size_t count = 0, capacity = 0, next = 0;
    uint64_t at = 0;
    while (next < map->range_count || active->count) {
        if (!active->count && map->ranges[next].low > at) at = map->ranges[next].low;
        while (next < map->range_count && map->ranges[next].low <= at) push(active, &map->ranges[next++]);
        while (active->count && active->items[0]->high <= at) pop(active);
        if (!active->count) continue;
        ntr_unit_range range = {at, active->items[0]->high, active->items[0]->unit};
        if (next < map->range_count && map->ranges[next].low < range.high) range.high = map->ranges[next].low;
        at = range.high;
        ntr_unit_range *last = count ? &made[count - 1] : NULL;
        if (last && last->high == range.low && last->unit == range.unit) {
            last->high = range.high;
        } else if (add(map->allocator, &made, &count, &capacity, range) != NTR_OK) {
            ntr_dealloc(map->allocator, made);
            return NTR_E_MEMORY;
        }
    }
    ntr_dealloc(map->allocator, map->ranges);
    map->ranges = made;
    map->range_count = count;
    map->range_capacity = capacity;
    return NTR_OK;
}

ntr_status ntr_unit_map_finish(ntr_unit_map *map) {
    if (map->range_count) qsort(map->ranges, map->range_count, sizeof *map->ranges, range_compare);
    if (are_disjoint(map)) return NTR_OK;
    range_heap active = {ntr_alloc(map->allocator, map->range_count, sizeof *active.items), 0};
    if (!active.items) return NTR_E_MEMORY;
    ntr_status status = make_disjoint(map, &active);
    ntr_dealloc(map->allocator, active.items);
    return status;
}

void ntr_unit_map_release(ntr_unit_map *map) {
    ntr_dealloc(map->allocator, map->ranges);
    ntr_dealloc(map->allocator, map->sections);
    *map = (ntr_unit_map){.allocator = map->allocator};
}

uint32_t ntr_unit_map_unit(const ntr_unit_map *map, uint64_t address) {
    size_t low = 0, high = map->range_count;
    while (low < high) { /* the last range that starts at or below the address */
        size_t middle = low + (high - low) / 2;
        if (map->ranges[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < map->ranges[low - 1].high ? map->ranges[low - 1].unit : NTR_UNIT_NONE;
}

bool ntr_unit_map_owns(const ntr_unit_map *map, uint32_t unit, uint64_t address) {
    const uint32_t owner = ntr_unit_map_unit(map, address);
    return owner == unit || (owner == NTR_UNIT_NONE && is_code(map, address));
}
