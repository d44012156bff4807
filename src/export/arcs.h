/* Who called whom from where: the arcs of the calling context tree, added up. */
#ifndef NTR_EXPORT_ARCS_H
#define NTR_EXPORT_ARCS_H

#include "export/export.h"

typedef struct ntr_arc {
    uint32_t caller, callee; /* functions; caller UINT32_MAX: from nowhere known */
    uint64_t site;           /* address of the call */
    uint64_t calls;
    uint64_t inclusive;      /* instructions in the callee and below, recursion counted once */
} ntr_arc;

typedef struct ntr_arcs {
    const ntr_allocator *allocator;
    ntr_arc *items; /* sorted by (caller, callee, site) */
    size_t count;
} ntr_arcs;

/* Errors: NTR_E_MEMORY. */
ntr_status ntr_arcs_make(ntr_arcs *arcs, const ntr_export *x);
void ntr_arcs_release(ntr_arcs *arcs);

#endif
