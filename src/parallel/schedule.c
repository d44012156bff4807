/* Scheduling: which chunk a thread decodes next, when a thread waits for room, and when it puts its chunk back.
 *
 * Idea: a chunk that was begun early holds its output until it is the head, and its thread waits once that output
 * exceeds `most_output`. So all threads may be waiting for room while the head itself needs a thread: it was cut
 * without a guess, or its guess was wrong, and it has got its true start only now. Then one thread puts its chunk back:
 * the output is dropped, the chunk waits to be decoded again from the same start, and the thread takes the head.
 *
 * No deadlock: suppose that chunks are left and every thread waits. The caller waits, so the head is neither done nor
 * has it output. If the head is running, its thread waits for room and the head has output: a contradiction. Otherwise
 * the head waits with a known start. A thread without a chunk would take it, so each thread has a later chunk and waits
 * for room; ntr_schedule_put_back has then chosen one of them, which does not wait: a contradiction.
 *
 * Progress: the head is never put back for room, and a thread that has put back its chunk takes the head next, because
 * the first chunk comes first. So each chunk, when it becomes the head, causes at most one other chunk to be put back.
 *
 * Again: when the caller refuses the output of the head (NTR_NEED_MORE from `deliver`), the head is restarted, by its
 * thread if it is running. This happens at most once for each chunk, and as the head then waits with a known start, the
 * above holds.
 *
 * Memory: the output of a chunk before it is the head is at most `most_output`, two parts, and one piece larger than a
 * part. No chunk is begun early while the chunks behind the head hold more than `most_held` together. So all of them
 * hold at most `most_held`, and the output of one chunk more for each thread. */
#include "parallel/late_counts.h"

/* Returns the bytes of output of the chunks behind the head. */
static size_t held(const ntr_parallel *p) {
    size_t bytes = 0;
    for (uint64_t i = p->head + 1; i < p->sent; i++) bytes += ntr_chunk_at(p, i)->output.size;
    return bytes;
}

ntr_chunk *ntr_schedule_next(const ntr_parallel *p) {
    for (uint64_t i = p->head; i < p->sent; i++) {
        ntr_chunk *chunk = ntr_chunk_at(p, i);
        if (chunk->state == NTR_CHUNK_WAITING && chunk->start)
            return i == p->head || held(p) <= p->most_held ? chunk : NULL;
    }
    return NULL;
}

bool ntr_schedule_must_wait(const ntr_parallel *p, const ntr_chunk *chunk) {
    return chunk->output.size > p->most_output && !chunk->cancelled && !chunk->put_back && !p->stopping &&
           p->status == NTR_OK;
}

bool ntr_schedule_put_back(ntr_parallel *p) {
    unsigned waiting = 0;
    ntr_chunk *latest = NULL;
    if (p->head == p->sent || ntr_chunk_at(p, p->head)->state != NTR_CHUNK_WAITING) return false;
    for (uint64_t i = p->head + 1; i < p->sent; i++) {
        ntr_chunk *chunk = ntr_chunk_at(p, i);
        if (chunk->state != NTR_CHUNK_RUNNING) continue;
        if (!chunk->waits_for_room || !ntr_schedule_must_wait(p, chunk)) return false;
        latest = chunk;
        waiting++;
    }
    if (waiting == 0 || waiting < p->started) return false;
    latest->put_back = true;
    return true;
}

/* ---- the size of chunks */

/* With a count callback, each chunk reports all that it has counted, unless that is done late. Chunks grow until there
 * is at most one report in so many bytes; but not above CHUNK_GROWN, nor above a part of the stream, so that the
 * threads end at about the same time. Other chunks that are counted grow up to CHUNK_COUNTED: threads then wait less
 * often. So do chunks without a guess because of several sources, as long as they have little output: sources that take
 * turns are then all in each chunk. */
enum {
    BYTES_PER_REPORT = 128,
    CHUNK_GROWN = 4 << 20,
    CHUNK_COUNTED = 1 << 20,
    CHUNK_PARTS = 16,
    OUTPUT_LITTLE = 8 << 20
};

/* Chunks with more output than half of the limit for a chunk that is not delivered yet (`most_output`) become smaller,
 * down to this part of the size of the first ones, because at the limit a thread waits. */
enum { SMALLER_PARTS = 8 };

void ntr_parallel_adapt(ntr_parallel *p, const ntr_chunk *done) {
    bool many_reports = done->reports > done->size / BYTES_PER_REPORT && !ntr_counts_late(p);
    bool takes_turns = done->many_sources && done->put < OUTPUT_LITTLE;
    bool much_output = done->guessed && done->put > p->most_output / 2;
    size_t most = many_reports ? CHUNK_GROWN : p->config.counting || takes_turns ? CHUNK_COUNTED : p->least;
    if (p->config.chunk) return;
    if (much_output && p->least > p->first_least / SMALLER_PARTS)
        p->least /= 2;
    else if (p->least < most && p->least < p->cut / CHUNK_PARTS)
        p->least *= 2;
}
