/* Delivery of what the worker threads have put (chunk_events.h). ntr_parallel calls `deliver` in stream order, one
 * call at a time. When trees of chunks are refused often, all further chunks deliver spans. */
#include "analyzer/chunk_events.h"
#include "analyzer/packed_spans.h"
#include "analysis/tree_chunk.h"

#include <ntrace/tally.h>

enum { TREE_CHUNK = 512 << 10 }; /* bytes of a chunk with a tree */

struct delivery {
    struct ntr_collecting collecting; /* first: `user` of the work points to it */
    ntr_analyzer *analyzer;
    unsigned applied, refused; /* trees */
    struct ntr_unpacked_spans unpacked;
};

/* Ends decoding after a signal, also in the middle of a chunk: a message may stand for more spans than can be waited
 * for. */
static ntr_status unless_stopped(const struct delivery *s) {
    return ntr_analyzer_stopped(s->analyzer) ? NTR_END : NTR_OK;
}

static ntr_status deliver_events(struct delivery *s, const ntr_event *events, size_t count) {
    return ntr_analyzer_consume(s->analyzer, events, count);
}

static ntr_status deliver_spans(struct delivery *s, const char *data, size_t size) {
    ntr_status status = NTR_OK;

    while (size && status == NTR_OK) {
        const struct ntr_span_packet *packet = (const void *)data;
        for (size_t at = 0, some; at < packet->count && status == NTR_OK; at += some) {
            some = ntr_packet_events(packet, at, &s->unpacked);
            status = deliver_events(s, s->unpacked.events, some);
        }
        data += ntr_packet_size(packet->count);
        size -= ntr_packet_size(packet->count);
    }
    return status;
}

static ntr_status deliver_counted(struct delivery *s, const void *data, size_t size) {
    ntr_status status = NTR_OK;

    for (const struct ntr_counted_event *t = data; size && status == NTR_OK; t++, size -= sizeof *t)
        status = s->analyzer->joined ? ntr_tally_count(s->analyzer->analysis->tally, &t->event, t->times)
                                     : ntr_analyzer_count(s->analyzer, &t->event, t->times);
    return status;
}

/* Returns NTR_NEED_MORE when the tree is refused: the chunk is decoded again. */
static ntr_status deliver_tree(struct delivery *s, const void *data, size_t size) {
    enum { REFUSED_LEAST = 4, REFUSED_SHARE = 8 };
    const struct ntr_tree_head *head = data;
    ntr_status status = NTR_E_STATE;

    (void)size; /* one tree at a time: other output, or another chunk, is behind it */
    const bool wanted = !s->analyzer->config.follower || ntr_export_follows(s->analyzer->config.follower);
    if (head->size && wanted) status = ntr_calltree_apply(s->analyzer->analysis->tree, head + 1, head->size);
    if (status == NTR_OK) {
        s->analyzer->any |= head->any != 0;
        atomic_store(&s->collecting.shortest, ntr_calltree_shortest_frame(s->analyzer->analysis->tree));
        s->applied++;
    }
    if (status != NTR_E_STATE) return status;
    s->refused++;
    if (s->refused >= REFUSED_LEAST && s->refused > s->applied / REFUSED_SHARE)
        atomic_store(&s->collecting.only_spans, true);
    return NTR_NEED_MORE;
}

static ntr_status deliver_others(struct delivery *s, const ntr_event *events, size_t count) {
    const ntr_status status = ntr_analyzer_others(s->analyzer, events, count);

    const ntr_analyzer_config *c = &s->analyzer->config;
    return status || !c->take ? status : c->take(c->take_user, events, count);
}

static ntr_status deliver(void *user, unsigned what, const void *data, size_t size) {
    struct delivery *s = user; /* begins with what the threads share */
    ntr_status status = what == NTR_PUT_COUNTED  ? deliver_counted(s, data, size)
                        : what == NTR_PUT_SPANS  ? deliver_spans(s, data, size)
                        : what == NTR_PUT_TREE   ? deliver_tree(s, data, size)
                        : what == NTR_PUT_OTHERS ? deliver_others(s, data, size / sizeof(ntr_event))
                                                 : deliver_events(s, data, size / sizeof(ntr_event));

    if (status != NTR_OK || s->collecting.late) return status;
    return unless_stopped(s);
}

static ntr_status read_trace(void *user, uint8_t *to, size_t capacity, size_t *got, bool *last) {
    ntr_analyzer *a = ((struct delivery *)user)->analyzer;

    return ntr_analyzer_stopped(a) ? NTR_NEED_MORE : ntr_analyzer_read(a, to, capacity, got, last);
}

ntr_status ntr_analyzer_parallel(ntr_analyzer *a, unsigned threads) {
    struct delivery delivery = {.collecting.analyzer = a, .analyzer = a};
    ntr_parallel_config config;
    ntr_status status;

    ntr_parallel_config_init(&config);
    config.decoder = &a->stream;
    config.threads = threads;
    config.counting = a->counting;
    if (a->trees) config.chunk = TREE_CHUNK;
    config.work = ntr_collecting_work(&delivery.collecting, a->counting);
    config.work.deliver = deliver;
    config.work.read = read_trace;
    ntr_parallel *p;
    status = ntr_parallel_new(&config, &p);
    if (!p) return status;
    status = ntr_parallel_run(p);
    ntr_parallel_free(p);
    return status;
}
