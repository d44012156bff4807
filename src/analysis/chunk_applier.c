#include "analysis/chunk_applier.h"

#include "analysis/callstack.h"
#include "analysis/sums.h"
#include "base/allocator.h"

ntr_chunk_applier *ntr_chunk_applier_new(const ntr_functions *real) {
    const ntr_allocator *allocator = ntr_functions_allocator(real);
    ntr_chunk_applier *a = ntr_alloc(allocator, 1, sizeof *a);
    if (!a) return NULL;
    a->allocator = allocator;
    a->real = real;
    a->functions = ntr_functions_copy_empty(real);
    if (a->functions) ntr_callstack_new(a->functions, NULL, allocator, &a->stacks);
    if (a->stacks) return a;
    ntr_chunk_applier_free(a);
    return NULL;
}

void ntr_chunk_applier_free(ntr_chunk_applier *a) {
    if (!a) return;
    ntr_callstack_free(a->stacks);
    ntr_functions_free(a->functions);
    ntr_dealloc(a->allocator, a->trial_of);
    ntr_dealloc(a->allocator, a->numbers);
    ntr_dealloc(a->allocator, a);
}

/* Returns the number in the functions of the copy of a function of the tree. */
static uint32_t trial_number(void *user, uint32_t number) {
    ntr_chunk_applier *a = user;
    if (number >= a->trial_count) {
        if (ntr_reserve(a->allocator, (void **)&a->trial_of, &a->trial_capacity, (size_t)number + 1,
                        sizeof *a->trial_of))
            return UINT32_MAX;
        while (a->trial_count <= number) a->trial_of[a->trial_count++] = UINT32_MAX;
    }
    if (a->trial_of[number] == UINT32_MAX) {
        const ntr_function_place place = ntr_functions_place(a->real, number);
        a->trial_of[number] =
            ntr_functions_at(a->functions, ntr_place_at(&place.context, place.position, place.address));
    }
    return a->trial_of[number];
}

ntr_status ntr_chunk_applier_copy(ntr_chunk_applier *a, const ntr_callstack *stacks) {
    return ntr_callstack_copy(a->stacks, stacks, trial_number, a);
}
