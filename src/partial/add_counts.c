/* The rows and nodes of a sum (add.c). */
#include "partial/add.h"

#include "base/allocator.h"

/* ---- rows */

static bool image_in_sum(const ntr_adding_input *in, uint64_t *image) {
    if (*image > in->partial->tables.image_count) return false;
    if (*image) *image = in->images[*image - 1] + 1;
    return true;
}

static void read_row(ntr_adding_input *in) {
    ntr_record *r = &in->next;
    in->has_next = ntr_block_get_fields(&in->partial->reader, NTR_BLOCK_ROWS, r, NTR_COUNTED_KEYS, NTR_COUNTED_FIELDS);
    if (!in->has_next) return;
    if (r->v[NTR_COUNTED_VIEW] >= in->partial->tables.view_count || !image_in_sum(in, &r->v[NTR_COUNTED_IMAGE]) ||
        !image_in_sum(in, &r->v[NTR_COUNTED_TARGET_IMAGE])) {
        ntr_block_reader_fail(&in->partial->reader, "is damaged: a count of code is not possible");
        in->has_next = false;
        return;
    }
    r->v[NTR_COUNTED_VIEW] = in->views[r->v[NTR_COUNTED_VIEW]];
}

static const ntr_record *least_row(const ntr_adding *a) {
    const ntr_record *least = NULL;
    for (size_t i = 0; i < a->count; i++)
        if (a->inputs[i].has_next && (!least || ntr_record_compare(&a->inputs[i].next, least, 0, NTR_COUNTED_KEYS) < 0))
            least = &a->inputs[i].next;
    return least;
}

void ntr_adding_rows(ntr_adding *a) {
    const ntr_record *least;
    for (size_t i = 0; i < a->count; i++) read_row(&a->inputs[i]);
    while ((least = least_row(a)) && !a->out.status) {
        ntr_record sum = *least;
        sum.v[NTR_COUNTED_COUNT] = sum.v[NTR_COUNTED_TICKS] = 0;
        for (size_t i = 0; i < a->count; i++) {
            ntr_adding_input *in = &a->inputs[i];
            while (in->has_next && ntr_record_compare(&in->next, &sum, 0, NTR_COUNTED_KEYS) == 0) {
                sum.v[NTR_COUNTED_COUNT] += in->next.v[NTR_COUNTED_COUNT];
                sum.v[NTR_COUNTED_TICKS] += in->next.v[NTR_COUNTED_TICKS];
                read_row(in);
            }
        }
        ntr_block_fields(&a->out, NTR_BLOCK_ROWS, &sum, NTR_COUNTED_KEYS, NTR_COUNTED_FIELDS);
    }
}

/* ---- nodes */

static void read_node(ntr_adding_input *in, uint64_t depth) {
    ntr_record *r = &in->next;
    const ntr_partial_tables *t = &in->partial->tables;
    in->has_next = ntr_block_get_fields(&in->partial->reader, NTR_BLOCK_NODES, r, NTR_NODE_KEYS, NTR_NODE_FIELDS);
    if (!in->has_next) return;
    const bool root = r->v[NTR_NODE_DEPTH] == 0;
    if (r->v[NTR_NODE_DEPTH] > depth + 1 || r->v[NTR_NODE_DEPTH] > NTR_CALLTREE_DEPTH_MAX ||
        (!root && r->v[NTR_NODE_FUNCTION] >= t->function_count) || r->v[NTR_NODE_CAPTURE] >= t->capture_count ||
        !image_in_sum(in, &r->v[NTR_NODE_SITE_IMAGE])) {
        ntr_block_reader_fail(&in->partial->reader, "is damaged: a node of the call tree is not possible");
        in->has_next = false;
        return;
    }
    if (!root) r->v[NTR_NODE_FUNCTION] = in->functions[r->v[NTR_NODE_FUNCTION]];
    r->v[NTR_NODE_CAPTURE] = in->captures[r->v[NTR_NODE_CAPTURE]];
}

static void add_node(ntr_record *sum, const ntr_record *node) {
    for (unsigned i = NTR_NODE_CALLS; i <= NTR_NODE_TICKS; i++) sum->v[i] += node->v[i];
    if (ntr_record_compare(node, sum, NTR_NODE_CAPTURE, NTR_NODE_FIELDS) >= 0) return;
    sum->v[NTR_NODE_CAPTURE] = node->v[NTR_NODE_CAPTURE];
    sum->v[NTR_NODE_ORDER] = node->v[NTR_NODE_ORDER];
}

/* Writes the sum of the lowest nodes at this depth of the inputs in `set`. Returns the inputs that had it; 0: no node
 * is left at this depth. */
static uint64_t merge_nodes(ntr_adding *a, uint64_t set, uint64_t depth) {
    const ntr_record *least = NULL;
    uint64_t had = 0;
    for (size_t i = 0; i < a->count; i++) {
        const ntr_adding_input *in = &a->inputs[i];
        if (!(set >> i & 1) || !in->has_next || in->next.v[NTR_NODE_DEPTH] != depth) continue;
        if (!least || ntr_record_compare(&in->next, least, 0, NTR_NODE_KEYS) < 0) least = &in->next;
    }
    if (!least) return 0;
    const ntr_record key = *least;
    ntr_record sum = key;
    for (unsigned i = NTR_NODE_CALLS; i <= NTR_NODE_TICKS; i++) sum.v[i] = 0;
    for (size_t i = 0; i < a->count; i++) {
        ntr_adding_input *in = &a->inputs[i];
        if (!(set >> i & 1) || !in->has_next || ntr_record_compare(&in->next, &key, 0, NTR_NODE_KEYS) != 0) continue;
        had |= UINT64_C(1) << i;
        add_node(&sum, &in->next);
        read_node(in, depth);
    }
    ntr_block_fields(&a->out, NTR_BLOCK_NODES, &sum, NTR_NODE_KEYS, NTR_NODE_FIELDS);
    return had;
}

ntr_status ntr_adding_nodes(ntr_adding *a) {
    uint64_t *sets = ntr_alloc(a->allocator, NTR_CALLTREE_DEPTH_MAX + 2, sizeof *sets); /* by depth */
    if (!sets) return NTR_E_MEMORY;
    for (size_t i = 0; i < a->count; i++) read_node(&a->inputs[i], 0);
    sets[0] = a->count == 64 ? UINT64_MAX : (UINT64_C(1) << a->count) - 1;
    for (uint64_t depth = 0; !a->out.status;) {
        const uint64_t had = merge_nodes(a, sets[depth], depth);
        if (had)
            sets[++depth] = had;
        else if (depth == 0)
            break;
        else
            depth--;
    }
    ntr_dealloc(a->allocator, sets);
    return NTR_OK;
}
