/* Spans that are counted late (ntr_parallel_work.finish). */
#ifndef NTR_PARALLEL_LATE_COUNTS_H
#define NTR_PARALLEL_LATE_COUNTS_H

#include "parallel/state.h"

static inline bool ntr_counts_late(const ntr_parallel *p) {
    return p->config.work.finish != NULL;
}

/* The chunk is about to be decoded from another start, or once more. If a thread has decoded it, its counts are to be
 * taken back. The lock is held, and no thread decodes the chunk. */
void ntr_late_counts_mark(ntr_chunk *chunk);

/* The same for its pre-sync messages, which the chunk before has counted. Before `start` is replaced. */
void ntr_late_counts_mark_pre_sync(ntr_chunk *chunk);

/* Free what ntr_late_counts_mark has kept. */
void ntr_late_counts_forget(ntr_chunk *chunk);

/* In a worker thread that is about to decode the chunk: take the marked counts back. Errors: NTR_E_MEMORY. */
ntr_status ntr_late_counts_take_back(ntr_worker *w, ntr_chunk *chunk);

/* In the caller's thread, while no thread decodes: report all counts, and call `finish` for each thread. Errors: those
 * of the callbacks. */
ntr_status ntr_late_counts_finish(ntr_parallel *p);

#endif
