#include "analysis/callstack.h"
#include "analysis/callstack_state.h"

#include "base/allocator.h"

#include <string.h>

ntr_status ntr_callstack_new(ntr_functions *functions, const ntr_stack_listener *listener,
                             const ntr_allocator *allocator, ntr_callstack **out) {
    *out = NULL;
    ntr_callstack *cs = ntr_alloc(allocator, 1, sizeof *cs);
    if (!cs) return NTR_E_MEMORY;
    cs->functions = functions;
    cs->allocator = allocator;
    if (listener) cs->listener = *listener;
    *out = cs;
    return NTR_OK;
}

void ntr_callstack_listen(ntr_callstack *cs, const ntr_stack_listener *listener) {
    cs->listener = *listener;
}

void ntr_callstack_free(ntr_callstack *cs) {
    if (!cs) return;
    for (size_t i = 0; i < cs->stack_count; i++) ntr_dealloc(cs->allocator, cs->stacks[i].frames);
    ntr_dealloc(cs->allocator, cs->stacks);
    for (size_t i = 0; i < cs->hart_count; i++) ntr_dealloc(cs->allocator, cs->harts[i].recent);
    ntr_dealloc(cs->allocator, cs->harts);
    ntr_late_reset(cs);
    ntr_dealloc(cs->allocator, cs);
}

/* ---- selection of the stack -------------------------------------------------------------------- */

/* A stack belongs to a process on a hart, not to a privilege mode: a trap handler runs on the stack of the process it
 * interrupts. */
static bool same_process(const ntr_context *a, const ntr_context *b) {
    return a->scontext == b->scontext && a->hcontext == b->hcontext && a->has_scontext == b->has_scontext &&
           a->has_hcontext == b->has_hcontext;
}

static size_t stack_of(ntr_callstack *cs, uint16_t src, const ntr_context *context) {
    for (size_t i = 0; i < cs->stack_count; i++)
        if (!cs->stacks[i].thread && cs->stacks[i].src == src && same_process(&cs->stacks[i].context, context))
            return i;
    if (ntr_reserve(cs->allocator, (void **)&cs->stacks, &cs->stack_capacity, cs->stack_count + 1, sizeof *cs->stacks))
        return SIZE_MAX;
    cs->stacks[cs->stack_count] = (stack){.src = src, .context = *context};
    return cs->stack_count++;
}

static hart *find_hart(ntr_callstack *cs, uint16_t src) {
    for (cs->last_hart = 0; cs->last_hart < cs->hart_count; cs->last_hart++)
        if (cs->harts[cs->last_hart].src == src) return &cs->harts[cs->last_hart];
    if (ntr_reserve(cs->allocator, (void **)&cs->harts, &cs->hart_capacity, cs->hart_count + 1, sizeof *cs->harts))
        return NULL;
    hart fresh = {
        .src = src, .context = NTR_CONTEXT_UNKNOWN, .stopped = cs->from_inside ? HART_STOP_UNKNOWN : HART_RUNS};
    fresh.current = stack_of(cs, src, &fresh.context);
    if (fresh.current == SIZE_MAX) return NULL;
    fresh.recent = ntr_alloc(cs->allocator, RECENT, sizeof *fresh.recent);
    if (!fresh.recent) return NULL;
    fresh.context_number = 1;
    const ntr_tasks *tasks = ntr_functions_tasks(cs->functions);
    if (tasks) fresh.tasks = ntr_tasks_of(tasks, src, &fresh.task_count);
    cs->harts[cs->hart_count] = fresh;
    return &cs->harts[cs->hart_count++];
}

/* NULL when out of memory. */
static inline hart *hart_of(ntr_callstack *cs, uint16_t src) {
    if (cs->last_hart < cs->hart_count && cs->harts[cs->last_hart].src == src) return &cs->harts[cs->last_hart];
    return find_hart(cs, src);
}

/* ---- events ------------------------------------------------------------------------------------ */

static bool switch_context(ntr_callstack *cs, hart *h, const ntr_context *context) {
    size_t next = h->threaded ? h->current : stack_of(cs, h->src, context);
    if (next == SIZE_MAX) return false;
    h->context = *context;
    h->current = next;
    if (++h->context_number) return true;
    memset(h->recent, 0, RECENT * sizeof *h->recent);
    h->context_number = 1;
    return true;
}

/* Prepares the change by an event, in the stack of its context. Returns false when out of memory. */
static inline bool begin(change *c, ntr_callstack *cs, const ntr_event *event) {
    hart *h = hart_of(cs, event->src);
    if (!h) return false;
    if (!h->begun) ntr_hart_begin(h, event->offset);
    const bool other = !ntr_context_equal(&h->context, &event->context);
    if (other && !switch_context(cs, h, &event->context)) return false;
    *c = (change){.cs = cs, .hart = h, .stack = &cs->stacks[h->current], .event = event};
    if (other) ntr_threads_context(c);
    return true;
}

static ntr_status ensure_root(change *c, uint64_t address) {
    if (c->stack->depth) return NTR_OK;
    return ntr_callstack_root(c, address);
}

const ntr_stack_frame *ntr_callstack_frame(ntr_callstack *cs, const ntr_event *event) {
    change c;
    if (!begin(&c, cs, event) || ensure_root(&c, event->address) != NTR_OK) return NULL;
    return ntr_change_top(&c);
}

/* Most functions have none: they continue no other thread, and no coroutine. */
static inline bool has_role(const change *c) {
    return c->stack->depth && ntr_functions_has_role(c->cs->functions, ntr_change_top(c)->function);
}

/* Returns whether the span concerns no other stack, whatever its end. */
static inline bool is_calm(const change *c) {
    return !c->stack->waits && !c->stack->searched && !c->cs->waiting && !c->hart->guessing && !has_role(c);
}

/* The span may end in another thread, or its stack waits for that of its thread. */
static ntr_status take_thread_span(change *c) {
    const ntr_event *e = c->event;
    const bool known = !(e->flags & NTR_EVENT_TARGET_UNKNOWN);
    const bool returns = known && (e->end == NTR_SPAN_RETURN || e->end == NTR_SPAN_CO_SWAP);
    ntr_status status = NTR_OK;
    if (has_role(c)) {
        if (returns && ntr_threads_leaves(c)) return ntr_threads_switch(c, e->target);
        if (ntr_coroutine_leaves(c)) return ntr_coroutine_switch(c, e->target);
        if (ntr_fiber_leaves(c)) return ntr_fiber_switch(c);
    }
    if (c->stack->waits) ntr_late_note(c);
    if (returns && c->stack->searched && ntr_fiber_raise(c, e->target, &status)) return status;
    if (returns && c->stack->searched && ntr_coroutine_find(c, e->target, &status)) return status;
    if (returns && c->cs->waiting && ntr_coroutine_return(c, e->target, &status)) return status;
    if (c->hart->guessing && c->stack->depth <= 1) {
        if (returns && ntr_threads_find(c, e->target, false)) return NTR_OK;
        if (known && e->end == NTR_SPAN_TRAP_RETURN) ntr_threads_find(c, e->target, true);
    }
    return ntr_callstack_end_span(c);
}

static inline __attribute__((always_inline)) ntr_status take_span(change *c) {
    enum {
        LEAVES =
            1u << NTR_SPAN_RETURN | 1u << NTR_SPAN_CO_SWAP | 1u << NTR_SPAN_TRAP_RETURN | 1u << NTR_SPAN_INDIRECT_JUMP
    };
    c->hart->stopped = HART_RUNS;
    const bool calm =
        LEAVES >> c->event->end & 1 ? is_calm(c) : !c->stack->waits && !(c->event->end == NTR_SPAN_JUMP && has_role(c));
    return calm ? ntr_callstack_end_span(c) : take_thread_span(c);
}

ntr_status ntr_callstack_span(ntr_callstack *cs, const ntr_event *event, uint32_t *handle) {
    change c;
    if (!begin(&c, cs, event) || ensure_root(&c, event->address) != NTR_OK) return NTR_E_MEMORY;
    *handle = ntr_change_top(&c)->handle;
    return take_span(&c);
}

/* Returns whether the span changes only the top frame, and not the first one. */
static bool is_shallow(const change *c) {
    const ntr_stack_frame *top = ntr_change_top(c);
    const ntr_function_range *range;
    switch ((ntr_span_end)c->event->end) {
    case NTR_SPAN_CALL:
    case NTR_SPAN_INDIRECT_CALL: return true;
    case NTR_SPAN_RETURN:
        return c->stack->depth > 1 && top->kind == NTR_FRAME_CALL && top->return_to == c->event->target &&
               !ntr_coroutine_leaves(c);
    case NTR_SPAN_JUMP: return c->stack->depth > 1 && !ntr_fiber_leaves(c);
    case NTR_SPAN_TAKEN:
    case NTR_SPAN_NOT_TAKEN:
    case NTR_SPAN_CUT: return c->stack->depth > 1;
    case NTR_SPAN_INDIRECT_JUMP:
        range = ntr_callstack_range_at(c, c->event->target);
        return c->stack->depth > 1 && !ntr_coroutine_leaves(c) && !ntr_fiber_leaves(c) &&
               (range->number == top->function ||
                (ntr_function_range_begins(range, c->event->target) && !ntr_frame_is_trap(top)));
    default: return false;
    }
}

bool ntr_callstack_shallow_span(ntr_callstack *cs, const ntr_event *event, size_t most, uint32_t *handle,
                                ntr_status *status) {
    change c;
    *status = begin(&c, cs, event) ? ensure_root(&c, event->address) : NTR_E_MEMORY;
    if (*status != NTR_OK) return true;
    if (event->flags & NTR_EVENT_TARGET_UNKNOWN || c.hart->threaded || c.stack->depth >= most || !is_shallow(&c))
        return false;
    *handle = ntr_change_top(&c)->handle;
    *status = take_span(&c);
    return true;
}

bool ntr_callstack_stays(ntr_callstack *cs, const ntr_event *event, ntr_function_range *code, uint32_t *handle) {
    hart *h = hart_of(cs, event->src); /* its current stack is that of the event, which was processed */
    if (event->flags & NTR_EVENT_TARGET_UNKNOWN || !h) return false;
    const change c = {.cs = cs, .hart = h, .stack = &cs->stacks[h->current], .event = event};
    if (!ntr_change_top(&c)) return false;
    *code = *ntr_callstack_range_at(&c, event->target);
    *handle = ntr_change_top(&c)->handle;
    return code->number == ntr_change_top(&c)->function;
}

ntr_status ntr_callstack_feed(ntr_callstack *cs, const ntr_event *event) {
    change c;
    if (!begin(&c, cs, event)) return NTR_E_MEMORY;
    ntr_status status = NTR_OK;
    switch ((ntr_event_kind)event->kind) {
    case NTR_EVENT_SPAN: status = ensure_root(&c, event->address); return status ? status : take_span(&c);
    case NTR_EVENT_STOP:
        c.hart->stopped = event->flags & NTR_EVENT_ADDRESS_UNKNOWN ? HART_RUNS : HART_STOPPED;
        c.hart->stopped_at = event->address;
        return NTR_OK;
    case NTR_EVENT_SYNC:
        status = ntr_callstack_sync(&c, event->address);
        if (!c.stack->depth) ntr_coroutine_forget(cs); /* the stack is lost, or the program was replaced */
        return status;
    case NTR_EVENT_GAP:
        if (c.stack->waits) ntr_late_note_all(&c);
        ntr_callstack_pop(&c, 0, true);
        ntr_coroutine_forget(cs);
        ntr_threads_gap(&c, event->gap.until);
        return NTR_OK;
    default: return NTR_OK;
    }
}

void ntr_callstack_finish(ntr_callstack *cs, const ntr_event *last) {
    for (size_t i = 0; i < cs->stack_count; i++) {
        hart *h = hart_of(cs, cs->stacks[i].src);
        if (h) h->current = i;
        change c = {.cs = cs, .hart = h, .stack = &cs->stacks[i], .event = last};
        if (c.stack->coroutine) c.stack->depth = 0; /* its frames were left */
        if (h) ntr_callstack_pop(&c, 0, true);
    }
}

ntr_function_range ntr_callstack_range(ntr_callstack *cs, const ntr_event *event, uint64_t address) {
    hart *h = hart_of(cs, event->src);
    if (!h || !ntr_context_equal(&h->context, &event->context))
        return ntr_functions_range(cs->functions, ntr_event_place(event, address));
    const change c = {.cs = cs, .hart = h, .event = event};
    return *ntr_callstack_range_at(&c, address);
}

ntr_callstack_run ntr_callstack_running(ntr_callstack *cs, uint16_t src) {
    const hart *h = hart_of(cs, src);
    if (!h) return (ntr_callstack_run){0};
    return (ntr_callstack_run){.thread = (uint32_t)h->current, .number = h->run, .fresh = h->fresh};
}

uint64_t ntr_callstack_switches(const ntr_callstack *cs) {
    return cs->switches;
}

bool ntr_callstack_found(ntr_callstack *cs, uint32_t *from, uint32_t *to) {
    const bool found = cs->found;
    *to = (uint32_t)cs->found_as;
    *from = (uint32_t)(cs->found - found);
    cs->found = 0;
    return found;
}
