/* The tables of a sum: captures, images, views, functions (add.c). */
#include "partial/add.h"

#include "base/allocator.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
    const int order = ntr_function_compare(&f, &g);
    if (order) return order;
    if (!image || !other) return (image != 0) - (other != 0);
    return ntr_image_compare(&x->images[image - 1], &y->images[other - 1]);
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

ntr_status ntr_adding_tables(ntr_adding *a) {
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
