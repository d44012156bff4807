/* One return stack a context, for silicon that always counts returns: dialects.md section 1.3.
 *
 * An encoder that only counts calls infers returns without looking where they go, so after a task switch the
 * addresses are those of the other task. Encoders that compare addresses have one stack whatever runs; theirs is
 * mirrored as it is. */
#ifndef NTR_FLOW_CONTEXTS_H
#define NTR_FLOW_CONTEXTS_H

#include <ntrace/program.h>

#include "flow/return_stack.h"

/* As many tasks keep their stacks; of more, the one that has not run for longest is forgotten. */
#define NTR_CONTEXT_STACKS 64

typedef struct ntr_context_stack {
    uint64_t scontext, hcontext;
    uint64_t used; /* when it was put aside; 0: free */
    ntr_return_stack stack;
} ntr_context_stack;

typedef struct ntr_context_stacks {
    ntr_context_stack *stacks; /* NTR_CONTEXT_STACKS of them, or NULL */
    uint64_t switches;
} ntr_context_stacks;

/* `stack` was `before`'s: put it aside and have `after`'s. *known: it was put aside earlier, so it is whole as far
 * as it goes. Errors: NTR_E_MEMORY. */
ntr_status ntr_context_stacks_switch(ntr_context_stacks *stacks, const ntr_allocator *allocator, ntr_return_stack *stack,
                                     const ntr_context *before, const ntr_context *after, bool *known);

void ntr_context_stacks_release(ntr_context_stacks *stacks, const ntr_allocator *allocator);

#endif
