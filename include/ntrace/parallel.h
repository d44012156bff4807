/* Decoding one stream with many threads.
 *
 * The stream is cut in pieces, behind synchronizing messages where there are any; of several sources each has to have
 * one. Behind it, all that is left to know of a source (contexts, time) is guessed from what the messages before it
 * say, so that its piece can be decoded before the pieces in front of it are. When those are, the guess is compared
 * with what is true then; a piece that was guessed wrong is decoded again. So the outcome is that of one thread,
 * whatever the stream holds; how much of it was decoded side by side, ntr_parallel_stats tells.
 *
 * What threads make of events is put into their piece, and handed on in the order of the stream. Memory is bounded: so
 * many pieces are in work, and a thread that has made too much waits for its turn. */
#ifndef NTRACE_PARALLEL_H
#define NTRACE_PARALLEL_H

#include <ntrace/config.h>
#include <ntrace/decoder.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_parallel ntr_parallel;
typedef struct ntr_chunk ntr_chunk;

/* What each thread does with events; all but `deliver` is called in threads, with that thread's own `maker`. */
typedef struct ntr_parallel_work {
    /* In the caller's thread, before and after everything, once a thread. NULL: `user` itself, for all of them. */
    void *(*thread_data_new)(void *user); /* NULL: out of memory */
    void (*thread_data_free)(void *thread_data);

    /* A chunk begins. May be NULL. After its `end`, messages of the next chunk that this thread decodes, too, may
     * follow, and another `end`. */
    void (*begin)(void *thread_data, ntr_chunk *chunk);

    /* Reading (`counting` false): as ntr_decoder_read gave them. */
    ntr_status (*events)(void *thread_data, ntr_chunk *chunk, const ntr_event *events, size_t count);
    /* Counting: see ntr_decoder_set_count_callback; NULL: only totals are wanted. */
    ntr_count_callback *count_callback;

    /* The piece ends; the last chance to put something. May be NULL. */
    ntr_status (*end)(void *thread_data, ntr_chunk *chunk);

    /* In one thread at a time, but in any: what was put, in the order of the stream and in whole parts as they were
     * put, several at once if they have the same `what`. Anything but NTR_OK ends the decoding with it. */
    ntr_status (*deliver)(void *user, unsigned what, const void *data, size_t size);
    void *user;
} ntr_parallel_work;

typedef struct ntr_parallel_config {
    size_t size;                       /* sizeof(ntr_parallel_config) */
    const ntr_decoder_config *decoder; /* copied; its program and allocator are used by all threads at once */
    unsigned threads;                  /* 0: as many as there are processors for this process */
    bool counting;
    size_t chunk;                      /* bytes of a chunk at least; 0: chosen by the library */
    ntr_parallel_work work;            /* last: it may grow with this struct */
} ntr_parallel_config;

NTR_DEFINE_CONFIG_INIT(ntr_parallel_config)

/* Errors (*status, may be NULL): as ntr_decoder_new; NTR_E_LIMIT: no more threads. */
NTR_API ntr_parallel *ntr_parallel_new(const ntr_parallel_config *config, ntr_status *status);
NTR_API void ntr_parallel_free(ntr_parallel *parallel);

/* Decode the next span; it is kept, so it need not live on. What is ready is delivered meanwhile; with `last`,
 * everything is. NTR_NEED_MORE, or NTR_END after the last span. Errors: as ntr_decoder_read, and whatever a callback
 * returned; then it is over. */
NTR_API ntr_status ntr_parallel_feed(ntr_parallel *parallel, const uint8_t *data, size_t size, bool last);

/* Counting: the totals of what was delivered. */
NTR_API const ntr_counts *ntr_parallel_counts(const ntr_parallel *parallel);

/* In a thread: put something into the piece in hand. `what` is the caller's. Errors: NTR_E_MEMORY; NTR_E_STATE: the
 * piece is not wanted any more. Return them. */
NTR_API ntr_status ntr_chunk_put(ntr_chunk *chunk, unsigned what, const void *data, size_t size);

/* The same without a copy: room for what is to be put, at least `least` bytes, *room of them; it stays one part. NULL:
 * nothing can be put any more, for the reason that ntr_chunk_status tells. ntr_chunk_used puts so many of them: before
 * anything else is put, and before the callback returns. */
NTR_API void *ntr_chunk_room(ntr_chunk *chunk, unsigned what, size_t least, size_t *room);
NTR_API void ntr_chunk_used(ntr_chunk *chunk, size_t size);
NTR_API ntr_status ntr_chunk_status(const ntr_chunk *chunk);

/* How it went. */
typedef struct ntr_parallel_stats {
    unsigned threads;
    uint64_t chunks;       /* delivered, the first one included */
    uint64_t ahead;        /* of them, were decoded before the piece in front of them was */
    uint64_t without_sync; /* could not, for want of a synchronizing message */
    uint64_t many_sources; /* could not, because not every source of the stream has one there */
    uint64_t guessed_wrong;
    uint64_t reserved[4]; /* must be 0; for later members */
} ntr_parallel_stats;

NTR_API void ntr_parallel_get_stats(const ntr_parallel *parallel, ntr_parallel_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
