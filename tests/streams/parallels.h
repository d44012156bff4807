/* Whether many threads give the result of one: the same events, totals, and spans with their counts. */
#ifndef NTR_TEST_PARALLELS_H
#define NTR_TEST_PARALLELS_H

#include "tallies.h"

#include <ntrace/parallel.h>

typedef struct parallels_events {
    ntr_event *events;
    size_t count, capacity;
    ntr_status status;
} parallels_events;

static inline void parallels_add(parallels_events *all, const ntr_event *events, size_t count) {
    if (all->count + count > all->capacity) {
        all->capacity = 2 * (all->count + count);
        all->events = realloc(all->events, all->capacity * sizeof *events);
    }
    if (count) memcpy(all->events + all->count, events, count * sizeof *events);
    all->count += count;
}

static inline ntr_status parallels_put(void *thread_data, ntr_chunk *chunk, const ntr_event *events, size_t count) {
    (void)thread_data;
    return ntr_chunk_put(chunk, 1, events, count * sizeof *events);
}

static inline ntr_status parallels_get(void *user, unsigned what, const void *data, size_t size) {
    parallels_events *all = user;
    if (what == 1) parallels_add(all, data, size / sizeof(ntr_event));
    return all->count > TALLIES_EVENTS_MAX ? NTR_E_LIMIT : NTR_OK;
}

static inline parallels_events parallels_one(const ntr_decoder_config *config, ntr_bytes in) {
    static ntr_event events[256];
    parallels_events all = {.status = NTR_OK};
    ntr_decoder *d = ntr_decoder_new(config, NULL);
    ntr_decoder_feed(d, in.data, in.size, true);
    while (all.status == NTR_OK) {
        size_t count = 0;
        all.status = ntr_decoder_read(d, events, 256, &count);
        parallels_add(&all, events, count);
        if (all.count > TALLIES_EVENTS_MAX && all.status == NTR_OK) all.status = NTR_E_LIMIT;
    }
    ntr_decoder_free(d);
    return all;
}

/* Fed in two spans. */
static inline ntr_status parallels_run(const ntr_parallel_config *config, ntr_bytes in, ntr_counts *counts,
                                       ntr_parallel_stats *stats) {
    ntr_status status;
    ntr_parallel *p = ntr_parallel_new(config, &status);
    if (!p) return status;
    size_t half = in.size / 3;
    status = ntr_parallel_feed(p, in.data, half, false);
    if (status == NTR_NEED_MORE) status = ntr_parallel_feed(p, in.data + half, in.size - half, true);
    if (counts) *counts = *ntr_parallel_counts(p);
    ntr_parallel_get_stats(p, stats);
    ntr_parallel_free(p);
    return status;
}

static inline bool parallels_same_event(const ntr_event *a, const ntr_event *b) {
    char one[NTR_EVENT_TEXT_MAX], other[NTR_EVENT_TEXT_MAX];
    size_t size = ntr_event_json(a, one);
    return ntr_context_equal(&a->context, &b->context) && size == ntr_event_json(b, other) && memcmp(one, other, size) == 0;
}

/* NULL, or what differs. */
static inline const char *parallels_differ(const ntr_decoder_config *config, ntr_bytes in, unsigned threads,
                                           size_t chunk, ntr_parallel_stats *stats) {
    parallels_events one = parallels_one(config, in), many = {.status = NTR_OK};
    ntr_parallel_config setting = {.size = sizeof setting, .decoder = config, .threads = threads, .chunk = chunk};
    setting.work = (ntr_parallel_work){.events = parallels_put, .deliver = parallels_get, .user = &many};
    const char *what = NULL;
    many.status = parallels_run(&setting, in, NULL, stats);
    if (one.status == NTR_E_LIMIT) goto end;
    if (one.status != many.status) what = "many threads end with another status than one";
    else if (one.count != many.count) what = "many threads give another number of events than one";
    for (size_t i = 0; i < one.count && !what; i++)
        if (!parallels_same_event(&one.events[i], &many.events[i])) what = "many threads give other events than one";
    if (what || one.status < 0) goto end;

    ntr_parallel_stats unused;
    ntr_counts counted = {0}, counted_many = {0};
    ntr_decoder *d = ntr_decoder_new(config, NULL);
    ntr_decoder_feed(d, in.data, in.size, true);
    ntr_decoder_count(d, &counted);
    ntr_decoder_free(d);
    setting.counting = true;
    if (parallels_run(&setting, in, &counted_many, &unused) != NTR_END) what = "many threads cannot count";
    else if (memcmp(&counted, &counted_many, sizeof counted)) what = "many threads count otherwise than one";
end:
    free(one.events);
    free(many.events);
    return what;
}

#endif
