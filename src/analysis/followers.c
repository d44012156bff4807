#include "analysis/followers.h"

#include "base/allocator.h"

void ntr_followers_release(ntr_followers *f) {
    ntr_dealloc(f->allocator, f->records);
}

void ntr_followers_before(const ntr_followers *f, const ntr_event *event) {
    for (unsigned i = 0; i < f->count; i++) f->list[i].before(f->list[i].listener.user, event);
}

void ntr_followers_executed(const ntr_followers *f, const ntr_event *event) {
    for (unsigned i = 0; i < f->count; i++) f->list[i].executed(f->list[i].listener.user, event);
}

ntr_status ntr_followers_after(const ntr_followers *f, const ntr_event *event) {
    ntr_status status = f->failed ? NTR_E_MEMORY : NTR_OK;
    for (unsigned i = 0; i < f->count; i++) {
        const ntr_status ended = f->list[i].after(f->list[i].listener.user, event);
        if (!status) status = ended;
    }
    return status;
}

/* Returns the number of a free record, or UINT32_MAX when out of memory. */
static uint32_t take_record(ntr_followers *f) {
    const uint32_t number = ntr_pool_take(&f->pool, (void **)&f->records, sizeof *f->records, f->allocator);
    f->failed |= number == NTR_POOL_NONE;
    return number;
}

uint32_t ntr_followers_enter(ntr_followers *f, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool tail,
                             uint32_t own) {
    const uint32_t number = take_record(f);
    if (number == UINT32_MAX) return number;
    f->records[number] = (ntr_frame_values){.own = own};
    for (unsigned i = 0; i < f->count; i++) {
        ntr_stack_moment seen = *moment;
        ntr_stack_frame parent;
        if (moment->parent) {
            parent = *moment->parent;
            parent.handle = parent.handle < f->pool.used ? f->records[parent.handle].values[i] : UINT32_MAX;
            seen.parent = &parent;
        }
        const ntr_stack_listener *listener = &f->list[i].listener;
        if (listener->enter) f->records[number].values[i] = listener->enter(listener->user, &seen, frame, tail);
    }
    return number;
}

void ntr_followers_leave(ntr_followers *f, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool lost) {
    if (frame->handle >= f->pool.used) return;
    for (unsigned i = 0; i < f->count; i++) {
        const ntr_stack_listener *listener = &f->list[i].listener;
        ntr_stack_frame left = *frame;
        left.handle = f->records[frame->handle].values[i];
        if (listener->leave) listener->leave(listener->user, moment, &left, lost);
    }
    ntr_pool_give_back(&f->pool, f->records, sizeof *f->records, frame->handle);
}

/* ---- chunks */

bool ntr_followers_begin_chunk(const ntr_followers *f, const ntr_chunk_facts *facts) {
    for (unsigned i = 0; i < f->count; i++)
        if (!f->list[i].begin_chunk || !f->list[i].begin_chunk(f->list[i].listener.user, facts)) return false;
    return true;
}

void ntr_followers_move(const ntr_followers *f, uint64_t instructions, uint64_t entered) {
    for (unsigned i = 0; i < f->count; i++) f->list[i].move(f->list[i].listener.user, instructions, entered);
}

void ntr_followers_left(const ntr_followers *f, const ntr_chunk_frame *frame) {
    for (unsigned i = 0; i < f->count; i++)
        if (f->list[i].left) f->list[i].left(f->list[i].listener.user, frame);
}

uint32_t ntr_followers_enter_open(ntr_followers *f, const ntr_chunk_frame *frame, uint32_t own) {
    const uint32_t number = take_record(f);
    if (number == UINT32_MAX) return number;
    f->records[number] = (ntr_frame_values){.own = own};
    for (unsigned i = 0; i < f->count; i++) {
        const ntr_follower *follower = &f->list[i];
        f->records[number].values[i] =
            follower->enter_open ? follower->enter_open(follower->listener.user, frame) : NTR_POOL_NONE;
    }
    return number;
}

uint64_t ntr_followers_shortest(const ntr_followers *f) {
    uint64_t shortest = UINT64_MAX;
    for (unsigned i = 0; i < f->count; i++) {
        const uint64_t own = f->list[i].shortest ? f->list[i].shortest(f->list[i].listener.user) : UINT64_MAX;
        if (own < shortest) shortest = own;
    }
    return shortest;
}

static ntr_status feed_one(const ntr_follower *f, ntr_callstack *stack, const ntr_event *e) {
    void *const user = f->listener.user;
    if (e->src >= NTR_SOURCES_MAX) return NTR_OK;
    f->before(user, e);
    if (e->kind == NTR_EVENT_SPAN && !ntr_callstack_frame(stack, e)) return NTR_E_MEMORY;
    f->executed(user, e);
    const ntr_status status = ntr_callstack_feed(stack, e), ended = f->after(user, e);
    return status ? status : ended;
}

ntr_status ntr_follower_feed(const ntr_follower *f, ntr_callstack *stack, const ntr_event *events, size_t count) {
    ntr_status status = NTR_OK;
    for (size_t i = 0; i < count && !status; i++) status = feed_one(f, stack, &events[i]);
    return status;
}
