#include "analysis/saved_stacks.h"

#include "analysis/callstack_state.h"
#include "base/allocator.h"

/* A stack without its frames. */
struct ntr_saved_stack {
    stack state;
    uint32_t top; /* number of the top frame; 0: the stack is empty */
};

uint32_t ntr_frame_store_add(ntr_frame_store *store, const ntr_stack_frame *frame, uint32_t below) {
    if (store->count == 0) store->count = 1;
    if (store->count >= UINT32_MAX / 2 ||
        ntr_reserve(store->allocator, (void **)&store->items, &store->capacity, store->count + 1, sizeof *store->items))
        return 0;
    store->items[store->count] = (ntr_stored_frame){*frame, below};
    return (uint32_t)store->count++;
}

void ntr_frame_store_release(ntr_frame_store *store) {
    ntr_dealloc(store->allocator, store->items);
    store->items = NULL;
    store->count = store->capacity = 0;
}

ntr_status ntr_callstack_visit(ntr_callstack *cs, ntr_visit_frame *visit, void *user) {
    for (size_t i = 0; i < cs->stack_count; i++) {
        const stack *s = &cs->stacks[i];
        uint32_t below = 0;
        for (size_t depth = 0; depth < s->depth; depth++) {
            s->frames[depth].handle = visit(user, &s->frames[depth], below);
            below = s->frames[depth].handle;
            if (!below) return NTR_E_MEMORY;
        }
    }
    return NTR_OK;
}

/* A frame is stored again when another one is below it now: a thread was found whose frames were not known. */
static uint32_t store_frame(void *user, const ntr_stack_frame *frame, uint32_t below) {
    const ntr_frame_store *store = user;
    const bool stored = frame->handle && frame->handle < store->count && store->items[frame->handle].below == below;
    return stored ? frame->handle : ntr_frame_store_add(user, frame, below);
}

static void save_all(const ntr_callstack *cs, ntr_saved_stacks *saved) {
    for (size_t i = 0; i < cs->stack_count; i++) {
        struct ntr_saved_stack *to = &saved->stacks[saved->stack_count++];
        to->state = cs->stacks[i];
        to->state.frames = NULL;
        to->state.capacity = 0;
        to->state.waits = to->state.gone = false;
        to->state.first_late = to->state.last_late = 0;
        to->top = to->state.depth ? cs->stacks[i].frames[to->state.depth - 1].handle : 0;
    }
    for (size_t i = 0; i < cs->hart_count; i++) {
        saved->harts[saved->hart_count] = cs->harts[i];
        saved->harts[saved->hart_count++].recent = NULL;
    }
}

ntr_status ntr_callstack_save(ntr_callstack *cs, ntr_frame_store *store, ntr_saved_stacks *saved) {
    if (ntr_callstack_visit(cs, store_frame, store) != NTR_OK) return NTR_E_MEMORY;
    *saved = (ntr_saved_stacks){
        .stacks = ntr_alloc(cs->allocator, cs->stack_count + 1, sizeof *saved->stacks),
        .harts = ntr_alloc(cs->allocator, cs->hart_count + 1, sizeof *saved->harts),
        .switches = cs->switches,
        .waiting = cs->waiting,
        .found = cs->found,
        .found_as = cs->found_as,
    };
    if (!saved->stacks || !saved->harts) {
        ntr_saved_stacks_release(saved, cs->allocator);
        return NTR_E_MEMORY;
    }
    save_all(cs, saved);
    return NTR_OK;
}

void ntr_saved_stacks_release(ntr_saved_stacks *saved, const ntr_allocator *allocator) {
    ntr_dealloc(allocator, saved->stacks);
    ntr_dealloc(allocator, saved->harts);
    *saved = (ntr_saved_stacks){0};
}

/* ---- restoring */

static void drop_all(ntr_callstack *cs) {
    for (size_t i = 0; i < cs->stack_count; i++) ntr_dealloc(cs->allocator, cs->stacks[i].frames);
    for (size_t i = 0; i < cs->hart_count; i++) ntr_dealloc(cs->allocator, cs->harts[i].recent);
    ntr_late_reset(cs);
    cs->stack_count = cs->hart_count = cs->last_hart = 0;
}

static ntr_status restore_stack(ntr_callstack *cs, const ntr_frame_store *store, const struct ntr_saved_stack *saved) {
    stack *s = &cs->stacks[cs->stack_count++];
    *s = saved->state;
    if (ntr_reserve(cs->allocator, (void **)&s->frames, &s->capacity, s->depth + 1, sizeof *s->frames)) {
        s->depth = 0;
        return NTR_E_MEMORY;
    }
    uint32_t number = saved->top;
    for (size_t depth = s->depth; depth > 0; depth--) {
        s->frames[depth - 1] = store->items[number].frame;
        s->frames[depth - 1].handle = number;
        number = store->items[number].below;
    }
    return NTR_OK;
}

static ntr_status restore_hart(ntr_callstack *cs, const hart *saved) {
    hart *h = &cs->harts[cs->hart_count];
    *h = *saved;
    h->context_number = 1;
    h->recent = ntr_alloc(cs->allocator, RECENT, sizeof *h->recent);
    if (!h->recent) return NTR_E_MEMORY;
    cs->hart_count++;
    return NTR_OK;
}

ntr_status ntr_callstack_restore(ntr_callstack *cs, const ntr_frame_store *store, const ntr_saved_stacks *saved) {
    drop_all(cs);
    cs->switches = saved->switches;
    cs->waiting = saved->waiting;
    cs->found = saved->found;
    cs->found_as = saved->found_as;
    if (ntr_reserve(cs->allocator, (void **)&cs->stacks, &cs->stack_capacity, saved->stack_count, sizeof *cs->stacks) ||
        ntr_reserve(cs->allocator, (void **)&cs->harts, &cs->hart_capacity, saved->hart_count, sizeof *cs->harts))
        return NTR_E_MEMORY;
    for (size_t i = 0; i < saved->stack_count; i++)
        if (restore_stack(cs, store, &saved->stacks[i]) != NTR_OK) return NTR_E_MEMORY;
    for (size_t i = 0; i < saved->hart_count; i++)
        if (restore_hart(cs, &saved->harts[i]) != NTR_OK) return NTR_E_MEMORY;
    return NTR_OK;
}

uint32_t ntr_callstack_top(const ntr_callstack *cs, uint16_t src) {
    for (size_t i = 0; i < cs->hart_count; i++) {
        const hart *h = &cs->harts[i];
        if (h->src != src) continue;
        const stack *current = &cs->stacks[h->current];
        return current->depth ? current->frames[current->depth - 1].handle : 0;
    }
    return 0;
}
