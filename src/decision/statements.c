#include "decision/statements.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <stdlib.h>

static int compare(const void *a, const void *b) {
    const ntr_statement *x = a, *y = b;
    NTR_COMPARE_BY(address);
    NTR_COMPARE_BY(line);
    NTR_COMPARE_BY(column);
    return 0;
}

ntr_status ntr_statements_add(ntr_statements *s, const ntr_statement *statement) {
    if (ntr_reserve(s->allocator, (void **)&s->items, &s->capacity, s->count + 1, sizeof *s->items))
        return NTR_E_MEMORY;
    s->items[s->count++] = *statement;
    return NTR_OK;
}

void ntr_statements_sort(ntr_statements *s) {
    if (s->count) qsort(s->items, s->count, sizeof *s->items, compare);
}

void ntr_statements_release(ntr_statements *s) {
    ntr_dealloc(s->allocator, s->items);
    s->items = NULL;
    s->count = s->capacity = 0;
}

static size_t first_at(const ntr_statements *s, uint64_t address) {
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->items[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool ntr_statements_any(const ntr_statements *s, uint64_t address) {
    size_t at = first_at(s, address);
    return at < s->count && s->items[at].address == address;
}

bool ntr_statements_within(const ntr_statements *s, uint64_t address, const char *path, const ntr_extent *extent) {
    for (size_t i = first_at(s, address); i < s->count && s->items[i].address == address; i++) {
        const ntr_statement *at = &s->items[i];
        if (at->path == path && ntr_extent_has(extent, at->line, at->column)) return true;
    }
    return false;
}

bool ntr_statements_find(const ntr_statements *s, uint64_t *address, uint64_t end, const char *path,
                         const ntr_extent *extent) {
    for (size_t i = first_at(s, *address); i < s->count && s->items[i].address < end; i++) {
        const ntr_statement *at = &s->items[i];
        if (at->path != path || !ntr_extent_has(extent, at->line, at->column)) continue;
        *address = at->address;
        return true;
    }
    return false;
}
