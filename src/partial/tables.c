#include "partial/tables.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <string.h>

/* ---- memory */

static char *copy_text(const ntr_allocator *allocator, const char *text) {
    const size_t size = text ? strlen(text) + 1 : 1;
    char *copy = ntr_alloc(allocator, size, 1);
    if (copy && text) memcpy(copy, text, size);
    return copy;
}

static void release_capture(ntr_partial_tables *t, ntr_partial_capture *c) {
    for (size_t i = 0; c->options && i < c->option_count; i++) ntr_dealloc(t->allocator, (void *)c->options[i]);
    ntr_dealloc(t->allocator, (void *)c->options);
    ntr_dealloc(t->allocator, (void *)c->path);
    ntr_dealloc(t->allocator, (void *)c->title);
    ntr_dealloc(t->allocator, (void *)c->begin_state);
    ntr_dealloc(t->allocator, (void *)c->end_state);
}

static void release_image(ntr_partial_tables *t, ntr_partial_image *image) {
    ntr_dealloc(t->allocator, (void *)image->identity);
    ntr_dealloc(t->allocator, (void *)image->name);
    ntr_dealloc(t->allocator, (void *)image->path);
}

static void release_function(ntr_partial_tables *t, ntr_partial_function *f) {
    ntr_dealloc(t->allocator, f->name);
    ntr_dealloc(t->allocator, f->linkage);
    ntr_dealloc(t->allocator, f->file);
}

void ntr_tables_release(ntr_partial_tables *t) {
    for (size_t i = 0; i < t->capture_count; i++) release_capture(t, &t->captures[i]);
    for (size_t i = 0; i < t->image_count; i++) release_image(t, &t->images[i]);
    for (size_t i = 0; i < t->function_count; i++) release_function(t, &t->functions[i]);
    ntr_dealloc(t->allocator, t->captures);
    ntr_dealloc(t->allocator, t->images);
    ntr_dealloc(t->allocator, t->views);
    ntr_dealloc(t->allocator, t->functions);
    ntr_dealloc(t->allocator, t->tool);
    *t = (ntr_partial_tables){.allocator = t->allocator};
}

/* Returns the room for one more element, or NULL when out of memory. */
static void *room(ntr_partial_tables *t, void **items, size_t *capacity, size_t count, size_t size) {
    if (ntr_reserve(t->allocator, items, capacity, count + 1, size)) return NULL;
    return (char *)*items + count * size;
}

static bool copy_options(ntr_partial_tables *t, ntr_partial_capture *to, const ntr_partial_capture *from) {
    char **options = ntr_alloc(t->allocator, from->option_count + 1, sizeof *options);
    bool copied = options != NULL;
    to->options = (const char *const *)options;
    to->option_count = options ? from->option_count : 0;
    for (size_t i = 0; copied && i < from->option_count; i++)
        copied = (options[i] = copy_text(t->allocator, from->options[i])) != NULL;
    return copied;
}

ntr_partial_capture *ntr_tables_capture(ntr_partial_tables *t, const ntr_partial_capture *capture) {
    ntr_partial_capture *c = room(t, (void **)&t->captures, &t->capture_capacity, t->capture_count, sizeof *c);
    if (!c) return NULL;
    *c = *capture;
    c->path = copy_text(t->allocator, capture->path);
    c->title = copy_text(t->allocator, capture->title);
    c->begin_state = copy_text(t->allocator, capture->begin_state);
    c->end_state = copy_text(t->allocator, capture->end_state);
    t->capture_count++;
    return copy_options(t, c, capture) && c->path && c->title && c->begin_state && c->end_state ? c : NULL;
}

ntr_partial_image *ntr_tables_image(ntr_partial_tables *t, const ntr_partial_image *image) {
    ntr_partial_image *i = room(t, (void **)&t->images, &t->image_capacity, t->image_count, sizeof *i);
    if (!i) return NULL;
    *i = *image;
    i->options.name = NULL;
    i->identity = copy_text(t->allocator, image->identity);
    i->name = copy_text(t->allocator, image->name);
    i->path = copy_text(t->allocator, image->path);
    t->image_count++;
    return i->identity && i->name && i->path ? i : NULL;
}

void ntr_tables_drop_image(ntr_partial_tables *t) {
    release_image(t, &t->images[--t->image_count]);
}

ntr_partial_view *ntr_tables_view(ntr_partial_tables *t, const ntr_partial_view *view) {
    ntr_partial_view *v = room(t, (void **)&t->views, &t->view_capacity, t->view_count, sizeof *v);
    if (!v) return NULL;
    *v = *view;
    t->view_count++;
    return v;
}

ntr_partial_function *ntr_tables_function(ntr_partial_tables *t, const ntr_partial_function *function) {
    ntr_partial_function *f = room(t, (void **)&t->functions, &t->function_capacity, t->function_count, sizeof *f);
    if (!f) return NULL;
    *f = *function;
    f->name = copy_text(t->allocator, function->name);
    f->linkage = copy_text(t->allocator, function->linkage);
    f->file = copy_text(t->allocator, function->file);
    t->function_count++;
    return f->name && f->linkage && f->file ? f : NULL;
}

/* ---- orders */

int ntr_record_compare(const ntr_record *a, const ntr_record *b, unsigned from, unsigned to) {
    for (unsigned i = from; i < to; i++)
        if (a->v[i] != b->v[i]) return a->v[i] < b->v[i] ? -1 : 1;
    return 0;
}

int ntr_capture_compare(const ntr_partial_capture *x, const ntr_partial_capture *y) {
    NTR_COMPARE_BY(id[0]);
    NTR_COMPARE_BY(id[1]);
    NTR_COMPARE_BY(begin);
    NTR_COMPARE_BY(end);
    return 0;
}

int ntr_image_compare(const ntr_partial_image *a, const ntr_partial_image *b) {
    return strcmp(a->identity, b->identity);
}

int ntr_view_compare(const ntr_partial_view *x, const ntr_partial_view *y) {
    NTR_COMPARE_BY(src);
    NTR_COMPARE_BY(context.has_scontext);
    NTR_COMPARE_BY(context.scontext);
    NTR_COMPARE_BY(context.has_hcontext);
    NTR_COMPARE_BY(context.hcontext);
    NTR_COMPARE_BY(context.prv);
    NTR_COMPARE_BY(context.v);
    return 0;
}

int ntr_function_compare(const ntr_partial_function *x, const ntr_partial_function *y) {
    int order = strcmp(x->name, y->name);
    if (!order) order = strcmp(x->linkage, y->linkage);
    if (!order) order = strcmp(x->file, y->file);
    if (order) return order;
    NTR_COMPARE_BY(line);
    NTR_COMPARE_BY(linked);
    NTR_COMPARE_BY(only_name);
    NTR_COMPARE_BY(image);
    NTR_COMPARE_BY(by_entry);
    if (x->by_entry) NTR_COMPARE_BY(offset);
    return 0;
}
