#include "analysis/timeline_state.h"

#include "analysis/followers.h"
#include "base/allocator.h"
#include "base/macros.h"

#include <ntrace/params.h>
#include <stdlib.h>

#define SLICES_MOST 200000

/* ---- events */

static void end_context(ntr_timeline *t, uint16_t src) {
    struct timeline_hart *hart = &t->harts[src];
    ntr_timeslice slice = {
        .begin = hart->context_since, .end = hart->now, .value = hart->context, .guest = hart->guest, .src = src};

    slice.kind = NTR_SLICE_CONTEXT;

    if (hart->in_context && slice.end > slice.begin) ntr_timeline_add(t, &slice);
    hart->in_context = false;
}

static void take_context(ntr_timeline *t, const ntr_event *e) {
    struct timeline_hart *hart = &t->harts[e->src];
    bool known = e->context.has_scontext || e->context.has_hcontext;
    uint64_t context = e->context.has_scontext ? e->context.scontext : e->context.hcontext;

    const uint64_t guest = e->context.v ? e->context.hcontext : 0;
    if (hart->in_context && known && hart->context == context && hart->guest == guest) return;
    end_context(t, e->src);
    hart->in_context = known;
    hart->context = context;
    hart->guest = guest;
    hart->context_since = hart->now;
}

static void advance(ntr_timeline *t, const ntr_event *e) {
    struct timeline_hart *hart = &t->harts[e->src];

    if (t->timed) {
        if (e->flags & NTR_EVENT_TIME && e->time > hart->now) hart->now = e->time;
    } else if (e->kind == NTR_EVENT_SPAN) {
        hart->now += ntr_event_executed(e);
    }
}

/* The first timestamp changes the unit of time to ticks. Earlier slices have no length in ticks and are removed. */
static void update_time_base(ntr_timeline *t, const ntr_event *e) {
    if (t->timed || !(e->flags & NTR_EVENT_TIME)) return;
    t->timed = true;
    t->count = 0;
    for (size_t i = 0; i < NTR_SOURCES_MAX; i++) t->harts[i].now = t->harts[i].task_since = 0;
}

static void take_gap(ntr_timeline *t, const ntr_event *e, uint64_t begin) {
    ntr_timeslice slice = {.begin = begin, .end = t->harts[e->src].now, .src = e->src, .kind = NTR_SLICE_GAP};

    slice.value = (uint64_t)-(int64_t)e->reason;
    end_context(t, e->src);
    ntr_timeline_end_run(t, e->src);
    ntr_timeline_add(t, &slice);
}

/* ---- parts of an event: before the stack changes, in the frame of a span, and after the change */

static bool is_known(const ntr_event *e) {
    return e->src < NTR_SOURCES_MAX;
}

static void before(void *user, const ntr_event *e) {
    ntr_timeline *t = user;

    if (!is_known(e)) return;
    update_time_base(t, e);
    t->begin = t->harts[e->src].now;
}

static void executed(void *user, const ntr_event *e) {
    ntr_timeline *t = user;

    if (!is_known(e) || e->kind == NTR_EVENT_GAP) return;
    advance(t, e);
    if (e->kind == NTR_EVENT_CONTEXT) take_context(t, e);
}

/* Frames end at the beginning of a gap. */
static ntr_status after(void *user, const ntr_event *e) {
    ntr_timeline *t = user;

    ntr_timeline_finish_trap(t);
    if (is_known(e) && e->kind == NTR_EVENT_GAP) {
        advance(t, e);
        take_gap(t, e, t->begin);
    }
    return t->failed ? NTR_E_MEMORY : NTR_OK;
}

static ntr_follower follower_of(ntr_timeline *t) {
    return (ntr_follower){.before = before,
                          .executed = executed,
                          .after = after,
                          .listener = {ntr_timeline_enter, ntr_timeline_leave, t},
                          .begin_chunk = ntr_timeline_begin_chunk,
                          .move = ntr_timeline_move,
                          .left = ntr_timeline_left,
                          .enter_open = ntr_timeline_enter_open,
                          .shortest = ntr_timeline_kept};
}

ntr_follower ntr_timeline_follower(ntr_timeline *t) {
    t->follows = true;
    return follower_of(t);
}

ntr_status ntr_timeline_feed(ntr_timeline *t, const ntr_event *events, size_t count) {
    const ntr_follower follower = follower_of(t);
    const ntr_status status = ntr_follower_feed(&follower, t->stack, events, count);

    if (count) t->last = events[count - 1];
    return t->failed ? NTR_E_MEMORY : status;
}

/* ---- */

static bool is_of_thread(const ntr_timeslice *s) {
    return s->task && (s->kind == NTR_SLICE_FUNCTION || s->kind == NTR_SLICE_TRAP);
}

/* The idle threads of all harts have the pid 0. */
static int by_thread(const ntr_task *x, const ntr_task *y) {
    NTR_COMPARE_BY(tgid);
    NTR_COMPARE_BY(pid);
    return x->has_pid && x->pid ? 0 : NTR_COMPARE(x->task, y->task);
}

static int by_track(const ntr_timeslice *x, const ntr_timeslice *y) {
    if (is_of_thread(x) != is_of_thread(y)) return is_of_thread(x) ? 1 : -1;
    if (is_of_thread(x)) {
        const int order = by_thread(x->task, y->task);
        return order ? order : NTR_COMPARE(x->kind, y->kind);
    }
    NTR_COMPARE_BY(src);
    NTR_COMPARE_BY(kind);
    return NTR_COMPARE(x->context, y->context);
}

bool ntr_timeslice_same_track(const ntr_timeslice *one, const ntr_timeslice *other) {
    return by_track(one, other) == 0;
}

static int by_position(const void *left, const void *right) {
    const ntr_timeslice *a = left, *b = right;

    int order = by_track(a, b);
    if (order) return order;
    if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

ntr_status ntr_timeline_finish(ntr_timeline *t) {
    if (!t->follows) ntr_callstack_finish(t->stack, &t->last);
    ntr_timeline_finish_trap(t);
    for (size_t i = 0; i < NTR_SOURCES_MAX; i++) {
        end_context(t, (uint16_t)i);
        ntr_timeline_end_run(t, (uint16_t)i);
    }
    if (t->count) qsort(t->slices, t->count, sizeof *t->slices, by_position);
    return t->failed ? NTR_E_MEMORY : NTR_OK;
}

const ntr_timeslice *ntr_timeline_slices(const ntr_timeline *t, size_t *count) {
    *count = t->count;
    return t->slices;
}

bool ntr_timeline_timed(const ntr_timeline *t) {
    return t->timed;
}

uint64_t ntr_timeline_shortest(const ntr_timeline *t) {
    return t->shortest;
}

ntr_status ntr_timeline_new(ntr_functions *functions, size_t most, const ntr_allocator *allocator, ntr_timeline **out) {
    *out = NULL;
    ntr_timeline *t = ntr_alloc(allocator, 1, sizeof *t);

    if (!t) return NTR_E_MEMORY;
    *t = (ntr_timeline){
        .allocator = allocator, .functions = functions, .most = most ? most : SLICES_MOST, .left.index = TIMELINE_NONE};
    const ntr_stack_listener listener = {ntr_timeline_enter, ntr_timeline_leave, t};
    ntr_callstack_new(functions, &listener, allocator, &t->stack);
    t->harts = ntr_alloc(allocator, NTR_SOURCES_MAX, sizeof *t->harts);
    t->slices = ntr_alloc(allocator, t->most, sizeof *t->slices);
    if (t->stack && t->harts && t->slices) {
        const ntr_late_listener late = {.noted = ntr_timeline_note_late, .joined = ntr_timeline_join_late, .user = t};
        ntr_callstack_listen_late(t->stack, &late);
        *out = t;
        return NTR_OK;
    }
    ntr_timeline_free(t);
    return NTR_E_MEMORY;
}

void ntr_timeline_free(ntr_timeline *t) {
    if (!t) return;
    ntr_callstack_free(t->stack);
    ntr_dealloc(t->allocator, t->harts);
    ntr_dealloc(t->allocator, t->open);
    ntr_dealloc(t->allocator, t->traps);
    ntr_dealloc(t->allocator, t->slices);
    ntr_dealloc(t->allocator, t);
}
