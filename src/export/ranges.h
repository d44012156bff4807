/* Executed ranges and taken branches of one image, at linked addresses, computed from the tally. */
#ifndef NTR_EXPORT_RANGES_H
#define NTR_EXPORT_RANGES_H

#include "export/export.h"

typedef struct ntr_range {
    uint64_t from, to; /* first and last instruction executed, or source and target of a branch */
    uint64_t count;
} ntr_range;

typedef struct ntr_ranges {
    const ntr_allocator *allocator;
    ntr_range *runs, *branches; /* each sorted by (from, to), without duplicates */
    size_t run_count, branch_count;
} ntr_ranges;

/* Computes the ranges and branches. Sources and targets outside the image are 0. Errors: NTR_E_MEMORY. */
ntr_status ntr_ranges_make(ntr_ranges *ranges, const ntr_export *x);
void ntr_ranges_release(ntr_ranges *ranges);

/* Stores the address of a place as linked, if it is in x->image, wherever that is loaded; else 0. Returns whether it
 * is. */
bool ntr_export_link(const ntr_export *x, ntr_place place, uint64_t *linked);

#endif
