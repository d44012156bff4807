#include "export/ranges.h"

#include "base/allocator.h"

#include <stdlib.h>

/* Returns whether the row ends in a branch. Traps are not branches of the program. */
static bool is_branch(const ntr_tally_row *row) {
    switch ((ntr_end)row->end) {
    case NTR_END_TAKEN:
    case NTR_END_JUMP:
    case NTR_END_CALL:
    case NTR_END_INDIRECT_JUMP:
    case NTR_END_INDIRECT_CALL:
    case NTR_END_CO_SWAP:
    case NTR_END_RETURN: return !row->target_unknown;
    default: return false;
    }
}

static int compare(const void *a, const void *b) {
    const ntr_range *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

static size_t merge(ntr_range *items, size_t count) {
    size_t kept = 0;
    if (count) qsort(items, count, sizeof *items, compare);
    for (size_t i = 0; i < count; i++) {
        if (kept && compare(&items[kept - 1], &items[i]) == 0)
            items[kept - 1].count += items[i].count;
        else
            items[kept++] = items[i];
    }
    return kept;
}

static bool inside(const ntr_export *x, uint64_t address) {
    return address >= x->image.low && address < x->image.high;
}

static uint64_t linked(const ntr_export *x, uint64_t address) {
    return inside(x, address) ? address - x->image.bias : 0;
}

ntr_status ntr_ranges_make(ntr_ranges *ranges, const ntr_export *x) {
    size_t count;
    const ntr_tally_row *rows = ntr_tally_rows(x->analysis.tally, &count);
    *ranges = (ntr_ranges){.allocator = x->allocator};
    ranges->runs = ntr_alloc(x->allocator, count, sizeof *ranges->runs);
    ranges->branches = ntr_alloc(x->allocator, count, sizeof *ranges->branches);
    if (!ranges->runs || !ranges->branches) {
        ntr_ranges_release(ranges);
        return NTR_E_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        const ntr_tally_row *row = &rows[i];
        if (row->instructions && inside(x, row->address))
            ranges->runs[ranges->run_count++] = (ntr_range){linked(x, row->address), linked(x, row->last), row->count};
        if (is_branch(row) && (inside(x, row->last) || inside(x, row->target)))
            ranges->branches[ranges->branch_count++] =
                (ntr_range){linked(x, row->last), linked(x, row->target), row->count};
    }
    ranges->run_count = merge(ranges->runs, ranges->run_count);
    ranges->branch_count = merge(ranges->branches, ranges->branch_count);
    return NTR_OK;
}

void ntr_ranges_release(ntr_ranges *ranges) {
    ntr_dealloc(ranges->allocator, ranges->runs);
    ntr_dealloc(ranges->allocator, ranges->branches);
}
