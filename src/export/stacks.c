#include "export/stacks.h"
#include "base/allocator.h"

#include <stdlib.h>

/* Lists of children: `heads` has the first child of each node, `next` the next sibling. */
typedef struct lists {
    uint32_t *heads, *next;
} lists;

/* Returns the child of `parent` with the same function and kind. It is added when there is none. */
static uint32_t child_of(ntr_stacks *s, lists *l, uint32_t parent, const ntr_call_node *node) {
    for (uint32_t at = l->heads[parent]; at; at = l->next[at])
        if (s->nodes[at].function == node->function && s->nodes[at].kind == node->kind) return at;
    uint32_t at = (uint32_t)s->count++;
    s->nodes[at] = (ntr_stack_node){.parent = parent, .function = node->function, .kind = node->kind};
    l->next[at] = l->heads[parent];
    l->heads[parent] = at;
    return at;
}

ntr_status ntr_stacks_make(ntr_stacks *s, const ntr_export *x) {
    size_t count;
    const ntr_call_node *tree = ntr_calltree_nodes(x->analysis.tree, &count);
    const ntr_allocator *a = x->allocator;
    *s = (ntr_stacks){.allocator = a, .nodes = ntr_alloc(a, count, sizeof *s->nodes), .count = 1};
    lists l = {ntr_alloc(a, count, sizeof *l.heads), ntr_alloc(a, count, sizeof *l.next)};
    uint32_t *merged = ntr_alloc(a, count, sizeof *merged); /* node of the tree to node of the stacks */
    ntr_status status = s->nodes && l.heads && l.next && merged ? NTR_OK : NTR_E_MEMORY;
    for (size_t i = 1; !status && i < count; i++) {
        uint32_t at = child_of(s, &l, merged[tree[i].parent], &tree[i]);
        merged[i] = at;
        s->nodes[at].calls += tree[i].calls;
        s->nodes[at].self += tree[i].instructions;
        s->nodes[at].total += tree[i].instructions;
    }
    for (size_t i = s->count; !status && i-- > 1;) s->nodes[s->nodes[i].parent].total += s->nodes[i].total;
    ntr_dealloc(a, merged);
    ntr_dealloc(a, l.heads);
    ntr_dealloc(a, l.next);
    if (status) ntr_stacks_release(s);
    return status;
}

void ntr_stacks_release(ntr_stacks *s) {
    ntr_dealloc(s->allocator, s->nodes);
    s->nodes = NULL;
    s->count = 0;
}

size_t ntr_stacks_path(const ntr_stacks *s, uint32_t node, uint32_t *path) {
    size_t depth = 0;
    for (; node; node = s->nodes[node].parent) path[depth++] = node;
    return depth;
}

const char *ntr_stacks_name(const ntr_export *x, const ntr_stack_node *node) {
    const ntr_function *function = ntr_functions_get(x->analysis.functions, node->function);
    return function ? function->name : "[all]";
}

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
