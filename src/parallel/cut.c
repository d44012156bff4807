/* Cutting: the input is collected in chunks and cut (splitter.h).
 *
 * Idea: the input is given by the caller's thread (ntr_parallel_feed), or read by the worker threads
 * (ntr_parallel_run): a thread that finds no chunk to decode reads and cuts the next one, and then decodes it while its
 * bytes are in the cache. One thread at a time does so.
 *
 * Example: thread 1 decodes chunk 4, which it has cut. Thread 2 cuts chunk 5 meanwhile, and decodes it. Thread 1 is
 * done and cuts chunk 6. */
#include "parallel/late_counts.h"

#include "base/allocator.h"

#include <string.h>

/* A chunk without a suitable synchronizing message is cut anyway when it is this many times as large as the minimum. */
enum { CHUNK_MAX_FACTOR = 16 };

/* Bytes that are read at once. */
enum { READ_SIZE = 64 << 10 };

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

/* ---- the end of a chunk */

static ntr_status append(ntr_parallel *p, ntr_chunk *chunk, const uint8_t *data, size_t size) {
    if (ntr_reserve(p->decoder.allocator, (void **)&chunk->data, &chunk->room, chunk->size + size, 1))
        return NTR_E_MEMORY;
    if (size) memcpy(chunk->data + chunk->size, data, size);
    chunk->size += size;
    return NTR_OK;
}

/* Guess the start of the current chunk, if possible. The chunk then takes over the splitter's pre-sync messages. */
static ntr_status guess(ntr_parallel *p, bool last) {
    ntr_chunk *chunk = ntr_chunk_at(p, p->tail);
    ntr_splitter *splitter = &p->splitter;
    const bool before = p->guessed_before;
    p->guessed_before = false;
    if (p->tail == 0) return NTR_OK; /* its start is known */
    ntr_status status = ntr_splitter_guess(splitter, before, last, &chunk->start);
    chunk->guessed = p->guessed_before = chunk->start != NULL;
    chunk->many_sources = !chunk->guessed && splitter->seen_count > 1;
    chunk->number_shift = splitter->number_shift;
    chunk->pre_sync.count = 0;
    if (!chunk->guessed) return status;
    ntr_pre_sync pre_sync = chunk->pre_sync;
    chunk->pre_sync = splitter->pre_sync;
    splitter->pre_sync = pre_sync;
    for (size_t i = 0; i < chunk->pre_sync.count; i++) chunk->pre_sync.messages[i].number += splitter->number_shift;
    return status;
}

/* The current chunk ends after `used` bytes; the rest is moved to the next chunk, which is free. Now the chunk before
 * can be given to the threads, because the pre-sync messages of the current one are known; so can the current one, if
 * the next one will have none. The lock is held. */
static ntr_status end_chunk_locked(ntr_parallel *p, size_t used, bool last) {
    ntr_chunk *chunk = ntr_chunk_at(p, p->tail), *next = ntr_chunk_at(p, p->tail + 1);
    ntr_status status = NTR_OK;
    if (used < chunk->size) status = append(p, next, chunk->data + used, chunk->size - used);
    if (status == NTR_OK) status = guess(p, last);
    if (status != NTR_OK) return status;
    chunk->size = used;
    chunk->last = last;
    chunk->alone = p->splitter.latest && p->splitter.seen_count == 1;
    p->tail++;
    p->sent = last || chunk->alone ? p->tail : p->tail - 1;
    p->cut = p->splitter.offset;
    p->wanted = p->least;
    return NTR_OK;
}

static ntr_status end_chunk(ntr_parallel *p, size_t used, bool last) {
    pthread_mutex_lock(&p->lock);
    /* A thread that reads has found a free chunk before. */
    ntr_status status = p->reading ? NTR_OK : ntr_deliver_until(p, p->ring_size - 3);
    if (status == NTR_OK) status = end_chunk_locked(p, used, last);
    if (!p->reading) pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    ntr_splitter_next_chunk(&p->splitter);
    p->scanned = 0;
    return status;
}

/* ---- cutting */

/* Several sources need longer chunks, because every source must synchronize in a chunk. */
static size_t max_chunk(const ntr_parallel *p) {
    size_t longest = p->wanted + p->first_least * (CHUNK_MAX_FACTOR - 1);
    return longest * (p->splitter.seen_count > 1 ? 4 : 1);
}

/* Cut the collected input once, if possible (*cut). */
static ntr_status cut_chunk(ntr_parallel *p, bool *cut) {
    ntr_chunk *chunk = ntr_chunk_at(p, p->tail);
    ntr_status status = NTR_OK;
    bool found;
    *cut = false;
    if (!chunk->size) return NTR_OK;
    size_t least = p->wanted > p->scanned ? p->wanted - p->scanned : 0;
    p->scanned +=
        ntr_splitter_scan(&p->splitter, chunk->data + p->scanned, chunk->size - p->scanned, least, &found, &status);
    if (status != NTR_OK) return status;
    if (!found && chunk->size < max_chunk(p)) return NTR_OK;
    if (!found && p->scanned == 0) { /* a message without end */
        ntr_splitter_pass(&p->splitter, chunk->size);
        p->scanned = chunk->size;
    }
    *cut = true;
    return end_chunk(p, p->scanned, false);
}

/* Number of bytes to add to the current chunk. Bytes behind a cut are copied again, so few bytes are added at a time;
 * but a cut that is not found is searched again each time, so the number grows with the chunk. */
static size_t add_size(const ntr_parallel *p) {
    size_t filled = ntr_chunk_at(p, p->tail)->size;
    return filled < p->wanted ? p->wanted - filled : larger(p->wanted / 16 + 1, filled - p->wanted);
}

/* ---- input of the caller */

static ntr_status add_input(ntr_parallel *p, const uint8_t *data, size_t size) {
    ntr_status status = NTR_OK;
    while (status == NTR_OK && size) {
        size_t wanted = add_size(p), some = size < wanted ? size : wanted;
        status = append(p, ntr_chunk_at(p, p->tail), data, some);
        for (bool cut = true; cut && status == NTR_OK;) status = cut_chunk(p, &cut);
        data += some;
        size -= some;
    }
    return status;
}

ntr_status ntr_cut_input(ntr_parallel *p, const uint8_t *data, size_t size, bool last) {
    ntr_status status = add_input(p, data, size);
    return status == NTR_OK && last ? end_chunk(p, ntr_chunk_at(p, p->tail)->size, true) : status;
}

/* ---- input that the threads read */

/* Read into the current chunk. */
static ntr_status read_some(ntr_parallel *p, bool *last) {
    ntr_chunk *chunk = ntr_chunk_at(p, p->tail);
    size_t wanted = add_size(p), got = 0;
    if (wanted > READ_SIZE) wanted = READ_SIZE;
    if (ntr_reserve(p->decoder.allocator, (void **)&chunk->data, &chunk->room, larger(chunk->size + wanted, p->wanted),
                    1))
        return NTR_E_MEMORY;
    ntr_status status = p->config.work.read(p->config.work.user, chunk->data + chunk->size, wanted, &got, last);
    chunk->size += got;
    return status;
}

/* Read and cut one chunk. Returns NTR_END after the last one, NTR_NEED_MORE when the input ends before it. */
static ntr_status read_chunk(ntr_parallel *p) {
    ntr_status status = NTR_OK;
    for (;;) {
        bool cut;
        status = cut_chunk(p, &cut);
        if (status != NTR_OK || cut) return status;
        if (p->all_read) break;
        status = read_some(p, &p->all_read);
        if (status != NTR_OK) return status;
    }
    status = end_chunk(p, ntr_chunk_at(p, p->tail)->size, true);
    return status == NTR_OK ? NTR_END : status;
}

bool ntr_cut_possible(const ntr_parallel *p) {
    return p->reading && !p->cutting && p->input == NTR_OK && p->status == NTR_OK &&
           p->tail - p->head + 2 <= p->ring_size;
}

void ntr_cut_next(ntr_parallel *p) {
    p->cutting = true;
    pthread_mutex_unlock(&p->lock);
    ntr_status status = read_chunk(p);
    pthread_mutex_lock(&p->lock);
    p->cutting = false;
    p->input = status;
    if (status < 0 && p->status == NTR_OK) p->status = status;
    pthread_cond_broadcast(&p->work);
    /* The head may wait for the chunk. */
    if (status != NTR_OK || ntr_chunk_at(p, p->head)->state == NTR_CHUNK_DONE) pthread_cond_signal(&p->progress);
}
