/* Further output of chunks, for the functions of an ntr_parallel_work: without a copy, and of chunks that are decoded
 * again; and how well a stream could be divided. */
#ifndef NTRACE_CHUNK_OUTPUT_H
#define NTRACE_CHUNK_OUTPUT_H

#include <ntrace/parallel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ntr_chunk_put without a copy: returns space for at least `least` bytes, *room of them, which is delivered in one
 * piece. NULL when nothing can be put; ntr_chunk_status returns why. ntr_chunk_used puts the first `size` bytes; call
 * it before other output is put and before the callback returns. */
NTR_API void *ntr_chunk_room(ntr_chunk *chunk, unsigned what, size_t least, size_t *room);
NTR_API void ntr_chunk_used(ntr_chunk *chunk, size_t size);
NTR_API ntr_status ntr_chunk_status(const ntr_chunk *chunk);

/* In a worker thread: returns whether the chunk is decoded again because `deliver` has asked for it. */
NTR_API bool ntr_chunk_again(const ntr_chunk *chunk);

/* Statistics. */
typedef struct ntr_parallel_stats {
    unsigned threads;
    uint64_t chunks; /* chunks delivered */
    uint64_t ahead; /* of them, begun before the chunk before was done */
    uint64_t without_sync; /* not begun early: no synchronizing message to begin at */
    uint64_t many_sources; /* not begun early: not every source synchronizes in the chunk */
    /* begun early, but decoded again because the guess was wrong */
    uint64_t guessed_wrong;
    uint64_t reserved[4]; /* must be 0; for later members */
} ntr_parallel_stats;

NTR_API void ntr_parallel_stats_get(const ntr_parallel *parallel, ntr_parallel_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
