/* Worker threads decode chunks and put events, counted events, or both into the chunk output. ntr_parallel calls `deliver`
 * in stream order, one call at a time.
 *
 * Where the consumers need calls and returns only, spans are joined. Each thread has a table of functions of its own to
 * decide which; the functions of all tables are the same.
 *
 * The counting decode reports the span of an indirect jump each time. Each thread collects equal spans in a small table
 * before it puts them, so that less is delivered. Example: an interpreter jumps 10,000 times in a chunk, between 200
 * pairs of addresses: 200 counted events are put. */
#include "commands/analysis.h"
#include "commands/packed_spans.h"
#include "io/memory.h"
#include "io/progress.h"

#include <ntrace/parallel.h>

#include <stdlib.h>

struct delivery {
    struct cli_analysis *analysis;
    cli_take_events take;
    void *user;
};

enum { PUT_EVENTS, PUT_SPANS, PUT_COUNTED }; /* `what` of the chunk output */

struct counted_event {
    ntr_event event;
    uint64_t times;
};

enum { COLLECTED = 512 }; /* 70 KB: fits the second-level cache beside the data of the decoder */

struct collecting_thread {
    ntr_chunk *chunk; /* the chunk that the thread decodes */
    ntr_functions *functions;
    struct counted_event collected[COLLECTED]; /* free where `times` is 0 */
};

/* ---- worker threads */

static void *thread_data_new(void *user) {
    const struct delivery *s = user;
    struct collecting_thread *t = calloc(1, sizeof *t);

    if (t && (t->functions = ntr_functions_new(s->analysis->data.debug, &cli_memory))) return t;
    free(t);
    return NULL;
}

static void thread_data_free(void *user) {
    struct collecting_thread *t = user;

    ntr_functions_free(t->functions);
    free(t);
}

static bool same_function(void *user, const ntr_context *context, const uint64_t *addresses, size_t count) {
    const struct collecting_thread *t = user;

    return cli_analysis_same_function(t->functions, context, addresses, count);
}

static void begin(void *user, ntr_chunk *chunk) {
    struct collecting_thread *t = user;

    t->chunk = chunk;
    for (size_t i = 0; i < COLLECTED; i++) t->collected[i].times = 0; /* of a chunk that was abandoned */
}

static ntr_status put_packet(ntr_chunk *chunk, const ntr_event *events, size_t count) {
    const size_t size = cli_packet_size(count);
    size_t room;
    struct cli_span_packet *packet = ntr_chunk_room(chunk, PUT_SPANS, size, &room);

    if (!packet) return ntr_chunk_status(chunk);
    cli_packet_fill(packet, events, count);
    ntr_chunk_used(chunk, size);
    return NTR_OK;
}

static ntr_status put_events(void *user, ntr_chunk *chunk, const ntr_event *events, size_t count) {
    ntr_status status = NTR_OK;

    (void)user;
    for (size_t i = 0, some; i < count && status == NTR_OK; i += some) {
        const size_t spans = cli_packet_fits(events + i, count - i);
        some = spans ? spans : 1;
        status = spans ? put_packet(chunk, events + i, spans) : ntr_chunk_put(chunk, PUT_EVENTS, events + i, sizeof *events);
    }
    return status;
}

static ntr_status put_counted(struct collecting_thread *t, const ntr_event *event, uint64_t times) {
    const struct counted_event counted = {*event, times};

    return ntr_chunk_put(t->chunk, PUT_COUNTED, &counted, sizeof counted);
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

static ntr_status deliver_events(struct delivery *s, const ntr_event *events, size_t count) {
    return cli_analysis_events(s->analysis, events, count, s->take, s->user);
}

static ntr_status deliver_spans(struct delivery *s, const char *data, size_t size) {
    enum { UNPACKED_AT_ONCE = 128 }; /* 14 KB: they stay in the first-level cache */
    ntr_event events[UNPACKED_AT_ONCE];
    ntr_status status = NTR_OK;

    while (size && status == NTR_OK) {
        const struct cli_span_packet *packet = (const void *)data;
        for (size_t at = 0, some; at < packet->count && status == NTR_OK; at += some) {
            some = cli_packet_events(packet, at, events, UNPACKED_AT_ONCE);
            status = deliver_events(s, events, some);
        }
        data += cli_packet_size(packet->count);
        size -= cli_packet_size(packet->count);
    }
    return status;
}

static ntr_status deliver_counted(struct delivery *s, const void *data, size_t size) {
    ntr_status status = NTR_OK;

    for (const struct counted_event *t = data; size && status == NTR_OK; t++, size -= sizeof *t)
        status = s->analysis->joined ? ntr_tally_count(s->analysis->data.tally, &t->event, t->times)
                                     : cli_analysis_count(s->analysis, &t->event, t->times);
    return status;
}

static ntr_status deliver(void *user, unsigned what, const void *data, size_t size) {
    struct delivery *s = user;
    ntr_status status = what == PUT_COUNTED ? deliver_counted(s, data, size)
                        : what == PUT_SPANS ? deliver_spans(s, data, size)
                                            : deliver_events(s, data, size / sizeof(ntr_event));

    return status < 0 ? status : unless_stopped();
}

/* ---- */

static ntr_parallel_work work_of(struct delivery *delivery, bool counting) {
    const struct cli_analysis *a = delivery->analysis;
    const bool counted = counting || (a->joined && a->data.tally);

    return (ntr_parallel_work){.thread_data_new = thread_data_new,
                               .thread_data_free = thread_data_free,
                               .begin = begin,
                               .events = put_events,
                               .count_callback = counted ? collect : NULL,
                               .end = put_collected,
                               .deliver = deliver,
                               .user = delivery,
                               .join = a->joined ? same_function : NULL};
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
