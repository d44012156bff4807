/* Delivery: compares guesses with the true state and delivers output in the order of the stream.
 *
 * Idea: only the head, the first chunk not delivered completely, delivers output. When the head is done, its end state
 * is the truth for the next chunk. If that was begun from a guess which matches the truth, its output is valid and it
 * becomes the head. Otherwise its output is dropped and it is decoded again from the truth.
 *
 * Invariant: everything delivered was decoded from a true state, or from a guess that has been found equal to it.
 *
 * Pre-sync messages of the next chunk lie between its other messages in the stream, but are decoded by the thread of
 * the head. Their output has odd keys, the output of the chunk itself even keys: output with key 2*i lies before
 * pre-sync message i, output with key 2*i + 1 is from it. Delivery merges both by key. Example: chunk 2 has pre-sync
 * messages 0 and 1: the order of keys is 0 (chunk 2), 1 (pre-sync 0), 2 (chunk 2), 3 (pre-sync 1), 4 (chunk 2). */
#include "parallel/late_counts.h"

#include <string.h>

/* ---- guesses */

/* Decode the chunk from the truth. A thread that decodes it from a guess is cancelled first. The lock is held. */
static void restart_chunk(ntr_parallel *p, ntr_chunk *next, ntr_snapshot *truth) {
    const ntr_allocator *allocator = p->decoder.allocator;
    next->cancelled = true;
    pthread_cond_broadcast(&p->work);
    while (next->state == NTR_CHUNK_RUNNING) pthread_cond_wait(&p->progress, &p->lock);
    ntr_chunk_restart(next);
    ntr_late_counts_mark_pre_sync(next);
    if (next->counted_from != next->start) ntr_snapshot_free(next->start, allocator);
    next->cancelled = false;
    if (!next->counted_before) next->pre_sync.count = 0;
    next->start = truth;
}

static void add_counts(ntr_counts *to, const ntr_counts *from) {
    uint64_t *sum = (uint64_t *)to;
    const uint64_t *more = (const uint64_t *)from;
    for (size_t i = 0; i < sizeof *to / sizeof *sum; i++) sum[i] += more[i];
}

/* The head has ended in the state `truth`: keep the next chunk if its guess matches, else restart it. The lock is
 * held. */
static void compare(ntr_parallel *p, ntr_chunk *head, ntr_chunk *next, ntr_snapshot *truth) {
    const ntr_snapshot *after_pre_sync = head->after_pre_sync ? head->after_pre_sync : truth;
    if (next->guessed && ntr_snapshot_matches(truth, after_pre_sync, next->start)) {
        next->before = truth;
        add_counts(&p->counts, &head->pre_sync_counts);
        ntr_chunk_output_move(&p->pre_sync, &head->pre_sync_output);
        return;
    }
    if (next->guessed) {
        p->stats.guessed_wrong++;
        p->splitter.number_shift = next->number_shift + ntr_snapshot_number(truth) - ntr_snapshot_number(next->start);
    }
    restart_chunk(p, next, truth);
}

/* ---- output */

static ntr_status deliver_run(const ntr_parallel *p, const ntr_output_run *run) {
    const ntr_parallel_work *work = &p->config.work;
    return run->size ? work->deliver(work->user, run->what, run + 1, run->size) : NTR_OK;
}

/* Returns the next run of the pre-sync output, or NULL. */
static const ntr_output_run *pre_sync_run(ntr_parallel *p) {
    for (;;) {
        const ntr_output_run *run = p->pre_sync_part ? ntr_part_run(p->pre_sync_part, &p->pre_sync_at) : NULL;
        if (run) return run;
        if (p->pre_sync_part) ntr_parts_free(&p->parts, p->pre_sync_part);
        p->pre_sync_part = ntr_chunk_output_take(&p->pre_sync);
        p->pre_sync_at = 0;
        if (!p->pre_sync_part) return NULL;
    }
}

/* Deliver the pre-sync output with keys below `key`. */
static ntr_status deliver_pre_sync(ntr_parallel *p, uint32_t key) {
    ntr_status status = NTR_OK;
    while (status == NTR_OK && (p->pre_sync_part || p->pre_sync.first)) {
        const ntr_output_run *run = pre_sync_run(p);
        if (!run) break;
        if (run->key >= key) {
            p->pre_sync_at = (size_t)((const unsigned char *)run - p->pre_sync_part->bytes); /* stays the next run */
            break;
        }
        status = deliver_run(p, run);
    }
    return status;
}

static ntr_status deliver_part(ntr_parallel *p, const ntr_part *part) {
    ntr_status status = NTR_OK;
    const ntr_output_run *run;
    for (size_t at = 0; status == NTR_OK && (run = ntr_part_run(part, &at));) {
        status = deliver_pre_sync(p, run->key);
        if (status == NTR_OK) status = deliver_run(p, run);
    }
    return status;
}

/* The caller has refused the first output of the head: it is decoded again. The lock is held. */
static void decode_again(ntr_parallel *p, ntr_chunk *head) {
    head->again = true;
    if (head->state == NTR_CHUNK_RUNNING)
        head->put_back = true; /* its thread restarts it */
    else
        ntr_chunk_restart(head);
    ntr_schedule_put_back(p);
    pthread_cond_broadcast(&p->work);
}

void ntr_deliver(ntr_parallel *p, ntr_chunk *head, bool all) {
    p->delivering = true;
    for (ntr_part *part; p->status == NTR_OK && !head->put_back && (part = ntr_chunk_output_take(&head->output));) {
        pthread_mutex_unlock(&p->lock);
        ntr_status status = deliver_part(p, part);
        ntr_parts_free(&p->parts, part);
        pthread_mutex_lock(&p->lock);
        if (status == NTR_NEED_MORE) {
            decode_again(p, head);
            p->delivering = false;
            return;
        }
        if (p->status == NTR_OK) p->status = status;
    }
    if (p->status == NTR_OK && all) {
        pthread_mutex_unlock(&p->lock);
        ntr_status status = deliver_pre_sync(p, UINT32_MAX);
        pthread_mutex_lock(&p->lock);
        if (p->status == NTR_OK) p->status = status; /* another thread may have failed meanwhile */
    }
    p->delivering = false;
}

static void add_stats(ntr_parallel_stats *stats, const ntr_chunk *head) {
    stats->chunks++;
    stats->ahead += head->ahead;
    stats->many_sources += head->many_sources;
    stats->without_sync += !head->guessed && !head->many_sources && stats->chunks > 1;
}

/* The head is done and delivered: the next chunk becomes the head. */
static void retire(ntr_parallel *p, ntr_chunk *head) {
    ntr_snapshot *truth = head->end;
    if (head->before) p->status = ntr_snapshot_carry(truth, head->before, head->start, p->decoder.allocator);
    if (p->status != NTR_OK) return;
    head->end = NULL;
    add_counts(&p->counts, &head->counts);
    add_stats(&p->stats, head);
    ntr_parallel_adapt(p, head);
    ntr_chunk *next = ntr_chunk_at(p, p->head + 1);
    if (head->last)
        ntr_snapshot_free(truth, p->decoder.allocator);
    else
        compare(p, head, next, truth);
    next->head = true;
    ntr_chunk_clear(head);
    p->head++;
    ntr_schedule_put_back(p);
    pthread_cond_broadcast(&p->work);
}

/* Returns whether the head is done, and the next chunk, whose guess is compared, was cut. */
static bool is_complete(const ntr_parallel *p, const ntr_chunk *head) {
    return head->state == NTR_CHUNK_DONE && (head->last || p->tail > p->head + 1 || p->input != NTR_OK);
}

/* Returns whether the head needs the caller: it is done, or has output from before it became the head. */
static bool is_ready(const ntr_parallel *p, const ntr_chunk *head) {
    return p->status != NTR_OK || (!p->delivering && !head->put_back && (is_complete(p, head) || head->output.first));
}

/* Deliver the head's output. The lock is held. */
static void deliver_head(ntr_parallel *p, ntr_chunk *head) {
    bool done = is_complete(p, head);
    ntr_deliver(p, head, done);
    pthread_cond_broadcast(&p->work); /* a thread may wait for space */
    if (p->status != NTR_OK || !done || head->state != NTR_CHUNK_DONE) return;
    p->status = head->status < 0 ? head->status : NTR_OK;
    if (p->status == NTR_OK) {
        retire(p, head);
    } else {
        memcpy(p->error, head->error, sizeof p->error);
        add_counts(&p->counts, &head->counts);
    }
}

ntr_status ntr_deliver_until(ntr_parallel *p, uint64_t left) {
    while (p->status == NTR_OK && p->sent > p->head) {
        ntr_chunk *head = ntr_chunk_at(p, p->head);
        if (!is_ready(p, head) && p->sent - p->head <= left) break;
        while (!is_ready(p, head)) pthread_cond_wait(&p->progress, &p->lock);
        if (p->status == NTR_OK) deliver_head(p, head);
    }
    return p->status;
}
