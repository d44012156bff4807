#include "analysis/chunk_head.h"

#include "base/allocator.h"

enum { HEAD_MOST = 4096 }; /* events: 450 KB */

void ntr_chunk_head_release(ntr_chunk_head *h) {
    ntr_dealloc(h->allocator, h->events);
    *h = (ntr_chunk_head){.allocator = h->allocator};
}

void ntr_chunk_head_restart(ntr_chunk_head *h) {
    h->count = 0;
    h->spans = h->dependent = h->failed = false;
    h->open = true;
}

/* A chunk that begins without time has no head. */
static bool belongs(const ntr_chunk_head *h, const ntr_event *e) {
    if (!h->count) return e->flags & NTR_EVENT_TIME;
    return !h->spans || e->message == h->events[h->count - 1].message;
}

static void add(ntr_chunk_head *h, const ntr_event *e) {
    h->dependent |= h->count == HEAD_MOST || (h->count && e->src != h->events[0].src);
    if (h->dependent) return;
    h->failed |= ntr_reserve(h->allocator, (void **)&h->events, &h->capacity, h->count + 1, sizeof *h->events) != 0;
    if (h->failed) return;
    h->events[h->count++] = *e;
    h->spans |= e->kind == NTR_EVENT_SPAN;
}

size_t ntr_chunk_head_take(ntr_chunk_head *h, const ntr_event *events, size_t count) {
    size_t taken = 0;

    while (h->open && taken < count && !h->dependent && !h->failed) {
        h->open = belongs(h, &events[taken]);
        if (h->open) add(h, &events[taken++]);
    }
    for (size_t i = taken; i < count; i++)
        h->dependent |= events[i].flags & NTR_EVENT_TIME && (!h->count || events[i].src != h->events[0].src);
    return taken;
}
