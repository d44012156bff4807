#include "analysis/callstack.h"
#include "analysis/callstack_state.h"

#include "base/allocator.h"

void ntr_callstack_restart(ntr_callstack *cs) {
    for (size_t i = 0; i < cs->stack_count; i++) ntr_dealloc(cs->allocator, cs->stacks[i].frames);
    for (size_t i = 0; i < cs->hart_count; i++) ntr_dealloc(cs->allocator, cs->harts[i].recent);
    cs->stack_count = cs->hart_count = cs->last_hart = 0;
    ntr_late_reset(cs);
    cs->switches = 0;
    cs->waiting = 0;
    cs->swapped = false;
    cs->found = 0;
    cs->from_inside = true;
}

static ntr_status copy_frames(ntr_callstack *to, const stack *from, uint32_t (*function)(void *user, uint32_t number),
                              void *user) {
    stack copy = *from;
    copy.frames = NULL;
    copy.capacity = 0;
    copy.waits = copy.gone = false;
    copy.first_late = copy.last_late = 0;
    if (copy.depth &&
        ntr_reserve(to->allocator, (void **)&copy.frames, &copy.capacity, copy.depth, sizeof *copy.frames))
        return NTR_E_MEMORY;
    ntr_status status = NTR_OK;
    for (size_t i = 0; i < copy.depth; i++) {
        copy.frames[i] = from->frames[i];
        copy.frames[i].function = function(user, from->frames[i].function);
        if (copy.frames[i].function == UINT32_MAX) status = NTR_E_MEMORY;
    }
    to->stacks[to->stack_count++] = copy;
    return status;
}

static ntr_status copy_hart(ntr_callstack *to, const hart *from) {
    hart copy = *from;
    copy.recent = ntr_alloc(to->allocator, RECENT, sizeof *copy.recent);
    copy.context_number = 1;
    if (!copy.recent) return NTR_E_MEMORY;
    to->harts[to->hart_count++] = copy;
    return NTR_OK;
}

ntr_status ntr_callstack_copy(ntr_callstack *to, const ntr_callstack *from,
                              uint32_t (*function)(void *user, uint32_t number), void *user) {
    ntr_callstack_restart(to);
    to->from_inside = from->from_inside;
    to->switches = from->switches;
    to->waiting = from->waiting;
    to->swapped = from->swapped;
    if (ntr_reserve(to->allocator, (void **)&to->stacks, &to->stack_capacity, from->stack_count + 1,
                    sizeof *to->stacks) ||
        ntr_reserve(to->allocator, (void **)&to->harts, &to->hart_capacity, from->hart_count + 1, sizeof *to->harts))
        return NTR_E_MEMORY;
    ntr_status status = NTR_OK;
    for (size_t i = 0; i < from->stack_count && !status; i++)
        status = copy_frames(to, &from->stacks[i], function, user);
    for (size_t i = 0; i < from->hart_count && !status; i++) status = copy_hart(to, &from->harts[i]);
    return status;
}
