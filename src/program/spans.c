#include "program/spans.h"

#include "base/allocator.h"

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

/* Spans are made without gaps between them. */
static void append(ntr_span *out, size_t *count, ntr_span span) {
    ntr_span *before = *count ? &out[*count - 1] : NULL;
    if (before && before->value == span.value)
        before->last = span.last;
    else
        out[(*count)++] = span;
}

/* What [first, last] becomes over the spans old[0 .. n), with the parts of the outer ones that stick out.
 * Writes at most 2n + 3 spans; returns how many, or 0 when out of memory. */
static size_t lay(const ntr_span *old, size_t n, uint64_t first, uint64_t last, ntr_spans_combine combine, void *user,
                  ntr_span *out) {
    size_t count = 0;
    uint64_t at = first;
    bool done = false; /* `at` cannot tell it: it wraps behind the last address */

    if (n && old[0].first < first) append(out, &count, (ntr_span){old[0].first, first - 1, old[0].value});
    for (size_t i = 0; i <= n && !done; i++) {
        uint64_t covered = i < n && old[i].first > first ? old[i].first : first;
        if (i == n || at < covered) {
            ntr_span gap = {at, i < n ? covered - 1 : last, combine(user, NTR_SPANS_NONE)};
            if (gap.value == NTR_SPANS_NONE) return 0;
            append(out, &count, gap);
            if (i == n) break;
        }
        ntr_span over = {covered, old[i].last < last ? old[i].last : last, combine(user, old[i].value)};
        if (over.value == NTR_SPANS_NONE) return 0;
        append(out, &count, over);
        at = over.last + 1;
        done = over.last == last;
    }
    if (n && old[n - 1].last > last) append(out, &count, (ntr_span){last + 1, old[n - 1].last, old[n - 1].value});
    return count;
}

int ntr_spans_overlay(ntr_spans *spans, const ntr_allocator *allocator, uint64_t first, uint64_t last,
                      ntr_spans_combine combine, void *user) {
    size_t begin = ntr_spans_seek(spans, first), end = begin;
    while (end < spans->count && spans->items[end].first <= last) end++;

    ntr_span few[16], *out = few;
    size_t most = 2 * (end - begin) + 3;
    if (most > sizeof few / sizeof few[0] && !(out = ntr_realloc(allocator, NULL, most, sizeof *out))) return -1;

    int failed = -1;
    size_t count = lay(spans->items + begin, end - begin, first, last, combine, user, out);
    if (count && ntr_reserve(allocator, (void **)&spans->items, &spans->capacity, spans->count + count,
                             sizeof *spans->items) == 0) {
        memmove(spans->items + begin + count, spans->items + end, (spans->count - end) * sizeof *spans->items);
        memcpy(spans->items + begin, out, count * sizeof *out);
        spans->count = spans->count - (end - begin) + count;
        failed = 0;
    }
    if (out != few) ntr_dealloc(allocator, out);
    return failed;
}

static uint32_t always(void *user, uint32_t below) {
    (void)below;
    return *(const uint32_t *)user;
}

int ntr_spans_paint(ntr_spans *spans, const ntr_allocator *allocator, uint64_t first, uint64_t last, uint32_t value) {
    return ntr_spans_overlay(spans, allocator, first, last, always, &value);
}

void ntr_spans_release(ntr_spans *spans, const ntr_allocator *allocator) {
    ntr_dealloc(allocator, spans->items);
    *spans = (ntr_spans){0};
}
