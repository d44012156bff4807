/* Worker threads decode chunks and put events, counted events, or both into the chunk output. ntr_parallel calls `deliver`
 * in stream order, one call at a time.
 *
 * Where the consumers need calls and returns only, spans are joined. Each thread has a table of functions of its own to
 * decide which; the functions of all tables are the same.
 *
 * Call trees of one source without timestamps and tasks are counted by the threads, too: each has an open tree for its chunk, which is
 * packed at the end of the chunk and applied to the tree of the whole. Where that is refused, the chunk is decoded again and its
 * spans are delivered; when it is refused often, all further chunks are decoded in this way.
 *
 * The counting decode reports the span of an indirect jump each time. Each thread collects equal spans in a small table
 * before it puts them, so that less is delivered. Example: an interpreter jumps 10,000 times in a chunk, between 200
 * pairs of addresses: 200 counted events are put. */
#include "commands/analysis.h"
#include "commands/packed_spans.h"
#include "io/memory.h"
#include "io/progress.h"

#include <ntrace/parallel.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct delivery {
    struct cli_analysis *analysis;
    cli_take_events take;
    void *user;
    bool trees;             /* the threads have trees */
    atomic_bool only_spans; /* too many trees were refused */
    unsigned applied, refused;
};

enum { PUT_EVENTS, PUT_SPANS, PUT_COUNTED, PUT_TREE, PUT_OTHERS }; /* `what` of the chunk output */

struct counted_event {
    ntr_event event;
    uint64_t times;
};

/* In front of a packed tree. */
struct tree_head {
    uint64_t size; /* of the packed tree; 0: it is refused */
    uint64_t any;  /* the chunk has an event */
};

enum { TREE_CHUNK = 512 << 10 }; /* bytes of a chunk with a tree */
enum { OTHERS = 256 };
enum { COLLECTED = 512 }; /* 70 KB: fits the second-level cache beside the data of the decoder */

struct collecting_thread {
    ntr_chunk *chunk; /* the chunk that the thread decodes */
    ntr_functions *functions;
    struct counted_event collected[COLLECTED]; /* free where `times` is 0 */
    struct delivery *delivery;
    ntr_calltree *tree;            /* of the chunk; NULL: the threads have none */
    ntr_functions *tree_functions;
    bool in_tree;                  /* the spans of this chunk are counted in the tree */
    ntr_event others[OTHERS];      /* events of this chunk that are not spans */
    size_t other_count;
    struct counted_event *counted; /* counts of this chunk, which are put behind the tree */
    size_t count_count, count_capacity;
    bool any;                      /* the chunk has an event */
    bool given_up;                 /* the tree is not needed: the chunk is decoded again */
};

/* ---- worker threads */

static void thread_data_free(void *user) {
    struct collecting_thread *t = user;

    ntr_calltree_free(t->tree);
    ntr_functions_free(t->tree_functions);
    ntr_functions_free(t->functions);
    free(t->counted);
    free(t);
}

static bool make_tree(struct collecting_thread *t, const struct cli_analysis *a) {
    t->tree_functions = ntr_functions_new(a->data.debug, &cli_memory);
    t->tree = t->tree_functions ? ntr_calltree_new(t->tree_functions, &cli_memory) : NULL;
    if (!t->tree) return false;
    ntr_calltree_divide(t->tree, ntr_calltree_divided(a->data.tree));
    return ntr_calltree_open(t->tree) == NTR_OK;
}

static void *thread_data_new(void *user) {
    struct delivery *s = user;
    struct collecting_thread *t = calloc(1, sizeof *t);

    if (!t) return NULL;
    t->delivery = s;
    t->functions = ntr_functions_new(s->analysis->data.debug, &cli_memory);
    if (t->functions && (!s->trees || make_tree(t, s->analysis))) return t;
    thread_data_free(t);
    return NULL;
}

static bool same_function(void *user, const ntr_context *context, const uint64_t *addresses, size_t count) {
    const struct collecting_thread *t = user;

    return cli_analysis_same_function(t->functions, context, addresses, count);
}

static void begin(void *user, ntr_chunk *chunk) {
    struct collecting_thread *t = user;

    t->chunk = chunk;
    t->in_tree = t->tree && !ntr_chunk_again(chunk) && !atomic_load(&t->delivery->only_spans);
    t->other_count = t->count_count = 0;
    t->given_up = t->any = false;
    if (t->in_tree) ntr_calltree_begin_chunk(t->tree);
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

/* Keeps the events that are not spans. An event with time cannot be in the tree of a chunk: the tree is given up. */
static void keep_others(struct collecting_thread *t, const ntr_event *events, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const bool span = events[i].kind == NTR_EVENT_SPAN;
        t->given_up |= events[i].flags & NTR_EVENT_TIME || (!span && t->other_count == OTHERS);
        if (!span && !t->given_up) t->others[t->other_count++] = events[i];
    }
}

static ntr_status put_events(void *user, ntr_chunk *chunk, const ntr_event *events, size_t count) {
    struct collecting_thread *t = user;
    ntr_status status = NTR_OK;

    if (t->in_tree) {
        keep_others(t, events, count);
        t->any |= count != 0;
        if (cli_progress_stopped()) return NTR_END; /* nothing is delivered before the chunk ends */
        return ntr_calltree_feed(t->tree, events, count);
    }
    for (size_t i = 0, some; i < count && status == NTR_OK; i += some) {
        const size_t spans = cli_packet_fits(events + i, count - i);
        some = spans ? spans : 1;
        status = spans ? put_packet(chunk, events + i, spans) : ntr_chunk_put(chunk, PUT_EVENTS, events + i, sizeof *events);
    }
    return status;
}

static ntr_status keep_counted(struct collecting_thread *t, const struct counted_event *counted) {
    enum { COUNTED_FIRST = 1 << 10, COUNTED_MOST = 1 << 16 };

    if (t->count_count == t->count_capacity && t->count_capacity < COUNTED_MOST) {
        const size_t capacity = t->count_capacity ? 2 * t->count_capacity : COUNTED_FIRST;
        struct counted_event *grown = realloc(t->counted, capacity * sizeof *grown);
        if (!grown) return NTR_E_MEMORY;
        t->counted = grown;
        t->count_capacity = capacity;
    }
    t->given_up |= t->count_count == t->count_capacity;
    if (!t->given_up) t->counted[t->count_count++] = *counted;
    return NTR_OK;
}

static ntr_status put_counted(struct collecting_thread *t, const ntr_event *event, uint64_t times) {
    const struct counted_event counted = {*event, times};

    if (t->in_tree) return keep_counted(t, &counted);
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

/* The tree comes first: it may be refused. A tree without bytes always is. */
static ntr_status put_tree(struct collecting_thread *t, ntr_chunk *chunk) {
    size_t room;

    ntr_calltree_finish(t->tree);
    const size_t size = t->given_up ? 0 : ntr_calltree_pack(t->tree, NULL, 0);
    const struct tree_head head = {size, t->any};
    void *to = ntr_chunk_room(chunk, PUT_TREE, sizeof head + size, &room);
    if (!to) return ntr_chunk_status(chunk);
    memcpy(to, &head, sizeof head);
    if (size) ntr_calltree_pack(t->tree, (char *)to + sizeof head, size);
    ntr_chunk_used(chunk, sizeof head + size);
    if (!size) return ntr_chunk_status(chunk);
    ntr_status status = ntr_chunk_put(chunk, PUT_OTHERS, t->others, t->other_count * sizeof *t->others);
    for (size_t i = 0; i < t->count_count && !status; i++) status = ntr_chunk_put(chunk, PUT_COUNTED, &t->counted[i], sizeof *t->counted);
    t->count_count = 0;
    return status;
}

static ntr_status put_collected(void *user, ntr_chunk *chunk) {
    struct collecting_thread *t = user;
    ntr_status status = ntr_chunk_status(chunk);

    if (t->in_tree && status == NTR_OK) status = put_tree(t, chunk);
    t->in_tree = false;
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

/* Returns NTR_NEED_MORE when the tree is refused: the chunk is decoded again. */
static ntr_status deliver_tree(struct delivery *s, const void *data, size_t size) {
    enum { REFUSED_LEAST = 4, REFUSED_SHARE = 8 };
    const struct tree_head *head = data;
    ntr_status status = NTR_E_STATE;

    (void)size; /* one tree at a time: other output, or another chunk, is behind it */
    if (head->size) status = ntr_calltree_apply(s->analysis->data.tree, head + 1, head->size);
    if (status == NTR_OK) {
        s->analysis->any |= head->any != 0;
        s->applied++;
    }
    if (status != NTR_E_STATE) return status;
    s->refused++;
    if (s->refused >= REFUSED_LEAST && s->refused > s->applied / REFUSED_SHARE) atomic_store(&s->only_spans, true);
    return NTR_NEED_MORE;
}

static ntr_status deliver(void *user, unsigned what, const void *data, size_t size) {
    struct delivery *s = user;
    ntr_status status = what == PUT_COUNTED  ? deliver_counted(s, data, size)
                        : what == PUT_SPANS  ? deliver_spans(s, data, size)
                        : what == PUT_TREE   ? deliver_tree(s, data, size)
                        : what == PUT_OTHERS ? cli_analysis_others(s->analysis, data, size / sizeof(ntr_event))
                                             : deliver_events(s, data, size / sizeof(ntr_event));

    if (status > 0) return status;
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
    struct delivery delivery = {.analysis = a, .take = take, .user = user};
    ntr_parallel_config config;
    ntr_status status;

    ntr_parallel_config_init(&config);
    config.decoder = &a->config;
    config.threads = jobs;
    config.counting = counting;
    delivery.trees = a->trees;
    if (delivery.trees) config.chunk = TREE_CHUNK;
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
