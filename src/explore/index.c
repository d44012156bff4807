#include "explore/index.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_WIDTH = 1 << 10 };

static int by_node(const void *left, const void *right) {
    const uint32_t *x = left, *y = right;
    return NTR_COMPARE(*x, *y);
}

/* ---- cells */

/* Merges two sorted lists of counts to `to`, which may be the place of the first one or before it. Returns their
 * number. `a` is a copy, so that nothing is overwritten before it is read. */
static size_t merge(const ntr_cell_count *a, size_t a_count, const ntr_cell_count *b, size_t b_count,
                    ntr_cell_count *to) {
    size_t i = 0, k = 0, n = 0;
    while (i < a_count || k < b_count) {
        if (k == b_count || (i < a_count && a[i].node < b[k].node)) {
            to[n++] = a[i++];
        } else if (i == a_count || b[k].node < a[i].node) {
            to[n++] = b[k++];
        } else {
            to[n] = a[i++];
            to[n].self += b[k].self;
            to[n++].calls += b[k++].calls;
        }
    }
    return n;
}

/* Two cells become one. The number of cells is even. */
static ntr_status widen(ntr_explore_index *x) {
    size_t most = 0, n = 0, used = 0;
    for (size_t i = 0; i < x->cell_count; i++) {
        size_t count;
        ntr_cell_counts(x, i, &count);
        if (count > most) most = count;
    }
    ntr_cell_count *copy = ntr_alloc(x->allocator, most + 1, sizeof *copy);
    if (!copy) return NTR_E_MEMORY;
    for (size_t i = 0; i + 1 < x->cell_count; i += 2) {
        size_t a, b;
        const ntr_cell_count *first = ntr_cell_counts(x, i, &a), *second = ntr_cell_counts(x, i + 1, &b);
        memcpy(copy, first, a * sizeof *copy);
        const ntr_cell later = x->cells[i + 1];
        const size_t merged = merge(copy, a, second, b, x->counts + used);
        x->cells[n] = (ntr_cell){used, later.timed ? later.time : x->cells[i].time, later.timed || x->cells[i].timed};
        n++;
        used += merged;
    }
    x->cell_count = n;
    x->count_count = used;
    x->width *= 2;
    ntr_dealloc(x->allocator, copy);
    return NTR_OK;
}

static ntr_status add_cell(ntr_explore_index *x, ntr_span_walk *walk) {
    if (ntr_reserve(x->allocator, (void **)&x->cells, &x->cell_capacity, x->cell_count + 1, sizeof *x->cells) ||
        ntr_reserve(x->allocator, (void **)&x->counts, &x->count_capacity, x->count_count + walk->touched_count,
                    sizeof *x->counts))
        return NTR_E_MEMORY;
    qsort(walk->touched, walk->touched_count, sizeof *walk->touched, by_node);
    x->cells[x->cell_count++] = (ntr_cell){x->count_count, walk->time, walk->timed};
    for (size_t i = 0; i < walk->touched_count; i++) {
        const uint32_t node = walk->touched[i];
        x->counts[x->count_count++] = (ntr_cell_count){node, walk->self[node], walk->calls[node]};
    }
    return NTR_OK;
}

static ntr_status take_section(void *user, ntr_span_walk *walk, uint64_t end, uint64_t *next) {
    ntr_explore_index *x = user;
    TRY(add_cell(x, walk));
    x->done = end;
    while (x->cell_count >= 2 && x->cell_count % 2 == 0 &&
           (x->cell_count >= NTR_CELLS_MAX || x->count_count >= NTR_CELL_COUNTS_MAX))
        TRY(widen(x));
    *next = end + x->width;
    return NTR_OK;
}

/* ---- slices, gaps, runs */

static void shorten(ntr_explore_index *x) {
    while (x->slice_count >= NTR_SLICES_MAX) {
        size_t kept = 0;
        x->least = x->least ? 2 * x->least : 2;
        for (size_t i = 0; i < x->slice_count; i++)
            if (x->slices[i].end - x->slices[i].begin >= x->least) x->slices[kept++] = x->slices[i];
        x->slice_count = kept;
    }
    x->walk.least = x->least;
}

static ntr_status take_slice(void *user, const ntr_stack_slice *slice) {
    ntr_explore_index *x = user;
    if (x->slice_count >= NTR_SLICES_MAX) shorten(x);
    if (slice->end - slice->begin < x->least) return NTR_OK;
    if (ntr_reserve(x->allocator, (void **)&x->slices, &x->slice_capacity, x->slice_count + 1, sizeof *x->slices))
        return NTR_E_MEMORY;
    x->slices[x->slice_count++] = *slice;
    return NTR_OK;
}

static ntr_status take_gap(void *user, uint64_t position, const ntr_event *gap) {
    ntr_explore_index *x = user;
    if (x->gap_count == NTR_GAPS_MAX) {
        x->gaps_left_out++;
        return NTR_OK;
    }
    if (ntr_reserve(x->allocator, (void **)&x->gaps, &x->gap_capacity, x->gap_count + 1, sizeof *x->gaps))
        return NTR_E_MEMORY;
    x->gaps[x->gap_count++] = (ntr_index_gap){position, *gap};
    return NTR_OK;
}

static ntr_status take_context(void *user, uint64_t position, uint16_t src, const ntr_context *context) {
    return ntr_runs_change(&((ntr_explore_index *)user)->runs, position, src, context);
}

/* ---- */

ntr_status ntr_explore_index_step(ntr_explore_index *x, ntr_replay *replay, ntr_nodes *nodes) {
    const ntr_span_walk_user user = {
        .section = take_section, .slice = take_slice, .gap = take_gap, .context = take_context, .user = x};
    if (x->complete) return NTR_OK;
    if (!x->begun) {
        ntr_span_walk_begin(&x->walk, replay, nodes, &user, 0, UINT64_MAX);
        x->width = x->walk.section_end = FIRST_WIDTH;
        x->begun = true;
    }
    const ntr_status status = ntr_span_walk_window(&x->walk);
    if (status != NTR_OK) return status;
    ntr_event gap;
    bool found;
    ntr_replay_gap_at_end(replay, &gap, &found);
    if (found) TRY(take_gap(x, x->walk.at, &gap));
    TRY(ntr_runs_end(&x->runs, x->walk.at));
    x->done = x->walk.at;
    x->complete = true;
    ntr_span_walk_release(&x->walk);
    return NTR_OK;
}

void ntr_explore_index_release(ntr_explore_index *x) {
    ntr_span_walk_release(&x->walk);
    ntr_dealloc(x->allocator, x->cells);
    ntr_dealloc(x->allocator, x->counts);
    ntr_dealloc(x->allocator, x->slices);
    ntr_dealloc(x->allocator, x->gaps);
    ntr_runs_release(&x->runs);
}
