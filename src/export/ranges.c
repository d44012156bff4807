#include "export/ranges.h"

#include "base/allocator.h"

#include <stdlib.h>
#include <string.h>

/* Returns whether the row ends in a branch. Traps are not branches of the program. */
static bool is_branch(const ntr_tally_row *row) {
    switch ((ntr_span_end)row->end) {
    case NTR_SPAN_TAKEN:
    case NTR_SPAN_JUMP:
    case NTR_SPAN_CALL:
    case NTR_SPAN_INDIRECT_JUMP:
    case NTR_SPAN_INDIRECT_CALL:
    case NTR_SPAN_CO_SWAP:
    case NTR_SPAN_RETURN: return !row->target_unknown;
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

bool ntr_export_link(const ntr_export *x, ntr_place place, uint64_t *linked) {
    ntr_image_info found;
    size_t number;
    *linked = 0;
    if (ntr_program_image_at(x->analysis.program, place, &number) != NTR_OK) return false;
    if (number == x->image_number)
        found = x->image;
    else if (!x->image.path || ntr_program_image(x->analysis.program, number, &found) != NTR_OK || !found.path ||
             strcmp(found.path, x->image.path) != 0)
        return false;
    *linked = place.address - found.bias;
    return true;
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
        ntr_place at = ntr_tally_row_place(x->analysis.tally, row, row->address);
        uint64_t from, last, target;
        const bool begins = ntr_export_link(x, at, &from);
        at.address = row->last;
        const bool ends = ntr_export_link(x, at, &last);
        if (row->instructions && begins)
            ranges->runs[ranges->run_count++] = (ntr_range){from, from + (row->last - row->address), row->count};
        if (!is_branch(row)) continue;
        at.address = row->target;
        if (ntr_export_link(x, at, &target) || ends)
            ranges->branches[ranges->branch_count++] = (ntr_range){last, target, row->count};
    }
    ranges->run_count = merge(ranges->runs, ranges->run_count);
    ranges->branch_count = merge(ranges->branches, ranges->branch_count);
    return NTR_OK;
}

void ntr_ranges_release(ntr_ranges *ranges) {
    ntr_dealloc(ranges->allocator, ranges->runs);
    ntr_dealloc(ranges->allocator, ranges->branches);
}
