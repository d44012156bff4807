/* Sums of a range: whole cells of the index, and a walk over what is left at both ends.
 *
 * Example: cells have 1024 instructions; the range [1000, 5000) is the walk [1000, 1024), the cells 1 to 3, and the
 * walk [4096, 5000). When a cell has more instructions than a question may walk over, the range is extended to whole
 * cells; the answer says which range it is about. */
#include "explore/state.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <string.h>

ntr_status ntr_question_range(ntr_explorer *x, ntr_question *q, uint64_t *from, uint64_t *to) {
    const ntr_explore_progress progress = ntr_explorer_progress(x);
    const bool all = progress.read || x->index.complete;
    TRY(ntr_question_number(q, "from", 0, 0, all ? progress.known : UINT64_MAX, from));
    TRY(ntr_question_number(q, "to", *from > progress.known ? *from : progress.known, *from, UINT64_MAX, to));
    if (*to > progress.known) {
        if (!all) q->partial = true;
        *to = progress.known;
    }
    if (*from > *to) *from = *to;
    return NTR_OK;
}

bool ntr_range_is_live(uint64_t from, uint64_t to) {
    return to - from <= NTR_LIVE_MOST;
}

static ntr_status reserve(ntr_explorer *x, ntr_sums *sums) {
    const size_t count = x->nodes.count;
    if (count <= sums->count) return NTR_OK;
    uint64_t **arrays[] = {&sums->self, &sums->calls, &sums->total};
    for (size_t i = 0; i < NTR_COUNT(arrays); i++) {
        uint64_t *array = ntr_realloc(x->allocator, *arrays[i], count, sizeof *array);
        if (!array) return NTR_E_MEMORY;
        memset(array + sums->count, 0, (count - sums->count) * sizeof *array);
        *arrays[i] = array;
    }
    sums->count = count;
    return NTR_OK;
}

struct walk_sums {
    ntr_explorer *x;
    ntr_sums *sums;
};

static ntr_status add_section(void *user, ntr_span_walk *walk, uint64_t end, uint64_t *next) {
    const struct walk_sums *w = user;
    (void)end;
    TRY(reserve(w->x, w->sums));
    for (size_t i = 0; i < walk->touched_count; i++) {
        const uint32_t node = walk->touched[i];
        w->sums->self[node] += walk->self[node];
        w->sums->calls[node] += walk->calls[node];
    }
    *next = UINT64_MAX;
    return NTR_OK;
}

static ntr_status add_walk(ntr_explorer *x, ntr_question *q, uint64_t from, uint64_t to, ntr_sums *sums) {
    struct walk_sums w = {x, sums};
    const ntr_span_walk_user user = {.section = add_section, .user = &w};
    ntr_span_walk walk;
    if (from >= to || q->interrupted) return NTR_OK;
    ntr_span_walk_begin(&walk, x->replay, &x->nodes, &user, from, to);
    const ntr_status status = ntr_span_walk_all(&walk);
    if (status == NTR_END) sums->to = walk.at; /* the sums of a section that was not ended are missing */
    ntr_span_walk_release(&walk);
    return ntr_question_went(q, status);
}

static void add_cells(const ntr_explorer *x, size_t from, size_t to, ntr_sums *sums) {
    for (size_t cell = from; cell < to; cell++) {
        size_t count;
        const ntr_cell_count *counts = ntr_cell_counts(&x->index, cell, &count);
        for (size_t i = 0; i < count; i++) {
            sums->self[counts[i].node] += counts[i].self;
            sums->calls[counts[i].node] += counts[i].calls;
        }
    }
}

/* Sums what is in the index; the ends are walked over. */
static ntr_status add_range(ntr_explorer *x, ntr_question *q, ntr_sums *sums) {
    const uint64_t width = x->index.width;
    const bool to_end = x->index.complete && sums->to >= x->index.done;
    uint64_t first = (sums->from + width - 1) / width, end = to_end ? x->index.cell_count : sums->to / width;
    if (width > NTR_LIVE_MOST) {
        first = sums->from / width;
        if (!to_end && sums->to % width && end < x->index.cell_count) end++;
        sums->from = first * width;
        sums->to = to_end ? x->index.done : end * width;
    }
    if (end > x->index.cell_count) end = x->index.cell_count;
    if (first >= end) return add_walk(x, q, sums->from, sums->to, sums);
    const uint64_t to = sums->to;
    TRY(reserve(x, sums));
    TRY(add_walk(x, q, sums->from, first * width, sums));
    if (q->interrupted) return NTR_OK;
    add_cells(x, (size_t)first, (size_t)end, sums);
    return to_end ? NTR_OK : add_walk(x, q, end * width, to, sums);
}

ntr_status ntr_sums_take(ntr_explorer *x, ntr_question *q, uint64_t from, uint64_t to, ntr_sums *sums) {
    *sums = (ntr_sums){.from = from, .to = to};
    if (ntr_range_is_live(from, to)) {
        TRY(add_walk(x, q, from, to, sums));
    } else {
        if (to > x->index.done) {
            q->partial = true;
            sums->to = x->index.done > from ? x->index.done : from;
        }
        if (sums->to > sums->from) TRY(add_range(x, q, sums));
    }
    TRY(reserve(x, sums));
    for (size_t i = 0; i < sums->count; i++) sums->total[i] = sums->self[i];
    for (size_t i = sums->count; i > 0; i--) {
        const uint32_t parent = x->nodes.items[i - 1].parent;
        if (parent != NTR_NODE_NONE) sums->total[parent] += sums->total[i - 1];
    }
    return NTR_OK;
}

void ntr_sums_release(ntr_explorer *x, ntr_sums *sums) {
    ntr_dealloc(x->allocator, sums->self);
    ntr_dealloc(x->allocator, sums->calls);
    ntr_dealloc(x->allocator, sums->total);
    *sums = (ntr_sums){0};
}
