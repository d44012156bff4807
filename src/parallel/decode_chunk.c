/* What a thread does with a chunk: it decodes the bytes, and the pre-sync messages of the next chunk (splitter.h), and
 * takes the states behind both. With `finish`, spans are counted late: see late_counts.c. */
#include "parallel/decode_chunk.h"

enum { EVENTS_AT_ONCE = 192 }; /* 21 KB: they stay in the first-level cache */

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
    const ntr_parallel_work *work = &w->parallel->config.work;
    if (w->discarding || (w->taking_back && event->kind != NTR_EVENT_SPAN)) return NTR_OK;
    w->reports++;
    ntr_status status = work->count_callback(w->thread_data, event, w->taking_back ? 0 - times : times);
    /* A chunk that is counted late is counted to its end: nothing else can be taken back. */
    return work->finish && status == NTR_E_STATE ? NTR_OK : status;
}

static bool same_function(void *user, const ntr_context *context, uint64_t position, const uint64_t *addresses,
                          size_t count) {
    const ntr_worker *w = user;
    const ntr_parallel_work *work = &w->parallel->config.work;
    return (work->join ? work->join : work->divide)(w->thread_data, context, position, addresses, count);
}

/* Returns whether spans are counted: alone, or beside joined spans. */
static bool is_counting(const ntr_parallel_config *config) {
    return config->work.count_callback && (config->counting || config->work.join);
}

static ntr_status flush_counts(ntr_worker *w) {
    const bool late = w->parallel->config.work.finish != NULL;
    return is_counting(&w->parallel->config) && !late ? ntr_decoder_flush_counts(w->decoder) : NTR_OK;
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

/* Decode a part of the chunk, between two message boundaries. */
static ntr_status read_some(ntr_worker *w, ntr_chunk *chunk, const uint8_t *data, size_t size, bool last,
                            ntr_counts *counts) {
    ntr_status status = ntr_decoder_feed(w->decoder, data, size, last);
    if (status != NTR_OK) return status;
    return w->parallel->config.counting ? ntr_decoder_count(w->decoder, counts) : read_events(w, chunk);
}

/* The keys of the output are even: see deliver.c. */
ntr_status ntr_chunk_read(ntr_worker *w, ntr_chunk *chunk) {
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

/* The bytes of the messages are counted in the chunk that contains them. */
ntr_status ntr_chunk_read_pre_sync(ntr_worker *w, ntr_chunk *chunk, const ntr_chunk *next, uint64_t begin) {
    ntr_status status = NTR_NEED_MORE;
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

ntr_status ntr_chunk_decode(ntr_worker *w, ntr_chunk *chunk, const ntr_snapshot *start) {
    const ntr_parallel_work *work = &w->parallel->config.work;
    ntr_status status = ntr_snapshot_restore(w->decoder, start);
    if (status != NTR_OK) return status;
    if (work->begin) work->begin(w->thread_data, chunk);
    return end(w, chunk, ntr_chunk_read(w, chunk));
}

ntr_status ntr_chunk_finish(ntr_worker *w, ntr_chunk *chunk, ntr_snapshot **behind, ntr_snapshot **after_pre_sync) {
    const ntr_chunk *next = ntr_chunk_next(chunk);
    *behind = ntr_snapshot_take(w->decoder);
    if (!*behind) return NTR_E_MEMORY;
    if (chunk->last || chunk->alone || !next->pre_sync.count) return NTR_OK;
    chunk->target = &chunk->pre_sync_output;
    chunk->counted_next = true;
    ntr_status status = end(w, chunk, ntr_chunk_read_pre_sync(w, chunk, next, ntr_snapshot_offset(next->start)));
    if (status < 0) return status;
    *after_pre_sync = ntr_snapshot_take(w->decoder);
    return *after_pre_sync ? NTR_OK : NTR_E_MEMORY;
}

void ntr_chunk_discard_counts(ntr_worker *w) {
    w->discarding = true;
    flush_counts(w);
    w->discarding = false;
}

void ntr_worker_set_callbacks(ntr_worker *w) {
    const ntr_parallel_config *config = &w->parallel->config;
    if (!config->counting) ntr_decoder_set_repeats(w->decoder, config->work.repeats);
    if (is_counting(config)) ntr_decoder_set_count_callback(w->decoder, count_callback, w);
    if (config->counting) return;
    if (config->work.divide) ntr_decoder_set_division(w->decoder, same_function, w);
    if (!config->work.join) return;
    ntr_decoder_set_join(w->decoder, same_function, w);
    ntr_decoder_set_join_except(w->decoder, config->work.join_except);
}
