#include "program/spans.h"

#include "base/allocator.h"

#include <stdlib.h>
#include <string.h>

size_t ntr_spans_seek(const ntr_spans *spans, uint64_t address) {
    size_t low = 0, high = spans->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (spans->items[middle].last < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const ntr_span *ntr_spans_find(const ntr_spans *spans, uint64_t address) {
    size_t i = ntr_spans_seek(spans, address);
    return i < spans->count && spans->items[i].first <= address ? &spans->items[i] : NULL;
}

/* Appends a span that starts directly after the last one; merges it when the value is equal. */
static void append(ntr_span *out, size_t *count, ntr_span span) {
    ntr_span *before = *count ? &out[*count - 1] : NULL;
    if (before && before->value == span.value)
        before->last = span.last;
    else
        out[(*count)++] = span;
}

/* Lays [first, last] over the spans old[0 .. n); parts of the outer spans that extend beyond the range are kept. Writes
 * at most 2n + 3 spans. Returns their number, or 0 when out of memory. */
static size_t lay(const ntr_span *old, size_t n, uint64_t first, uint64_t last, ntr_spans_combine combine, void *user,
                  ntr_span *out) {
    size_t count = 0;
    uint64_t at = first;
    bool done = false; /* needed because `at` wraps after the last address */

    if (n && old[0].first < first)
        append(out, &count, (ntr_span){.first = old[0].first, .last = first - 1, .value = old[0].value});
    for (size_t i = 0; i <= n && !done; i++) {
        uint64_t covered = i < n && old[i].first > first ? old[i].first : first;
        if (i == n || at < covered) {
            ntr_span gap = {.first = at, .last = i < n ? covered - 1 : last, .value = combine(user, NTR_SPANS_NONE)};
            if (gap.value == NTR_SPANS_NONE) return 0;
            append(out, &count, gap);
            if (i == n) break;
        }
        ntr_span over = {.first = covered, .last = old[i].last < last ? old[i].last : last};
        over.value = combine(user, old[i].value);
        if (over.value == NTR_SPANS_NONE) return 0;
        append(out, &count, over);
        at = over.last + 1;
        done = over.last == last;
    }
    if (n && old[n - 1].last > last)
        append(out, &count, (ntr_span){.first = last + 1, .last = old[n - 1].last, .value = old[n - 1].value});
    return count;
}

int ntr_spans_overlay(ntr_spans *spans, const ntr_allocator *allocator, uint64_t first, uint64_t last,
                      ntr_spans_combine combine, void *user) {
    size_t begin = ntr_spans_seek(spans, first), end = begin;
    while (end < spans->count && spans->items[end].first <= last) end++;

    ntr_span few[16], *out = few;
    size_t most = 2 * (end - begin) + 3;
    if (ntr_reserve(allocator, (void **)&spans->items, &spans->capacity, spans->count + most, sizeof *spans->items))
        return -1;
    if (most > sizeof few / sizeof few[0] && !(out = ntr_realloc(allocator, NULL, most, sizeof *out))) return -1;

    size_t count = lay(spans->items + begin, end - begin, first, last, combine, user, out);
    if (count) {
        memmove(spans->items + begin + count, spans->items + end, (spans->count - end) * sizeof *spans->items);
        memcpy(spans->items + begin, out, count * sizeof *out);
        spans->count = spans->count - (end - begin) + count;
    }
    if (out != few) ntr_dealloc(allocator, out);
    return count ? 0 : -1;
}

/* The ranges that contain the current address of the sweep, as a heap. The range that was laid last is at the top. */
typedef struct heap {
    uint32_t *items; /* indices into `laid` */
    size_t count;
    const ntr_span *laid;
} heap;

static bool above(const heap *open, size_t a, size_t b) {
    return open->laid[open->items[a]].rank > open->laid[open->items[b]].rank;
}

static void swap(heap *open, size_t a, size_t b) {
    uint32_t item = open->items[a];
    open->items[a] = open->items[b];
    open->items[b] = item;
}

static void push(heap *open, uint32_t item) {
    size_t at = open->count++;
    open->items[at] = item;
    for (; at && above(open, at, (at - 1) / 2); at = (at - 1) / 2) swap(open, at, (at - 1) / 2);
}

static void pop(heap *open) {
    open->items[0] = open->items[--open->count];
    for (size_t at = 0;;) {
        size_t best = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < open->count; child++)
            if (above(open, child, best)) best = child;
        if (best == at) return;
        swap(open, at, best);
        at = best;
    }
}

static int by_start(const void *left, const void *right) {
    const ntr_span *a = left, *b = right;
    if (a->first != b->first) return a->first < b->first ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static bool is_sorted(const ntr_span *laid, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (laid[i - 1].first > laid[i].first) return false;
    return true;
}

/* Sweeps over the addresses at which a range starts or the top range ends. Writes at most 2 * count spans. */
static size_t sweep(heap *open, size_t count, ntr_span *out) {
    const ntr_span *laid = open->laid;
    size_t made = 0;
    for (uint64_t at = laid[0].first, next = 0;;) {
        while (next < count && laid[next].first == at) push(open, (uint32_t)next++);
        while (open->count && laid[open->items[0]].last < at) pop(open);
        if (open->count == 0) {
            if (next == count) return made;
            at = laid[next].first;
            continue;
        }
        ntr_span span = laid[open->items[0]];
        span.first = at;
        if (next < count && laid[next].first <= span.last) span.last = laid[next].first - 1;
        if (made && out[made - 1].value == span.value && out[made - 1].last + 1 == at)
            out[made - 1].last = span.last;
        else
            out[made++] = span;
        if (span.last == UINT64_MAX) return made;
        at = span.last + 1;
    }
}

int ntr_spans_flatten(ntr_spans *spans, const ntr_allocator *allocator, ntr_span *laid, size_t count) {
    if (count == 0) return 0;
    heap open = {.items = ntr_realloc(allocator, NULL, count, sizeof *open.items), .laid = laid};
    spans->items = ntr_realloc(allocator, NULL, count, 2 * sizeof *spans->items);
    if (!open.items || !spans->items) {
        ntr_dealloc(allocator, open.items);
        return -1;
    }
    spans->capacity = 2 * count;
    for (size_t i = 0; i < count; i++) laid[i].rank = (uint32_t)i;
    if (!is_sorted(laid, count)) qsort(laid, count, sizeof *laid, by_start);
    spans->count = sweep(&open, count, spans->items);
    ntr_dealloc(allocator, open.items);
    ntr_span *exact = ntr_realloc(allocator, spans->items, spans->count, sizeof *exact);
    if (!exact) return -1;
    spans->items = exact;
    spans->capacity = spans->count;
    return 0;
}

bool ntr_spans_limit(const ntr_spans *spans, uint64_t address, uint64_t *first, uint64_t *last) {
    if (!spans->items) return false;
    const size_t at = ntr_spans_seek(spans, address);
    const ntr_span *here = at < spans->count ? &spans->items[at] : NULL;
    const bool inside = here && here->first <= address;
    const uint64_t low = inside ? here->first : at > 0 ? spans->items[at - 1].last + 1 : 0;
    const uint64_t high = inside ? here->last : here ? here->first - 1 : UINT64_MAX;
    if (*first < low) *first = low;
    if (*last > high) *last = high;
    return inside;
}

void ntr_spans_release(ntr_spans *spans, const ntr_allocator *allocator) {
    ntr_dealloc(allocator, spans->items);
    *spans = (ntr_spans){0};
}
