/* The event sorter: a heap of the latest `window` events, ordered by time.
 *
 * Idea: each event gets a key, its time; the event with the lowest key leaves the heap when the heap is full. An event
 * without time has the latest time of its source. If a source's time goes back, its trace was started again: all events
 * held leave first, then a new start begins.
 *
 * Invariant: keys of one source never decrease, and equal keys are ordered by arrival, so the events of one source keep
 * their order. Example with a window of 3: the stream has source 0 at times 10, 30, 50, then source 1 at times 20, 40.
 * The events at 10, 30, 50 fill the heap, and 10 leaves. 20 enters and leaves as the lowest. 40 enters and 30 leaves.
 * At the end of the trace 40 and 50 leave. */
#include <ntrace/event_sorter.h>

#include "base/allocator.h"

#include <ntrace/params.h>

/* An entry of the heap. `slot` is the index of its event in `events`. */
struct heap_entry {
    uint64_t key, number;
    size_t slot;
};

/* The latest time of a source and the key of its latest event. Valid when `start` is the sorter's. */
struct latest {
    uint64_t time, key, start;
};

struct ntr_event_sorter {
    const ntr_allocator *allocator;
    ntr_event *events;  /* by slot; heap[count..window) hold the free slots */
    struct heap_entry *heap; /* heap[0] is the earliest */
    struct latest *sources;
    size_t window, count;
    uint64_t taken_in, now, start; /* `start` counts how often time went back, from 1 */
    ntr_event waiting;             /* the first event after time went back, kept until the heap is empty */
    bool restarted;
};

/* ---- the heap */

static bool before(const struct heap_entry *a, const struct heap_entry *b) {
    return a->key != b->key ? a->key < b->key : a->number < b->number;
}

static void swap(ntr_event_sorter *sorter, size_t a, size_t b) {
    struct heap_entry moved = sorter->heap[a];
    sorter->heap[a] = sorter->heap[b];
    sorter->heap[b] = moved;
}

static void rise(ntr_event_sorter *sorter, size_t at) {
    while (at && before(&sorter->heap[at], &sorter->heap[(at - 1) / 2])) {
        swap(sorter, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

static void sink(ntr_event_sorter *sorter, size_t at) {
    for (;;) {
        size_t first = at;
        for (size_t child = 2 * at + 1; child < 2 * at + 3 && child < sorter->count; child++)
            if (before(&sorter->heap[child], &sorter->heap[first])) first = child;
        if (first == at) return;
        swap(sorter, at, first);
        at = first;
    }
}

/* ---- times */

static struct latest *latest_of(ntr_event_sorter *sorter, const ntr_event *e) {
    struct latest *latest = &sorter->sources[e->src % NTR_SOURCES_MAX];

    if (latest->start != sorter->start) *latest = (struct latest){.start = sorter->start};
    return latest;
}

static bool goes_back(ntr_event_sorter *sorter, const ntr_event *e) {
    return e->flags & NTR_EVENT_TIME && e->time < latest_of(sorter, e)->time;
}

/* Returns the key of the event: never less than the key of an earlier event of its source. */
static uint64_t key_of(ntr_event_sorter *sorter, const ntr_event *e) {
    struct latest *latest = latest_of(sorter, e);

    if (e->flags & NTR_EVENT_TIME) latest->time = e->time;
    uint64_t key = latest->time ? latest->time : sorter->now;
    if (key > latest->key) latest->key = key;
    return sorter->now = latest->key;
}

/* ---- the interface */

static void insert(ntr_event_sorter *sorter, const ntr_event *event) {
    struct heap_entry *entry = &sorter->heap[sorter->count];

    sorter->events[entry->slot] = *event;
    entry->key = key_of(sorter, event);
    entry->number = sorter->taken_in++;
    rise(sorter, sorter->count++);
}

ntr_status ntr_event_sorter_new(size_t window, const ntr_allocator *allocator, ntr_event_sorter **out) {
    *out = NULL;
    ntr_event_sorter *sorter = ntr_alloc(allocator, 1, sizeof *sorter);

    if (!sorter) return NTR_E_MEMORY;
    sorter->allocator = allocator;
    sorter->window = window ? window : NTR_EVENT_SORTER_WINDOW_DEFAULT;
    sorter->start = 1;
    sorter->events = ntr_alloc(allocator, sorter->window, sizeof *sorter->events);
    sorter->heap = ntr_alloc(allocator, sorter->window, sizeof *sorter->heap);
    sorter->sources = ntr_alloc(allocator, NTR_SOURCES_MAX, sizeof *sorter->sources);
    if (!sorter->events || !sorter->heap || !sorter->sources) {
        ntr_event_sorter_free(sorter);
        return NTR_E_MEMORY;
    }
    for (size_t i = 0; i < sorter->window; i++) sorter->heap[i].slot = i;
    *out = sorter;
    return NTR_OK;
}

void ntr_event_sorter_free(ntr_event_sorter *sorter) {
    if (!sorter) return;
    ntr_dealloc(sorter->allocator, sorter->events);
    ntr_dealloc(sorter->allocator, sorter->heap);
    ntr_dealloc(sorter->allocator, sorter->sources);
    ntr_dealloc(sorter->allocator, sorter);
}

void ntr_event_sorter_put(ntr_event_sorter *sorter, const ntr_event *event) {
    if (!goes_back(sorter, event)) {
        insert(sorter, event);
        return;
    }
    sorter->waiting = *event;
    sorter->restarted = true;
}

bool ntr_event_sorter_take(ntr_event_sorter *sorter, bool all, ntr_event *event) {
    if (!sorter->count && sorter->restarted) {
        sorter->restarted = false;
        sorter->start++;
        insert(sorter, &sorter->waiting);
    }
    bool due = all || sorter->restarted || sorter->count == sorter->window ||
               !sorter->now; /* without any time there is nothing to sort */
    if (!sorter->count || !due) return false;
    *event = sorter->events[sorter->heap[0].slot];
    swap(sorter, 0, --sorter->count);
    sink(sorter, 0);
    return true;
}
