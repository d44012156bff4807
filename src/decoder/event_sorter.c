#include <ntrace/event_sorter.h>

#include "base/allocator.h"

enum { SOURCES = 4096 };

/* A place in the heap; `slot` says where its event lies. */
struct place {
    uint64_t key, number;
    size_t slot;
};

/* A source's latest time and the key of its latest event, which hold as long as no time has gone back since. */
struct latest {
    uint64_t time, key, start;
};

struct ntr_event_sorter {
    const ntr_allocator *allocator;
    ntr_event *events;  /* by slot; heap[count..window) name the free ones */
    struct place *heap; /* the earliest at 0 */
    struct latest *sources;
    size_t window, count;
    uint64_t taken_in, now, start; /* start: how often time went back, from 1 */
    ntr_event waiting;             /* the first of a new start, for when the heap is empty */
    bool restarted;
};

/* ---- the heap */

static bool before(const struct place *a, const struct place *b) {
    return a->key != b->key ? a->key < b->key : a->number < b->number;
}

static void swap(ntr_event_sorter *o, size_t a, size_t b) {
    struct place moved = o->heap[a];
    o->heap[a] = o->heap[b];
    o->heap[b] = moved;
}

static void rise(ntr_event_sorter *o, size_t at) {
    while (at && before(&o->heap[at], &o->heap[(at - 1) / 2])) {
        swap(o, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

static void sink(ntr_event_sorter *o, size_t at) {
    for (;;) {
        size_t first = at;
        for (size_t child = 2 * at + 1; child < 2 * at + 3 && child < o->count; child++)
            if (before(&o->heap[child], &o->heap[first])) first = child;
        if (first == at) return;
        swap(o, at, first);
        at = first;
    }
}

/* ---- times */

static struct latest *latest_of(ntr_event_sorter *o, const ntr_event *e) {
    struct latest *latest = &o->sources[e->src % SOURCES];

    if (latest->start != o->start) *latest = (struct latest){.start = o->start};
    return latest;
}

static bool goes_back(ntr_event_sorter *o, const ntr_event *e) {
    return e->flags & NTR_EVENT_TIME && e->time < latest_of(o, e)->time;
}

/* Where the event belongs: never before an earlier one of its source. */
static uint64_t key_of(ntr_event_sorter *o, const ntr_event *e) {
    struct latest *latest = latest_of(o, e);

    if (e->flags & NTR_EVENT_TIME) latest->time = e->time;
    uint64_t key = latest->time ? latest->time : o->now;
    if (key > latest->key) latest->key = key;
    return o->now = latest->key;
}

/* ---- */

static void insert(ntr_event_sorter *o, const ntr_event *event) {
    struct place *place = &o->heap[o->count];

    o->events[place->slot] = *event;
    place->key = key_of(o, event);
    place->number = o->taken_in++;
    rise(o, o->count++);
}

ntr_event_sorter *ntr_event_sorter_new(size_t window, const ntr_allocator *allocator) {
    ntr_event_sorter *o = ntr_alloc(allocator, 1, sizeof *o);

    if (!o) return NULL;
    o->allocator = allocator;
    o->window = window ? window : NTR_EVENT_SORTER_WINDOW_DEFAULT;
    o->start = 1;
    o->events = ntr_alloc(allocator, o->window, sizeof *o->events);
    o->heap = ntr_alloc(allocator, o->window, sizeof *o->heap);
    o->sources = ntr_alloc(allocator, SOURCES, sizeof *o->sources);
    if (!o->events || !o->heap || !o->sources) {
        ntr_event_sorter_free(o);
        return NULL;
    }
    for (size_t i = 0; i < o->window; i++) o->heap[i].slot = i;
    return o;
}

void ntr_event_sorter_free(ntr_event_sorter *o) {
    if (!o) return;
    ntr_dealloc(o->allocator, o->events);
    ntr_dealloc(o->allocator, o->heap);
    ntr_dealloc(o->allocator, o->sources);
    ntr_dealloc(o->allocator, o);
}

void ntr_event_sorter_put(ntr_event_sorter *o, const ntr_event *event) {
    if (!goes_back(o, event)) {
        insert(o, event);
        return;
    }
    o->waiting = *event;
    o->restarted = true;
}

bool ntr_event_sorter_take(ntr_event_sorter *o, bool all, ntr_event *event) {
    if (!o->count && o->restarted) {
        o->restarted = false;
        o->start++;
        insert(o, &o->waiting);
    }
    bool due =
        all || o->restarted || o->count == o->window || !o->now; /* without any time there is nothing to wait for */
    if (!o->count || !due) return false;
    *event = o->events[o->heap[0].slot];
    swap(o, 0, --o->count);
    sink(o, 0);
    return true;
}
