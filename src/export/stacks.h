/* The calling context tree with call sites merged: a node is identified by its stack of functions. */
#ifndef NTR_EXPORT_STACKS_H
#define NTR_EXPORT_STACKS_H

#include "export/export.h"

typedef struct ntr_stack_node {
    uint32_t parent;   /* node 0 is the parent of all roots */
    uint32_t function;
    uint8_t kind;      /* ntr_frame_kind */
    uint64_t calls, self, total; /* instructions */
} ntr_stack_node;

typedef struct ntr_stacks {
    const ntr_allocator *allocator;
    ntr_stack_node *nodes; /* parents before children */
    size_t count;
} ntr_stacks;

/* Computes the merged tree. Errors: NTR_E_MEMORY. */
ntr_status ntr_stacks_make(ntr_stacks *stacks, const ntr_export *x);
void ntr_stacks_release(ntr_stacks *stacks);

/* Stores the nodes from `node` up to its root frame. Returns their number. `path` needs space for
 * NTR_CALLTREE_DEPTH_MAX + 1 elements. */
size_t ntr_stacks_path(const ntr_stacks *stacks, uint32_t node, uint32_t *path);

const char *ntr_stacks_name(const ntr_export *x, const ntr_stack_node *node);

/* ---- Call arcs: caller, call site and callee, summed over the calling context tree. */

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
