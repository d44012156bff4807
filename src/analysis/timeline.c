#include <ntrace/timeline.h>

#include "analysis/followers.h"
#include "base/allocator.h"

#include <ntrace/params.h>
#include <stdlib.h>

#define SLICES_MOST 200000

/* State of a hart. */
struct timeline_hart {
    uint64_t now, context_since, context;
    bool in_context;
};

/* A frame that was entered and not yet left. `next` links free elements. */
struct open_frame {
    uint64_t begin, order;
    uint32_t next;
};

struct ntr_timeline {
    const ntr_allocator *allocator;
    ntr_callstack *stack;
    struct timeline_hart *harts;
    struct open_frame *open;
    size_t open_capacity;
    uint32_t open_used, open_free; /* open_free: index + 1; 0: none */
    ntr_timeslice *slices;
    size_t count, most;
    uint64_t shortest, entered;
    uint64_t begin; /* time before the current event */
    bool timed, failed;
    bool follows; /* the frames are those of another one's stack */
    ntr_event last;
};

/* ---- slices */

static bool is_removable(const ntr_timeslice *s) {
    return s->kind == NTR_SLICE_FUNCTION || s->kind == NTR_SLICE_TRAP;
}

static bool too_short(const ntr_timeline *t, const ntr_timeslice *s) {
    return is_removable(s) && s->end - s->begin < t->shortest;
}

/* Doubles the minimum length and removes shorter slices until half of the space is free. */
static void coarsen(ntr_timeline *t) {
    while (t->count > t->most / 2 && t->shortest < UINT64_MAX / 2) {
        size_t kept = 0;
        t->shortest = t->shortest ? t->shortest * 2 : 1;
        for (size_t i = 0; i < t->count; i++)
            if (!too_short(t, &t->slices[i])) t->slices[kept++] = t->slices[i];
        t->count = kept;
    }
}

static void add(ntr_timeline *t, const ntr_timeslice *slice) {
    if (t->count == t->most) coarsen(t);
    if (t->count < t->most && !too_short(t, slice)) t->slices[t->count++] = *slice;
}

/* ---- frames */

static uint32_t open_frame(ntr_timeline *t) {
    uint32_t index;

    if (t->open_free) {
        index = t->open_free - 1;
        t->open_free = t->open[index].next;
        return index;
    }
    void *block = t->open;
    if (ntr_reserve(t->allocator, &block, &t->open_capacity, (size_t)t->open_used + 1, sizeof *t->open)) {
        t->failed = true;
        return UINT32_MAX;
    }
    t->open = block;
    return t->open_used++;
}

static uint32_t enter(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool tail) {
    ntr_timeline *t = user;
    uint32_t index = open_frame(t);

    (void)frame;
    (void)tail;
    if (index == UINT32_MAX) return index;
    t->open[index] = (struct open_frame){t->harts[moment->src].now, t->entered++, 0};
    return index;
}

static void leave(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool lost) {
    ntr_timeline *t = user;
    uint32_t index = frame->handle;

    (void)lost;
    if (index >= t->open_used) return;
    bool trap = frame->kind == NTR_FRAME_EXCEPTION || frame->kind == NTR_FRAME_INTERRUPT;
    ntr_timeslice slice = {
        .begin = t->open[index].begin,
        .end = t->harts[moment->src].now,
        .value = frame->function,
        .context = moment->context && moment->context->has_scontext ? moment->context->scontext : 0,
        .order = t->open[index].order,
        .src = moment->src,
        .kind = trap ? NTR_SLICE_TRAP : NTR_SLICE_FUNCTION,
        .frame = frame->kind,
    };
    t->open[index].next = t->open_free;
    t->open_free = index + 1;
    if (slice.end < slice.begin) slice.end = slice.begin;
    add(t, &slice);
}

/* ---- events */

static void end_context(ntr_timeline *t, uint16_t src) {
    struct timeline_hart *hart = &t->harts[src];
    ntr_timeslice slice = {.begin = hart->context_since, .end = hart->now, .value = hart->context, .src = src};

    slice.kind = NTR_SLICE_CONTEXT;

    if (hart->in_context && slice.end > slice.begin) add(t, &slice);
    hart->in_context = false;
}

static void take_context(ntr_timeline *t, const ntr_event *e) {
    struct timeline_hart *hart = &t->harts[e->src];
    bool known = e->context.has_scontext || e->context.has_hcontext;
    uint64_t context = e->context.has_scontext ? e->context.scontext : e->context.hcontext;

    if (hart->in_context && known && hart->context == context) return;
    end_context(t, e->src);
    hart->in_context = known;
    hart->context = context;
    hart->context_since = hart->now;
}

static void advance(ntr_timeline *t, const ntr_event *e) {
    struct timeline_hart *hart = &t->harts[e->src];

    if (t->timed) {
        if (e->flags & NTR_EVENT_TIME && e->time > hart->now) hart->now = e->time;
    } else if (e->kind == NTR_EVENT_SPAN) {
        hart->now += e->instructions;
    }
}

/* The first timestamp changes the unit of time to ticks. Earlier slices have no length in ticks and are removed. */
static void update_time_base(ntr_timeline *t, const ntr_event *e) {
    if (t->timed || !(e->flags & NTR_EVENT_TIME)) return;
    t->timed = true;
    t->count = 0;
    for (size_t i = 0; i < NTR_SOURCES_MAX; i++) t->harts[i].now = 0;
}

static void take_gap(ntr_timeline *t, const ntr_event *e, uint64_t begin) {
    ntr_timeslice slice = {.begin = begin, .end = t->harts[e->src].now, .src = e->src, .kind = NTR_SLICE_GAP};

    slice.value = (uint64_t) - (int64_t)e->reason;
    end_context(t, e->src);
    add(t, &slice);
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

    if (is_known(e) && e->kind == NTR_EVENT_GAP) {
        advance(t, e);
        take_gap(t, e, t->begin);
    }
    return t->failed ? NTR_E_MEMORY : NTR_OK;
}

static ntr_status take(ntr_timeline *t, const ntr_event *e) {
    if (!is_known(e)) return NTR_OK;
    before(t, e);
    if (e->kind == NTR_EVENT_SPAN && !ntr_callstack_frame(t->stack, e)) return NTR_E_MEMORY;
    executed(t, e);
    ntr_status status = ntr_callstack_feed(t->stack, e);
    ntr_status ended = after(t, e);
    return status ? status : ended;
}

ntr_status ntr_timeline_feed(ntr_timeline *t, const ntr_event *events, size_t count) {
    ntr_status status = NTR_OK;

    for (size_t i = 0; i < count && !status; i++) status = take(t, &events[i]);
    if (count) t->last = events[count - 1];
    return t->failed ? NTR_E_MEMORY : status;
}

/* ---- */

static int by_position(const void *left, const void *right) {
    const ntr_timeslice *a = left, *b = right;

    if (a->src != b->src) return a->src < b->src ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    if (a->context != b->context) return a->context < b->context ? -1 : 1;
    if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

ntr_status ntr_timeline_finish(ntr_timeline *t) {
    if (!t->follows) ntr_callstack_finish(t->stack, &t->last);
    for (size_t i = 0; i < NTR_SOURCES_MAX; i++) end_context(t, (uint16_t)i);
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

ntr_follower ntr_timeline_follower(ntr_timeline *t) {
    t->follows = true;
    return (ntr_follower){before, executed, after, {enter, leave, t}};
}

ntr_timeline *ntr_timeline_new(ntr_functions *functions, size_t most, const ntr_allocator *allocator) {
    ntr_timeline *t = ntr_alloc(allocator, 1, sizeof *t);

    if (!t) return NULL;
    *t = (ntr_timeline){.allocator = allocator, .most = most ? most : SLICES_MOST};
    const ntr_stack_listener listener = {enter, leave, t};
    t->stack = ntr_callstack_new(functions, &listener, allocator);
    t->harts = ntr_alloc(allocator, NTR_SOURCES_MAX, sizeof *t->harts);
    t->slices = ntr_alloc(allocator, t->most, sizeof *t->slices);
    if (t->stack && t->harts && t->slices) return t;
    ntr_timeline_free(t);
    return NULL;
}

void ntr_timeline_free(ntr_timeline *t) {
    if (!t) return;
    ntr_callstack_free(t->stack);
    ntr_dealloc(t->allocator, t->harts);
    ntr_dealloc(t->allocator, t->open);
    ntr_dealloc(t->allocator, t->slices);
    ntr_dealloc(t->allocator, t);
}
