#include "export/arcs.h"

#include "base/allocator.h"

#include <stdlib.h>

static int compare(const void *a, const void *b) {
    const ntr_arc *x = a, *y = b;
    if (x->caller != y->caller) return x->caller < y->caller ? -1 : 1;
    if (x->callee != y->callee) return x->callee < y->callee ? -1 : 1;
    return x->site < y->site ? -1 : x->site > y->site;
}

/* Returns whether an ancestor is the same arc. The inclusive cost of that ancestor then includes this one. */
static bool repeats_above(const ntr_call_node *nodes, const ntr_call_node *node) {
    uint32_t caller = nodes[node->parent].function;
    for (uint32_t at = node->parent; at != NTR_CALLTREE_ROOT; at = nodes[at].parent)
        if (nodes[at].function == node->function && nodes[at].site == node->site &&
            nodes[nodes[at].parent].function == caller)
            return true;
    return false;
}

ntr_status ntr_arcs_make(ntr_arcs *arcs, const ntr_export *x) {
    size_t count, kept = 0;
    const ntr_call_node *nodes = ntr_calltree_nodes(x->analysis.tree, &count);
    *arcs = (ntr_arcs){.allocator = x->allocator, .items = ntr_alloc(x->allocator, count, sizeof *arcs->items)};
    if (!arcs->items) return NTR_E_MEMORY;
    for (size_t i = 1; i < count; i++)
        arcs->items[arcs->count++] = (ntr_arc){
            .caller = nodes[nodes[i].parent].function,
            .callee = nodes[i].function,
            .site = nodes[i].site,
            .calls = nodes[i].calls,
            .inclusive = repeats_above(nodes, &nodes[i]) ? 0 : nodes[i].total_instructions,
        };
    if (arcs->count) qsort(arcs->items, arcs->count, sizeof *arcs->items, compare);
    for (size_t i = 0; i < arcs->count; i++) {
        if (kept && compare(&arcs->items[kept - 1], &arcs->items[i]) == 0) {
            arcs->items[kept - 1].calls += arcs->items[i].calls;
            arcs->items[kept - 1].inclusive += arcs->items[i].inclusive;
        } else {
            arcs->items[kept++] = arcs->items[i];
        }
    }
    arcs->count = kept;
    return NTR_OK;
}

void ntr_arcs_release(ntr_arcs *arcs) {
    ntr_dealloc(arcs->allocator, arcs->items);
    arcs->items = NULL;
    arcs->count = 0;
}
