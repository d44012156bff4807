/* What the threads do: take the first piece whose start is known, or guessed, and decode it. */
#include "parallel/parallel.h"

#include <signal.h>
#include <string.h>

enum { EVENTS_AT_ONCE = 512 };

/* ---- what was made */

/* Hand over what is full, or wait for its turn if that is too much. */
static ntr_status hand_over(ntr_piece *piece) {
    ntr_parallel *p = piece->parallel;
    pthread_mutex_lock(&p->lock);
    ntr_made_move_full(&piece->made, &piece->making);
    if (piece->head && !p->delivering) ntr_deliver(p, piece, false);
    while (piece->made.size > p->most_made && !piece->unwanted && !p->over) pthread_cond_wait(&p->work, &p->lock);
    ntr_status status = piece->unwanted || p->over || p->status != NTR_OK ? NTR_E_STATE : NTR_OK;
    if (p->status != NTR_OK) pthread_cond_signal(&p->news);
    pthread_mutex_unlock(&p->lock);
    return status;
}

void *ntr_piece_room(ntr_piece *piece, unsigned what, size_t least, size_t *room) {
    if (piece->refused != NTR_OK) return NULL;
    void *to = ntr_made_room(piece->into, &piece->parallel->parts, what, least, room);
    if (!to)
        piece->refused = NTR_E_MEMORY;
    else if (piece->making.first != piece->making.last && piece->into == &piece->making)
        piece->refused = hand_over(piece);
    return piece->refused == NTR_OK ? to : NULL;
}

void ntr_piece_used(ntr_piece *piece, size_t size) {
    if (piece->refused == NTR_OK) ntr_made_used(piece->into, size);
}

ntr_status ntr_piece_put(ntr_piece *piece, unsigned what, const void *data, size_t size) {
    size_t room;
    if (size == 0) return piece->refused;
    void *to = ntr_piece_room(piece, what, size, &room);
    if (!to) return piece->refused;
    memcpy(to, data, size);
    ntr_piece_used(piece, size);
    return NTR_OK;
}

ntr_status ntr_piece_status(const ntr_piece *piece) {
    return piece->refused;
}

/* ---- decoding */

static bool is_unwanted(ntr_piece *piece) {
    ntr_parallel *p = piece->parallel;
    pthread_mutex_lock(&p->lock);
    bool unwanted = piece->unwanted || p->over;
    pthread_mutex_unlock(&p->lock);
    return unwanted;
}

static ntr_status read_events(ntr_worker *w, ntr_piece *piece) {
    const ntr_parallel_work *work = &w->parallel->config.work;
    ntr_event events[EVENTS_AT_ONCE];
    ntr_status status = NTR_OK, taken = NTR_OK;
    for (unsigned turn = 0; status == NTR_OK; turn++) {
        size_t count = 0;
        status = ntr_decoder_read(w->decoder, events, EVENTS_AT_ONCE, &count);
        if (count && work->events) taken = work->events(w->maker, piece, events, count);
        if (taken != NTR_OK) return taken;
        if (turn % 16 == 15 && is_unwanted(piece)) return NTR_E_STATE;
    }
    return status;
}

static ntr_status told(void *user, const ntr_event *event, const ntr_context *context, uint64_t times) {
    ntr_worker *w = user;
    return w->parallel->config.work.told(w->maker, event, context, times);
}

static ntr_status settle(ntr_worker *w) {
    bool told = w->parallel->config.counting && w->parallel->config.work.told;
    return told ? ntr_decoder_settle(w->decoder) : NTR_OK;
}

/* Decode what lies between two places of the piece, which end with messages or the piece. */
static ntr_status read_some(ntr_worker *w, ntr_piece *piece, const uint8_t *data, size_t size, bool last, ntr_counts *counts) {
    ntr_status status = ntr_decoder_feed(w->decoder, data, size, last);
    if (status != NTR_OK) return status;
    return w->parallel->config.counting ? ntr_decoder_count(w->decoder, counts) : read_events(w, piece);
}

/* The piece; its keys tell what lies between the messages of the seam. */
static ntr_status read_piece(ntr_worker *w, ntr_piece *piece) {
    ntr_status status = NTR_NEED_MORE;
    size_t at = 0;
    for (size_t i = 0; i < piece->seam.count && status == NTR_NEED_MORE; i++) {
        size_t to = piece->seam.messages[i].offset;
        piece->into->key = 2 * (uint32_t)i;
        status = read_some(w, piece, piece->data + at, to - at, false, &piece->counts);
        at = to;
    }
    if (status != NTR_NEED_MORE) return status;
    piece->into->key = 2 * (uint32_t)piece->seam.count;
    status = read_some(w, piece, piece->size ? piece->data + at : NULL, piece->size - at, piece->last, &piece->counts);
    ntr_status settled = status < 0 ? NTR_OK : settle(w);
    return settled == NTR_OK ? status : settled;
}

/* The next piece's seam: its messages alone. Their bytes are counted in the piece they lie in. */
static ntr_status read_seam(ntr_worker *w, ntr_piece *piece, const ntr_piece *next) {
    ntr_status status = NTR_NEED_MORE;
    uint64_t begin = ntr_baton_offset(next->start);
    for (size_t i = 0; i < next->seam.count && status == NTR_NEED_MORE; i++) {
        const ntr_seam_message *m = &next->seam.messages[i];
        const ntr_baton_place place = {.offset = begin + m->offset, .number = m->number - 1};
        ntr_baton_move(w->decoder, &place);
        piece->into->key = 2 * (uint32_t)i + 1;
        status = read_some(w, piece, next->data + m->offset, m->size, false, &piece->seam_counts);
    }
    piece->seam_counts.messages = piece->seam_counts.bytes = 0;
    ntr_status settled = status < 0 ? NTR_OK : settle(w);
    return settled == NTR_OK ? status : settled;
}

static void tell_sources(const ntr_worker *w, const ntr_baton *start) {
    uint16_t src;
    ntr_context context;
    for (size_t i = 0; ntr_baton_source(start, i, &src, &context); i++)
        w->parallel->config.work.source(w->maker, src, &context);
}

static ntr_status end(ntr_worker *w, ntr_piece *piece, ntr_status status) {
    const ntr_parallel_work *work = &w->parallel->config.work;
    ntr_status ended = work->end ? work->end(w->maker, piece) : NTR_OK;
    return status >= 0 && ended != NTR_OK ? ended : status;
}

static ntr_status decode(ntr_worker *w, ntr_piece *piece, const ntr_baton *start) {
    const ntr_parallel_work *work = &w->parallel->config.work;
    ntr_status status = ntr_baton_give(w->decoder, start);
    if (status != NTR_OK) return status;
    if (work->begin) work->begin(w->maker, piece);
    if (work->source) tell_sources(w, start);
    return end(w, piece, read_piece(w, piece));
}

/* What is known at the end of the piece, and where sources join the next. */
static ntr_status look_behind(ntr_worker *w, ntr_piece *piece, ntr_baton **end_, ntr_baton **joined) {
    const ntr_piece *next = ntr_piece_behind(piece);
    *end_ = ntr_baton_take(w->decoder);
    if (!*end_) return NTR_E_MEMORY;
    if (piece->last || !next->seam.count) return NTR_OK;
    piece->into = &piece->seamed;
    ntr_status status = end(w, piece, read_seam(w, piece, next));
    if (status < 0) return status;
    *joined = ntr_baton_take(w->decoder);
    return *joined ? NTR_OK : NTR_E_MEMORY;
}

/* ---- threads */

static ntr_piece *find_piece(const ntr_parallel *p) {
    for (uint64_t i = p->head; i < p->sent; i++) {
        ntr_piece *piece = ntr_piece_at(p, i);
        if (piece->state == NTR_PIECE_WAITING && piece->start) return piece;
    }
    return NULL;
}

/* Called, and returns, with the lock held. */
static void work_on(ntr_worker *w, ntr_piece *piece) {
    ntr_parallel *p = w->parallel;
    piece->state = NTR_PIECE_RUNNING;
    piece->ahead = !piece->head;
    piece->counts = piece->seam_counts = (ntr_counts){0};
    piece->refused = NTR_OK;
    piece->into = &piece->making;
    const ntr_baton *start = piece->start;
    pthread_mutex_unlock(&p->lock);

    ntr_status status = decode(w, piece, start);
    ntr_baton *behind = NULL, *joined = NULL;
    if (status >= 0) status = look_behind(w, piece, &behind, &joined);

    pthread_mutex_lock(&p->lock);
    ntr_made_move(&piece->made, &piece->making);
    piece->end = behind;
    piece->joined = joined;
    piece->status = status;
    piece->state = NTR_PIECE_DONE;
    pthread_cond_signal(&p->news);
}

static void *run(void *user) {
    ntr_worker *w = user;
    ntr_parallel *p = w->parallel;
    pthread_mutex_lock(&p->lock);
    while (!p->over) {
        ntr_piece *piece = find_piece(p);
        if (piece)
            work_on(w, piece);
        else
            pthread_cond_wait(&p->work, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Signals are for the caller's thread. */
static bool start_thread(ntr_worker *w) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    w->runs = pthread_create(&w->thread, NULL, run, w) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return w->runs;
}

static ntr_status start(ntr_parallel *p, ntr_worker *w) {
    const ntr_parallel_work *work = &p->config.work;
    ntr_status status;
    w->parallel = p;
    w->decoder = ntr_decoder_new(&p->config.decoder, &status);
    if (!w->decoder) return status;
    w->maker = work->maker_new ? work->maker_new(work->user) : work->user;
    if (work->maker_new && !w->maker) return NTR_E_MEMORY;
    if (p->config.counting && work->told) ntr_decoder_tell(w->decoder, told, w);
    return start_thread(w) ? NTR_OK : NTR_E_LIMIT;
}

ntr_status ntr_workers_start(ntr_parallel *p) {
    ntr_status status = NTR_OK;
    unsigned i;
    for (i = 0; i < p->worker_count && status == NTR_OK; i++) status = start(p, &p->workers[i]);
    return status == NTR_E_LIMIT && i > 1 ? NTR_OK : status; /* some are enough */
}

void ntr_workers_end(ntr_parallel *p) {
    pthread_mutex_lock(&p->lock);
    p->over = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->worker_count; i++) {
        ntr_worker *w = &p->workers[i];
        if (w->runs) pthread_join(w->thread, NULL);
        ntr_decoder_free(w->decoder);
        if (w->maker && p->config.work.maker_free) p->config.work.maker_free(w->maker);
    }
}
