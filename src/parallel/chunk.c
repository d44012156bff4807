#include "parallel/late_counts.h"

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
