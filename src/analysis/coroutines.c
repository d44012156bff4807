/* Stacks of coroutines: which one continues when a function that changes the stack pointer is left. (Fibers of OCaml:
 * fibers.c.)
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
#include "program/program.h"

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

/* What one has in place of the address at which it continues if it waits in the handler of a signal, which has ended
 * with a jump to the switch: the return from the handler, to code of the kernel. */
#define SIGNAL_RETURN (UINT64_MAX - 2)

/* Returns whether the code at the address returns from a signal: `li a7, 139`. */
static bool is_signal_return(const change *c, uint64_t address) {
    enum { LI_A7_RT_SIGRETURN = 0x08b00893 };
    const ntr_program *program = ntr_functions_program(c->cs->functions);
    return ntr_program_bits(program, ntr_event_place(c->event, address), 4) == LI_A7_RT_SIGRETURN;
}

/* Returns the number of frames of the coroutine that calls the switch, 0 when it does not continue. */
static size_t frames_kept(const change *c) {
    const size_t depth = c->stack->depth;
    if (role_at(c, depth - 1) == NTR_OS_SET) return 0;
    if (role_at(c, depth - 1) == NTR_OS_SWAP) return depth - !ntr_frame_is_trap(ntr_change_top(c));
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

/* Returns one that waits with these frames, and continues there, too. */
static stack *waits_alike(const change *c, const ntr_stack_frame *frames, size_t depth, uint64_t resume) {
    for (size_t i = 0; i < c->cs->stack_count; i++) {
        stack *s = &c->cs->stacks[i];
        if (!s->coroutine || s->resume != resume || s->depth != depth || !is_of_process(s, &c->hart->context)) continue;
        size_t at = depth;
        for (const ntr_stack_frame *x = s->frames, *y = frames; at > 0; at--)
            if (x[at - 1].function != y[at - 1].function || x[at - 1].kind != y[at - 1].kind ||
                x[at - 1].return_to != y[at - 1].return_to)
                break;
        if (!at) return s;
    }
    return NULL;
}

ntr_status ntr_coroutine_keep(change *c, const ntr_stack_frame *frames, size_t depth, uint64_t resume, size_t *number) {
    ntr_callstack *cs = c->cs;
    const size_t own = c->hart->current;
    stack *to = waits_alike(c, frames, depth, resume);
    *number = to ? (size_t)(to - cs->stacks) + 1 : 0;
    if (to && to->times < UINT32_MAX) to->times++;
    for (size_t i = 0; to && i < depth; i++) to->frames[i].handle = 0; /* of which of them? */
    if (to || cs->waiting >= WAITING_MAX) return NTR_OK;
    const size_t index = ntr_threads_empty_stack(c);
    if (index == SIZE_MAX) return NTR_E_MEMORY;
    c->stack = &cs->stacks[own];
    to = &cs->stacks[index];
    if (ntr_reserve(cs->allocator, (void **)&to->frames, &to->capacity, depth, sizeof *to->frames)) return NTR_E_MEMORY;
    memcpy(to->frames, frames, depth * sizeof *to->frames);
    to->depth = depth;
    to->src = c->hart->src;
    to->context = c->hart->context;
    to->thread = to->coroutine = true;
    to->free = false;
    to->resume = resume;
    to->times = 1;
    cs->waiting++;
    *number = index + 1;
    return NTR_OK;
}

/* Keeps the outermost `depth` frames for later, and leaves all. */
static ntr_status keep(change *c, size_t depth) {
    size_t number;
    const uint64_t resume = depth < c->stack->depth ? c->stack->frames[depth].return_to : SIGNAL_RETURN;
    const ntr_status status = ntr_coroutine_keep(c, c->stack->frames, depth, resume, &number);
    if (status) return status;
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

void ntr_coroutine_continues(ntr_callstack *cs, stack *s) {
    if (!--s->times) end_wait(cs, s);
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

/* Compares two, but for the frames that have returned. */
static void compare(in_common *common, const stack *s) {
    size_t equal = 0;
    const ntr_stack_frame *x, *y;
    bool callers = true;
    do {
        x = frame_below(common->one, common->one->returned + equal);
        y = frame_below(s, s->returned + equal);
        if (!x || !y || !callers || x->function != y->function || x->kind != y->kind) break;
        callers = x->return_to == y->return_to;
        equal++;
    } while (equal < common->frames);
    common->all &= !x && !y;
    if (equal < common->frames) common->frames = equal;
}

static in_common common_of(const change *c) {
    const ntr_callstack *cs = c->cs;
    in_common common = {.all = cs->waiting < WAITING_MAX};
    for (size_t i = 0; i < cs->stack_count; i++) {
        const stack *s = &cs->stacks[i];
        if (!s->coroutine || s->stands != c->hart->current + 1) continue;
        if (common.one)
            compare(&common, s);
        else
            common = (in_common){.one = s, .frames = s->depth - s->returned, .all = common.all};
    }
    return common;
}

bool ntr_coroutine_settle(change *c, size_t below, uint32_t function, ntr_status *status) {
    ntr_callstack *cs = c->cs;
    const in_common common = common_of(c);
    stack *from = cs->stacks + (common.one ? common.one - cs->stacks : 0);
    c->stack->searched = common.one && !common.all;
    if (!common.one) return false;
    const size_t frames = common.frames && cs->waiting < WAITING_MAX ? common.frames : 1;
    const bool attached = below && common.all && from->frames[0].kind != NTR_FRAME_ROOT;
    const ntr_stack_frame link = attached ? c->stack->frames[below - 1] : (ntr_stack_frame){0};
    ntr_callstack_pop(c, below - attached, false);
    c->resumed = true;
    for (size_t left = frames; left > 0 && *status == NTR_OK; left--) {
        ntr_stack_frame frame = *frame_below(from, from->returned + left - 1);
        if (left == 1) frame.function = function;
        if (left == frames && attached) {
            frame.kind = link.kind;
            frame.site = link.site;
            frame.return_to = link.return_to;
        } else if (left == frames && !common.all) {
            frame.kind = NTR_FRAME_ROOT;
            frame.site = 0;
        }
        if (!common.all) frame.handle = 0;
        *status = ntr_callstack_push(c, frame, false);
    }
    c->resumed = false;
    c->stack->below = below;
    for (size_t i = 0; i < cs->stack_count; i++)
        if (cs->stacks[i].coroutine && cs->stacks[i].stands == c->hart->current + 1)
            cs->stacks[i].returned += (uint32_t)(frames - 1);
    if (common.all) ntr_coroutine_continues(cs, from);
    return true;
}

bool ntr_coroutine_choose(const change *c, uint64_t target) {
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
            s->returned = 0;
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
    const bool any = ntr_coroutine_choose(c, is_signal_return(c, target) ? SIGNAL_RETURN : target);
    c->cs->swapped = true;
    c->stack->searched = false;
    if (sets && !any) return ntr_callstack_unwind(c, target); /* to a frame of its own, like longjmp */
    ntr_status status = NTR_OK;
    if (ntr_coroutine_settle(c, 0, ntr_callstack_range_at(c, target)->number, &status)) return status;
    ntr_callstack_pop(c, 0, false);
    c->resumed = !ntr_callstack_is_entry(c, target);
    status = ntr_callstack_root(c, target);
    c->resumed = false;
    return status;
}

static bool is_awaited_above(const stack *s, size_t first, uint64_t target) {
    for (size_t depth = s->depth; depth > first; depth--)
        if (s->frames[depth - 1].return_to == target) return true;
    return false;
}

bool ntr_coroutine_is_searched(stack *s) {
    s->searched &= s->depth > s->below && s->frames[s->below].kind == NTR_FRAME_ROOT;
    return s->searched;
}

bool ntr_coroutine_find(change *c, uint64_t target, ntr_status *status) {
    ntr_callstack *cs = c->cs;
    stack *own = c->stack;
    const size_t below = own->below;
    if (!ntr_coroutine_is_searched(own) || is_awaited_above(own, below + 1, target) ||
        ntr_callstack_is_entry(c, target))
        return false;
    if (below && ntr_change_by_t0(c)) return false; /* fibers.c */
    if (own->depth > below + 1 && ntr_frame_is_trap(ntr_change_top(c)))
        return false; /* the end of a signal's handler */
    for (size_t i = 0; i < cs->stack_count; i++) {
        stack *s = &cs->stacks[i];
        if (!s->coroutine || s->stands != c->hart->current + 1) continue;
        const ntr_stack_frame *frame = own->depth == below + 1 ? frame_below(s, s->returned) : NULL;
        const bool fits =
            frame && s->returned + 1 < s->depth && frame->kind == NTR_FRAME_CALL && frame->return_to == target;
        if (fits)
            s->returned++;
        else
            s->stands = 0;
    }
    return ntr_coroutine_settle(c, below, ntr_callstack_range_at(c, target)->number, status);
}

bool ntr_coroutine_return(change *c, uint64_t target, ntr_status *status) {
    return c->stack->depth == 1 && !c->stack->searched && ntr_coroutine_choose(c, target) &&
           ntr_coroutine_settle(c, 0, ntr_callstack_range_at(c, target)->number, status);
}

void ntr_coroutine_forget(ntr_callstack *cs) {
    for (size_t i = 0; i < cs->stack_count; i++) {
        if (cs->stacks[i].coroutine) end_wait(cs, &cs->stacks[i]);
        cs->stacks[i].searched = false;
    }
}
