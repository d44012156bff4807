/* The worker threads: each takes the first chunk whose start state is known or guessed, and decodes it. If there is
 * none, it cuts one. */
#include "base/macros.h"
#include "parallel/decode_chunk.h"
#include "parallel/late_counts.h"

#include <signal.h>
#include <stdio.h>
#include <ntrace/chunk_output.h>
#include <string.h>

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
    if (chunk->put_status != NTR_OK) return;
    ntr_chunk_output_used(chunk->target, size);
    chunk->put += size;
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
    chunk->put_status = NTR_OK;
    chunk->put = 0;
    chunk->target = &chunk->local_output;
    pthread_mutex_unlock(&p->lock);

    ntr_snapshot *behind = NULL, *after_pre_sync = NULL;
    ntr_status status = ntr_late_counts_take_back(w, chunk);
    chunk->counts = chunk->pre_sync_counts = (ntr_counts){0};
    w->reports = 0;
    if (status == NTR_OK) status = ntr_chunk_decode(w, chunk, chunk->start);
    if (status >= 0) status = ntr_chunk_finish(w, chunk, &behind, &after_pre_sync);
    if (status < 0) ntr_chunk_discard_counts(w);
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
        else if (ntr_cut_possible(p))
            ntr_cut_next(p);
        else
            pthread_cond_wait(&p->work, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Signals are delivered to the caller's threads only. */
static bool start_thread(ntr_worker *w) {
    sigset_t all, before;
    static const int faults[] = {SIGBUS, SIGSEGV, SIGFPE,
                                 SIGILL}; /* where they are blocked, their handler is not called */
    sigfillset(&all);
    for (size_t i = 0; i < NTR_COUNT(faults); i++) sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    w->started = pthread_create(&w->thread, NULL, run, w) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return w->started;
}

static ntr_status start(ntr_parallel *p, ntr_worker *w) {
    const ntr_parallel_work *work = &p->config.work;
    ntr_status status;
    w->parallel = p;
    status = ntr_decoder_new(&p->decoder, &w->decoder);
    if (!w->decoder) return status;
    w->thread_data = work->thread_data_new ? work->thread_data_new(work->user) : work->user;
    if (work->thread_data_new && !w->thread_data) return NTR_E_MEMORY;
    ntr_worker_set_callbacks(w);
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
