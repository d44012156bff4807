/* The return addresses of one source, for implicit returns. N-Trace 1.0 section 11.2; what it leaves open: OQ-18. */
#ifndef NTR_TRACE_RETURN_STACK_H
#define NTR_TRACE_RETURN_STACK_H

#include <ntrace/allocator.h>
#include <ntrace/status.h>
#include <stdbool.h>
#include <stdint.h>

/* As deep as any program nests that is not running away. */
#define NTR_RETURN_STACK_MAX (UINT32_C(1) << 20)

/* Where a call returns to. `call` is the block that called, a short cut to the block after it, good as long
 * as the source's stamp is `stamp`. */
typedef struct ntr_return {
    uint64_t address;
    struct ntr_block *call;
    uint32_t stamp;
} ntr_return;

/* A ring that grows until `limit`; from then on a push drops the oldest entry. Until it drops, entry i of
 * `count` is at index i, so growing never has to unroll the ring. */
typedef struct ntr_return_stack {
    ntr_return *entries;
    uint32_t mask;  /* room - 1, room a power of two; 0 while there is none */
    uint32_t top;   /* index after the newest, not masked */
    uint32_t count;
    uint32_t limit;
    uint32_t low;   /* least `count` since ntr_return_stack_mark; 0 too when an entry was dropped */
    uint32_t least, most; /* `count` since ntr_return_stack_watch; `most` is UINT32_MAX when it met one of its ends */
} ntr_return_stack;

/* `depth` 0: as deep as needed. */
void ntr_return_stack_init(ntr_return_stack *stack, uint32_t depth);
void ntr_return_stack_release(ntr_return_stack *stack, const ntr_allocator *allocator);

/* `to`, which holds nothing, has the same entries. Errors: NTR_E_MEMORY. */
ntr_status ntr_return_stack_copy(ntr_return_stack *to, const ntr_return_stack *from, const ntr_allocator *allocator);

static inline void ntr_return_stack_clear(ntr_return_stack *stack) {
    stack->top = stack->count = stack->low = stack->least = 0;
}

/* Make room for one more; for ntr_return_stack_push. Errors: NTR_E_MEMORY. */
ntr_status ntr_return_stack_grow(ntr_return_stack *stack, const ntr_allocator *allocator);

/* Errors: NTR_E_MEMORY. */
static inline ntr_status ntr_return_stack_push(ntr_return_stack *stack, const ntr_allocator *allocator,
                                               ntr_return entry) {
    if (stack->count == stack->limit) {
        stack->count--;
        stack->low = 0;
        stack->most = UINT32_MAX;
    }
    if (!stack->entries || (stack->count > stack->mask)) {
        ntr_status status = ntr_return_stack_grow(stack, allocator);
        if (status != NTR_OK) return status;
    }
    stack->entries[stack->top++ & stack->mask] = entry;
    if (++stack->count > stack->most) stack->most = stack->count;
    return NTR_OK;
}

/* False when it is empty. */
static inline bool ntr_return_stack_pop(ntr_return_stack *stack, ntr_return *entry) {
    if (stack->count == 0) {
        stack->most = UINT32_MAX;
        return false;
    }
    stack->count--;
    if (stack->count < stack->low) stack->low = stack->count;
    if (stack->count < stack->least) stack->least = stack->count;
    *entry = stack->entries[--stack->top & stack->mask];
    return true;
}

/* The address of the number-th newest entry; 0 when there is none. */
static inline uint64_t ntr_return_stack_peek(const ntr_return_stack *stack, uint32_t number) {
    return number < stack->count ? stack->entries[(stack->top - 1 - number) & stack->mask].address : 0;
}

/* Measure from now on how the stack falls and rises. */
static inline void ntr_return_stack_watch(ntr_return_stack *stack) {
    stack->least = stack->most = stack->count;
}

/* Remember how deep the stack is now. */
static inline uint32_t ntr_return_stack_mark(ntr_return_stack *stack) {
    return stack->low = stack->count;
}

/* Whether it holds what it held when `mark` was given: it is as deep, and nothing below was touched. */
static inline bool ntr_return_stack_is_unchanged(const ntr_return_stack *stack, uint32_t mark) {
    return stack->count == mark && stack->low == mark;
}

#endif
