/* Spans that are counted late.
 *
 * Idea: a decoder that counts spans (ntr_decoder_set_count_callback) is fast because it keeps the counts of messages
 * and blocks, and reports them seldom. To report them at the end of each chunk, all its tables are read, and each
 * message in them is decoded once more; for chunks of 256 KiB that is more work than the chunk. So each thread keeps
 * its counts over all its chunks, and reports them at the end of the stream.
 *
 * A chunk whose guess was wrong, or that was put back, has been counted then, and its counts are mixed with those of
 * other chunks. They are taken back: the thread that gets the chunk decodes it once more from the same wrong start, and
 * reports the counts of this decoding with the opposite sign. The sums are modulo 2^64, so it does not matter that
 * another thread has counted the chunk. For this a chunk that was begun is always counted to its end.
 *
 * Invariant: after `finish` of all threads, the sums of all reports are those of the chunks that were delivered.
 *
 * Example: thread 1 counts chunk 5 from a wrong guess: span A 10 times. Thread 2 gets chunk 5 when the truth is known.
 * It reports A 2^64 - 10 times, decodes the chunk from its true start, and counts A 12 times. The sum is 12. */
#include "parallel/late_counts.h"
#include "parallel/decode_chunk.h"

/* Returns whether a chunk with this status was not counted to its end, or to its first defect. */
static bool is_cut(ntr_status status) {
    return status == NTR_E_MEMORY || status == NTR_E_STOPPED;
}

void ntr_late_counts_mark(ntr_chunk *chunk) {
    ntr_parallel *p = chunk->parallel;
    if (!ntr_counts_late(p) || chunk->state != NTR_CHUNK_DONE) return;
    chunk->counted_from = chunk->start;
    if (is_cut(chunk->status) && p->status == NTR_OK) p->status = chunk->status;
}

void ntr_late_counts_mark_pre_sync(ntr_chunk *chunk) {
    if (!ntr_counts_late(chunk->parallel) || !chunk->pre_sync.count) return;
    chunk->counted_before = true;
    chunk->counted_at = ntr_snapshot_offset(chunk->start);
}

void ntr_late_counts_forget(ntr_chunk *chunk) {
    if (chunk->counted_from != chunk->start) ntr_snapshot_free(chunk->counted_from, chunk->parallel->decoder.allocator);
    chunk->counted_from = NULL;
    chunk->counted_before = chunk->counted_next = false;
}

/* Decode again what was counted. A defect at which decoding ended ends it again. */
static ntr_status count_again(ntr_worker *w, ntr_chunk *chunk) {
    ntr_status status = NTR_OK;
    if (chunk->counted_from) status = ntr_chunk_read(w, chunk);
    if (status >= 0 && chunk->counted_from && chunk->counted_next) {
        const ntr_chunk *next = ntr_chunk_next(chunk);
        status = ntr_chunk_read_pre_sync(w, chunk, next, ntr_snapshot_offset(next->start));
    }
    if (is_cut(status) || !chunk->counted_before) return status;
    status = ntr_snapshot_restore(w->decoder, chunk->start); /* the state in which the chunk before has ended */
    return status == NTR_OK ? ntr_chunk_read_pre_sync(w, chunk, chunk, chunk->counted_at) : status;
}

ntr_status ntr_late_counts_take_back(ntr_worker *w, ntr_chunk *chunk) {
    if (!chunk->counted_from && !chunk->counted_before) return NTR_OK;
    const ntr_snapshot *start = chunk->counted_from ? chunk->counted_from : chunk->start;
    ntr_status status = ntr_snapshot_restore(w->decoder, start);
    if (status == NTR_OK) status = ntr_decoder_flush_counts(w->decoder); /* the counts of other chunks */
    if (status != NTR_OK) return status;
    w->taking_back = true;
    status = count_again(w, chunk);
    if (!is_cut(status)) status = ntr_snapshot_restore(w->decoder, chunk->start); /* ends a failure of the decoder */
    if (status == NTR_OK) status = ntr_decoder_flush_counts(w->decoder);
    w->taking_back = false;
    if (chunk->counted_before) chunk->pre_sync.count = 0;
    ntr_late_counts_forget(chunk);
    return status;
}

ntr_status ntr_late_counts_finish(ntr_parallel *p) {
    ntr_snapshot *begin = ntr_snapshot_take(p->splitter.scratch);
    ntr_status status = begin ? NTR_OK : NTR_E_MEMORY;
    for (unsigned i = 0; i < p->started && status == NTR_OK; i++) {
        ntr_worker *w = &p->workers[i];
        status = ntr_snapshot_restore(w->decoder, begin); /* ends a failure in a chunk with a wrong guess */
        if (status == NTR_OK) status = ntr_decoder_flush_counts(w->decoder);
        if (status == NTR_OK) status = p->config.work.finish(w->thread_data);
    }
    ntr_snapshot_free(begin, p->decoder.allocator);
    return status;
}

static void drop_result(ntr_chunk *chunk) {
    const ntr_allocator *allocator = chunk->parallel->decoder.allocator;
    ntr_snapshot_free(chunk->end, allocator);
    ntr_snapshot_free(chunk->after_pre_sync, allocator);
    ntr_chunk_output_drop(&chunk->output, &chunk->parallel->parts);
    ntr_chunk_output_drop(&chunk->local_output, &chunk->parallel->parts);
    ntr_chunk_output_drop(&chunk->pre_sync_output, &chunk->parallel->parts);
}

void ntr_chunk_restart(ntr_chunk *chunk) {
    ntr_late_counts_mark(chunk);
    drop_result(chunk);
    chunk->end = chunk->after_pre_sync = NULL;
    chunk->put_back = chunk->ahead = false;
    chunk->state = NTR_CHUNK_WAITING;
}

void ntr_chunk_clear(ntr_chunk *chunk) {
    const ntr_allocator *allocator = chunk->parallel->decoder.allocator;
    drop_result(chunk);
    ntr_late_counts_forget(chunk);
    ntr_snapshot_free(chunk->start, allocator);
    ntr_snapshot_free(chunk->before, allocator);
    const ntr_pre_sync empty = {.messages = chunk->pre_sync.messages, .capacity = chunk->pre_sync.capacity};
    *chunk = (ntr_chunk){.parallel = chunk->parallel, .data = chunk->data, .room = chunk->room, .pre_sync = empty};
}
