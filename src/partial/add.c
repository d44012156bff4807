/* Adding partials.
 *
 * Idea: the tables of the sum are the sorted unions of those of the inputs. The numbers of an input grow with those of
 * the sum, so the rows of each input are still sorted after their numbers were changed, and one pass merges them. Nodes
 * are in depth-first order; they are merged level by level: of the inputs whose next node is at this depth, those with
 * the lowest key are added up, then their descendants are merged. Sets of inputs are bits of a word.
 *
 * Invariant: what is written does not depend on the order and the grouping of the inputs, as sums and minima do not. */
#include "base/allocator.h"
#include "partial/partial.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct ntr_adding_input {
    ntr_partial *partial;
    uint64_t *captures, *images, *views, *functions; /* numbers in the sum */
    ntr_record next;
    bool has_next;
} ntr_adding_input;

typedef struct ntr_adding {
    const ntr_allocator *allocator;
    ntr_adding_input *inputs;
    size_t count;
    ntr_partial_tables sum;
    ntr_block_writer out;
} ntr_adding;

static inline const ntr_partial_tables *ntr_adding_tables_of(const ntr_adding *adding, size_t input) {
    return &adding->inputs[input].partial->tables;
}

static ntr_status ntr_adding_tables(ntr_adding *adding);
static void ntr_adding_rows(ntr_adding *adding);
static ntr_status ntr_adding_nodes(ntr_adding *adding);

/* Makes the error of the first partial, with two names (NULL: none). Returns NTR_E_INVALID. */
static ntr_status ntr_adding_refuse(const ntr_adding *a, const char *format, const char *name, const char *other) {
    ntr_partial_fail(a->inputs[0].partial, format, name ? name : "", other ? other : "");
    return NTR_E_INVALID;
}

static ntr_status check_inputs(ntr_adding *a) {
    const ntr_partial_tables *first = ntr_adding_tables_of(a, 0);
    for (size_t i = 0; i < a->count; i++) {
        const ntr_partial_tables *t = ntr_adding_tables_of(a, i);
        if (i && t->holds & NTR_PARTIAL_EVENTS)
            return ntr_adding_refuse(
                a,
                "%s and %s have events, whose order is known in one capture only: they cannot be added; counts of code and "
                "call trees can",
                a->inputs[0].partial->name, a->inputs[i].partial->name);
        if (t->holds != first->holds || t->split != first->split)
            return ntr_adding_refuse(
                a, "%s and %s hold different kinds of counts: write both with the same command and options",
                a->inputs[0].partial->name, a->inputs[i].partial->name);
        for (size_t k = 0; k < t->capture_count; k++)
            if (t->captures[k].shards)
                return ntr_adding_refuse(a, "%s: a part of a capture; parts must be put together first",
                                         t->captures[k].path, NULL);
    }
    return NTR_OK;
}

static ntr_status start_inputs(ntr_adding *a, ntr_partial *const *partials) {
    a->inputs = ntr_alloc(a->allocator, a->count, sizeof *a->inputs);
    if (!a->inputs) return NTR_E_MEMORY;
    for (size_t i = 0; i < a->count; i++) {
        ntr_adding_input *in = &a->inputs[i];
        const ntr_partial_tables *t = &partials[i]->tables;
        in->partial = partials[i];
        in->captures = ntr_alloc(a->allocator, t->capture_count + 1, sizeof *in->captures);
        in->images = ntr_alloc(a->allocator, t->image_count + 1, sizeof *in->images);
        in->views = ntr_alloc(a->allocator, t->view_count + 1, sizeof *in->views);
        in->functions = ntr_alloc(a->allocator, t->function_count + 1, sizeof *in->functions);
        if (!in->captures || !in->images || !in->views || !in->functions) return NTR_E_MEMORY;
    }
    const char *tool = partials[0]->tables.tool;
    for (size_t i = 1; i < a->count; i++)
        if (strcmp(partials[i]->tables.tool, tool) < 0) tool = partials[i]->tables.tool;
    for (size_t i = 0; i < a->count; i++) ntr_totals_add(&a->sum.totals, &partials[i]->tables.totals);
    a->sum.holds = partials[0]->tables.holds;
    a->sum.split = partials[0]->tables.split;
    a->sum.tool = ntr_alloc(a->allocator, strlen(tool) + 1, 1);
    if (a->sum.tool) memcpy(a->sum.tool, tool, strlen(tool));
    return a->sum.tool ? NTR_OK : NTR_E_MEMORY;
}

static void release(ntr_adding *a) {
    for (size_t i = 0; a->inputs && i < a->count; i++) {
        ntr_dealloc(a->allocator, a->inputs[i].captures);
        ntr_dealloc(a->allocator, a->inputs[i].images);
        ntr_dealloc(a->allocator, a->inputs[i].views);
        ntr_dealloc(a->allocator, a->inputs[i].functions);
    }
    ntr_dealloc(a->allocator, a->inputs);
    ntr_tables_release(&a->sum);
}

/* The first error of an input becomes that of the first partial. */
static ntr_status input_error(ntr_adding *a) {
    ntr_partial *first = a->inputs[0].partial;
    for (size_t i = 0; i < a->count; i++) {
        ntr_partial *p = a->inputs[i].partial;
        ntr_status status = p->reader.status ? p->reader.status : ntr_block_skip(&p->reader);
        if (status == NTR_OK) continue;
        ntr_partial_reader_error(p);
        if (p != first) memcpy(first->error, p->error, sizeof first->error);
        return status;
    }
    return NTR_OK;
}

static ntr_status write_sum(ntr_adding *a, const ntr_output *output) {
    ntr_block_writer_start(&a->out, output, a->allocator);
    ntr_tables_put(&a->sum, &a->out);
    ntr_status status = NTR_OK;
    if (a->sum.holds & NTR_PARTIAL_EVENTS) {
        ntr_block_writer_flush(&a->out);
        status = a->out.status ? a->out.status : ntr_partial_copy_events(a->inputs[0].partial, output);
    } else {
        ntr_adding_rows(a);
        if (a->sum.holds & NTR_PARTIAL_TREE) status = ntr_adding_nodes(a);
    }
    ntr_status failed = input_error(a);
    if (status || failed) a->out.status = status ? status : failed;
    return ntr_block_writer_finish(&a->out);
}

ntr_status ntr_partial_add(ntr_partial *const *partials, size_t count, const ntr_output *output) {
    if (!count || count > NTR_PARTIAL_INPUTS_MAX) return NTR_E_INVALID;
    ntr_adding a = {.allocator = partials[0]->allocator, .count = count, .sum.allocator = partials[0]->allocator};
    ntr_status status = start_inputs(&a, partials);
    if (status == NTR_OK) status = check_inputs(&a);
    if (status == NTR_OK) status = ntr_adding_tables(&a);
    if (status == NTR_OK) status = write_sum(&a, output);
    release(&a);
    return status;
}

/* ---- The tables of a sum: captures, images, views, functions (add.c). */

/* One element of the table of an input. */
typedef struct element {
    size_t input, index;
} element;

/* Compares elements of two tables. */
typedef int compare_elements(const ntr_partial_tables *x, size_t i, const ntr_partial_tables *y, size_t k);

/* Merges one table of all inputs: calls `take` for each element in order. */
typedef struct table_merge {
    size_t at[NTR_PARTIAL_INPUTS_MAX];
    size_t (*size)(const ntr_partial_tables *tables);
    compare_elements *compare;
    ntr_status (*take)(ntr_adding *a, const element *e, bool same); /* `same`: equal to the element before */
} table_merge;

static ntr_status merge_table(ntr_adding *a, table_merge *m) {
    element before = {0};
    bool any = false;
    for (;;) {
        element least = {SIZE_MAX, 0};
        for (size_t i = 0; i < a->count; i++) {
            if (m->at[i] == m->size(ntr_adding_tables_of(a, i))) continue;
            if (least.input == SIZE_MAX ||
                m->compare(ntr_adding_tables_of(a, i), m->at[i], ntr_adding_tables_of(a, least.input), least.index) < 0)
                least = (element){i, m->at[i]};
        }
        if (least.input == SIZE_MAX) return NTR_OK;
        m->at[least.input]++;
        const bool same = any && m->compare(ntr_adding_tables_of(a, before.input), before.index,
                                            ntr_adding_tables_of(a, least.input), least.index) == 0;
        ntr_status status = m->take(a, &least, same);
        if (status) return status;
        before = least;
        any = true;
    }
}

static ntr_first first_in_sum(const ntr_adding *a, size_t input, ntr_first first) {
    if (first.capture != UINT64_MAX) first.capture = a->inputs[input].captures[first.capture];
    return first;
}

static void keep_least(ntr_first *to, ntr_first first) {
    if (ntr_first_before(first, *to)) *to = first;
}

/* ---- captures */

static size_t capture_count(const ntr_partial_tables *t) {
    return t->capture_count;
}

static int compare_captures(const ntr_partial_tables *x, size_t i, const ntr_partial_tables *y, size_t k) {
    return ntr_capture_compare(&x->captures[i], &y->captures[k]);
}

static ntr_status take_capture(ntr_adding *a, const element *e, bool same) {
    const ntr_partial_capture *c = &ntr_adding_tables_of(a, e->input)->captures[e->index];
    ntr_partial_capture *last = a->sum.capture_count ? &a->sum.captures[a->sum.capture_count - 1] : NULL;
    const bool known = last && last->id[0] == c->id[0] && last->id[1] == c->id[1];
    if (same || known) return ntr_adding_refuse(a, "%s: the capture is given twice", c->path, NULL);
    if (!ntr_tables_capture(&a->sum, c)) return NTR_E_MEMORY;
    a->inputs[e->input].captures[e->index] = a->sum.capture_count - 1;
    return NTR_OK;
}

/* ---- images, views, functions */

static size_t image_count(const ntr_partial_tables *t) {
    return t->image_count;
}

static int compare_images(const ntr_partial_tables *x, size_t i, const ntr_partial_tables *y, size_t k) {
    return ntr_image_compare(&x->images[i], &y->images[k]);
}

static bool is_placed_before(const ntr_partial_image *a, const ntr_partial_image *b) {
    if (a->bias != b->bias) return a->bias < b->bias;
    const int order = strcmp(a->path, b->path);
    return order ? order < 0 : strcmp(a->name, b->name) < 0;
}

/* Where an image was at several places, the lowest one is kept: a choice that does not depend on the order. */
static ntr_status keep_place(ntr_adding *a, const ntr_partial_image *image) {
    ntr_partial_image *kept = &a->sum.images[a->sum.image_count - 1];
    if (!is_placed_before(image, kept)) return NTR_OK;
    if (!ntr_tables_image(&a->sum, image)) return NTR_E_MEMORY; /* a copy, which takes the place of the other */
    kept = &a->sum.images[a->sum.image_count - 2];
    const ntr_partial_image other = *kept;
    *kept = kept[1];
    kept[1] = other;
    ntr_tables_drop_image(&a->sum);
    return NTR_OK;
}

static ntr_status take_image(ntr_adding *a, const element *e, bool same) {
    const ntr_partial_image *image = &ntr_adding_tables_of(a, e->input)->images[e->index];
    ntr_status status = NTR_OK;
    if (same)
        status = keep_place(a, image);
    else if (!ntr_tables_image(&a->sum, image))
        status = NTR_E_MEMORY;
    if (status) return status;
    a->inputs[e->input].images[e->index] = a->sum.image_count - 1;
    return NTR_OK;
}

static size_t view_count(const ntr_partial_tables *t) {
    return t->view_count;
}

static int compare_views(const ntr_partial_tables *x, size_t i, const ntr_partial_tables *y, size_t k) {
    return ntr_view_compare(&x->views[i], &y->views[k]);
}

static ntr_status take_view(ntr_adding *a, const element *e, bool same) {
    ntr_partial_view view = ntr_adding_tables_of(a, e->input)->views[e->index];
    view.first = first_in_sum(a, e->input, view.first);
    if (same)
        keep_least(&a->sum.views[a->sum.view_count - 1].first, view.first);
    else if (!ntr_tables_view(&a->sum, &view))
        return NTR_E_MEMORY;
    a->inputs[e->input].views[e->index] = a->sum.view_count - 1;
    return NTR_OK;
}

static size_t function_count(const ntr_partial_tables *t) {
    return t->function_count;
}

/* The images of functions are compared by identity: their numbers are those of different tables. */
static int compare_functions(const ntr_partial_tables *x, size_t i, const ntr_partial_tables *y, size_t k) {
    ntr_partial_function f = x->functions[i], g = y->functions[k];
    const uint64_t image = f.image, other = g.image;
    f.image = g.image = 0;
    f.by_entry = g.by_entry = false;
    int order = ntr_function_compare(&f, &g);
    if (order) return order;
    if (!image || !other) return (image != 0) - (other != 0);
    order = ntr_image_compare(&x->images[image - 1], &y->images[other - 1]);
    if (order) return order;
    f.by_entry = x->functions[i].by_entry;
    g.by_entry = y->functions[k].by_entry;
    return ntr_function_compare(&f, &g);
}

static ntr_status take_function(ntr_adding *a, const element *e, bool same) {
    const ntr_adding_input *in = &a->inputs[e->input];
    ntr_partial_function f = in->partial->tables.functions[e->index];
    f.first = first_in_sum(a, e->input, f.first);
    if (f.image) f.image = in->images[f.image - 1] + 1;
    f.view = in->views[f.view];
    ntr_partial_function *last = same ? &a->sum.functions[a->sum.function_count - 1] : NULL;
    if (last && ntr_first_before(f.first, last->first)) {
        last->first = f.first;
        last->view = f.view;
        last->offset = f.offset;
    }
    if (!last && !ntr_tables_function(&a->sum, &f)) return NTR_E_MEMORY;
    in->functions[e->index] = a->sum.function_count - 1;
    return NTR_OK;
}

/* Makes the tables of the sum, and the numbers in it. Errors: NTR_E_INVALID, NTR_E_MEMORY. */
static ntr_status ntr_adding_tables(ntr_adding *a) {
    table_merge merges[] = {
        {.size = capture_count, .compare = compare_captures, .take = take_capture},
        {.size = image_count, .compare = compare_images, .take = take_image},
        {.size = view_count, .compare = compare_views, .take = take_view},
        {.size = function_count, .compare = compare_functions, .take = take_function},
    };
    ntr_status status = NTR_OK;
    for (size_t i = 0; i < sizeof merges / sizeof *merges && !status; i++) status = merge_table(a, &merges[i]);
    return status;
}

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

/* Write the sums of rows and nodes. Errors: those of the readers and the writer; NTR_E_MEMORY. */
static void ntr_adding_rows(ntr_adding *a) {
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

static ntr_status ntr_adding_nodes(ntr_adding *a) {
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
