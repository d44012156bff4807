#include "analysis/chunk_frames.h"

#include "base/allocator.h"

void ntr_chunk_frames_release(ntr_chunk_frames *f) {
    ntr_dealloc(f->allocator, f->records);
    ntr_dealloc(f->allocator, f->list);
    *f = (ntr_chunk_frames){.allocator = f->allocator};
}

void ntr_chunk_frames_restart(ntr_chunk_frames *f) {
    f->pool.used = f->pool.free = 0;
    f->count = 0;
    f->now = f->entered = 0;
    f->begun = f->dependent = f->failed = false;
}

static bool is_moment(const ntr_event *e) {
    return e->kind == NTR_EVENT_ACCESS || e->kind == NTR_EVENT_WATCHPOINT || e->kind == NTR_EVENT_DATA;
}

void ntr_chunk_frames_event(ntr_chunk_frames *f, const ntr_event *e) {
    if (!f->begun) f->src = e->src;
    f->begun = true;
    f->dependent |= e->src != f->src || e->flags & NTR_EVENT_TIME || is_moment(e);
    if (e->kind == NTR_EVENT_SPAN) f->now += ntr_event_executed(e);
}

uint32_t ntr_chunk_frames_enter(ntr_chunk_frames *f, uint32_t node) {
    const uint32_t handle = ntr_pool_take(&f->pool, (void **)&f->records, sizeof *f->records, f->allocator);
    if (handle == NTR_POOL_NONE)
        f->failed = true;
    else
        f->records[handle] = (ntr_chunk_record){.node = node, .begin = f->now, .order = f->entered++};
    return handle;
}

ntr_chunk_record ntr_chunk_frames_forget(ntr_chunk_frames *f, uint32_t handle) {
    if (handle >= f->pool.used) return (ntr_chunk_record){0};
    const ntr_chunk_record record = f->records[handle];
    ntr_pool_give_back(&f->pool, f->records, sizeof *f->records, handle);
    return record;
}

void ntr_chunk_frames_leave(ntr_chunk_frames *f, const ntr_stack_moment *moment, const ntr_stack_frame *frame) {
    const ntr_chunk_record record = ntr_chunk_frames_forget(f, frame->handle);
    if (f->now - record.begin < f->shortest) return;
    if (f->count == f->capacity &&
        ntr_reserve(f->allocator, (void **)&f->list, &f->capacity, f->count + 1, sizeof *f->list)) {
        f->failed = true;
        return;
    }
    f->list[f->count++] = (ntr_chunk_frame){.begin = record.begin,
                                            .end = f->now,
                                            .order = record.order,
                                            .context = moment->context->has_scontext ? moment->context->scontext : 0,
                                            .function = frame->function,
                                            .kind = frame->kind};
}
