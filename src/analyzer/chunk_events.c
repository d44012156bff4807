#include "analyzer/chunk_events.h"

#include "analyzer/packed_spans.h"
#include "analysis/tree_chunk.h"
#include "base/allocator.h"

#include <ntrace/chunk_output.h>
#include <ntrace/debug_info.h>
#include <ntrace/tally.h>

#include <string.h>

enum { OTHERS = 256 };
enum { COLLECTED = 512 }; /* 70 KB: fits the second-level cache beside the data of the decoder */

struct collecting_thread {
    ntr_chunk *chunk; /* the chunk that the thread decodes */
    ntr_functions *functions;
    struct ntr_counted_event collected[COLLECTED]; /* free where `times` is 0 */
    struct ntr_collecting *collecting;
    ntr_calltree *tree;            /* of the chunk; NULL: the threads have none */
    ntr_functions *tree_functions;
    bool in_tree;                  /* the spans of this chunk are counted in the tree */
    ntr_event others[OTHERS];      /* events of this chunk that are not of call stacks */
    size_t other_count;
    struct ntr_counted_event *counted; /* counts of this chunk, which are put behind the tree */
    size_t count_count, count_capacity;
    ntr_tally *tally; /* counted late: spans of all chunks that the thread has decoded; else NULL */
    bool any;                      /* the chunk has an event */
    bool given_up;                 /* the tree is not needed: the chunk is decoded again */
};

static void thread_data_free(void *user) {
    struct collecting_thread *t = user;
    const ntr_allocator *allocator = t->collecting->analyzer->config.allocator;

    ntr_tally_free(t->tally);
    ntr_calltree_free(t->tree);
    ntr_functions_free(t->tree_functions);
    ntr_functions_free(t->functions);
    ntr_dealloc(allocator, t->counted);
    ntr_dealloc(allocator, t);
}

static bool make_tree(struct collecting_thread *t, const ntr_analyzer *a) {
    ntr_functions_new(a->analysis->debug, a->config.allocator, &t->tree_functions);
    if (!t->tree_functions || ntr_calltree_new(t->tree_functions, a->config.allocator, &t->tree)) return false;
    ntr_calltree_divide(t->tree, ntr_calltree_divided(a->analysis->tree));
    return ntr_calltree_open(t->tree) == NTR_OK;
}

static void *thread_data_new(void *user) {
    struct ntr_collecting *s = user;
    struct collecting_thread *t = ntr_alloc(s->analyzer->config.allocator, 1, sizeof *t);

    if (!t) return NULL;
    t->collecting = s;
    ntr_functions_new(s->analyzer->analysis->debug, s->analyzer->config.allocator, &t->functions);
    if (s->late && ntr_tally_new(s->analyzer->analysis->program, s->analyzer->config.allocator, &t->tally)) {
        thread_data_free(t);
        return NULL;
    }
    if (t->functions && (!s->analyzer->trees || make_tree(t, s->analyzer))) return t;
    thread_data_free(t);
    return NULL;
}

static bool same_function(void *user, const ntr_context *context, uint64_t position, const uint64_t *addresses,
                          size_t count) {
    const struct collecting_thread *t = user;

    return ntr_functions_same(t->functions, context, position, addresses, count);
}

static void begin(void *user, ntr_chunk *chunk) {
    struct collecting_thread *t = user;

    t->chunk = chunk;
    t->in_tree = t->tree && !ntr_chunk_again(chunk) && !atomic_load(&t->collecting->only_spans);
    t->other_count = t->count_count = 0;
    t->given_up = t->any = false;
    if (t->in_tree && t->collecting->analyzer->config.follower)
        t->given_up = ntr_calltree_keep_frames(t->tree, atomic_load(&t->collecting->shortest)) != NTR_OK;
    if (t->in_tree) ntr_calltree_begin_chunk(t->tree);
    for (size_t i = 0; i < COLLECTED; i++) t->collected[i].times = 0; /* of a chunk that was abandoned */
}

/* Puts the leading spans that fit into one packet. Returns their number; 0: another event, or *status says why nothing
 * can be put. */
static size_t put_packet(ntr_chunk *chunk, const ntr_event *events, size_t count, ntr_status *status) {
    size_t room;

    if (events[0].kind != NTR_EVENT_SPAN) return 0;
    struct ntr_span_packet *packet = ntr_chunk_room(chunk, NTR_PUT_SPANS, ntr_packet_size(count), &room);
    *status = packet ? NTR_OK : ntr_chunk_status(chunk);
    if (!packet) return 0;
    const size_t packed = ntr_packet_fill(packet, events, count);
    ntr_chunk_used(chunk, ntr_packet_size(packed));
    return packed;
}

/* Returns whether the event is one that ntr_analyzer_others counts, or an export that follows the tree. */
static bool is_other(const ntr_event *e) {
    return e->kind == NTR_EVENT_GAP || e->kind == NTR_EVENT_VENDOR || e->kind == NTR_EVENT_OVERFLOW ||
           e->kind == NTR_EVENT_NO_CODE;
}

static void keep_others(struct collecting_thread *t, const ntr_event *events, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const bool other = is_other(&events[i]);
        t->given_up |= other && t->other_count == OTHERS;
        if (other && !t->given_up) t->others[t->other_count++] = events[i];
    }
}

static ntr_status put_events(void *user, ntr_chunk *chunk, const ntr_event *events, size_t count) {
    struct collecting_thread *t = user;
    ntr_status status = NTR_OK;

    if (t->in_tree) {
        keep_others(t, events, count);
        t->any |= count != 0;
        if (ntr_analyzer_stopped(t->collecting->analyzer))
            return NTR_END; /* nothing is delivered before the chunk ends */
        return ntr_calltree_feed(t->tree, events, count);
    }
    for (size_t i = 0, some; i < count && status == NTR_OK; i += some) {
        some = put_packet(chunk, events + i, count - i, &status);
        if (some || status != NTR_OK) continue;
        some = 1;
        status = ntr_chunk_put(chunk, NTR_PUT_EVENTS, events + i, sizeof *events);
    }
    return status;
}

static ntr_status keep_counted(struct collecting_thread *t, const struct ntr_counted_event *counted) {
    enum { COUNTED_MOST = 1 << 16 };

    if (t->count_count == COUNTED_MOST)
        t->given_up = true;
    else if (ntr_reserve(t->collecting->analyzer->config.allocator, (void **)&t->counted, &t->count_capacity,
                         t->count_count + 1, sizeof *t->counted))
        return NTR_E_MEMORY;
    if (!t->given_up) t->counted[t->count_count++] = *counted;
    return NTR_OK;
}

static ntr_status put_counted(struct collecting_thread *t, const ntr_event *event, uint64_t times) {
    const struct ntr_counted_event counted = {*event, times};

    if (t->in_tree) return keep_counted(t, &counted);
    return ntr_chunk_put(t->chunk, NTR_PUT_COUNTED, &counted, sizeof counted);
}

static bool same_span(const ntr_event *a, const ntr_event *b) {
    return a->address == b->address && a->target == b->target && a->last == b->last && a->end == b->end &&
           a->flags == b->flags && a->src == b->src && a->instructions == b->instructions &&
           ntr_context_equal(&a->context, &b->context);
}

static struct ntr_counted_event *place_of(struct collecting_thread *t, const ntr_event *e) {
    const uint64_t hash = ((e->address >> 1) * 0x9e3779b97f4a7c15u) ^ ((e->target >> 1) * 0xc2b2ae3d27d4eb4fu);

    return &t->collected[hash >> 55];
}

static ntr_status collect(void *user, const ntr_event *event, uint64_t times) {
    struct collecting_thread *t = user;

    if (event->kind != NTR_EVENT_SPAN) return put_counted(t, event, times);
    if (t->tally) return ntr_tally_count(t->tally, event, times);
    struct ntr_counted_event *place = place_of(t, event);
    if (place->times && same_span(&place->event, event) && times <= UINT64_MAX - place->times) {
        place->times += times;
        return NTR_OK;
    }
    ntr_status status = place->times ? put_counted(t, &place->event, place->times) : NTR_OK;
    *place = (struct ntr_counted_event){*event, times};
    return status;
}

/* The tree comes first: it may be refused. A tree without bytes always is. */
static ntr_status put_tree(struct collecting_thread *t, ntr_chunk *chunk) {
    size_t room;

    ntr_calltree_finish(t->tree);
    const size_t size = t->given_up ? 0 : ntr_calltree_pack(t->tree, NULL, 0);
    const struct ntr_tree_head head = {size, t->any};
    void *to = ntr_chunk_room(chunk, NTR_PUT_TREE, sizeof head + size, &room);
    if (!to) return ntr_chunk_status(chunk);
    memcpy(to, &head, sizeof head);
    if (size) ntr_calltree_pack(t->tree, (char *)to + sizeof head, size);
    ntr_chunk_used(chunk, sizeof head + size);
    if (!size) return ntr_chunk_status(chunk);
    ntr_status status = ntr_chunk_put(chunk, NTR_PUT_OTHERS, t->others, t->other_count * sizeof *t->others);
    for (size_t i = 0; i < t->count_count && !status; i++)
        status = ntr_chunk_put(chunk, NTR_PUT_COUNTED, &t->counted[i], sizeof *t->counted);
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

static ntr_status add_row(ntr_tally *tally, const ntr_tally_view_info *view, const ntr_tally_row *row) {
    const ntr_event span = {.kind = NTR_EVENT_SPAN,
                            .src = view->src,
                            .context = view->context,
                            .end = row->end,
                            .flags = row->target_unknown ? NTR_EVENT_TARGET_UNKNOWN : 0,
                            .address = row->address,
                            .last = row->last,
                            .target = row->target,
                            .instructions = row->instructions,
                            .halfwords = row->halfwords};

    return ntr_tally_count(tally, &span, row->count);
}

/* Adds the spans of one thread to those of all. Counts of a thread alone may be wrong (ntr_parallel_work): their sums
 * are right. */
static ntr_status add_tally(void *user) {
    struct collecting_thread *t = user;
    ntr_analyzer *a = t->collecting->analyzer;
    ntr_status status = NTR_OK;
    size_t count;
    const ntr_tally_row *rows = ntr_tally_rows(t->tally, &count);

    a->any |= count != 0;
    for (size_t i = 0; i < count && status == NTR_OK; i++)
        status = add_row(a->analysis->tally, ntr_tally_view(t->tally, rows[i].view), &rows[i]);
    return status;
}

ntr_parallel_work ntr_collecting_work(struct ntr_collecting *collecting, bool counting) {
    const ntr_analyzer *a = collecting->analyzer;
    const bool counted = counting || (a->joined && a->analysis->tally);

    collecting->late = counting;

    return (ntr_parallel_work){.thread_data_new = thread_data_new,
                               .thread_data_free = thread_data_free,
                               .begin = begin,
                               .events = put_events,
                               .count_callback = counted ? collect : NULL,
                               .end = put_collected,
                               .user = collecting,
                               .join = a->joined ? same_function : NULL,
                               .join_except = a->config.join_except,
                               .repeats = a->repeated,
                               .divide = ntr_analyzer_divides(a) ? same_function : NULL,
                               .finish = counting ? add_tally : NULL};
}
