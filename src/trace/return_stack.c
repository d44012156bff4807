#include "trace/return_stack.h"

#include "base/allocator.h"

#include <string.h>

enum { CAPACITY_FIRST = 64 };

void ntr_return_stack_init(ntr_return_stack *stack, uint32_t depth) {
    *stack = (ntr_return_stack){.limit = depth == 0 || depth > NTR_RETURN_STACK_MAX ? NTR_RETURN_STACK_MAX : depth};
}

void ntr_return_stack_release(ntr_return_stack *stack, const ntr_allocator *allocator) {
    ntr_dealloc(allocator, stack->entries);
    *stack = (ntr_return_stack){0};
}

ntr_status ntr_return_stack_grow(ntr_return_stack *stack, const ntr_allocator *allocator) {
    uint32_t capacity = stack->entries ? (stack->mask + 1) * 2 : CAPACITY_FIRST;
    ntr_return *entries = ntr_realloc(allocator, stack->entries, capacity, sizeof *entries);
    if (!entries) return NTR_E_MEMORY;
    stack->entries = entries;
    stack->mask = capacity - 1;
    return NTR_OK;
}

ntr_status ntr_return_stack_copy(ntr_return_stack *to, const ntr_return_stack *from, const ntr_allocator *allocator) {
    ntr_return_stack_init(to, from->limit);
    if (from->count == 0) return NTR_OK;
    ntr_return *entries = ntr_alloc(allocator, (size_t)from->mask + 1, sizeof *entries);
    if (!entries) return NTR_E_MEMORY;
    memcpy(entries, from->entries, ((size_t)from->mask + 1) * sizeof *entries);
    *to = *from;
    to->entries = entries;
    return NTR_OK;
}
