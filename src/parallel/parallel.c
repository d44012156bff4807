/* The caller's side: cutting, comparing, delivering. */
#include "parallel/parallel.h"

#include "base/allocator.h"

#include <sched.h>
#include <string.h>

/* A piece should be worth the handing over; what is made of it should not be held for long. */
enum { PIECE_READING = 64 << 10, PIECE_COUNTING = 512 << 10 };

/* A piece without synchronizing message is cut somewhere, at so many times its least size. */
enum { PIECE_MOST = 16 };

enum { THREADS_MOST = 256, MADE_MOST = 256 << 20, MADE_LEAST = 1 << 20 };

static unsigned processors(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

static ntr_status set_up(ntr_parallel *p, const ntr_parallel_config *config) {
    const ntr_allocator *allocator = config->decoder.allocator;
    p->config = *config;
    unsigned threads = config->threads ? config->threads : processors();
    p->worker_count = threads > THREADS_MOST ? THREADS_MOST : threads;
    p->least = config->piece ? config->piece : config->counting ? PIECE_COUNTING : PIECE_READING;
    p->ring_size = 2 * (size_t)p->worker_count + 2;
    p->most_made = larger(MADE_MOST / p->ring_size, MADE_LEAST);
    p->stats.threads = p->worker_count;
    p->ring = ntr_alloc(allocator, p->ring_size, sizeof *p->ring);
    p->workers = ntr_alloc(allocator, p->worker_count, sizeof *p->workers);
    if (!p->ring || !p->workers) return NTR_E_MEMORY;
    for (size_t i = 0; i < p->ring_size; i++) p->ring[i].parallel = p;
    ntr_status status = ntr_cutter_start(&p->cutter, &p->config.decoder);
    if (status != NTR_OK) return status;
    p->ring[0].head = true;
    p->ring[0].start = ntr_baton_take(p->cutter.scratch); /* it has read nothing yet */
    return p->ring[0].start ? ntr_workers_start(p) : NTR_E_MEMORY;
}

ntr_parallel *ntr_parallel_new(const ntr_parallel_config *config, ntr_status *status) {
    ntr_status unused;
    if (!status) status = &unused;
    *status = NTR_E_INVALID;
    if (!config || config->size != sizeof *config || !config->work.deliver) return NULL;
    ntr_parallel *p = ntr_alloc(config->decoder.allocator, 1, sizeof *p);
    *status = NTR_E_MEMORY;
    if (!p) return NULL;
    ntr_parts_begin(&p->parts, config->decoder.allocator);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->news, NULL);
    *status = set_up(p, config);
    if (*status == NTR_OK) return p;
    ntr_parallel_free(p);
    return NULL;
}

/* Make the piece ready for the ring's next round; its memory is kept. */
static void clear(ntr_piece *piece) {
    const ntr_allocator *allocator = piece->parallel->config.decoder.allocator;
    ntr_baton_free(piece->start, allocator);
    ntr_baton_free(piece->end, allocator);
    ntr_made_drop(&piece->made, &piece->parallel->parts);
    ntr_made_drop(&piece->making, &piece->parallel->parts);
    *piece = (ntr_piece){.parallel = piece->parallel, .data = piece->data, .room = piece->room};
}

void ntr_parallel_free(ntr_parallel *p) {
    if (!p) return;
    const ntr_allocator *allocator = p->config.decoder.allocator;
    if (p->workers) ntr_workers_end(p);
    for (size_t i = 0; p->ring && i < p->ring_size; i++) {
        clear(&p->ring[i]);
        ntr_dealloc(allocator, p->ring[i].data);
    }
    ntr_parts_end(&p->parts);
    ntr_cutter_end(&p->cutter);
    ntr_dealloc(allocator, p->workers);
    ntr_dealloc(allocator, p->ring);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->news);
    ntr_dealloc(allocator, p);
}

/* ---- guesses */

/* The head has ended with the truth, which `next` starts from: as it guessed, or else once more. Called with the
 * lock held. */
static void compare(ntr_parallel *p, ntr_piece *next, ntr_baton **truth) {
    const ntr_allocator *allocator = p->config.decoder.allocator;
    if (next->guessed && ntr_baton_fits(*truth, next->start)) return;
    if (next->guessed) {
        p->stats.guessed_wrong++;
        p->cutter.shift = next->shift + ntr_baton_number(*truth) - ntr_baton_number(next->start);
        next->unwanted = true;
        pthread_cond_broadcast(&p->work);
        while (next->state == NTR_PIECE_RUNNING) pthread_cond_wait(&p->news, &p->lock);
    }
    ntr_baton_free(next->start, allocator);
    ntr_baton_free(next->end, allocator);
    ntr_made_drop(&next->made, &p->parts);
    next->unwanted = false;
    next->ahead = false;
    next->state = NTR_PIECE_WAITING;
    next->end = NULL;
    next->start = *truth;
    *truth = NULL;
}

/* ---- delivering */

static ntr_status deliver_part(const ntr_parallel_work *work, const ntr_part *part) {
    ntr_status status = NTR_OK;
    const ntr_run_head *run;
    for (size_t at = 0; status == NTR_OK && (run = ntr_part_run(part, &at));)
        if (run->size) status = work->deliver(work->user, run->what, run + 1, run->size);
    return status;
}

/* Hand on what there is. The lock is held, but not meanwhile. */
static ntr_status deliver(ntr_parallel *p, ntr_piece *head) {
    const ntr_parallel_work *work = &p->config.work;
    ntr_made made = {0};
    ntr_status status = NTR_OK;
    ntr_made_move(&made, &head->made);
    pthread_cond_broadcast(&p->work); /* there is room again */
    pthread_mutex_unlock(&p->lock);
    for (ntr_part *part; (part = ntr_made_take(&made));) {
        if (status == NTR_OK) status = deliver_part(work, part);
        ntr_parts_free(&p->parts, part);
    }
    pthread_mutex_lock(&p->lock);
    return status;
}

static void add_counts(ntr_counts *to, const ntr_counts *from) {
    uint64_t *sum = (uint64_t *)to;
    const uint64_t *more = (const uint64_t *)from;
    for (size_t i = 0; i < sizeof *to / sizeof *sum; i++) sum[i] += more[i];
}

static void add_stats(ntr_parallel_stats *stats, const ntr_piece *head) {
    stats->pieces++;
    stats->ahead += head->ahead;
    stats->many_sources += head->many;
    stats->without_sync += !head->guessed && !head->many && stats->pieces > 1;
}

/* The head is done and delivered: the next one takes its place. */
static void retire(ntr_parallel *p, ntr_piece *head) {
    ntr_baton *truth = head->end;
    head->end = NULL;
    add_counts(&p->counts, &head->counts);
    add_stats(&p->stats, head);
    bool last = head->last;
    clear(head);
    p->head++;
    ntr_piece *next = ntr_piece_at(p, p->head);
    if (!last) compare(p, next, &truth);
    next->head = true;
    ntr_baton_free(truth, p->config.decoder.allocator);
    pthread_cond_broadcast(&p->work);
}

static bool is_ready(const ntr_piece *head) {
    return head->state == NTR_PIECE_DONE || head->made.first;
}

/* Deliver what the head has. The lock is held. */
static void deliver_head(ntr_parallel *p, ntr_piece *head) {
    bool done = head->state == NTR_PIECE_DONE;
    p->status = deliver(p, head);
    if (p->status != NTR_OK || !done) return;
    p->status = head->status < 0 ? head->status : NTR_OK;
    if (p->status == NTR_OK)
        retire(p, head);
    else
        add_counts(&p->counts, &head->counts);
}

/* Deliver what is ready; wait while more than `left` pieces are in the ring. The lock is held. */
static ntr_status deliver_until(ntr_parallel *p, uint64_t left) {
    while (p->status == NTR_OK && p->tail > p->head) {
        ntr_piece *head = ntr_piece_at(p, p->head);
        if (!is_ready(head) && p->tail - p->head <= left) break;
        while (!is_ready(head)) pthread_cond_wait(&p->news, &p->lock);
        deliver_head(p, head);
    }
    return p->status;
}

/* ---- cutting */

static ntr_status append(ntr_parallel *p, ntr_piece *piece, const uint8_t *data, size_t size) {
    if (ntr_reserve(p->config.decoder.allocator, (void **)&piece->data, &piece->room, piece->size + size, 1))
        return NTR_E_MEMORY;
    if (size) memcpy(piece->data + piece->size, data, size);
    piece->size += size;
    return NTR_OK;
}

/* The piece that was filled goes to the threads. The next one begins with what lies behind `used`, and as guessed. The
 * lock is held. */
static ntr_status send_locked(ntr_parallel *p, size_t used, ntr_baton *guess, bool last) {
    ntr_piece *piece = ntr_piece_at(p, p->tail), *next = ntr_piece_at(p, p->tail + 1);
    ntr_status status = deliver_until(p, p->ring_size - 2); /* so that the next one is free */
    if (status == NTR_OK) status = append(p, next, piece->data + used, piece->size - used);
    if (status != NTR_OK) {
        ntr_baton_free(guess, p->config.decoder.allocator);
        return p->status = status;
    }
    piece->size = used;
    piece->last = last;
    next->start = guess;
    next->guessed = guess != NULL;
    next->many = p->cutter.many;
    next->shift = p->cutter.shift;
    p->tail++;
    pthread_cond_signal(&p->work);
    return NTR_OK;
}

static ntr_status send(ntr_parallel *p, size_t used, ntr_baton *guess, bool last) {
    pthread_mutex_lock(&p->lock);
    ntr_status status = send_locked(p, used, guess, last);
    pthread_mutex_unlock(&p->lock);
    p->looked = 0;
    return status;
}

/* Cut what is there. */
static ntr_status cut(ntr_parallel *p) {
    for (;;) {
        ntr_piece *piece = ntr_piece_at(p, p->tail);
        ntr_baton *guess;
        ntr_status status = NTR_OK;
        size_t least = p->least > p->looked ? p->least - p->looked : 0;
        p->looked += ntr_cutter_look(&p->cutter, piece->data + p->looked, piece->size - p->looked, least, &guess, &status);
        if (status != NTR_OK) return p->status = status;
        if (!guess && piece->size < PIECE_MOST * p->least) return NTR_OK;
        if (!guess && p->looked == 0) { /* a message without end */
            ntr_cutter_pass(&p->cutter, piece->size);
            p->looked = piece->size;
        }
        status = send(p, p->looked, guess, false);
        if (status != NTR_OK) return status;
    }
}

static ntr_status finish(ntr_parallel *p) {
    ntr_status status = send(p, ntr_piece_at(p, p->tail)->size, NULL, true);
    pthread_mutex_lock(&p->lock);
    if (status == NTR_OK) status = deliver_until(p, 0);
    pthread_mutex_unlock(&p->lock);
    return p->status = status == NTR_OK ? NTR_END : status;
}

ntr_status ntr_parallel_feed(ntr_parallel *p, const uint8_t *data, size_t size, bool last) {
    while (p->status == NTR_OK && size) {
        size_t some = size < p->least ? size : p->least;
        p->status = append(p, ntr_piece_at(p, p->tail), data, some);
        if (p->status == NTR_OK) cut(p);
        data += some;
        size -= some;
    }
    if (p->status != NTR_OK) return p->status;
    if (last) return finish(p);
    pthread_mutex_lock(&p->lock);
    ntr_status status = deliver_until(p, p->ring_size);
    pthread_mutex_unlock(&p->lock);
    return status == NTR_OK ? NTR_NEED_MORE : status;
}

const ntr_counts *ntr_parallel_counts(const ntr_parallel *p) {
    return &p->counts;
}

void ntr_parallel_get_stats(const ntr_parallel *p, ntr_parallel_stats *stats) {
    *stats = p->stats;
}
