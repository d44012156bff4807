#include "program/symbols.h"

#include "base/allocator.h"
#include "base/compare.h"
#include "base/name.h"

#include <stdlib.h>
#include <string.h>

/* Sorts by start. Of several symbols with the same start the best one comes last, because later ranges are laid over
 * earlier ones. */
static int by_address(const void *left, const void *right) {
    const ntr_name *a = left, *b = right;
    int order = NTR_COMPARE(a->address, b->address);
    if (!order) order = NTR_COMPARE(a->function, b->function);
    if (!order) order = NTR_COMPARE(a->binding, b->binding);
    if (!order) order = NTR_COMPARE(a->size, b->size);
    if (!order) order = -strcmp(a->name, b->name);
    return order;
}

/* Returns the name, or a copy without control characters; NULL when out of memory. */
static const char *shown(ntr_symbols *symbols, const ntr_allocator *allocator, const char *name) {
    char cleaned[NTR_NAME_CLEANED_MAX + 1];
    if (ntr_name_is_clean(name)) return name;
    size_t size = ntr_name_clean(name, cleaned) + 1;
    if (symbols->cleaned_bytes + size > NTR_NAMES_CLEANED_BYTES) return "?";
    if (ntr_reserve(allocator, (void **)&symbols->cleaned, &symbols->cleaned_room, symbols->cleaned_count + 1,
                    sizeof(char *)))
        return NULL;
    char *copy = ntr_alloc(allocator, size, 1);
    if (!copy) return NULL;
    memcpy(copy, cleaned, size);
    symbols->cleaned_bytes += size;
    return symbols->cleaned[symbols->cleaned_count++] = copy;
}

int ntr_symbols_add(ntr_symbols *symbols, const ntr_allocator *allocator, const ntr_name *name) {
    if (symbols->count >= NTR_SPANS_NONE ||
        ntr_reserve(allocator, (void **)&symbols->names, &symbols->capacity, symbols->count + 1, sizeof *name))
        return -1;
    const char *text = shown(symbols, allocator, name->name);
    if (!text) return -1;
    symbols->names[symbols->count] = *name;
    symbols->names[symbols->count++].name = text;
    return 0;
}

static uint64_t last_of(uint64_t first, uint64_t size) {
    return size - 1 > UINT64_MAX - first ? UINT64_MAX : first + size - 1;
}

/* Computes the range of a symbol in one of the maps. Returns false when it is not in that map. */
static bool range_of(const ntr_name *name, unsigned map, ntr_span *range) {
    range->first = name->address;
    if (!name->code) return false;
    if (map == NTR_NAMES_BELOW) { /* to the end of its section; the next symbol is laid over it */
        range->last = name->limit;
        return name->limit >= name->address;
    }
    range->last = last_of(name->address, name->size);
    return name->size && name->function == (map == NTR_NAMES_FUNCTION);
}

/* Lays the ranges of the names over each other in their order. */
static int fill(ntr_symbols *symbols, const ntr_allocator *allocator, unsigned map) {
    ntr_span *laid = ntr_alloc(allocator, symbols->count, sizeof *laid);
    size_t count = 0;
    if (!laid) return -1;
    for (size_t i = 0; i < symbols->count; i++) {
        laid[count].value = (uint32_t)i;
        count += range_of(&symbols->names[i], map, &laid[count]);
    }
    int failed = ntr_spans_flatten(&symbols->maps[map], allocator, laid, count);
    ntr_dealloc(allocator, laid);
    return failed;
}

/* A nested symbol starts after the symbol that contains it. In the order of their starts, the innermost is visible. */
int ntr_symbols_sort(ntr_symbols *symbols, const ntr_allocator *allocator) {
    if (symbols->count) qsort(symbols->names, symbols->count, sizeof *symbols->names, by_address);
    for (unsigned map = 0; map < NTR_NAMES_MAPS; map++)
        if (fill(symbols, allocator, map)) return -1;
    return 0;
}

int ntr_symbols_sort_in_order(ntr_symbols *symbols, const ntr_allocator *allocator) {
    return fill(symbols, allocator, NTR_NAMES_FUNCTION);
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
    for (size_t i = 0; i < symbols->cleaned_count; i++) ntr_dealloc(allocator, symbols->cleaned[i]);
    ntr_dealloc(allocator, symbols->cleaned);
    ntr_dealloc(allocator, symbols->names);
    for (size_t i = 0; i < NTR_NAMES_MAPS; i++) ntr_spans_release(&symbols->maps[i], allocator);
    *symbols = (ntr_symbols){0};
}
