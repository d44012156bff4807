/* Sorting of what was collected, and writing it in that order (write.c). */
#include "partial/write.h"

#include "analysis/sums.h"
#include "base/allocator.h"

#include <stdlib.h>
#include <string.h>

/* ---- sorting */

static int compare_images(const void *a, const void *b, void *tables) {
    const ntr_partial_tables *t = tables;
    return ntr_image_compare(&t->images[*(const uint64_t *)a], &t->images[*(const uint64_t *)b]);
}

static int compare_views(const void *a, const void *b, void *tables) {
    const ntr_partial_tables *t = tables;
    return ntr_view_compare(&t->views[*(const uint64_t *)a], &t->views[*(const uint64_t *)b]);
}

static int compare_functions(const void *a, const void *b, void *tables) {
    const ntr_partial_tables *t = tables;
    return ntr_function_compare(&t->functions[*(const uint64_t *)a], &t->functions[*(const uint64_t *)b]);
}

/* Sorts a table. Returns the new number of each element by its old one; NULL when out of memory. */
static uint64_t *sort_table(ntr_writing *w, void *items, size_t count, size_t size,
                            int (*compare)(const void *, const void *, void *)) {
    uint64_t *order = ntr_alloc(w->allocator, count + 1, sizeof *order);
    uint64_t *numbers = ntr_alloc(w->allocator, count + 1, sizeof *numbers);
    char *sorted = ntr_alloc(w->allocator, count + 1, size);
    const bool can = order && numbers && sorted;
    for (size_t i = 0; can && i < count; i++) order[i] = i;
    if (can && count) qsort_r(order, count, sizeof *order, compare, &w->tables);
    for (size_t i = 0; can && i < count; i++) {
        numbers[order[i]] = i;
        memcpy(sorted + i * size, (char *)items + order[i] * size, size);
    }
    if (can && count) memcpy(items, sorted, count * size);
    ntr_dealloc(w->allocator, order);
    ntr_dealloc(w->allocator, sorted);
    if (can) return numbers;
    ntr_dealloc(w->allocator, numbers);
    return NULL;
}

static uint64_t new_image(const ntr_writing *w, uint64_t image) {
    return image ? w->images[image - 1] + 1 : 0;
}

bool ntr_writing_sort_tables(ntr_writing *w) {
    ntr_partial_tables *t = &w->tables;
    w->images = sort_table(w, t->images, t->image_count, sizeof *t->images, compare_images);
    w->views = sort_table(w, t->views, t->view_count, sizeof *t->views, compare_views);
    for (size_t i = 0; w->images && w->views && i < t->function_count; i++) {
        t->functions[i].image = new_image(w, t->functions[i].image);
        t->functions[i].view = w->views[t->functions[i].view];
    }
    w->functions = sort_table(w, t->functions, t->function_count, sizeof *t->functions, compare_functions);
    return w->images && w->views && w->functions;
}

static int compare_rows(const void *a, const void *b) {
    return ntr_record_compare(a, b, 0, NTR_COUNTED_KEYS);
}

void ntr_writing_sort_rows(ntr_writing *w) {
    for (size_t i = 0; i < w->row_count; i++) {
        ntr_record *r = &w->rows[i];
        r->v[NTR_COUNTED_VIEW] = w->views[r->v[NTR_COUNTED_VIEW]];
        r->v[NTR_COUNTED_IMAGE] = new_image(w, r->v[NTR_COUNTED_IMAGE]);
        r->v[NTR_COUNTED_TARGET_IMAGE] = new_image(w, r->v[NTR_COUNTED_TARGET_IMAGE]);
    }
    if (w->row_count) qsort(w->rows, w->row_count, sizeof *w->rows, compare_rows);
}

/* ---- nodes in depth-first order */

static int compare_brothers(const void *a, const void *b, void *nodes) {
    const ntr_record *x = (const ntr_record *)nodes + *(const uint32_t *)a,
                     *y = (const ntr_record *)nodes + *(const uint32_t *)b;
    return ntr_record_compare(x, y, 0, NTR_NODE_KEYS); /* the first key is the parent */
}

static void put_node(const ntr_writing *w, ntr_block_writer *out, uint32_t number, uint64_t depth) {
    ntr_record r = w->nodes[number];
    r.v[NTR_NODE_DEPTH] = depth;
    if (!number) r.v[NTR_NODE_FUNCTION] = 0;
    ntr_block_fields(out, NTR_BLOCK_NODES, &r, NTR_NODE_KEYS, NTR_NODE_FIELDS);
}

/* `order`: numbers of the nodes but the root, sorted by parent and key. `begin`: where the children of a node begin in
 * it. */
static void put_tree(const ntr_writing *w, ntr_block_writer *out, const uint32_t *order, const uint32_t *begin,
                     uint32_t *path) {
    const uint32_t end = (uint32_t)w->node_count - 1;
    size_t depth = 0;
    put_node(w, out, 0, 0);
    path[0] = begin[0];
    for (uint32_t parent = 0;;) {
        const uint32_t at = path[depth];
        if (at < end && w->nodes[order[at]].v[NTR_NODE_DEPTH] == parent) {
            path[depth++]++;
            parent = order[at];
            path[depth] = begin[parent];
            put_node(w, out, parent, depth);
        } else if (depth == 0) {
            break;
        } else {
            depth--;
            parent = (uint32_t)w->nodes[parent].v[NTR_NODE_DEPTH];
        }
    }
}

bool ntr_writing_put_nodes(const ntr_writing *w, ntr_block_writer *out) {
    uint32_t *order = ntr_alloc(w->allocator, w->node_count + 1, sizeof *order);
    uint32_t *begin = ntr_alloc(w->allocator, w->node_count + 1, sizeof *begin);
    uint32_t *path = ntr_alloc(w->allocator, NTR_CALLTREE_DEPTH_MAX + 2, sizeof *path);
    const bool can = order && begin && path;
    for (uint32_t i = 1; can && i < w->node_count; i++) {
        uint64_t *v = w->nodes[i].v;
        v[NTR_NODE_FUNCTION] = w->functions[v[NTR_NODE_FUNCTION]];
        v[NTR_NODE_SITE_IMAGE] = new_image(w, v[NTR_NODE_SITE_IMAGE]);
        order[i - 1] = i;
    }
    if (can && w->node_count > 1) qsort_r(order, w->node_count - 1, sizeof *order, compare_brothers, w->nodes);
    for (uint32_t i = 0; can && i < w->node_count; i++) begin[i] = (uint32_t)w->node_count - 1;
    for (uint32_t i = (uint32_t)w->node_count - 1; can && i-- > 0;) begin[w->nodes[order[i]].v[NTR_NODE_DEPTH]] = i;
    if (can) put_tree(w, out, order, begin, path);
    ntr_dealloc(w->allocator, order);
    ntr_dealloc(w->allocator, begin);
    ntr_dealloc(w->allocator, path);
    return can;
}

/* The nodes of a part, in the order of first use, and its log. */
bool ntr_writing_put_part(const ntr_writing *w, ntr_block_writer *out) {
    for (size_t i = 0; i < w->node_count; i++) {
        ntr_record r = w->nodes[i];
        r.v[NTR_NODE_FUNCTION] = i ? w->functions[r.v[NTR_NODE_FUNCTION]] : 0;
        r.v[NTR_NODE_DEPTH] = i ? r.v[NTR_NODE_DEPTH] : 0;
        if (!i) r.v[NTR_NODE_CALLS] = w->log->unfit;
        r.v[NTR_NODE_SITE_IMAGE] = new_image(w, r.v[NTR_NODE_SITE_IMAGE]);
        ntr_block_fields(out, NTR_BLOCK_PART_NODES, &r, NTR_NODE_KEYS, NTR_NODE_CAPTURE);
    }
    for (size_t i = 0; i < w->log->count; i++) {
        ntr_record *r = &w->entries[i];
        r->v[NTR_ENTRY_VIEW] = w->views[r->v[NTR_ENTRY_VIEW]];
        r->v[NTR_ENTRY_IMAGE] = new_image(w, r->v[NTR_ENTRY_IMAGE]);
        r->v[NTR_ENTRY_TARGET_IMAGE] = new_image(w, r->v[NTR_ENTRY_TARGET_IMAGE]);
        r->v[NTR_ENTRY_STOP_IMAGE] = new_image(w, r->v[NTR_ENTRY_STOP_IMAGE]);
        ntr_block_fields(out, NTR_BLOCK_ENTRIES, r, NTR_ENTRY_FIELDS, NTR_ENTRY_FIELDS);
    }
    for (size_t i = 0; i < w->log->frame_count; i++) {
        w->frames[i].v[NTR_FRAME_IMAGE] = new_image(w, w->frames[i].v[NTR_FRAME_IMAGE]);
        ntr_block_fields(out, NTR_BLOCK_FRAMES, &w->frames[i], NTR_FRAME_FIELDS, NTR_FRAME_FIELDS);
    }
    return true;
}
