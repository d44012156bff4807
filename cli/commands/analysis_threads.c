/* Worker threads decode chunks and put events, or counted events, into the chunk output. ntr_parallel calls `deliver` in
 * stream order, one call at a time.
 *
 * The counting decode reports the span of an indirect jump each time. Each thread collects equal spans in a small table
 * before it puts them, so that less is delivered. Example: an interpreter jumps 10,000 times in a chunk, between 200
 * pairs of addresses: 200 counted events are put. */
#include "commands/analysis.h"
#include "io/progress.h"

#include <ntrace/parallel.h>

#include <stdlib.h>

struct delivery {
    struct cli_analysis *analysis;
    cli_take_events take;
    void *user;
};

struct counted_event {
    ntr_event event;
    uint64_t times;
};

enum { COLLECTED = 512 }; /* 70 KB: fits the second-level cache beside the data of the decoder */

struct collecting_thread {
    ntr_chunk *chunk; /* the chunk that the thread decodes */
    struct counted_event collected[COLLECTED]; /* free where `times` is 0 */
};

/* ---- worker threads */

static void *thread_data_new(void *user) {
    (void)user;
    return calloc(1, sizeof(struct collecting_thread));
}

static void begin(void *user, ntr_chunk *chunk) {
    struct collecting_thread *t = user;

    t->chunk = chunk;
    for (size_t i = 0; i < COLLECTED; i++) t->collected[i].times = 0; /* of a chunk that was abandoned */
}

static ntr_status put_events(void *user, ntr_chunk *chunk, const ntr_event *events, size_t count) {
    (void)user;
    return ntr_chunk_put(chunk, 0, events, count * sizeof *events);
}

static ntr_status put_counted(struct collecting_thread *t, const ntr_event *event, uint64_t times) {
    const struct counted_event counted = {*event, times};

    return ntr_chunk_put(t->chunk, 0, &counted, sizeof counted);
}

static bool same_span(const ntr_event *a, const ntr_event *b) {
    return a->address == b->address && a->target == b->target && a->last == b->last && a->end == b->end &&
           a->flags == b->flags && a->src == b->src && a->instructions == b->instructions &&
           ntr_context_equal(&a->context, &b->context);
}

static struct counted_event *place_of(struct collecting_thread *t, const ntr_event *e) {
    const uint64_t hash = ((e->address >> 1) * 0x9e3779b97f4a7c15u) ^ ((e->target >> 1) * 0xc2b2ae3d27d4eb4fu);

    return &t->collected[hash >> 55];
}

static ntr_status collect(void *user, const ntr_event *event, uint64_t times) {
    struct collecting_thread *t = user;

    if (event->kind != NTR_EVENT_SPAN) return put_counted(t, event, times);
    struct counted_event *place = place_of(t, event);
    if (place->times && same_span(&place->event, event) && times <= UINT64_MAX - place->times) {
        place->times += times;
        return NTR_OK;
    }
    ntr_status status = place->times ? put_counted(t, &place->event, place->times) : NTR_OK;
    *place = (struct counted_event){*event, times};
    return status;
}

static ntr_status put_collected(void *user, ntr_chunk *chunk) {
    struct collecting_thread *t = user;
    ntr_status status = ntr_chunk_status(chunk);

    for (size_t i = 0; i < COLLECTED && status == NTR_OK; i++) {
        if (t->collected[i].times) status = put_counted(t, &t->collected[i].event, t->collected[i].times);
        t->collected[i].times = 0;
    }
    return status;
}

/* ---- delivery */

/* Ends decoding after a signal, also in the middle of a chunk: a message may stand for more spans than can be waited for. */
static ntr_status unless_stopped(void) {
    return cli_progress_stopped() ? NTR_END : NTR_OK;
}

static ntr_status deliver_events(void *user, unsigned what, const void *data, size_t size) {
    struct delivery *s = user;
    ntr_status status = cli_analysis_events(s->analysis, data, size / sizeof(ntr_event), s->take, s->user);

    (void)what;
    return status < 0 ? status : unless_stopped();
}

static ntr_status deliver_counted(void *user, unsigned what, const void *data, size_t size) {
    struct delivery *s = user;
    ntr_status status = NTR_OK;

    (void)what;
    for (const struct counted_event *t = data; size && status == NTR_OK; t++, size -= sizeof *t)
        status = cli_analysis_count(s->analysis, &t->event, t->times);
    return status < 0 ? status : unless_stopped();
}

/* ---- */

static ntr_parallel_work work_of(struct delivery *delivery, bool counting) {
    return (ntr_parallel_work){.thread_data_new = thread_data_new,
                               .thread_data_free = free,
                               .begin = begin,
                               .events = put_events,
                               .count_callback = counting ? collect : NULL,
                               .end = put_collected,
                               .deliver = counting ? deliver_counted : deliver_events,
                               .user = delivery};
}

ntr_status cli_analysis_parallel(struct cli_analysis *a, unsigned jobs, bool counting, cli_take_events take,
                                 void *user) {
    struct delivery delivery = {a, take, user};
    ntr_parallel_config config;
    ntr_status status;

    ntr_parallel_config_init(&config);
    config.decoder = &a->config;
    config.threads = jobs;
    config.counting = counting;
    config.work = work_of(&delivery, counting);
    ntr_parallel *p = ntr_parallel_new(&config, &status);
    if (!p) return status;
    for (status = NTR_NEED_MORE; status == NTR_NEED_MORE && !cli_progress_stopped();) {
        ntr_bytes span;
        bool last;
        if (!cli_trace_feed(&a->trace, &span, &last)) break;
        status = ntr_parallel_feed(p, span.data, span.size, last);
    }
    ntr_parallel_free(p);
    return status;
}
