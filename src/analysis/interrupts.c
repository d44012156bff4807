#include <ntrace/interrupts.h>

#include "analysis/followers.h"
#include "base/allocator.h"

#include <ntrace/params.h>
#include <stdlib.h>

#define NONE   NTR_POOL_NONE
#define VECTOR 4 /* maximum number of instructions of a vector before its handler */

/* State of a hart. */
struct interrupt_hart {
    uint64_t instructions;
    uint64_t time, before; /* timestamps of the current message and of the previous one */
    uint64_t message;
    uint32_t entered; /* handler entered by the current message; NONE: none */
    uint32_t running; /* number of active handlers */
    bool timed, before_timed;
};

/* An active handler. */
struct running {
    uint32_t handler;
    uint64_t instructions, time;
    bool timed;
};

/* A frame that was left. It has ended, unless the next change is a tail call that continues it in another function. */
struct ended {
    uint32_t index;
    uint16_t src;
    bool lost;
};

struct ntr_interrupts {
    const ntr_allocator *allocator;
    ntr_callstack *stack;
    struct interrupt_hart *harts;
    struct running *running;
    ntr_pool pool; /* of `running` */
    ntr_interrupt **list;
    size_t count, capacity;
    uint64_t left_out;
    struct ended ended; /* index NONE: no frame */
    ntr_event last;
    uint64_t chunk_instructions; /* of the hart, at the beginning of the chunk that is applied */
    uint16_t chunk_src;
    bool failed;
    bool follows; /* the frames are those of another one's stack */
};

static bool is_trap(const ntr_stack_frame *frame) {
    return frame->kind == NTR_FRAME_EXCEPTION || frame->kind == NTR_FRAME_INTERRUPT;
}

/* ---- handlers */

static uint8_t end_of(const ntr_stack_moment *moment, const ntr_stack_frame *frame) {
    const ntr_event *e = moment->event;
    if (e->kind == NTR_EVENT_SPAN && e->end == NTR_SPAN_TRAP) return NTR_SPAN_TRAP;
    return frame->kind == NTR_FRAME_INTERRUPT ? NTR_SPAN_INTERRUPT : NTR_SPAN_EXCEPTION;
}

static uint32_t handler_of(ntr_interrupts *x, const ntr_stack_moment *moment, const ntr_stack_frame *frame) {
    uint64_t address = moment->event->kind == NTR_EVENT_SPAN ? moment->event->target : moment->event->address;
    uint8_t end = end_of(moment, frame);
    for (uint32_t i = 0; i < x->count; i++)
        if (x->list[i]->address == address && x->list[i]->src == moment->src && x->list[i]->end == end) return i;
    if (x->count == NTR_INTERRUPTS_MAX) {
        x->left_out++;
        return NONE;
    }
    ntr_interrupt *fresh = ntr_alloc(x->allocator, 1, sizeof *fresh);
    void *block = x->list;
    if (!fresh || ntr_reserve(x->allocator, &block, &x->capacity, x->count + 1, sizeof *x->list)) {
        ntr_dealloc(x->allocator, fresh);
        x->failed = true;
        return NONE;
    }
    x->list = block;
    fresh->address = address;
    fresh->function = fresh->handler = frame->function;
    fresh->src = moment->src;
    fresh->end = end;
    x->list[x->count] = fresh;
    return (uint32_t)x->count++;
}

static uint32_t start_running(ntr_interrupts *x) {
    const uint32_t index = ntr_pool_take(&x->pool, (void **)&x->running, sizeof *x->running, x->allocator);
    x->failed |= index == NONE;
    return index;
}

/* ---- frames */

/* Counts the frame that was left as ended. */
static void finish_ended(ntr_interrupts *x) {
    if (x->ended.index == NONE) return;
    struct running *r = &x->running[x->ended.index];
    struct interrupt_hart *h = &x->harts[x->ended.src];
    ntr_interrupt *i = x->list[r->handler];
    if (h->running) h->running--;
    if (x->ended.lost) {
        i->unfinished++;
    } else {
        ntr_histogram_add(&i->instructions, h->instructions - r->instructions);
        if (r->timed && h->timed && h->time >= r->time) ntr_histogram_add(&i->ticks, h->time - r->time);
    }
    ntr_pool_give_back(&x->pool, x->running, sizeof *x->running, x->ended.index);
    x->ended.index = NONE;
}

static uint32_t enter(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool tail) {
    ntr_interrupts *x = user;
    if (!is_trap(frame) || (moment->resumed && !tail)) { /* resumed: a coroutine that waited in it continues */
        finish_ended(x);
        return NONE;
    }
    if (tail) { /* jump from vector to handler, or inside the handler: the same trap */
        uint32_t index = x->ended.index;
        x->ended.index = NONE;
        if (index == NONE) return NONE;
        ntr_interrupt *i = x->list[x->running[index].handler];
        bool vector = x->harts[moment->src].instructions - x->running[index].instructions <= VECTOR;
        if (vector && i->handler == i->function) i->handler = frame->function;
        return index;
    }
    finish_ended(x);
    struct interrupt_hart *h = &x->harts[moment->src];
    uint32_t handler = handler_of(x, moment, frame);
    uint32_t index = handler == NONE ? NONE : start_running(x);
    if (index == NONE) return NONE;
    ntr_interrupt *i = x->list[handler];
    i->count++;
    if (h->running++) i->nested++;
    if (h->timed && h->before_timed && h->time >= h->before) ntr_histogram_add(&i->before, h->time - h->before);
    h->entered = handler;
    x->running[index] = (struct running){handler, h->instructions, h->time, h->timed};
    return index;
}

static void leave(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool lost) {
    ntr_interrupts *x = user;
    finish_ended(x);
    if (is_trap(frame) && frame->handle != NONE) x->ended = (struct ended){frame->handle, moment->src, lost};
}

/* ---- events */

static void update_time(ntr_interrupts *x, struct interrupt_hart *h, const ntr_event *e) {
    bool timed = (e->flags & NTR_EVENT_TIME) != 0;
    if (e->message != h->message) {
        bool sure = h->timed && timed && e->kind != NTR_EVENT_GAP && e->time >= h->time;
        if (h->entered != NONE && sure) ntr_histogram_add(&x->list[h->entered]->after, e->time - h->time);
        h->entered = NONE;
        h->before = h->time;
        h->before_timed = h->timed && e->kind != NTR_EVENT_GAP;
        h->message = e->message;
    }
    h->time = e->time;
    h->timed = timed;
}

static void before(void *user, const ntr_event *e) {
    ntr_interrupts *x = user;
    if (e->src < NTR_SOURCES_MAX) update_time(x, &x->harts[e->src], e);
}

static void executed(void *user, const ntr_event *e) {
    ntr_interrupts *x = user;
    if (e->src < NTR_SOURCES_MAX && e->kind == NTR_EVENT_SPAN) x->harts[e->src].instructions += ntr_event_executed(e);
}

static ntr_status after(void *user, const ntr_event *e) {
    ntr_interrupts *x = user;
    (void)e;
    finish_ended(x);
    return x->failed ? NTR_E_MEMORY : NTR_OK;
}

/* Of a chunk only the instructions matter: the frames of traps are those of logged events. */
static bool begin_chunk(void *user, const ntr_chunk_facts *facts) {
    ntr_interrupts *x = user;
    if (facts->src >= NTR_SOURCES_MAX) return false;
    x->chunk_src = facts->src;
    x->chunk_instructions = x->harts[facts->src].instructions;
    return true;
}

static void move(void *user, uint64_t instructions, uint64_t entered) {
    ntr_interrupts *x = user;
    (void)entered;
    x->harts[x->chunk_src].instructions = x->chunk_instructions + instructions;
}

static ntr_follower follower_of(ntr_interrupts *x) {
    return (ntr_follower){.before = before,
                          .executed = executed,
                          .after = after,
                          .listener = {enter, leave, x},
                          .begin_chunk = begin_chunk,
                          .move = move};
}

ntr_follower ntr_interrupts_follower(ntr_interrupts *x) {
    x->follows = true;
    return follower_of(x);
}

ntr_status ntr_interrupts_feed(ntr_interrupts *x, const ntr_event *events, size_t count) {
    const ntr_follower follower = follower_of(x);
    if (count) x->last = events[count - 1];
    return ntr_follower_feed(&follower, x->stack, events, count);
}

static int by_position(const void *left, const void *right) {
    const ntr_interrupt *a = *(ntr_interrupt *const *)left, *b = *(ntr_interrupt *const *)right;
    if (a->src != b->src) return a->src < b->src ? -1 : 1;
    if (a->end != b->end) return a->end < b->end ? -1 : 1;
    return a->address < b->address ? -1 : a->address > b->address;
}

ntr_status ntr_interrupts_finish(ntr_interrupts *x) {
    if (!x->follows) ntr_callstack_finish(x->stack, &x->last);
    finish_ended(x);
    if (x->count) qsort(x->list, x->count, sizeof *x->list, by_position);
    return x->failed ? NTR_E_MEMORY : NTR_OK;
}

const ntr_interrupt *const *ntr_interrupts_list(const ntr_interrupts *x, size_t *count) {
    *count = x->count;
    return (const ntr_interrupt *const *)x->list;
}

uint64_t ntr_interrupts_left_out(const ntr_interrupts *x) {
    return x->left_out;
}

ntr_status ntr_interrupts_new(ntr_functions *functions, const ntr_allocator *allocator, ntr_interrupts **out) {
    *out = NULL;
    ntr_interrupts *x = ntr_alloc(allocator, 1, sizeof *x);
    if (!x) return NTR_E_MEMORY;
    x->allocator = allocator;
    x->ended.index = NONE;
    const ntr_stack_listener listener = {enter, leave, x};
    ntr_callstack_new(functions, &listener, allocator, &x->stack);
    x->harts = ntr_alloc(allocator, NTR_SOURCES_MAX, sizeof *x->harts);
    for (size_t i = 0; x->harts && i < NTR_SOURCES_MAX; i++) x->harts[i].entered = NONE;
    if (x->stack && x->harts) {
        *out = x;
        return NTR_OK;
    }
    ntr_interrupts_free(x);
    return NTR_E_MEMORY;
}

void ntr_interrupts_free(ntr_interrupts *x) {
    if (!x) return;
    ntr_callstack_free(x->stack);
    for (size_t i = 0; i < x->count; i++) ntr_dealloc(x->allocator, x->list[i]);
    ntr_dealloc(x->allocator, x->list);
    ntr_dealloc(x->allocator, x->running);
    ntr_dealloc(x->allocator, x->harts);
    ntr_dealloc(x->allocator, x);
}
