/* The caller's side: cutting. */
#include "parallel/parallel.h"

#include "base/allocator.h"

#include <sched.h>
#include <string.h>

/* A piece should be worth the handing over; what is made of it should not be held for long. */
enum { PIECE_READING = 32 << 10, PIECE_COUNTING = 256 << 10 };

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
    p->ring_size = 2 * (size_t)p->worker_count + 3;
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
void ntr_piece_clear(ntr_piece *piece) {
    const ntr_allocator *allocator = piece->parallel->config.decoder.allocator;
    ntr_baton_free(piece->start, allocator);
    ntr_baton_free(piece->end, allocator);
    ntr_baton_free(piece->joined, allocator);
    ntr_baton_free(piece->before, allocator);
    ntr_made_drop(&piece->made, &piece->parallel->parts);
    ntr_made_drop(&piece->making, &piece->parallel->parts);
    ntr_made_drop(&piece->seamed, &piece->parallel->parts);
    const ntr_seam empty = {.messages = piece->seam.messages, .room = piece->seam.room};
    *piece = (ntr_piece){.parallel = piece->parallel, .data = piece->data, .room = piece->room, .seam = empty};
}

void ntr_parallel_free(ntr_parallel *p) {
    if (!p) return;
    const ntr_allocator *allocator = p->config.decoder.allocator;
    if (p->workers) ntr_workers_end(p);
    for (size_t i = 0; p->ring && i < p->ring_size; i++) {
        ntr_piece_clear(&p->ring[i]);
        ntr_dealloc(allocator, p->ring[i].data);
        ntr_dealloc(allocator, p->ring[i].seam.messages);
    }
    if (p->seam_part) ntr_parts_free(&p->parts, p->seam_part);
    ntr_made_drop(&p->seam, &p->parts);
    ntr_parts_end(&p->parts);
    ntr_cutter_end(&p->cutter);
    ntr_dealloc(allocator, p->workers);
    ntr_dealloc(allocator, p->ring);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->news);
    ntr_dealloc(allocator, p);
}

/* ---- cutting */

static ntr_status append(ntr_parallel *p, ntr_piece *piece, const uint8_t *data, size_t size) {
    if (ntr_reserve(p->config.decoder.allocator, (void **)&piece->data, &piece->room, piece->size + size, 1))
        return NTR_E_MEMORY;
    if (size) memcpy(piece->data + piece->size, data, size);
    piece->size += size;
    return NTR_OK;
}

/* Have the piece in hand begin as guessed, if it can be; the seam is its own then. */
static ntr_status guess(ntr_parallel *p, bool last) {
    ntr_piece *piece = ntr_piece_at(p, p->tail);
    ntr_cutter *c = &p->cutter;
    if (p->tail == 0) return NTR_OK; /* its start is known */
    ntr_status status = ntr_cutter_guess(c, ntr_piece_at(p, p->tail - 1)->guessed, last, &piece->start);
    piece->guessed = piece->start != NULL;
    piece->many = !piece->guessed && c->seen_count > 1;
    piece->shift = c->shift;
    piece->seam.count = 0;
    if (!piece->guessed) return status;
    ntr_seam seam = piece->seam;
    piece->seam = c->seam;
    c->seam = seam;
    for (size_t i = 0; i < piece->seam.count; i++) piece->seam.messages[i].number += c->shift;
    return status;
}

/* The piece in hand ends after `used` bytes; the next one begins with the rest. With it, the one before can be sent to
 * the threads. The lock is held. */
static ntr_status turn_locked(ntr_parallel *p, size_t used, bool last) {
    ntr_piece *piece = ntr_piece_at(p, p->tail), *next = ntr_piece_at(p, p->tail + 1);
    ntr_status status = ntr_deliver_until(p, p->ring_size - 3); /* so that the next one is free */
    if (status == NTR_OK && used < piece->size) status = append(p, next, piece->data + used, piece->size - used);
    if (status == NTR_OK) status = guess(p, last);
    if (status != NTR_OK) return status;
    piece->size = used;
    piece->last = last;
    p->tail++;
    p->sent = last ? p->tail : p->tail - 1;
    pthread_cond_broadcast(&p->work);
    return NTR_OK;
}

static ntr_status turn(ntr_parallel *p, size_t used, bool last) {
    pthread_mutex_lock(&p->lock);
    ntr_status status = turn_locked(p, used, last);
    pthread_mutex_unlock(&p->lock);
    ntr_cutter_turn(&p->cutter);
    p->looked = 0;
    return status;
}

/* Sources that come together need longer pieces. */
static size_t most(const ntr_parallel *p) {
    return p->least * PIECE_MOST * (p->cutter.seen_count > 1 ? 4 : 1);
}

/* Cut what is there. */
static ntr_status cut(ntr_parallel *p) {
    for (;;) {
        ntr_piece *piece = ntr_piece_at(p, p->tail);
        ntr_status status = NTR_OK;
        bool found;
        if (!piece->size) return NTR_OK;
        size_t least = p->least > p->looked ? p->least - p->looked : 0;
        p->looked += ntr_cutter_look(&p->cutter, piece->data + p->looked, piece->size - p->looked, least, &found, &status);
        if (status != NTR_OK) return status;
        if (!found && piece->size < most(p)) return NTR_OK;
        if (!found && p->looked == 0) { /* a message without end */
            ntr_cutter_pass(&p->cutter, piece->size);
            p->looked = piece->size;
        }
        status = turn(p, p->looked, false);
        if (status != NTR_OK) return status;
    }
}

/* What is behind the cut is copied once more, so little is taken at a time; but an end that does not come is looked for
 * anew each time. */
static size_t step(const ntr_parallel *p) {
    size_t filled = ntr_piece_at(p, p->tail)->size;
    return filled < p->least ? p->least - filled : larger(p->least / 16 + 1, filled - p->least);
}

static ntr_status take(ntr_parallel *p, const uint8_t *data, size_t size) {
    ntr_status status = NTR_OK;
    while (status == NTR_OK && size) {
        size_t wanted = step(p), some = size < wanted ? size : wanted;
        status = append(p, ntr_piece_at(p, p->tail), data, some);
        if (status == NTR_OK) status = cut(p);
        data += some;
        size -= some;
    }
    return status;
}

static ntr_status deliver(ntr_parallel *p, bool all) {
    pthread_mutex_lock(&p->lock);
    ntr_status status = ntr_deliver_until(p, all ? 0 : p->ring_size);
    pthread_mutex_unlock(&p->lock);
    return status;
}

/* It is over: nobody delivers any more. */
static ntr_status stop(ntr_parallel *p, ntr_status status) {
    pthread_mutex_lock(&p->lock);
    p->status = status;
    while (p->delivering) pthread_cond_wait(&p->news, &p->lock);
    pthread_mutex_unlock(&p->lock);
    return p->ended = status;
}

ntr_status ntr_parallel_feed(ntr_parallel *p, const uint8_t *data, size_t size, bool last) {
    if (p->ended != NTR_OK) return p->ended;
    ntr_status status = take(p, data, size);
    if (status == NTR_OK && last) status = turn(p, ntr_piece_at(p, p->tail)->size, true);
    if (status == NTR_OK) status = deliver(p, last);
    if (status != NTR_OK || last) return stop(p, status == NTR_OK ? NTR_END : status);
    return NTR_NEED_MORE;
}

const ntr_counts *ntr_parallel_counts(const ntr_parallel *p) {
    return &p->counts;
}

void ntr_parallel_get_stats(const ntr_parallel *p, ntr_parallel_stats *stats) {
    *stats = p->stats;
}
