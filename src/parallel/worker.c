/* The worker threads: each takes the first chunk whose start state is known or guessed, and decodes it. */
#include "parallel/state.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { EVENTS_AT_ONCE = 512 };

/* ---- output */

static void wait_for_room(ntr_parallel *p, ntr_chunk *chunk) {
    while (ntr_schedule_must_wait(p, chunk)) {
        chunk->waits_for_room = true;
        if (ntr_schedule_put_back(p))
            pthread_cond_broadcast(&p->work);
        else
            pthread_cond_wait(&p->work, &p->lock);
    }
    chunk->waits_for_room = false;
}

/* Make full parts available for delivery. Waits while the chunk holds too much output before its turn. */
static ntr_status publish_output(ntr_chunk *chunk) {
    ntr_parallel *p = chunk->parallel;
    pthread_mutex_lock(&p->lock);
    ntr_chunk_output_move_full(&chunk->output, &chunk->local_output);
    if (chunk->head && !p->delivering) ntr_deliver(p, chunk, false);
    wait_for_room(p, chunk);
    bool needed = !chunk->cancelled && !chunk->put_back && !p->stopping && p->status == NTR_OK;
    if (p->status != NTR_OK) pthread_cond_signal(&p->progress);
    pthread_mutex_unlock(&p->lock);
    return needed ? NTR_OK : NTR_E_STATE;
}

void *ntr_chunk_room(ntr_chunk *chunk, unsigned what, size_t least, size_t *room) {
    if (chunk->put_status != NTR_OK) return NULL;
    void *to = ntr_chunk_output_room(chunk->target, &chunk->parallel->parts, what, least, room);
    if (!to)
        chunk->put_status = NTR_E_MEMORY;
    else if (chunk->local_output.first != chunk->local_output.last && chunk->target == &chunk->local_output)
        chunk->put_status = publish_output(chunk);
    return chunk->put_status == NTR_OK ? to : NULL;
}

void ntr_chunk_used(ntr_chunk *chunk, size_t size) {
    if (chunk->put_status == NTR_OK) ntr_chunk_output_used(chunk->target, size);
}

ntr_status ntr_chunk_put(ntr_chunk *chunk, unsigned what, const void *data, size_t size) {
    size_t room;
    if (size == 0) return chunk->put_status;
    void *to = ntr_chunk_room(chunk, what, size, &room);
    if (!to) return chunk->put_status;
    memcpy(to, data, size);
    ntr_chunk_used(chunk, size);
    return NTR_OK;
}

ntr_status ntr_chunk_status(const ntr_chunk *chunk) {
    return chunk->put_status;
}

bool ntr_chunk_again(const ntr_chunk *chunk) {
    return chunk->again; /* changes only while no thread decodes the chunk, or stops doing so */
}

/* ---- decoding */

static bool is_cancelled(ntr_chunk *chunk) {
    ntr_parallel *p = chunk->parallel;
    pthread_mutex_lock(&p->lock);
    bool cancelled = chunk->cancelled || p->stopping;
    pthread_mutex_unlock(&p->lock);
    return cancelled;
}

static ntr_status read_events(ntr_worker *w, ntr_chunk *chunk) {
    const ntr_parallel_work *work = &w->parallel->config.work;
    ntr_event events[EVENTS_AT_ONCE];
    ntr_status status = NTR_OK, taken = NTR_OK;
    for (unsigned turn = 0; status == NTR_OK; turn++) {
        size_t count = 0;
        status = ntr_decoder_read(w->decoder, events, EVENTS_AT_ONCE, &count);
        if (count && work->events) taken = work->events(w->thread_data, chunk, events, count);
        if (taken != NTR_OK) return taken;
        if (turn % 16 == 15 && is_cancelled(chunk)) return NTR_E_STATE;
    }
    return status;
}

static ntr_status count_callback(void *user, const ntr_event *event, uint64_t times) {
    ntr_worker *w = user;
    if (w->discarding) return NTR_OK;
    w->reports++;
    return w->parallel->config.work.count_callback(w->thread_data, event, times);
}

static bool same_function(void *user, const ntr_context *context, const uint64_t *addresses, size_t count) {
    const ntr_worker *w = user;
    return w->parallel->config.work.join(w->thread_data, context, addresses, count);
}

/* Returns whether spans are counted: alone, or beside joined spans. */
static bool is_counting(const ntr_parallel_config *config) {
    return config->work.count_callback && (config->counting || config->work.join);
}

static ntr_status flush_counts(ntr_worker *w) {
    return is_counting(&w->parallel->config) ? ntr_decoder_flush_counts(w->decoder) : NTR_OK;
}

/* Put what a chunk has not put yet, after all its messages. */
static ntr_status flush(ntr_worker *w, ntr_chunk *chunk) {
    const ntr_parallel_work *work = &w->parallel->config.work;
    ntr_event event;
    ntr_status status = NTR_OK;
    while (work->join && work->events && status == NTR_OK && ntr_decoder_take_joined(w->decoder, &event))
        status = work->events(w->thread_data, chunk, &event, 1);
    return status == NTR_OK ? flush_counts(w) : status;
}

/* The chunk is not needed any more: forget what the counting decode has collected in it. */
static void discard_counts(ntr_worker *w) {
    w->discarding = true;
    flush_counts(w);
    w->discarding = false;
}

/* Decode a part of the chunk, between two message boundaries. */
static ntr_status read_some(ntr_worker *w, ntr_chunk *chunk, const uint8_t *data, size_t size, bool last,
                            ntr_counts *counts) {
    ntr_status status = ntr_decoder_feed(w->decoder, data, size, last);
    if (status != NTR_OK) return status;
    return w->parallel->config.counting ? ntr_decoder_count(w->decoder, counts) : read_events(w, chunk);
}

/* Decode the chunk. The keys of its output are even: see deliver.c. */
static ntr_status read_chunk(ntr_worker *w, ntr_chunk *chunk) {
    ntr_status status = NTR_NEED_MORE;
    size_t at = 0;
    for (size_t i = 0; i < chunk->pre_sync.count && status == NTR_NEED_MORE; i++) {
        size_t to = chunk->pre_sync.messages[i].offset;
        chunk->target->key = 2 * (uint32_t)i;
        status = read_some(w, chunk, chunk->data + at, to - at, false, &chunk->counts);
        at = to;
    }
    if (status != NTR_NEED_MORE) return status;
    chunk->target->key = 2 * (uint32_t)chunk->pre_sync.count;
    status = read_some(w, chunk, chunk->size ? chunk->data + at : NULL, chunk->size - at, chunk->last, &chunk->counts);
    ntr_status flushed = status < 0 ? NTR_OK : flush(w, chunk);
    return flushed == NTR_OK ? status : flushed;
}

/* Decode the pre-sync messages of the next chunk. Their bytes are counted in the chunk that contains them. */
static ntr_status read_pre_sync(ntr_worker *w, ntr_chunk *chunk, const ntr_chunk *next) {
    ntr_status status = NTR_NEED_MORE;
    uint64_t begin = ntr_snapshot_offset(next->start);
    for (size_t i = 0; i < next->pre_sync.count && status == NTR_NEED_MORE; i++) {
        const ntr_pre_sync_message *m = &next->pre_sync.messages[i];
        const ntr_snapshot_position place = {.offset = begin + m->offset, .number = m->number - 1};
        ntr_snapshot_move(w->decoder, &place);
        chunk->target->key = 2 * (uint32_t)i + 1;
        status = read_some(w, chunk, next->data + m->offset, m->size, false, &chunk->pre_sync_counts);
    }
    chunk->pre_sync_counts.messages = chunk->pre_sync_counts.bytes = 0;
    ntr_status flushed = status < 0 ? NTR_OK : flush(w, chunk);
    return flushed == NTR_OK ? status : flushed;
}

static ntr_status end(ntr_worker *w, ntr_chunk *chunk, ntr_status status) {
    const ntr_parallel_work *work = &w->parallel->config.work;
    ntr_status ended = work->end ? work->end(w->thread_data, chunk) : NTR_OK;
    return status >= 0 && ended != NTR_OK ? ended : status;
}

static ntr_status decode(ntr_worker *w, ntr_chunk *chunk, const ntr_snapshot *start) {
    const ntr_parallel_work *work = &w->parallel->config.work;
    ntr_status status = ntr_snapshot_restore(w->decoder, start);
    if (status != NTR_OK) return status;
    if (work->begin) work->begin(w->thread_data, chunk);
    return end(w, chunk, read_chunk(w, chunk));
}

/* Take the state at the end of the chunk, and after the next chunk's pre-sync messages. */
static ntr_status finish_chunk(ntr_worker *w, ntr_chunk *chunk, ntr_snapshot **end_, ntr_snapshot **after_pre_sync) {
    const ntr_chunk *next = ntr_chunk_next(chunk);
    *end_ = ntr_snapshot_take(w->decoder);
    if (!*end_) return NTR_E_MEMORY;
    if (chunk->last || !next->pre_sync.count) return NTR_OK;
    chunk->target = &chunk->pre_sync_output;
    ntr_status status = end(w, chunk, read_pre_sync(w, chunk, next));
    if (status < 0) return status;
    *after_pre_sync = ntr_snapshot_take(w->decoder);
    return *after_pre_sync ? NTR_OK : NTR_E_MEMORY;
}

/* ---- threads */

/* Decoding has ended. The lock is held. */
static void end_chunk(ntr_chunk *chunk, ntr_snapshot *behind, ntr_snapshot *after_pre_sync, ntr_status status) {
    ntr_chunk_output_move(&chunk->output, &chunk->local_output);
    chunk->end = behind;
    chunk->after_pre_sync = after_pre_sync;
    chunk->status = status;
    chunk->state = NTR_CHUNK_DONE;
}

/* The lock is held at entry and return. */
static void run_chunk(ntr_worker *w, ntr_chunk *chunk) {
    ntr_parallel *p = w->parallel;
    chunk->state = NTR_CHUNK_RUNNING;
    chunk->ahead = !chunk->head;
    chunk->counts = chunk->pre_sync_counts = (ntr_counts){0};
    chunk->put_status = NTR_OK;
    chunk->target = &chunk->local_output;
    const ntr_snapshot *start = chunk->start;
    w->reports = 0;
    pthread_mutex_unlock(&p->lock);

    ntr_status status = decode(w, chunk, start);
    ntr_snapshot *behind = NULL, *after_pre_sync = NULL;
    if (status >= 0) status = finish_chunk(w, chunk, &behind, &after_pre_sync);
    if (status < 0) discard_counts(w);
    chunk->reports = w->reports;
    snprintf(chunk->error, sizeof chunk->error, "%s", ntr_decoder_error(w->decoder));

    pthread_mutex_lock(&p->lock);
    end_chunk(chunk, behind, after_pre_sync, status);
    if (chunk->put_back) ntr_chunk_restart(chunk);
    pthread_cond_signal(&p->progress);
}

static void *run(void *user) {
    ntr_worker *w = user;
    ntr_parallel *p = w->parallel;
    pthread_mutex_lock(&p->lock);
    while (!p->stopping) {
        ntr_chunk *chunk = ntr_schedule_next(p);
        if (chunk)
            run_chunk(w, chunk);
        else
            pthread_cond_wait(&p->work, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Signals are delivered to the caller's threads only. */
static bool start_thread(ntr_worker *w) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    w->started = pthread_create(&w->thread, NULL, run, w) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return w->started;
}

static ntr_status start(ntr_parallel *p, ntr_worker *w) {
    const ntr_parallel_work *work = &p->config.work;
    ntr_status status;
    w->parallel = p;
    w->decoder = ntr_decoder_new(&p->decoder, &status);
    if (!w->decoder) return status;
    w->thread_data = work->thread_data_new ? work->thread_data_new(work->user) : work->user;
    if (work->thread_data_new && !w->thread_data) return NTR_E_MEMORY;
    if (is_counting(&p->config)) ntr_decoder_set_count_callback(w->decoder, count_callback, w);
    if (work->join && !p->config.counting) ntr_decoder_set_join(w->decoder, same_function, w);
    return start_thread(w) ? NTR_OK : NTR_E_LIMIT;
}

ntr_status ntr_workers_start(ntr_parallel *p) {
    ntr_status status = NTR_OK;
    unsigned i;
    for (i = 0; i < p->worker_count && status == NTR_OK; i++) status = start(p, &p->workers[i]);
    p->started = status == NTR_E_LIMIT ? i - 1 : i;
    return status == NTR_E_LIMIT && i > 1 ? NTR_OK : status; /* fewer threads than wanted are enough */
}

void ntr_workers_end(ntr_parallel *p) {
    pthread_mutex_lock(&p->lock);
    p->stopping = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->worker_count; i++) {
        ntr_worker *w = &p->workers[i];
        if (w->started) pthread_join(w->thread, NULL);
        ntr_decoder_free(w->decoder);
        if (w->thread_data && p->config.work.thread_data_free) p->config.work.thread_data_free(w->thread_data);
    }
}
