/* The order of time inside a window.
 *
 * Sources write to the stream when their buffers are full, so that spans that were executed at the same time may be far
 * apart in it. In a window they are sorted by the time of their message, where the trace has timestamps and several
 * sources. The pass and its points are not concerned: a part has the same instructions in any order.
 *
 * Invariant: spans of one source keep their order. A span without time, or with an earlier one (the trace was started
 * again), has the latest time of its source. Spans with equal times keep the order of the stream. */
#include "replay/state.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <stdlib.h>

/* A span, and the time by which it is sorted. */
typedef struct span_time {
    uint64_t time;
    uint32_t span;
} span_time;

static int by_time(const void *left, const void *right) {
    const span_time *x = left, *y = right;
    NTR_COMPARE_BY(time);
    return NTR_COMPARE(x->span, y->span);
}

static int by_span(const void *left, const void *right) {
    const ntr_window_gap *a = left, *b = right;
    return NTR_COMPARE(a->span, b->span);
}

static bool has_several_sources(const ntr_replay_window *w) {
    for (size_t i = 1; i < w->span_count; i++)
        if (w->spans[i].src != w->spans[0].src) return true;
    return false;
}

/* Stores the times of the spans. Returns false if they are in order already. */
static bool take_times(const ntr_replay *r, const ntr_replay_window *w, uint64_t *latest, span_time *times) {
    bool sorted = true;
    for (size_t i = 0; i < w->span_count; i++) {
        const ntr_span_origin *origin = &w->origins[w->spans[i].origin];
        uint64_t *time = &latest[r->hart_number[w->spans[i].src] - 1];
        if (origin->timed && origin->time > *time) *time = origin->time;
        times[i] = (span_time){*time, (uint32_t)i};
        if (i && times[i].time < times[i - 1].time) sorted = false;
    }
    return !sorted;
}

/* Moves each span to its new place: one cycle of the permutation after the other. times[i].span becomes i. */
static void move_spans(ntr_replay_window *w, span_time *times) {
    for (uint32_t i = 0; i < w->span_count; i++) {
        const ntr_window_span first = w->spans[i];
        uint32_t to = i;
        for (uint32_t from; (from = times[to].span) != i; to = from) {
            w->spans[to] = w->spans[from];
            times[to].span = to;
        }
        w->spans[to] = first;
        times[to].span = to;
    }
}

/* A gap stays before the span that it was before. */
static void move_gaps(ntr_replay_window *w, const span_time *times) {
    for (size_t g = 0; g < w->gap_count; g++) {
        uint32_t span = 0;
        while (span < w->span_count && times[span].span != w->gaps[g].span) span++;
        w->gaps[g].span = span;
    }
    if (w->gap_count) qsort(w->gaps, w->gap_count, sizeof *w->gaps, by_span);
}

static void number_spans(ntr_replay_window *w) {
    uint32_t first = 0;
    for (size_t i = 0; i < w->span_count; i++) {
        w->spans[i].first = first;
        first += w->spans[i].instructions;
    }
}

ntr_status ntr_window_sort(ntr_replay *r, ntr_replay_window *w) {
    if (!r->config.by_time || !has_several_sources(w)) return NTR_OK;
    uint64_t *latest = ntr_alloc(r->allocator, r->hart_count, sizeof *latest);
    span_time *times = ntr_alloc(r->allocator, w->span_count, sizeof *times);
    if (latest && times && take_times(r, w, latest, times)) {
        qsort(times, w->span_count, sizeof *times, by_time);
        move_gaps(w, times);
        move_spans(w, times);
        number_spans(w);
    }
    const bool good = latest && times;
    ntr_dealloc(r->allocator, latest);
    ntr_dealloc(r->allocator, times);
    return good ? NTR_OK : NTR_E_MEMORY;
}
