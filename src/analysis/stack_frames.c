/* Entering and leaving the frames of a stack. */
#include "analysis/callstack_state.h"

#include "base/allocator.h"

#include <string.h>

/* Maximum depth. Deeper stacks lose their oldest frames, which bounds the memory used by runaway recursion. */
enum { DEPTH_MAX = 1 << 16 };

static ntr_stack_moment moment_of(const change *c) {
    return (ntr_stack_moment){
        .event = c->event,
        .src = c->hart->src,
        .context = &c->hart->context,
        .parent = c->stack->depth ? &c->stack->frames[c->stack->depth - 1] : NULL,
        .resumed = c->resumed,
        .waits = c->waits,
        .thread = (uint32_t)c->hart->current,
        .task = ntr_hart_task(c->hart, c->event->offset),
    };
}

ntr_status ntr_callstack_push(change *c, ntr_stack_frame frame, bool tail) {
    stack *s = c->stack;
    if (frame.function == UINT32_MAX) return NTR_E_MEMORY;
    if (s->depth == DEPTH_MAX) {
        memmove(s->frames, s->frames + DEPTH_MAX / 2, DEPTH_MAX / 2 * sizeof *s->frames);
        s->depth = DEPTH_MAX / 2;
    }
    if (ntr_reserve(c->cs->allocator, (void **)&s->frames, &s->capacity, s->depth + 1, sizeof *s->frames))
        return NTR_E_MEMORY;
    if (c->cs->listener.enter) {
        ntr_stack_moment moment = moment_of(c);
        frame.handle = c->cs->listener.enter(c->cs->listener.user, &moment, &frame, tail);
    }
    s->frames[s->depth++] = frame;
    return NTR_OK;
}

void ntr_callstack_pop(change *c, size_t depth, bool lost) {
    stack *s = c->stack;
    while (s->depth > depth) {
        ntr_stack_frame frame = s->frames[--s->depth];
        if (!c->cs->listener.leave) continue;
        ntr_stack_moment moment = moment_of(c);
        c->cs->listener.leave(c->cs->listener.user, &moment, &frame, lost);
    }
}
