/* The caller's side of parallel decoding: the input is collected in chunks and cut (splitter.h). */
#include "base/config.h"
#include "parallel/late_counts.h"

#include "base/allocator.h"

#include <sched.h>
#include <string.h>

/* Size of a chunk: large enough to be worth the synchronization of threads; small enough that its output is not held
 * long. */
enum { CHUNK_READING = 32 << 10, CHUNK_COUNTING = 1024 << 10 };

/* With a count callback, each chunk reports all that it has counted, unless that is done late. Chunks grow until there is at most one
 * report in so many bytes; but not above CHUNK_GROWN, nor above a part of the stream, so that the threads end at about the same time.
 * Other chunks that are counted grow up to CHUNK_COUNTED: threads then wait less often. So do chunks without a guess because of several
 * sources, as long as they have little output: sources that take turns are then all in each chunk. */
enum { BYTES_PER_REPORT = 128, CHUNK_GROWN = 4 << 20, CHUNK_COUNTED = 1 << 20, CHUNK_PARTS = 16 };

/* A chunk without a suitable synchronizing message is cut anyway when it is this many times as large as the minimum. */
enum { CHUNK_MAX_FACTOR = 16 };

/* Bytes of output that a chunk holds before its turn, and that they hold together for each thread. */
enum { OUTPUT_MAX = 16 << 20, HELD_MAX = 16 << 20, OUTPUT_LITTLE = OUTPUT_MAX / 2 };

enum { THREADS_MAX = 256 };

static unsigned processors(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

static ntr_status set_up(ntr_parallel *p, const ntr_parallel_config *config) {
    const ntr_allocator *allocator = p->decoder.allocator;
    p->config = *config;
    p->config.decoder = &p->decoder;
    unsigned threads = config->threads ? config->threads : processors();
    p->worker_count = threads > THREADS_MAX ? THREADS_MAX : threads;
    p->least = config->chunk ? config->chunk : config->counting ? CHUNK_COUNTING : CHUNK_READING;
    p->first_least = p->least;
    p->ring_size = 2 * (size_t)p->worker_count + 3;
    p->most_output = OUTPUT_MAX;
    p->most_held = (size_t)p->worker_count * HELD_MAX;
    p->stats.threads = p->worker_count;
    p->ring = ntr_alloc(allocator, p->ring_size, sizeof *p->ring);
    p->workers = ntr_alloc(allocator, p->worker_count, sizeof *p->workers);
    if (!p->ring || !p->workers) return NTR_E_MEMORY;
    for (size_t i = 0; i < p->ring_size; i++) p->ring[i].parallel = p;
    ntr_status status = ntr_splitter_start(&p->splitter, &p->decoder);
    if (status != NTR_OK) return status;
    p->ring[0].head = true;
    p->ring[0].start = ntr_snapshot_take(p->splitter.scratch); /* the state at the beginning of the stream */
    return p->ring[0].start ? ntr_workers_start(p) : NTR_E_MEMORY;
}

static ntr_status load(ntr_parallel_config *config, ntr_decoder_config *decoder, const ntr_parallel_config *given) {
    ntr_status status = ntr_config_load(config, sizeof *config, given);
    if (status == NTR_OK && (!config->work.deliver || (config->work.finish && !config->counting))) return NTR_E_INVALID;
    return status == NTR_OK ? ntr_config_load(decoder, sizeof *decoder, config->decoder) : status;
}

ntr_parallel *ntr_parallel_new(const ntr_parallel_config *given, ntr_status *status) {
    ntr_status unused;
    ntr_parallel_config config;
    ntr_decoder_config decoder;
    if (!status) status = &unused;
    *status = load(&config, &decoder, given);
    if (*status != NTR_OK) return NULL;
    ntr_parallel *p = ntr_alloc(decoder.allocator, 1, sizeof *p);
    *status = NTR_E_MEMORY;
    if (!p) return NULL;
    p->decoder = decoder;
    ntr_parts_begin(&p->parts, decoder.allocator);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->progress, NULL);
    *status = set_up(p, &config);
    if (*status == NTR_OK) return p;
    ntr_parallel_free(p);
    return NULL;
}

void ntr_parallel_free(ntr_parallel *p) {
    if (!p) return;
    const ntr_allocator *allocator = p->decoder.allocator;
    if (p->workers) ntr_workers_end(p);
    for (size_t i = 0; p->ring && i < p->ring_size; i++) {
        ntr_chunk_clear(&p->ring[i]);
        ntr_dealloc(allocator, p->ring[i].data);
        ntr_dealloc(allocator, p->ring[i].pre_sync.messages);
    }
    if (p->pre_sync_part) ntr_parts_free(&p->parts, p->pre_sync_part);
    ntr_chunk_output_drop(&p->pre_sync, &p->parts);
    ntr_parts_end(&p->parts);
    ntr_splitter_end(&p->splitter);
    ntr_dealloc(allocator, p->workers);
    ntr_dealloc(allocator, p->ring);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->progress);
    ntr_dealloc(allocator, p);
}

/* ---- cutting */

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
    if (p->tail == 0) return NTR_OK; /* its start is known */
    ntr_status status = ntr_splitter_guess(splitter, ntr_chunk_at(p, p->tail - 1)->guessed, last, &chunk->start);
    chunk->guessed = chunk->start != NULL;
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

/* The current chunk ends after `used` bytes; the rest is moved to the next chunk. Now the chunk before can be given to
 * the threads, because the pre-sync messages of the current one are known. The lock is held. */
static ntr_status end_chunk_locked(ntr_parallel *p, size_t used, bool last) {
    ntr_chunk *chunk = ntr_chunk_at(p, p->tail), *next = ntr_chunk_at(p, p->tail + 1);
    ntr_status status = ntr_deliver_until(p, p->ring_size - 3); /* so that the next chunk is free */
    if (status == NTR_OK && used < chunk->size) status = append(p, next, chunk->data + used, chunk->size - used);
    if (status == NTR_OK) status = guess(p, last);
    if (status != NTR_OK) return status;
    chunk->size = used;
    chunk->last = last;
    p->tail++;
    p->sent = last ? p->tail : p->tail - 1;
    pthread_cond_broadcast(&p->work);
    return NTR_OK;
}

static ntr_status end_chunk(ntr_parallel *p, size_t used, bool last) {
    pthread_mutex_lock(&p->lock);
    ntr_status status = end_chunk_locked(p, used, last);
    pthread_mutex_unlock(&p->lock);
    ntr_splitter_next_chunk(&p->splitter);
    p->scanned = 0;
    return status;
}

void ntr_parallel_adapt(ntr_parallel *p, const ntr_chunk *done) {
    bool many_reports = done->reports > done->size / BYTES_PER_REPORT && !ntr_counts_late(p);
    bool takes_turns = done->many_sources && done->put < OUTPUT_LITTLE;
    size_t most = many_reports ? CHUNK_GROWN : p->config.counting || takes_turns ? CHUNK_COUNTED : p->least;
    if (p->least < most && p->least < p->splitter.offset / CHUNK_PARTS && !p->config.chunk) p->least *= 2;
}

/* Several sources need longer chunks, because every source must synchronize in a chunk. */
static size_t max_chunk(const ntr_parallel *p) {
    size_t longest = p->least + p->first_least * (CHUNK_MAX_FACTOR - 1);
    return longest * (p->splitter.seen_count > 1 ? 4 : 1);
}

/* Cut the collected input as often as possible. */
static ntr_status cut_chunks(ntr_parallel *p) {
    for (;;) {
        ntr_chunk *chunk = ntr_chunk_at(p, p->tail);
        ntr_status status = NTR_OK;
        bool found;
        if (!chunk->size) return NTR_OK;
        size_t least = p->least > p->scanned ? p->least - p->scanned : 0;
        p->scanned +=
            ntr_splitter_scan(&p->splitter, chunk->data + p->scanned, chunk->size - p->scanned, least, &found, &status);
        if (status != NTR_OK) return status;
        if (!found && chunk->size < max_chunk(p)) return NTR_OK;
        if (!found && p->scanned == 0) { /* a message without end */
            ntr_splitter_pass(&p->splitter, chunk->size);
            p->scanned = chunk->size;
        }
        status = end_chunk(p, p->scanned, false);
        if (status != NTR_OK) return status;
    }
}

/* Number of bytes to add to the current chunk. Bytes behind a cut are copied again, so few bytes are added at a time;
 * but a cut that is not found is searched again each time, so the number grows with the chunk. */
static size_t copy_size(const ntr_parallel *p) {
    size_t filled = ntr_chunk_at(p, p->tail)->size;
    return filled < p->least ? p->least - filled : larger(p->least / 16 + 1, filled - p->least);
}

static ntr_status add_input(ntr_parallel *p, const uint8_t *data, size_t size) {
    ntr_status status = NTR_OK;
    while (status == NTR_OK && size) {
        size_t wanted = copy_size(p), some = size < wanted ? size : wanted;
        status = append(p, ntr_chunk_at(p, p->tail), data, some);
        if (status == NTR_OK) status = cut_chunks(p);
        data += some;
        size -= some;
    }
    return status;
}

static ntr_status deliver(ntr_parallel *p, bool all) {
    pthread_mutex_lock(&p->lock);
    ntr_status status = ntr_deliver_until(p, all ? 0 : p->ring_size);
    pthread_mutex_unlock(&p->lock);
    return status == NTR_OK && all && ntr_counts_late(p) ? ntr_late_counts_finish(p) : status;
}

/* Decoding has ended: wait until no thread delivers any more. */
static ntr_status stop(ntr_parallel *p, ntr_status status) {
    pthread_mutex_lock(&p->lock);
    p->status = status;
    while (p->delivering) pthread_cond_wait(&p->progress, &p->lock);
    pthread_mutex_unlock(&p->lock);
    return p->ended = status;
}

ntr_status ntr_parallel_feed(ntr_parallel *p, const uint8_t *data, size_t size, bool last) {
    if (p->ended != NTR_OK) return p->ended;
    ntr_status status = add_input(p, data, size);
    if (status == NTR_OK && last) status = end_chunk(p, ntr_chunk_at(p, p->tail)->size, true);
    if (status == NTR_OK) status = deliver(p, last);
    if (status != NTR_OK || last) return stop(p, status == NTR_OK ? NTR_END : status);
    return NTR_NEED_MORE;
}

ntr_status ntr_parallel_stop(ntr_parallel *p) {
    if (p->ended != NTR_OK) return p->ended;
    ntr_status status = deliver(p, true);
    return stop(p, status == NTR_OK ? NTR_END : status);
}

const char *ntr_parallel_error(const ntr_parallel *p) {
    if (p->ended >= 0 || p->error[0]) return p->error;
    return ntr_status_text(p->ended);
}

const ntr_counts *ntr_parallel_counts(const ntr_parallel *p) {
    return &p->counts;
}

void ntr_parallel_get_stats(const ntr_parallel *p, ntr_parallel_stats *stats) {
    *stats = p->stats;
}
