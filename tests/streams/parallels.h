/* Whether many threads give the result of one: the same events, totals, and spans with their counts. */
#ifndef NTR_TEST_PARALLELS_H
#define NTR_TEST_PARALLELS_H

#include "tallies.h"

#include <ntrace/export.h>
#include <ntrace/chunk_output.h>
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
    ntr_decoder *d;
    ntr_decoder_new(config, &d);
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

/* What the threads read. */
static struct {
    ntr_bytes in;
    size_t at;
} parallels_input;

/* In portions of many sizes, the last one of which may be empty. */
static inline ntr_status parallels_read(void *user, uint8_t *to, size_t capacity, size_t *got, bool *last) {
    const size_t left = parallels_input.in.size - parallels_input.at, portion = 1 + parallels_input.at * 31 % 4099;
    (void)user;
    *last = !left || (left <= portion && left <= capacity && left % 2);
    *got = left < portion ? left : portion;
    if (*got > capacity) *got = capacity;
    if (*got) memcpy(to, parallels_input.in.data + parallels_input.at, *got);
    parallels_input.at += *got;
    return NTR_OK;
}

/* Fed in two spans, or read by the threads. */
static inline ntr_status parallels_run(const ntr_parallel_config *config, ntr_bytes in, ntr_counts *counts,
                                       ntr_parallel_stats *stats) {
    ntr_parallel *p;
    ntr_status status = ntr_parallel_new(config, &p);
    if (!p) return status;
    size_t half = in.size / 3;
    parallels_input.in = in;
    parallels_input.at = 0;
    if (config->work.read)
        status = ntr_parallel_run(p);
    else
        status = ntr_parallel_feed(p, in.data, half, false);
    if (status == NTR_NEED_MORE) status = ntr_parallel_feed(p, in.data + half, in.size - half, true);
    if (counts) *counts = *ntr_parallel_counts(p);
    ntr_parallel_stats_get(p, stats);
    ntr_parallel_free(p);
    return status;
}

static inline bool parallels_same_event(const ntr_event *a, const ntr_event *b) {
    char one[NTR_EVENT_TEXT_MAX], other[NTR_EVENT_TEXT_MAX];
    size_t size = ntr_event_json(a, one, sizeof one);
    return ntr_context_equal(&a->context, &b->context) && size == ntr_event_json(b, other, sizeof other) &&
           memcmp(one, other, size) == 0;
}

/* ---- spans that are counted late */

typedef struct parallels_thread {
    tallies_found *all;
    ntr_tally *tally;
    ntr_chunk *chunk;
} parallels_thread;

static inline void *parallels_thread_new(void *user) {
    parallels_thread *t = calloc(1, sizeof *t);
    *t = (parallels_thread){.all = user};
    ntr_tally_new(NULL, NULL, &t->tally);
    return t;
}

static inline void parallels_thread_free(void *user) {
    parallels_thread *t = user;
    ntr_tally_free(t->tally);
    free(t);
}

static inline void parallels_begin(void *user, ntr_chunk *chunk) {
    ((parallels_thread *)user)->chunk = chunk;
}

static inline ntr_status parallels_count(void *user, const ntr_event *event, uint64_t times) {
    parallels_thread *t = user;
    if (event->kind == NTR_EVENT_SPAN) return ntr_tally_count(t->tally, event, times);
    return ntr_chunk_put(t->chunk, 1, event, sizeof *event);
}

static inline ntr_status parallels_get_others(void *user, unsigned what, const void *data, size_t size) {
    tallies_found *all = user;
    const ntr_event *events = data;
    for (size_t i = 0; what == 1 && i < size / sizeof *events; i++) tallies_take(all, &events[i], 1);
    return NTR_OK;
}

static inline ntr_status parallels_finish(void *user) {
    parallels_thread *t = user;
    size_t count;
    const ntr_tally_row *rows = ntr_tally_rows(t->tally, &count);
    for (size_t i = 0; i < count; i++) {
        const ntr_tally_view_info *view = ntr_tally_view(t->tally, rows[i].view);
        const ntr_event span = {.kind = NTR_EVENT_SPAN,
                                .src = view->src,
                                .context = view->context,
                                .address = rows[i].address,
                                .last = rows[i].last,
                                .target = rows[i].target,
                                .instructions = rows[i].instructions,
                                .halfwords = rows[i].halfwords,
                                .end = rows[i].end,
                                .flags = rows[i].target_unknown ? NTR_EVENT_TARGET_UNKNOWN : 0};
        ntr_tally_count(t->all->tally, &span, rows[i].count);
    }
    return NTR_OK;
}

/* NULL, or what differs. */
static inline const char *parallels_late_differ(const ntr_parallel_config *given, ntr_bytes in) {
    tallies_found one = tallies_found_nothing(), many = tallies_found_nothing();
    ntr_parallel_config setting = *given;
    ntr_parallel_stats unused;
    ntr_counts totals = {0};
    const char *what = NULL;
    setting.counting = true;
    setting.work = (ntr_parallel_work){.thread_data_new = parallels_thread_new,
                                       .thread_data_free = parallels_thread_free,
                                       .begin = parallels_begin,
                                       .count_callback = parallels_count,
                                       .deliver = parallels_get_others,
                                       .finish = parallels_finish,
                                       .user = &many,
                                       .read = given->work.read};
    ntr_status status = tallies_by_events(setting.decoder, in, false, &one, &totals);
    ntr_status late = status == NTR_E_LIMIT ? status : parallels_run(&setting, in, NULL, &unused);
    if (status != late)
        what = "threads that count late end with another status than one";
    else if (status == NTR_END && !tallies_equal(one.tally, many.tally))
        what = "threads that count late give other spans than one";
    else if (status == NTR_END && one.others != many.others)
        what = "threads that count late give other events than one";
    ntr_tally_free(one.tally);
    ntr_tally_free(many.tally);
    return what;
}

/* NULL, or what differs. With `reads`, the threads read the stream. */
static inline const char *parallels_differ_by(const ntr_decoder_config *config, ntr_bytes in, unsigned threads,
                                              size_t chunk, bool reads, ntr_parallel_stats *stats) {
    parallels_events one = parallels_one(config, in), many = {.status = NTR_OK};
    ntr_parallel_config setting = {.size = sizeof setting, .decoder = config, .threads = threads, .chunk = chunk};
    setting.work = (ntr_parallel_work){
        .events = parallels_put, .deliver = parallels_get, .user = &many, .read = reads ? parallels_read : NULL};
    const char *what = NULL;
    many.status = parallels_run(&setting, in, NULL, stats);
    if (one.status == NTR_E_LIMIT) goto end;
    if (one.status != many.status)
        what = "many threads end with another status than one";
    else if (one.count != many.count)
        what = "many threads give another number of events than one";
    for (size_t i = 0; i < one.count && !what; i++)
        if (!parallels_same_event(&one.events[i], &many.events[i])) what = "many threads give other events than one";
    if (what || one.status < 0) goto end;

    ntr_parallel_stats unused;
    ntr_counts counted = {0}, counted_many = {0};
    ntr_decoder *d;
    ntr_decoder_new(config, &d);
    ntr_decoder_feed(d, in.data, in.size, true);
    ntr_decoder_count(d, &counted);
    ntr_decoder_free(d);
    setting.counting = true;
    if (parallels_run(&setting, in, &counted_many, &unused) != NTR_END)
        what = "many threads cannot count";
    else if (memcmp(&counted, &counted_many, sizeof counted))
        what = "many threads count otherwise than one";
    if (!what) what = parallels_late_differ(&setting, in);
end:
    free(one.events);
    free(many.events);
    return what;
}

static inline const char *parallels_differ(const ntr_decoder_config *config, ntr_bytes in, unsigned threads,
                                           size_t chunk, ntr_parallel_stats *stats) {
    const char *what = parallels_differ_by(config, in, threads, chunk, true, stats);
    return what ? what : parallels_differ_by(config, in, threads, chunk, false, stats);
}

#endif
