/* Delivery of what the worker threads have put (collecting_thread.h). ntr_parallel calls `deliver` in stream order, one
 * call at a time. When trees of chunks are refused often, all further chunks deliver spans. */
#include "commands/collecting_thread.h"
#include "commands/packed_spans.h"
#include "io/progress.h"

enum { TREE_CHUNK = 512 << 10 }; /* bytes of a chunk with a tree */

struct delivery {
    struct cli_collecting collecting; /* first: `user` of the work points to it */
    struct cli_analysis *analysis;
    cli_take_events take;
    void *user;
    unsigned applied, refused; /* trees */
    struct cli_unpacked_spans unpacked;
};

/* Ends decoding after a signal, also in the middle of a chunk: a message may stand for more spans than can be waited
 * for. */
static ntr_status unless_stopped(void) {
    return cli_progress_stopped() ? NTR_END : NTR_OK;
}

static ntr_status deliver_events(struct delivery *s, const ntr_event *events, size_t count) {
    return cli_analysis_events(s->analysis, events, count, s->take, s->user);
}

static ntr_status deliver_spans(struct delivery *s, const char *data, size_t size) {
    ntr_status status = NTR_OK;

    while (size && status == NTR_OK) {
        const struct cli_span_packet *packet = (const void *)data;
        for (size_t at = 0, some; at < packet->count && status == NTR_OK; at += some) {
            some = cli_packet_events(packet, at, &s->unpacked);
            status = deliver_events(s, s->unpacked.events, some);
        }
        data += cli_packet_size(packet->count);
        size -= cli_packet_size(packet->count);
    }
    return status;
}

static ntr_status deliver_counted(struct delivery *s, const void *data, size_t size) {
    ntr_status status = NTR_OK;

    for (const struct cli_counted_event *t = data; size && status == NTR_OK; t++, size -= sizeof *t)
        status = s->analysis->joined ? ntr_tally_count(s->analysis->data.tally, &t->event, t->times)
                                     : cli_analysis_count(s->analysis, &t->event, t->times);
    return status;
}

/* Returns NTR_NEED_MORE when the tree is refused: the chunk is decoded again. */
static ntr_status deliver_tree(struct delivery *s, const void *data, size_t size) {
    enum { REFUSED_LEAST = 4, REFUSED_SHARE = 8 };
    const struct cli_tree_head *head = data;
    ntr_status status = NTR_E_STATE;

    (void)size; /* one tree at a time: other output, or another chunk, is behind it */
    const bool wanted = !s->analysis->follower || ntr_export_follows(s->analysis->follower);
    if (head->size && wanted) status = ntr_calltree_apply(s->analysis->data.tree, head + 1, head->size);
    if (status == NTR_OK) {
        s->analysis->any |= head->any != 0;
        atomic_store(&s->collecting.shortest, ntr_calltree_shortest_frame(s->analysis->data.tree));
        s->applied++;
    }
    if (status != NTR_E_STATE) return status;
    s->refused++;
    if (s->refused >= REFUSED_LEAST && s->refused > s->applied / REFUSED_SHARE)
        atomic_store(&s->collecting.only_spans, true);
    return NTR_NEED_MORE;
}

static ntr_status deliver_others(struct delivery *s, const ntr_event *events, size_t count) {
    const ntr_status status = cli_analysis_others(s->analysis, events, count);

    return status || !s->take ? status : s->take(s->user, events, count);
}

static ntr_status deliver(void *user, unsigned what, const void *data, size_t size) {
    struct delivery *s = user; /* begins with what the threads share */
    ntr_status status = what == CLI_PUT_COUNTED  ? deliver_counted(s, data, size)
                        : what == CLI_PUT_SPANS  ? deliver_spans(s, data, size)
                        : what == CLI_PUT_TREE   ? deliver_tree(s, data, size)
                        : what == CLI_PUT_OTHERS ? deliver_others(s, data, size / sizeof(ntr_event))
                                                 : deliver_events(s, data, size / sizeof(ntr_event));

    if (status != NTR_OK || s->collecting.late) return status;
    return unless_stopped();
}

static ntr_status read_trace(void *user, uint8_t *to, size_t capacity, size_t *got, bool *last) {
    struct delivery *s = user;

    return cli_trace_read(&s->analysis->trace, to, capacity, got, last);
}

ntr_status cli_analysis_parallel(struct cli_analysis *a, unsigned jobs, bool counting, cli_take_events take,
                                 void *user) {
    struct delivery delivery = {.collecting.analysis = a, .analysis = a, .take = take, .user = user};
    ntr_parallel_config config;
    ntr_status status;

    ntr_parallel_config_init(&config);
    config.decoder = &a->config;
    config.threads = jobs;
    config.counting = counting;
    if (a->trees) config.chunk = TREE_CHUNK;
    config.work = cli_collecting_work(&delivery.collecting, counting);
    config.work.deliver = deliver;
    config.work.read = read_trace;
    ntr_parallel *p = ntr_parallel_new(&config, &status);
    if (!p) return status;
    status = ntr_parallel_run(p);
    ntr_parallel_free(p);
    return status;
}
