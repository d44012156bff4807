#include "export/pages/flame_layout.h"

#include "base/allocator.h"

#include <stdlib.h>
#include <string.h>

/* A node with its sort key: parent, then name. */
typedef struct sibling {
    uint32_t parent, node;
    const char *name;
} sibling;

static int compare(const void *a, const void *b) {
    const sibling *x = a, *y = b;
    if (x->parent != y->parent) return x->parent < y->parent ? -1 : 1;
    int order = strcmp(x->name, y->name);
    return order ? order : x->node < y->node ? -1 : x->node > y->node;
}

/* Returns the first index in `siblings` whose parent is not less than `parent`. */
static size_t first_child(const sibling *siblings, size_t count, uint32_t parent) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (siblings[middle].parent < parent)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int by_descending_total(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Computes the minimum total of a node that gets a box. The total of a node is not less than that of its children, so
 * boxes are never separated from their parent. */
static ntr_status find_minimum(const ntr_flame *f, uint64_t parts, size_t most, uint64_t *least) {
    const ntr_stacks *s = &f->stacks;
    *least = s->nodes[0].total / parts;
    if (s->count <= most) return NTR_OK;
    uint64_t *totals = ntr_alloc(s->allocator, s->count, sizeof *totals);
    if (!totals) return NTR_E_MEMORY;
    for (size_t i = 0; i < s->count; i++) totals[i] = s->nodes[i].total;
    qsort(totals, s->count, sizeof *totals, by_descending_total);
    if (totals[most] >= *least) *least = totals[most] + 1;
    ntr_dealloc(s->allocator, totals);
    return NTR_OK;
}

/* Breadth-first layout. The array of boxes is also the queue: each box appends its children. */
static void lay_out(ntr_flame *f, const sibling *siblings, size_t count, uint64_t least) {
    const ntr_stack_node *nodes = f->stacks.nodes;
    f->boxes[f->count++] = (ntr_flame_box){0, 0, 0};
    for (size_t i = 0; i < f->count; i++) {
        uint64_t from = f->boxes[i].from;
        uint32_t parent = f->boxes[i].node, depth = f->boxes[i].depth + 1;
        for (size_t k = first_child(siblings, count, parent); k < count && siblings[k].parent == parent; k++) {
            uint64_t total = nodes[siblings[k].node].total;
            if (total && total >= least) {
                f->boxes[f->count++] = (ntr_flame_box){siblings[k].node, depth, from};
                if (depth > f->depth) f->depth = depth;
            }
            from += total;
        }
    }
}

ntr_status ntr_flame_lay_out(ntr_flame *f, const char *(*name)(const void *user, uint32_t node), const void *user,
                             uint64_t parts, size_t most) {
    const ntr_allocator *a = f->stacks.allocator;
    const size_t count = f->stacks.count - 1;
    uint64_t least;
    sibling *siblings = ntr_alloc(a, count, sizeof *siblings);
    f->boxes = ntr_alloc(a, f->stacks.count, sizeof *f->boxes);
    ntr_status status = siblings && f->boxes ? find_minimum(f, parts, most, &least) : NTR_E_MEMORY;
    if (!status) {
        for (size_t i = 0; i < count; i++) {
            const ntr_stack_node *node = &f->stacks.nodes[i + 1];
            siblings[i] = (sibling){node->parent, (uint32_t)i + 1, name(user, (uint32_t)i + 1)};
        }
        if (count) qsort(siblings, count, sizeof *siblings, compare);
        lay_out(f, siblings, count, least);
    }
    ntr_dealloc(a, siblings);
    if (status) ntr_flame_release(f);
    return status;
}

/* The user of the functions of an export's graph. */
typedef struct exported {
    const ntr_export *x;
    const ntr_stacks *stacks;
} exported;

static const char *exported_name(const void *user, uint32_t node) {
    const exported *e = user;
    return ntr_stacks_name(e->x, &e->stacks->nodes[node]);
}

ntr_status ntr_flame_make(ntr_flame *f, const ntr_export *x, uint64_t parts, size_t most) {
    *f = (ntr_flame){0};
    const exported e = {x, &f->stacks};
    ntr_status status = ntr_stacks_make(&f->stacks, x);
    return status ? status : ntr_flame_lay_out(f, exported_name, &e, parts, most);
}

void ntr_flame_release(ntr_flame *f) {
    ntr_dealloc(f->stacks.allocator, f->boxes);
    ntr_stacks_release(&f->stacks);
    *f = (ntr_flame){0};
}
