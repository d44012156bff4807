#include "flow/contexts.h"

#include "base/allocator.h"

/* The place of this context, or the one to give up for it: never used, or not for longest. */
static ntr_context_stack *find(const ntr_context_stacks *stacks, const ntr_context *context) {
    ntr_context_stack *oldest = &stacks->stacks[0];
    for (size_t i = 0; i < NTR_CONTEXT_STACKS; i++) {
        ntr_context_stack *s = &stacks->stacks[i];
        if (s->used && s->scontext == context->scontext && s->hcontext == context->hcontext) return s;
        if (s->used < oldest->used) oldest = s;
    }
    return oldest;
}

ntr_status ntr_context_stacks_switch(ntr_context_stacks *stacks, const ntr_allocator *allocator, ntr_return_stack *stack,
                                     const ntr_context *before, const ntr_context *after, bool *known) {
    if (!stacks->stacks) stacks->stacks = ntr_alloc(allocator, NTR_CONTEXT_STACKS, sizeof *stacks->stacks);
    if (!stacks->stacks) return NTR_E_MEMORY;
    ntr_context_stack *place = find(stacks, after);
    *known = place->used && place->scontext == after->scontext && place->hcontext == after->hcontext;

    ntr_return_stack theirs = place->stack;
    theirs.limit = stack->limit;
    if (!*known) ntr_return_stack_clear(&theirs);
    *place = (ntr_context_stack){before->scontext, before->hcontext, ++stacks->switches, *stack};
    *stack = theirs;
    return NTR_OK;
}

void ntr_context_stacks_release(ntr_context_stacks *stacks, const ntr_allocator *allocator) {
    if (!stacks->stacks) return;
    for (size_t i = 0; i < NTR_CONTEXT_STACKS; i++) ntr_return_stack_release(&stacks->stacks[i].stack, allocator);
    ntr_dealloc(allocator, stacks->stacks);
}
