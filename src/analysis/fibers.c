/* Stacks of OCaml's fibers (effects). A fiber's calls are on a stack of its own, whose caller is known: the function
 * that began it (caml_runstack) or continues it (caml_resume). When a function performs an effect, control leaves the
 * fiber, and the frame of the handler takes the place of caml_runstack. The frames of the fiber wait, as those of a
 * coroutine do (coroutines.c), and caml_resume puts them on top of the stack at that moment.
 *
 * Which fiber continues is not known if several wait that are not equal. Then caml_resume stays on the stack. Above it,
 * a frame without a caller begins those that they have in common, until returns show which one it is:
 *
 *     main, caml_resume | yield    ->    main, caml_resume | squares, yield    ->    main, caml_runstack, squares
 *
 * A return that fits no frame stays above that frame. */
#include "analysis/callstack_state.h"

#include "base/allocator.h"

#include <string.h>

/* What a fiber has in place of the address at which a coroutine continues. */
#define ANY_PLACE (UINT64_MAX - 1)

static ntr_os_role role_of(const change *c, uint32_t function) {
    return (ntr_os_role)ntr_functions_role(c->cs->functions, function).role;
}

static uint32_t goes_to(const change *c) {
    return ntr_callstack_range_at(c, c->event->target)->number;
}

bool ntr_fiber_leaves(const change *c) {
    enum { LEAVES_BY = 1u << NTR_SPAN_JUMP | 1u << NTR_SPAN_INDIRECT_JUMP };
    if (!c->stack->depth || !(LEAVES_BY >> c->event->end & 1) || c->event->flags & NTR_EVENT_TARGET_UNKNOWN)
        return false;
    const uint32_t function = ntr_change_top(c)->function;
    const ntr_os_role role = role_of(c, function);
    return (role == NTR_OS_PERFORM || role == NTR_OS_REPERFORM || role == NTR_OS_RESUME) && goes_to(c) != function;
}

/* The fibers that wait are put on top of the stack. */
static ntr_status attach(change *c) {
    ntr_status status = NTR_OK;
    c->stack->performed = 0;
    c->stack->searched = false;
    const bool any = ntr_coroutine_choose(c, ANY_PLACE);
    uint32_t function = 0;
    c->stack->several |= !any;
    for (size_t i = 0; i < c->cs->stack_count && any; i++) {
        const stack *s = &c->cs->stacks[i];
        if (!s->coroutine || s->stands != c->hart->current + 1) continue;
        function = s->frames[s->depth - 1].function;
        c->stack->several |= s->several;
    }
    if (!any) return ntr_callstack_root(c, c->event->target);
    ntr_coroutine_settle(c, c->stack->depth, function, &status); /* all wait in caml_perform */
    return status ? status : ntr_callstack_end_span(c);
}

/* Stores the frames from number `from` that wait: those of the fiber, and behind them those of the fiber that it has
 * left and whose effect it passes on. Returns their number, 0: out of memory. */
static size_t frames_of(change *c, size_t from, const stack *more, ntr_stack_frame **out) {
    const stack *s = c->stack;
    const size_t own = s->depth - from - (more ? 1 : 0), all = own + (more ? more->depth : 0);
    ntr_stack_frame *frames = ntr_alloc(c->cs->allocator, all, sizeof *frames);
    *out = frames;
    if (!frames) return 0;
    memcpy(frames, s->frames + from, own * sizeof *frames);
    if (more) {
        const ntr_stack_frame *link = ntr_change_top(c);
        memcpy(frames + own, more->frames, more->depth * sizeof *frames);
        frames[own].kind = link->kind;
        frames[own].site = link->site;
        frames[own].return_to = link->return_to;
    }
    if (frames[0].kind != NTR_FRAME_ROOT) frames[0].site = frames[0].return_to = 0; /* set when the fiber continues */
    return all;
}

/* Returns the fiber whose effect is passed on. If it is not known, none that waits is known any more. */
static stack *passed_on(change *c) {
    stack *own = c->stack;
    const bool passes = own->reperforms;
    own->reperforms = false;
    if (passes && own->performed && own->depth >= own->performed_depth) return &c->cs->stacks[own->performed - 1];
    if (passes) ntr_coroutine_forget(c->cs);
    own->several |= passes;
    return NULL;
}

static ntr_status keep(change *c, size_t from, stack *more, size_t *number) {
    ntr_stack_frame *frames;
    const size_t count = frames_of(c, from, more, &frames);
    if (more) ntr_coroutine_continues(c->cs, more);
    const ntr_status status = count ? ntr_coroutine_keep(c, frames, count, ANY_PLACE, number) : NTR_E_MEMORY;
    ntr_dealloc(c->cs->allocator, frames);
    if (status) return status;
    if (*number) c->cs->stacks[*number - 1].several |= more || c->stack->several;
    c->waits = true;
    ntr_callstack_pop(c, from, false);
    c->waits = false;
    return NTR_OK;
}

/* The handler of an effect takes the place of the frame that called the fiber: of caml_resume, if the fiber is not
 * known but its outermost frame was called by that. */
static ntr_status perform(change *c) {
    size_t from = c->stack->depth - 1, number;
    while (from > 0 && role_of(c, c->stack->frames[from].function) != NTR_OS_FIBER &&
           c->stack->frames[from].kind != NTR_FRAME_ROOT)
        from--;
    const ntr_stack_frame link = c->stack->frames[from];
    const bool known = link.kind != NTR_FRAME_ROOT && role_of(c, link.function) == NTR_OS_FIBER;
    stack *more = passed_on(c);
    const bool one = from > 0 && !more && !c->stack->several;
    if (keep(c, from, more, &number) != NTR_OK) return NTR_E_MEMORY;
    c->stack->searched = false;
    c->stack->performed = number;
    c->stack->performed_depth = from + 1;
    if (!known) return one ? ntr_callstack_end_span(c) : ntr_callstack_root(c, c->event->target);
    ntr_stack_frame handler = link;
    handler.function = goes_to(c);
    return ntr_callstack_push(c, handler, true);
}

ntr_status ntr_fiber_switch(change *c) {
    const ntr_os_role role = role_of(c, ntr_change_top(c)->function), to = role_of(c, goes_to(c));
    const bool passes = c->stack->reperforms;
    c->cs->swapped = true;
    if (role == NTR_OS_REPERFORM) c->stack->reperforms = to == NTR_OS_PERFORM;
    if (role == NTR_OS_PERFORM && to == NTR_OS_C_CALL) c->stack->reperforms = false;
    if (role == NTR_OS_PERFORM && to != NTR_OS_C_CALL) return perform(c);
    /* Without a handler, the first performer continues. */
    return (role == NTR_OS_RESUME && to != NTR_OS_C_CALL) || (role == NTR_OS_PERFORM && passes)
               ? attach(c)
               : ntr_callstack_end_span(c);
}

bool ntr_fiber_raise(change *c, uint64_t target, ntr_status *status) {
    ntr_callstack *cs = c->cs;
    if (!ntr_coroutine_is_searched(c->stack) || !ntr_change_by_t0(c)) return false;
    const uint32_t function = ntr_callstack_range_at(c, target)->number;
    for (size_t at = c->stack->below; at < c->stack->depth; at++)
        if (c->stack->frames[at].function == function) return false;
    for (size_t i = 0; i < cs->stack_count; i++) {
        stack *s = &cs->stacks[i];
        if (!s->coroutine || s->stands != c->hart->current + 1) continue;
        size_t left = s->depth - s->returned - 1; /* below the one that is known already */
        while (left > 0 && s->frames[left - 1].function != function) left--;
        if (left)
            s->returned = (uint32_t)(s->depth - left);
        else
            s->stands = 0;
    }
    return ntr_coroutine_settle(c, c->stack->below, function, status);
}
