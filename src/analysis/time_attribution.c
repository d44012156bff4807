#include "analysis/time_attribution.h"

#include "base/allocator.h"

#include <stdlib.h>

#define ITEMS_MAX 65536 /* maximum number of items; a message can describe any number of spans */

/* Returns total * part / of without overflow, for part <= of. Exact when `of` has at most 32 bits. */
static uint64_t portion(uint64_t total, uint64_t part, uint64_t of) {
    if (part == of) return total;
    uint64_t each = total / of, rest = total % of;
    unsigned shift = of >> 32 ? 32 - (unsigned)__builtin_clzll(of) : 0;
    return each * part + (((rest >> shift) * (part >> shift) / (of >> shift)) << shift);
}

void ntr_time_attribution_flush(ntr_time_attribution *s, ntr_ticks_callback take, void *user) {
    uint64_t all = 0, before = 0, given = 0;
    if (s->count == 0) return; /* no spans: the time belongs to the spans of the next message too */
    for (size_t i = 0; i < s->count; i++) all += s->items[i].instructions;
    if (all == 0) all = s->items[0].instructions = 1; /* no instruction retired, for example at a trap */
    for (size_t i = 0; i < s->count && s->ticks; i++) {
        before += s->items[i].instructions;
        uint64_t until = portion(s->ticks, before, all);
        if (until > given) take(user, s->items[i].owner, until - given);
        if (until > given) given = until;
    }
    s->count = 0;
    s->ticks = 0;
}

void ntr_time_attribution_event(ntr_time_attribution *s, const ntr_event *e, ntr_ticks_callback take, void *user) {
    bool timed = (e->flags & NTR_EVENT_TIME) != 0;
    if (e->message != s->message || timed != s->timed) {
        ntr_time_attribution_flush(s, take, user);
        s->message = e->message;
        if (s->timed && timed && e->time > s->time) s->ticks += e->time - s->time;
        s->time = e->time;
        s->timed = timed;
        if (!timed) s->ticks = 0; /* the owner of the time is not known */
    }
    if (e->kind != NTR_EVENT_STOP && e->kind != NTR_EVENT_GAP) return;
    ntr_time_attribution_flush(s, take, user); /* later time does not belong to these spans */
    s->ticks = 0;
    s->timed = false;
}

static int by_owner(const void *a, const void *b) {
    const ntr_time_item *x = a, *y = b;
    return x->owner < y->owner ? -1 : x->owner > y->owner;
}

/* Makes space: merges the items of each owner; when there are still many owners, merges neighbours. */
static void join(ntr_time_attribution *s) {
    size_t kept = 0;
    qsort(s->items, s->count, sizeof *s->items, by_owner);
    for (size_t i = 1; i < s->count; i++) {
        if (s->items[i].owner == s->items[kept].owner)
            s->items[kept].instructions += s->items[i].instructions;
        else
            s->items[++kept] = s->items[i];
    }
    s->count = kept + 1;
    if (s->count <= ITEMS_MAX / 2) return;
    for (size_t i = 0; i < s->count / 2; i++) {
        s->items[i] = s->items[2 * i];
        s->items[i].instructions += s->items[2 * i + 1].instructions;
    }
    s->count /= 2; /* an unpaired last item is dropped: one of more than 32,768 */
}

ntr_status ntr_time_attribution_add(ntr_time_attribution *s, uint32_t owner, uint64_t instructions,
                                    const ntr_allocator *allocator) {
    if (!s->timed) return NTR_OK;
    if (s->count && s->items[s->count - 1].owner == owner) {
        s->items[s->count - 1].instructions += instructions;
        return NTR_OK;
    }
    if (s->count == ITEMS_MAX) join(s);
    void *block = s->items;
    if (ntr_reserve(allocator, &block, &s->capacity, s->count + 1, sizeof *s->items)) return NTR_E_MEMORY;
    s->items = block;
    s->items[s->count++] = (ntr_time_item){owner, instructions};
    return NTR_OK;
}

void ntr_time_attribution_release(ntr_time_attribution *s, const ntr_allocator *allocator) {
    ntr_dealloc(allocator, s->items);
    *s = (ntr_time_attribution){0};
}
