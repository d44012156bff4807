#include "program/symbols.h"

#include "base/allocator.h"
#include "base/macros.h"
#include "base/text.h"

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

/* Stores a copy of `text` and `suffix`. Returns "?" when there are too many, NULL when out of memory. */
static const char *own(ntr_symbols *symbols, const ntr_allocator *allocator, const char *text, const char *suffix) {
    size_t length = strlen(text), size = length + strlen(suffix) + 1;
    if (symbols->owned_bytes + size > NTR_NAMES_OWNED_BYTES) return "?";
    if (ntr_reserve(allocator, (void **)&symbols->owned, &symbols->owned_room, symbols->owned_count + 1,
                    sizeof(char *)))
        return NULL;
    char *copy = ntr_alloc(allocator, size, 1);
    if (!copy) return NULL;
    memcpy(copy, text, length + 1);
    memcpy(copy + length, suffix, size - length);
    symbols->owned_bytes += size;
    return symbols->owned[symbols->owned_count++] = copy;
}

/* Adds a symbol. Its name is copied if `suffix` is not NULL or if it has control characters. */
static int add(ntr_symbols *symbols, const ntr_allocator *allocator, const ntr_name *name, const char *suffix) {
    char cleaned[NTR_NAME_CLEANED_MAX + 1];
    const char *text = name->name;
    if (symbols->count >= NTR_SPANS_NONE ||
        ntr_reserve(allocator, (void **)&symbols->names, &symbols->capacity, symbols->count + 1, sizeof *name))
        return -1;
    bool clean = ntr_name_is_clean(text);
    if (!clean) {
        ntr_name_clean(text, cleaned);
        text = cleaned;
    }
    if (!clean || suffix) text = own(symbols, allocator, text, suffix ? suffix : "");
    if (!text) return -1;
    symbols->names[symbols->count] = *name;
    symbols->names[symbols->count++].name = text;
    return 0;
}

int ntr_symbols_add(ntr_symbols *symbols, const ntr_allocator *allocator, const ntr_name *name) {
    return add(symbols, allocator, name, NULL);
}

int ntr_symbols_add_copy(ntr_symbols *symbols, const ntr_allocator *allocator, const ntr_name *name,
                         const char *suffix) {
    return add(symbols, allocator, name, suffix);
}

int ntr_symbols_add_range(ntr_symbols *symbols, const ntr_allocator *allocator, unsigned kind, uint64_t first,
                          uint64_t last) {
    ntr_nameless *ranges = &symbols->ranges[kind];
    if (ranges->count >= NTR_SPANS_NONE ||
        ntr_reserve(allocator, (void **)&ranges->laid, &ranges->capacity, ranges->count + 1, sizeof *ranges->laid))
        return -1;
    ranges->laid[ranges->count] = (ntr_span){.first = first, .last = last, .value = (uint32_t)ranges->count};
    ranges->count++;
    return 0;
}

static uint64_t last_of(uint64_t first, uint64_t size) {
    return size - 1 > UINT64_MAX - first ? UINT64_MAX : first + size - 1;
}

static uint64_t lesser(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Returns the last address before the next range of the map, or the last of the one that contains `address`. */
static uint64_t limit_in(const ntr_spans *map, uint64_t address) {
    size_t at = ntr_spans_seek(map, address);
    if (at == map->count) return UINT64_MAX;
    return map->items[at].first <= address ? map->items[at].last : map->items[at].first - 1;
}

/* Limits symbols without size to the code before the next symbol, and to the function around them: that of a symbol
 * with size, and that of the unwind table. */
static void cut_limits(ntr_symbols *symbols) {
    uint64_t here = 0, most = UINT64_MAX; /* address of the last symbol; the last address before the next one */
    bool any = false;
    for (size_t i = symbols->count; i-- > 0;) {
        ntr_name *name = &symbols->names[i];
        if (!name->code) continue;
        if (any && name->address != here) most = here - 1;
        here = name->address;
        any = true;
        if (name->size) continue;
        name->limit = lesser(name->limit, most);
        name->limit = lesser(name->limit, limit_in(&symbols->ranges[NTR_RANGES_FUNCTION].map, here));
        name->limit = lesser(name->limit, limit_in(&symbols->maps[NTR_NAMES_FUNCTION], here));
    }
}

/* Computes the range of a symbol in one of the maps. Returns false when it is not in that map. */
static bool range_of(const ntr_name *name, unsigned map, ntr_span *range) {
    range->first = name->address;
    if (!name->code || (name->size == 0) != (map == NTR_NAMES_BELOW)) return false;
    if (map == NTR_NAMES_BELOW) {
        range->last = name->limit;
        return name->limit >= name->address;
    }
    range->last = last_of(name->address, name->size);
    return name->function == (map == NTR_NAMES_FUNCTION);
}

/* Lays the ranges of the names over each other in their order. */
static int fill(ntr_symbols *symbols, const ntr_allocator *allocator, unsigned map) {
    ntr_span *laid = ntr_alloc(allocator, symbols->count, sizeof *laid);
    size_t count = 0;
    if (!laid) return symbols->count ? -1 : 0;
    for (size_t i = 0; i < symbols->count; i++) {
        laid[count].value = (uint32_t)i;
        count += range_of(&symbols->names[i], map, &laid[count]);
    }
    ntr_spans_release(&symbols->maps[map], allocator);
    int failed = ntr_spans_flatten(&symbols->maps[map], allocator, laid, count);
    ntr_dealloc(allocator, laid);
    return failed;
}

static int fill_ranges(ntr_nameless *ranges, const ntr_allocator *allocator) {
    ntr_spans_release(&ranges->map, allocator);
    return ntr_spans_flatten(&ranges->map, allocator, ranges->laid, ranges->count);
}

/* A nested symbol starts after the symbol that contains it. In the order of their starts, the innermost is visible. */
int ntr_symbols_sort(ntr_symbols *symbols, const ntr_allocator *allocator) {
    if (symbols->count) qsort(symbols->names, symbols->count, sizeof *symbols->names, by_address);
    for (unsigned kind = 0; kind < NTR_RANGES_KINDS; kind++)
        if (fill_ranges(&symbols->ranges[kind], allocator)) return -1;
    if (fill(symbols, allocator, NTR_NAMES_FUNCTION) || fill(symbols, allocator, NTR_NAMES_SIZED)) return -1;
    cut_limits(symbols);
    return fill(symbols, allocator, NTR_NAMES_BELOW);
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

void ntr_symbols_limit(const ntr_symbols *symbols, uint64_t address, uint64_t *first, uint64_t *last) {
    for (size_t i = 0; i < NTR_NAMES_MAPS; i++)
        if (ntr_spans_limit(&symbols->maps[i], address, first, last)) return;
}

void ntr_symbols_range(const ntr_symbols *symbols, uint64_t address, uint64_t *first, uint64_t *last, bool *function) {
    const ntr_spans *functions = &symbols->ranges[NTR_RANGES_FUNCTION].map;
    const ntr_span *span = ntr_spans_find(functions, address);
    *function = span;
    if (!span) span = ntr_spans_find(&symbols->ranges[NTR_RANGES_SECTION].map, address);
    if (span) {
        *first = span->first;
        *last = span->last;
    }
    for (size_t i = 0; i < NTR_NAMES_MAPS && !*function; i++)
        (void)ntr_spans_limit(&symbols->maps[i], address, first, last);
    if (!*function) (void)ntr_spans_limit(functions, address, first, last);
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
    for (size_t i = 0; i < symbols->owned_count; i++) ntr_dealloc(allocator, symbols->owned[i]);
    ntr_dealloc(allocator, symbols->owned);
    ntr_dealloc(allocator, symbols->names);
    for (size_t i = 0; i < NTR_NAMES_MAPS; i++) ntr_spans_release(&symbols->maps[i], allocator);
    for (size_t i = 0; i < NTR_RANGES_KINDS; i++) {
        ntr_spans_release(&symbols->ranges[i].map, allocator);
        ntr_dealloc(allocator, symbols->ranges[i].laid);
    }
    *symbols = (ntr_symbols){0};
}
