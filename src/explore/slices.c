/* Slices: the functions on the stacks of the harts in a range, as far as they are long enough to be seen. */
#include "explore/state.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <stdlib.h>

typedef struct slices {
    ntr_explorer *x;
    uint64_t from, to, least;
    ntr_stack_slice *items;
    size_t count, capacity, most;
    ntr_runs runs;
    bool has_src;
    uint16_t src;
} slices;

static uint64_t length(const ntr_stack_slice *slice) {
    return slice->end - slice->begin;
}

/* There are too many: only the longer ones are kept. */
static void shorten(slices *s) {
    while (s->count > s->most) {
        size_t kept = 0;
        s->least = s->least ? 2 * s->least : 2;
        for (size_t i = 0; i < s->count; i++)
            if (length(&s->items[i]) >= s->least) s->items[kept++] = s->items[i];
        s->count = kept;
    }
}

static ntr_status take_slice(void *user, const ntr_stack_slice *slice) {
    slices *s = user;
    if (length(slice) < s->least || slice->end <= s->from || slice->begin >= s->to) return NTR_OK;
    if (s->has_src && s->x->nodes.items[slice->node].src != s->src) return NTR_OK;
    if (s->count == 4 * s->most) shorten(s);
    if (length(slice) < s->least) return NTR_OK;
    if (ntr_reserve(s->x->allocator, (void **)&s->items, &s->capacity, s->count + 1, sizeof *s->items))
        return NTR_E_MEMORY;
    s->items[s->count++] = *slice;
    return NTR_OK;
}

static ntr_status take_context(void *user, uint64_t position, uint16_t src, const ntr_context *context) {
    slices *s = user;
    return ntr_runs_change(&s->runs, position, src, context);
}

/* ---- from the index */

/* What is still open in the walk that makes the index. */
static ntr_status take_open(slices *s, const ntr_span_walk *walk) {
    for (size_t i = 0; i < walk->lane_count; i++)
        for (size_t k = 0; k < walk->lanes[i].count; k++) {
            const ntr_lane_frame *frame = &walk->lanes[i].items[k];
            const ntr_stack_slice slice = {
                .begin = frame->begin, .end = walk->at, .node = frame->node, .cut_end = true};
            TRY(take_slice(s, &slice));
        }
    return NTR_OK;
}

static ntr_status look_up(slices *s, ntr_question *q) {
    const ntr_explore_index *index = &s->x->index;
    if (s->to > index->done) q->partial = true;
    if (s->least < index->least) s->least = index->least;
    for (size_t i = 0; i < index->slice_count; i++) TRY(take_slice(s, &index->slices[i]));
    return take_open(s, &index->walk);
}

static ntr_status walk_range(slices *s, ntr_question *q) {
    const ntr_span_walk_user user = {.slice = take_slice, .context = take_context, .user = s};
    ntr_span_walk walk;
    ntr_span_walk_begin(&walk, s->x->replay, &s->x->nodes, &user, s->from, s->to);
    walk.least = s->least;
    ntr_status status = ntr_span_walk_all(&walk);
    if (status == NTR_OK) status = ntr_runs_end(&s->runs, walk.at);
    ntr_span_walk_release(&walk);
    return ntr_question_went(q, status);
}

/* ---- the answer */

static int by_begin(const void *left, const void *right) {
    const ntr_stack_slice *x = left, *y = right;
    NTR_COMPARE_BY(begin);
    if (x->end != y->end) return x->end > y->end ? -1 : 1; /* the outer one first */
    return NTR_COMPARE(x->node, y->node);
}

static void write_slice(const slices *s, ntr_answer *a, const ntr_stack_slice *slice) {
    const ntr_node *node = &s->x->nodes.items[slice->node];
    ntr_answer_open(a, NULL, '{');
    ntr_answer_number(a, "src", node->src);
    ntr_answer_number(a, "depth", node->depth - 1u);
    ntr_answer_number(a, "begin", slice->begin);
    ntr_answer_number(a, "end", slice->end);
    ntr_answer_function(a, "function", node->function);
    if (node->kind != NTR_FRAME_CALL) ntr_answer_text(a, "kind", ntr_frame_kind_text(node->kind));
    if (slice->cut_begin) ntr_answer_bool(a, "cut_begin", true);
    if (slice->cut_end) ntr_answer_bool(a, "cut_end", true);
    ntr_answer_close(a, '}');
}

/* Runs that are too short to be seen are left out; of too many, the longer ones are kept. */
static uint64_t write_runs(const slices *s, ntr_answer *a, const ntr_runs *runs) {
    uint64_t least = s->least > runs->least ? s->least : runs->least;
    for (size_t count = SIZE_MAX; count > s->most; least = count > s->most ? 2 * least + 1 : least) {
        count = 0;
        for (size_t i = 0; i < runs->count; i++)
            count += runs->items[i].end > s->from && runs->items[i].begin < s->to &&
                     runs->items[i].end - runs->items[i].begin >= least;
    }
    ntr_answer_open(a, "contexts", '[');
    for (size_t i = 0; i < runs->count; i++) {
        const ntr_run *run = &runs->items[i];
        if (run->end <= s->from || run->begin >= s->to || run->end - run->begin < least) continue;
        if (s->has_src && run->src != s->src) continue;
        ntr_answer_open(a, NULL, '{');
        ntr_answer_number(a, "src", run->src);
        ntr_answer_number(a, "begin", run->begin);
        ntr_answer_number(a, "end", run->end);
        ntr_answer_context(a, "context", &run->context);
        ntr_answer_close(a, '}');
    }
    ntr_answer_close(a, ']');
    return least;
}

static ntr_status fill(slices *s, ntr_question *q) {
    const ntr_explore_index *index = &s->x->index;
    const bool live = ntr_range_is_live(s->from, s->to) && (!index->complete || s->least < index->least);
    TRY(live ? walk_range(s, q) : look_up(s, q));
    shorten(s);
    if (s->count) qsort(s->items, s->count, sizeof *s->items, by_begin);
    ntr_answer *a = q->answer;
    ntr_answer_number(a, "from", s->from);
    ntr_answer_number(a, "to", s->to);
    ntr_answer_open(a, "slices", '[');
    for (size_t i = 0; i < s->count; i++) write_slice(s, a, &s->items[i]);
    ntr_answer_close(a, ']');
    ntr_answer_number(a, "least", s->least);
    ntr_answer_number(a, "least_context", write_runs(s, a, live ? &s->runs : &index->runs));
    return NTR_OK;
}

ntr_status ntr_answer_slices(ntr_explorer *x, ntr_question *q) {
    slices s = {.x = x, .runs.allocator = x->allocator};
    uint64_t limit;
    TRY(ntr_question_range(x, q, &s.from, &s.to));
    TRY(ntr_question_number(q, "least", (s.to - s.from) / 1000, 0, UINT64_MAX, &s.least));
    TRY(ntr_question_number(q, "limit", 2000, 1, NTR_ROWS_MOST, &limit));
    TRY(ntr_question_hart(x, q, &s.src, &s.has_src));
    s.most = (size_t)limit;
    const ntr_status status = fill(&s, q);
    ntr_dealloc(x->allocator, s.items);
    ntr_runs_release(&s.runs);
    return status;
}
