#include "decision/builder.h"
#include "base/allocator.h"
#include "base/macros.h"

#include <stdlib.h>
#include <string.h>

static int compare_entries(const void *a, const void *b) {
    const ntr_extent_entry *x = a, *y = b;
    NTR_COMPARE_BY(extent.line);
    NTR_COMPARE_BY(extent.column);
    if (x->extent.end_line != y->extent.end_line) return x->extent.end_line > y->extent.end_line ? -1 : 1;
    if (x->extent.end_column != y->extent.end_column) return x->extent.end_column > y->extent.end_column ? -1 : 1;
    NTR_COMPARE_BY(whole);
    NTR_COMPARE_BY(record);
    return 0;
}

static bool contains(const ntr_extent *outer, const ntr_extent *inner) {
    return outer->end_line > inner->end_line ||
           (outer->end_line == inner->end_line && outer->end_column >= inner->end_column);
}

/* Entries are sorted so that the ones around an entry come before it. */
static void link_parents(ntr_extents *e, size_t first, size_t count) {
    for (size_t i = first; i < first + count; i++) {
        size_t parent = i > first ? i : 0; /* + 1: the entry before */
        while (parent && !contains(&e->items[parent - 1].extent, &e->items[i].extent))
            parent = e->items[parent - 1].parent;
        e->items[i].parent = (uint32_t)parent;
    }
}

static ntr_status add(ntr_extents *e, const ntr_extent *extent, size_t record, bool whole) {
    if (!extent->line) return NTR_OK;
    if (ntr_reserve(e->allocator, (void **)&e->items, &e->capacity, e->count + 1, sizeof *e->items))
        return NTR_E_MEMORY;
    e->items[e->count++] = (ntr_extent_entry){*extent, (uint32_t)record, 0, whole};
    return NTR_OK;
}

static ntr_status add_file(ntr_extents *e, const ntr_extent_file *file) {
    if (ntr_reserve(e->allocator, (void **)&e->files, &e->file_capacity, e->file_count + 1, sizeof *e->files))
        return NTR_E_MEMORY;
    e->files[e->file_count++] = *file;
    return NTR_OK;
}

static ntr_status finish_file(ntr_extents *e, const char *path, size_t first) {
    qsort(e->items + first, e->count - first, sizeof *e->items, compare_entries);
    size_t kept = first;
    for (size_t i = first; i < e->count; i++)
        if (kept == first || !ntr_extent_equal(&e->items[kept - 1].extent, &e->items[i].extent))
            e->items[kept++] = e->items[i];
    e->count = kept;
    link_parents(e, first, e->count - first);
    return add_file(e, &(ntr_extent_file){path, first, e->count - first, false});
}

ntr_status ntr_extents_make(ntr_extents *e, const ntr_decisions *d) {
    for (size_t i = 0, next; i < d->count; i = next) {
        size_t first = e->count;
        ntr_status status = NTR_OK;
        const ntr_decision_record *r = d->records[i];
        if (r->group != r->path && !(i && d->records[i - 1]->path == r->path))
            status = add_file(e, &(ntr_extent_file){r->path, first, 0, true});
        for (next = i; !status && next < d->count && d->records[next]->group == r->group; next++) {
            status = add(e, &d->records[next]->extent, next, false);
            if (!status) status = add(e, &d->records[next]->point, next, false);
            if (!status) status = add(e, &d->records[next]->body_end, next, false);
            if (!status) status = add(e, &d->records[next]->whole, next, true);
        }
        if (!status) status = finish_file(e, r->group, first);
        if (status) return status;
    }
    return NTR_OK;
}

void ntr_extents_release(ntr_extents *e) {
    ntr_dealloc(e->allocator, e->items);
    ntr_dealloc(e->allocator, e->files);
}

const ntr_extent_file *ntr_extents_file(const ntr_extents *e, const char *path) {
    for (size_t low = 0, high = e->file_count; low < high;) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(e->files[middle].path, path);
        if (order == 0) return &e->files[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const ntr_extent_entry *ntr_extents_at(const ntr_extents *e, const ntr_extent_file *file, uint32_t line,
                                       uint32_t column) {
    size_t low = file->first, high = file->first + file->count;
    while (low < high) { /* the last entry that begins at or before the place */
        size_t middle = low + (high - low) / 2;
        const ntr_extent *extent = &e->items[middle].extent;
        if (extent->line < line || (extent->line == line && extent->column <= column))
            low = middle + 1;
        else
            high = middle;
    }
    size_t at = low > file->first ? low : 0;
    while (at && !ntr_extent_has(&e->items[at - 1].extent, line, column)) at = e->items[at - 1].parent;
    return at ? &e->items[at - 1] : NULL;
}

uint32_t ntr_extents_root(const ntr_extents *e, const ntr_extent_entry *entry, bool whole) {
    const ntr_extent_entry *root = entry;
    for (; entry->parent; entry = &e->items[entry->parent - 1])
        if (whole || !entry->whole) root = entry;
    if (whole || !entry->whole) root = entry;
    return (uint32_t)(root - e->items);
}
