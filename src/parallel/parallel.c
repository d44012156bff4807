/* The caller's side of parallel decoding. */
#include "base/config.h"
#include "parallel/late_counts.h"

#include "base/allocator.h"

#include <errno.h>
#include <sched.h>
#include <ntrace/chunk_output.h>
#include <string.h>

/* Size of a chunk: large enough to be worth the synchronization of threads; small enough that its output is not held
 * long. */
enum { CHUNK_READING = 32 << 10, CHUNK_COUNTING = 1024 << 10 };

/* Bytes of output that a chunk holds before its turn, and that they hold together for each thread. */
enum { OUTPUT_MAX = 16 << 20, HELD_MAX = 16 << 20 };

enum { THREADS_MAX = 256 };

/* A set of fixed size holds 1,024 processors, and the kernel refuses a set that is smaller than its own. */
unsigned ntr_processors(void) {
    enum { SETS_MAX = 1 << 20 };
    for (size_t size = CPU_SETSIZE; size <= SETS_MAX; size *= 2) {
        cpu_set_t *set = CPU_ALLOC(size);
        if (!set) return 1;
        const bool got = sched_getaffinity(0, CPU_ALLOC_SIZE(size), set) == 0;
        const int count = got ? CPU_COUNT_S(CPU_ALLOC_SIZE(size), set) : 0;
        CPU_FREE(set);
        if (got) return count > 0 ? (unsigned)count : 1;
        if (errno != EINVAL) return 1;
    }
    return 1;
}

static ntr_status set_up(ntr_parallel *p, const ntr_parallel_config *config) {
    const ntr_allocator *allocator = p->decoder.allocator;
    p->config = *config;
    p->config.decoder = &p->decoder;
    unsigned threads = config->threads ? config->threads : ntr_processors();
    p->worker_count = threads > THREADS_MAX ? THREADS_MAX : threads;
    p->least = config->chunk ? config->chunk : config->counting ? CHUNK_COUNTING : CHUNK_READING;
    p->first_least = p->wanted = p->least;
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

ntr_status ntr_parallel_new(const ntr_parallel_config *given, ntr_parallel **out) {
    *out = NULL;
    ntr_parallel_config config;
    ntr_decoder_config decoder;
    ntr_status status = load(&config, &decoder, given);
    if (status != NTR_OK) return status;
    ntr_parallel *p = ntr_alloc(decoder.allocator, 1, sizeof *p);
    if (!p) return NTR_E_MEMORY;
    p->decoder = decoder;
    ntr_parts_begin(&p->parts, decoder.allocator);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->progress, NULL);
    status = set_up(p, &config);
    if (status == NTR_OK)
        *out = p;
    else
        ntr_parallel_free(p);
    return status;
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

static ntr_status finish_counts(ntr_parallel *p) {
    return ntr_counts_late(p) ? ntr_late_counts_finish(p) : NTR_OK;
}

static ntr_status deliver(ntr_parallel *p, bool all) {
    pthread_mutex_lock(&p->lock);
    if (all && p->input == NTR_OK) p->input = NTR_NEED_MORE; /* no chunk follows */
    ntr_status status = ntr_deliver_until(p, all ? 0 : p->ring_size);
    pthread_mutex_unlock(&p->lock);
    return status == NTR_OK && all ? finish_counts(p) : status;
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
    if (p->config.work.read) return stop(p, NTR_E_INVALID);
    ntr_status status = ntr_cut_input(p, data, size, last);
    if (status == NTR_OK) status = deliver(p, last);
    if (status != NTR_OK || last) return stop(p, status == NTR_OK ? NTR_END : status);
    return NTR_NEED_MORE;
}

/* The threads read and cut: deliver until they are done. The lock is held. Returns as read_chunk. */
static ntr_status deliver_all(ntr_parallel *p) {
    p->reading = true;
    pthread_cond_broadcast(&p->work);
    for (;;) {
        ntr_status status = ntr_deliver_until(p, 0);
        if (status != NTR_OK) return status;
        if (p->input != NTR_OK && p->head == p->sent) return p->input;
        if (p->head == p->sent) pthread_cond_wait(&p->progress, &p->lock);
    }
}

ntr_status ntr_parallel_run(ntr_parallel *p) {
    if (p->ended != NTR_OK) return p->ended;
    if (!p->config.work.read) return stop(p, NTR_E_INVALID);
    pthread_mutex_lock(&p->lock);
    ntr_status status = deliver_all(p);
    pthread_mutex_unlock(&p->lock);
    const ntr_status counted = status == NTR_END || status == NTR_NEED_MORE ? finish_counts(p) : NTR_OK;
    return stop(p, counted == NTR_OK ? status : counted);
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

void ntr_parallel_stats_get(const ntr_parallel *p, ntr_parallel_stats *stats) {
    *stats = p->stats;
}
