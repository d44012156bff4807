/* Decoding of a chunk in a worker thread, without the lock. */
#ifndef NTR_PARALLEL_DECODE_CHUNK_H
#define NTR_PARALLEL_DECODE_CHUNK_H

#include "parallel/state.h"

/* Prepare the decoder of a new worker for the caller's callbacks. */
void ntr_worker_set_callbacks(ntr_worker *w);

/* Decode the chunk from this state, with the caller's `begin` and `end`. Errors: as ntr_decoder_read, and those of the
 * callbacks. */
ntr_status ntr_chunk_decode(ntr_worker *w, ntr_chunk *chunk, const ntr_snapshot *start);

/* After it: take the state at the end of the chunk, and after the next chunk's pre-sync messages. *after_pre_sync
 * remains NULL without such messages. Errors: NTR_E_MEMORY, and as above. */
ntr_status ntr_chunk_finish(ntr_worker *w, ntr_chunk *chunk, ntr_snapshot **behind, ntr_snapshot **after_pre_sync);

/* The chunk is not needed any more: forget what the counting decode has collected in it. No effect when spans are
 * counted late. */
void ntr_chunk_discard_counts(ntr_worker *w);

/* ---- for late_counts.c: without `begin` and `end`. Errors: as ntr_decoder_count. */

/* Decode the bytes of the chunk from the state that the decoder has. */
ntr_status ntr_chunk_read(ntr_worker *w, ntr_chunk *chunk);

/* Decode the pre-sync messages of the next chunk, which begins at this offset of the stream. */
ntr_status ntr_chunk_read_pre_sync(ntr_worker *w, ntr_chunk *chunk, const ntr_chunk *next, uint64_t begin);

#endif
