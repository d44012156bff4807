/* Return stack: the return addresses of one source, for implicit returns. N-Trace 1.0 section 11.2; what the
 * specification leaves open: OQ-18.
 *
 * A ring buffer of at most `limit` entries. A push to a full stack drops the oldest entry, as in an encoder with a
 * stack of that depth. Invariant: the entries are at the indices top - count to top - 1, modulo the capacity. As long
 * as nothing was dropped, entry i is at index i, so that the buffer can grow without moving entries. Example with limit
 * 2: calls from A, B and C leave the returns to C and B; the return to A is not inferred.
 *
 * Two measurements serve the memos and loops of counting decode: ntr_return_stack_mark and _is_unchanged find out
 * whether the entries below a depth were used; ntr_return_stack_watch records how far the stack fell and rose. */
#ifndef NTR_TRACE_RETURN_STACK_H
#define NTR_TRACE_RETURN_STACK_H

#include <ntrace/allocator.h>
#include <ntrace/status.h>
#include <stdbool.h>
#include <stdint.h>

/* Depth when none is configured: deeper than the calls of any program that is not in an endless recursion. */
#define NTR_RETURN_STACK_MAX (UINT32_C(1) << 20)

/* A return address. `call` is the block that ends with the call; it links to the block at the return address. Valid
 * while the source's stamp is `stamp`. */
typedef struct ntr_return {
    uint64_t address;
    struct ntr_block *call;
    uint32_t stamp;
    bool settled; /* decoding with joined spans: the caller was settled */
} ntr_return;

/* `entries` grows until `limit` entries. */
typedef struct ntr_return_stack {
    ntr_return *entries;
    uint32_t mask;  /* capacity - 1, a power of two minus one; 0 before the first push */
    uint32_t top;   /* index after the newest entry, not masked */
    uint32_t count;
    uint32_t limit;
    uint32_t low;   /* lowest `count` since ntr_return_stack_mark; 0 when an entry was dropped */
    /* since ntr_return_stack_watch: entries dropped, whether a pop found the stack empty, and the lowest and highest
     * depth that the stack would have had without the drops */
    uint32_t dropped;
    bool ran_empty;
    uint32_t least, most;
} ntr_return_stack;

/* Initialize an empty stack. `depth`: maximum number of entries; 0: NTR_RETURN_STACK_MAX. */
void ntr_return_stack_init(ntr_return_stack *stack, uint32_t depth);
void ntr_return_stack_release(ntr_return_stack *stack, const ntr_allocator *allocator);

/* Copy all entries. `to` must not own memory. Errors: NTR_E_MEMORY. */
ntr_status ntr_return_stack_copy(ntr_return_stack *to, const ntr_return_stack *from, const ntr_allocator *allocator);

static inline void ntr_return_stack_clear(ntr_return_stack *stack) {
    stack->top = stack->count = stack->low = stack->dropped = stack->least = 0;
}

/* Double the capacity; called by ntr_return_stack_push. Errors: NTR_E_MEMORY. */
ntr_status ntr_return_stack_grow(ntr_return_stack *stack, const ntr_allocator *allocator);

/* Add an entry; drops the oldest one when the stack is full. Errors: NTR_E_MEMORY. */
static inline ntr_status ntr_return_stack_push(ntr_return_stack *stack, const ntr_allocator *allocator,
                                               ntr_return entry) {
    if (stack->count == stack->limit) {
        stack->count--;
        stack->low = 0;
        stack->dropped++;
    }
    if (!stack->entries || (stack->count > stack->mask)) {
        ntr_status status = ntr_return_stack_grow(stack, allocator);
        if (status != NTR_OK) return status;
    }
    stack->entries[stack->top++ & stack->mask] = entry;
    if (++stack->count + stack->dropped > stack->most) stack->most = stack->count + stack->dropped;
    return NTR_OK;
}

/* Remove the newest entry. Returns false when the stack is empty. */
static inline bool ntr_return_stack_pop(ntr_return_stack *stack, ntr_return *entry) {
    if (stack->count == 0) {
        stack->ran_empty = true;
        return false;
    }
    stack->count--;
    if (stack->count < stack->low) stack->low = stack->count;
    if (stack->count + stack->dropped < stack->least) stack->least = stack->count + stack->dropped;
    *entry = stack->entries[--stack->top & stack->mask];
    return true;
}

/* Returns an entry, 0 being the newest. There must be one. */
static inline const ntr_return *ntr_return_stack_at(const ntr_return_stack *stack, uint32_t number) {
    return &stack->entries[(stack->top - 1 - number) & stack->mask];
}

/* Returns the address of an entry, 0 being the newest; 0 when there is none. */
static inline uint64_t ntr_return_stack_peek(const ntr_return_stack *stack, uint32_t number) {
    return number < stack->count ? ntr_return_stack_at(stack, number)->address : 0;
}

/* Begin to record the lowest and the highest depth. */
static inline void ntr_return_stack_watch(ntr_return_stack *stack) {
    stack->dropped = 0;
    stack->ran_empty = false;
    stack->least = stack->most = stack->count;
}

/* Returns the current depth, for ntr_return_stack_is_unchanged. */
static inline uint32_t ntr_return_stack_mark(ntr_return_stack *stack) {
    return stack->low = stack->count;
}

/* Returns whether the stack has the entries it had when `mark` was returned: the same depth, and no entry below was
 * removed. */
static inline bool ntr_return_stack_is_unchanged(const ntr_return_stack *stack, uint32_t mark) {
    return stack->count == mark && stack->low == mark;
}

#endif
