/* Call arcs: caller, call site and callee, summed over the calling context tree. */
#ifndef NTR_EXPORT_ARCS_H
#define NTR_EXPORT_ARCS_H

#include "export/export.h"

typedef struct ntr_arc {
    uint32_t caller, callee; /* functions; caller UINT32_MAX: not known */
    uint64_t site;           /* address of the call */
    uint64_t calls;
    uint64_t inclusive;      /* instructions in the callee and below; nested recursive calls are counted once */
} ntr_arc;

typedef struct ntr_arcs {
    const ntr_allocator *allocator;
    ntr_arc *items; /* sorted by (caller, callee, site) */
    size_t count;
} ntr_arcs;

/* Computes the arcs of the export's tree. Errors: NTR_E_MEMORY. */
ntr_status ntr_arcs_make(ntr_arcs *arcs, const ntr_export *x);
void ntr_arcs_release(ntr_arcs *arcs);

#endif
