#include "program/symbols.h"

#include "base/allocator.h"

#include <stdlib.h>
#include <string.h>

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* By start; of several there the best comes last, because later ones are painted over earlier ones. */
static int by_address(const void *left, const void *right) {
    const ntr_name *a = left, *b = right;
    int order = ORDER(a->address, b->address);
    if (!order) order = ORDER(a->function, b->function);
    if (!order) order = ORDER(a->binding, b->binding);
    if (!order) order = ORDER(a->size, b->size);
    if (!order) order = -strcmp(a->name, b->name);
    return order;
}

int ntr_symbols_add(ntr_symbols *symbols, const ntr_allocator *allocator, const ntr_name *name) {
    if (symbols->count >= NTR_SPANS_NONE ||
        ntr_reserve(allocator, (void **)&symbols->names, &symbols->capacity, symbols->count + 1, sizeof *name))
        return -1;
    symbols->names[symbols->count++] = *name;
    return 0;
}

static uint64_t last_of(uint64_t first, uint64_t size) {
    return size - 1 > UINT64_MAX - first ? UINT64_MAX : first + size - 1;
}

/* An inner symbol starts later than the one around it, so painting in order of start makes the innermost win. */
static int paint_sized(ntr_symbols *symbols, const ntr_allocator *allocator, uint32_t index) {
    const ntr_name *name = &symbols->names[index];
    if (name->size == 0) return 0;
    return ntr_spans_paint(&symbols->maps[name->function ? NTR_NAMES_FUNCTION : NTR_NAMES_SIZED], allocator,
                           name->address, last_of(name->address, name->size), index);
}

/* Each reaches to the end of its section, until the next one is painted over it. */
static int paint_below(ntr_symbols *symbols, const ntr_allocator *allocator, uint32_t index) {
    const ntr_name *name = &symbols->names[index];
    if (name->limit < name->address) return 0;
    return ntr_spans_paint(&symbols->maps[NTR_NAMES_BELOW], allocator, name->address, name->limit, index);
}

int ntr_symbols_settle(ntr_symbols *symbols, const ntr_allocator *allocator) {
    if (symbols->count) qsort(symbols->names, symbols->count, sizeof *symbols->names, by_address);
    for (size_t i = 0; i < symbols->count; i++) {
        if (!symbols->names[i].code) continue;
        if (paint_sized(symbols, allocator, (uint32_t)i) || paint_below(symbols, allocator, (uint32_t)i)) return -1;
    }
    return 0;
}

int ntr_symbols_lay(ntr_symbols *symbols, const ntr_allocator *allocator, const ntr_name *name) {
    if (ntr_symbols_add(symbols, allocator, name)) return -1;
    return paint_sized(symbols, allocator, (uint32_t)(symbols->count - 1));
}

const ntr_name *ntr_symbols_at(const ntr_symbols *symbols, uint64_t address) {
    for (size_t i = 0; i < NTR_NAMES_MAPS; i++) {
        const ntr_span *span = ntr_spans_find(&symbols->maps[i], address);
        if (span) return &symbols->names[span->value];
    }
    return NULL;
}

static bool better(const ntr_name *a, const ntr_name *b) {
    if (a->function != b->function) return a->function;
    return a->binding > b->binding;
}

const ntr_name *ntr_symbols_named(const ntr_symbols *symbols, const char *name) {
    const ntr_name *best = NULL;
    for (size_t i = 0; i < symbols->count; i++) {
        const ntr_name *candidate = &symbols->names[i];
        if (strcmp(candidate->name, name) == 0 && (!best || better(candidate, best))) best = candidate;
    }
    return best;
}

void ntr_symbols_release(ntr_symbols *symbols, const ntr_allocator *allocator) {
    ntr_dealloc(allocator, symbols->names);
    for (size_t i = 0; i < NTR_NAMES_MAPS; i++) ntr_spans_release(&symbols->maps[i], allocator);
    *symbols = (ntr_symbols){0};
}
