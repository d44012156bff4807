/* Stacks of coroutines: which one continues when a function that changes the stack pointer is left.
 *
 * swapcontext and its like (roles.def) return to where another coroutine called them. The frames of the caller wait,
 * with the address at which it will continue. Those of the coroutine that continues are the waiting ones with that
 * address; none at the entry of a function, where a coroutine begins. Several may wait at one address, for example all
 * goroutines that receive from channels. Then the stack has the innermost frames that they have in common. A return
 * from the first of these shows one more return address, until one coroutine is left, or all that are left are equal.
 *
 * Example: main and two generators yield in `yield`. swapcontext continues in `yield`, and it is not known which one
 * runs. `yield` returns into `squares`: one waiting stack has this return address, and all its frames are entered.
 *
 * Frames are left when their coroutine waits, and entered again, without a call, when it continues. A hart's stack is
 * always that of the coroutine that runs, whatever thread or context it belongs to. */
#include "analysis/callstack.h"
#include "analysis/callstack_state.h"

#include "base/allocator.h"

#include <string.h>

/* When there have been so many at a time, no others are kept, and any of those could be the one that continues. */
enum { WAITING_MAX = 1 << 14 };

static ntr_os_role role_at(const change *c, size_t depth) {
    return (ntr_os_role)ntr_functions_role(c->cs->functions, c->stack->frames[depth].function).role;
}

static bool can_leave(const change *c) {
    enum { JUMPS = 1u << NTR_SPAN_RETURN | 1u << NTR_SPAN_CO_SWAP | 1u << NTR_SPAN_INDIRECT_JUMP };
    return c->stack->depth && JUMPS >> c->event->end & 1 && !(c->event->flags & NTR_EVENT_TARGET_UNKNOWN);
}

bool ntr_coroutine_may_leave(const change *c) {
    return can_leave(c) && c->stack->depth == 1 && role_at(c, 0) == NTR_OS_GOGO;
}

bool ntr_coroutine_leaves(const change *c) {
    const size_t depth = c->stack->depth;
    if (!can_leave(c)) return false;
    const ntr_os_role role = role_at(c, depth - 1);
    const bool switches = role == NTR_OS_SWAP || role == NTR_OS_SET ||
                          (role == NTR_OS_GOGO && depth > 1 && role_at(c, depth - 2) == NTR_OS_EXECUTE);
    return switches && ntr_callstack_range_at(c, c->event->target)->number != c->stack->frames[depth - 1].function;
}

/* ---- the one that is left */

/* Returns the number of frames of the coroutine that calls the switch, 0 when it does not continue. */
static size_t frames_kept(const change *c) {
    const size_t depth = c->stack->depth;
    if (role_at(c, depth - 1) == NTR_OS_SET) return 0;
    if (role_at(c, depth - 1) == NTR_OS_SWAP) return depth - 1;
    for (size_t at = depth; at-- > 0;) {
        if (role_at(c, at) == NTR_OS_GOEXIT) return 0;
        if (role_at(c, at) == NTR_OS_MCALL) return at;
    }
    return 0;
}

static bool is_of_process(const stack *s, const ntr_context *context) {
    return s->context.has_scontext == context->has_scontext && s->context.scontext == context->scontext &&
           s->context.has_hcontext == context->has_hcontext && s->context.hcontext == context->hcontext;
}

/* Returns the waiting coroutine that has the outermost `depth` frames of the current stack, and continues there, too.
 */
static stack *waits_alike(const change *c, size_t depth, uint64_t resume) {
    for (size_t i = 0; i < c->cs->stack_count; i++) {
        stack *s = &c->cs->stacks[i];
        if (!s->coroutine || s->resume != resume || s->depth != depth || !is_of_process(s, &c->hart->context)) continue;
        size_t at = depth;
        for (const ntr_stack_frame *x = s->frames, *y = c->stack->frames; at > 0; at--)
            if (x[at - 1].function != y[at - 1].function || x[at - 1].kind != y[at - 1].kind ||
                x[at - 1].return_to != y[at - 1].return_to)
                break;
        if (!at) return s;
    }
    return NULL;
}

/* Keeps the outermost `depth` frames for later, and leaves all. */
static ntr_status keep(change *c, size_t depth) {
    ntr_callstack *cs = c->cs;
    const size_t own = c->hart->current;
    const uint64_t resume = c->stack->frames[depth].return_to;
    stack *to = waits_alike(c, depth, resume);
    if (to && to->times < UINT32_MAX) to->times++;
    for (size_t i = 0; to && i < depth; i++) to->frames[i].handle = 0; /* of which of them? */
    if (to || cs->waiting >= WAITING_MAX) return NTR_OK;
    const size_t index = ntr_threads_empty_stack(c);
    if (index == SIZE_MAX) return NTR_E_MEMORY;
    c->stack = &cs->stacks[own];
    to = &cs->stacks[index];
    if (ntr_reserve(cs->allocator, (void **)&to->frames, &to->capacity, depth, sizeof *to->frames)) return NTR_E_MEMORY;
    memcpy(to->frames, c->stack->frames, depth * sizeof *to->frames);
    to->depth = depth;
    to->src = c->hart->src;
    to->context = c->hart->context;
    to->thread = to->coroutine = true;
    to->free = false;
    to->resume = resume;
    to->times = 1;
    cs->waiting++;
    ntr_callstack_pop(c, depth, false);
    c->waits = true;
    ntr_callstack_pop(c, 0, false);
    c->waits = false;
    return NTR_OK;
}

/* ---- the one that continues */

static void end_wait(ntr_callstack *cs, stack *s) {
    s->coroutine = false;
    s->free = true;
    s->depth = 0;
    if (cs->waiting < WAITING_MAX) cs->waiting--;
}

/* What the coroutines that a stack may be have in common. */
typedef struct in_common {
    const stack *one;
    size_t frames; /* that many of the innermost ones are equal, but for the return address of the outermost of these */
    bool all; /* no frame differs */
} in_common;

static const ntr_stack_frame *frame_below(const stack *s, size_t above) {
    return above < s->depth ? &s->frames[s->depth - 1 - above] : NULL;
}

/* Compares two, but for the innermost `returned` frames. */
static void compare(in_common *common, const stack *s, size_t returned) {
    size_t equal = 0;
    const ntr_stack_frame *x, *y;
    bool callers = true;
    do {
        x = frame_below(common->one, returned + equal);
        y = frame_below(s, returned + equal);
        if (!x || !y || !callers || x->function != y->function || x->kind != y->kind) break;
        callers = x->return_to == y->return_to;
        equal++;
    } while (equal < common->frames);
    common->all &= !x && !y;
    if (equal < common->frames) common->frames = equal;
}

static in_common common_of(const change *c, size_t returned) {
    const ntr_callstack *cs = c->cs;
    in_common common = {.all = cs->waiting < WAITING_MAX};
    for (size_t i = 0; i < cs->stack_count; i++) {
        const stack *s = &cs->stacks[i];
        if (!s->coroutine || s->stands != c->hart->current + 1) continue;
        if (common.one)
            compare(&common, s, returned);
        else
            common = (in_common){.one = s, .frames = s->depth - returned, .all = common.all};
    }
    return common;
}

/* Enters the frames that the coroutines have in common that the stack may be, but for the innermost `returned`: all of
 * one of them, if no other differs. The top frame is in the function at `target`. Returns false if there are none. */
static bool settle(change *c, size_t returned, uint64_t target, ntr_status *status) {
    const in_common common = common_of(c, returned);
    stack *from = c->cs->stacks + (common.one ? common.one - c->cs->stacks : 0);
    const uint32_t function = ntr_callstack_range_at(c, target)->number;
    c->stack->searched = common.one && !common.all;
    if (!common.one) return false;
    const size_t frames = common.frames && c->cs->waiting < WAITING_MAX ? common.frames : 1;
    ntr_callstack_pop(c, 0, false);
    c->resumed = true;
    for (size_t left = frames; left > 0 && *status == NTR_OK; left--) {
        ntr_stack_frame frame = *frame_below(from, returned + left - 1);
        if (left == 1) frame.function = function;
        if (left == frames && !common.all) frame.kind = NTR_FRAME_ROOT;
        if (!common.all) frame.handle = 0;
        *status = ntr_callstack_push(c, frame, false);
    }
    c->resumed = false;
    c->stack->returned = (uint32_t)(returned + frames - 1);
    if (common.all && !--from->times) end_wait(c->cs, from);
    return true;
}

/* The waiting coroutines that continue at `target` are those that this stack may be. Returns whether there are any. */
static bool choose(const change *c, uint64_t target) {
    ntr_callstack *cs = c->cs;
    const uint32_t stands = (uint32_t)c->hart->current + 1;
    bool any = false;
    for (size_t i = 0; i < cs->stack_count; i++) {
        stack *s = &cs->stacks[i];
        if (!s->coroutine) continue;
        if (s->resume == target && is_of_process(s, &c->hart->context)) {
            if (s->stands && s->stands != stands)
                cs->stacks[s->stands - 1].searched = false; /* one less to choose from */
            s->stands = stands;
            any = true;
        } else if (s->stands == stands) {
            s->stands = 0;
        }
    }
    return any;
}

ntr_status ntr_coroutine_switch(change *c, uint64_t target) {
    const size_t kept = frames_kept(c);
    const bool sets = role_at(c, c->stack->depth - 1) == NTR_OS_SET;
    if (kept && keep(c, kept) != NTR_OK) return NTR_E_MEMORY;
    const bool any = choose(c, target);
    c->cs->swapped = true;
    c->stack->searched = false;
    if (sets && !any) return ntr_callstack_unwind(c, target); /* to a frame of its own, like longjmp */
    ntr_status status = NTR_OK;
    if (settle(c, 0, target, &status)) return status;
    ntr_callstack_pop(c, 0, false);
    c->resumed = !ntr_callstack_is_entry(c, target);
    status = ntr_callstack_root(c, target);
    c->resumed = false;
    return status;
}

static bool is_awaited_above_first(const stack *s, uint64_t target) {
    for (size_t depth = s->depth; depth > 1; depth--)
        if (s->frames[depth - 1].return_to == target) return true;
    return false;
}

bool ntr_coroutine_find(change *c, uint64_t target, ntr_status *status) {
    ntr_callstack *cs = c->cs;
    stack *own = c->stack;
    if (is_awaited_above_first(own, target) || ntr_callstack_is_entry(c, target)) return false;
    for (size_t i = 0; i < cs->stack_count; i++) {
        stack *s = &cs->stacks[i];
        if (!s->coroutine || s->stands != c->hart->current + 1) continue;
        const ntr_stack_frame *frame = own->depth == 1 ? frame_below(s, own->returned) : NULL;
        const bool fits =
            frame && own->returned + 1 < s->depth && frame->kind == NTR_FRAME_CALL && frame->return_to == target;
        if (!fits) s->stands = 0;
    }
    return settle(c, own->returned + 1, target, status);
}

bool ntr_coroutine_return(change *c, uint64_t target, ntr_status *status) {
    return c->stack->depth == 1 && !c->stack->searched && choose(c, target) && settle(c, 0, target, status);
}

void ntr_coroutine_forget(ntr_callstack *cs) {
    for (size_t i = 0; i < cs->stack_count; i++) {
        if (cs->stacks[i].coroutine) end_wait(cs, &cs->stacks[i]);
        cs->stacks[i].searched = false;
    }
}
