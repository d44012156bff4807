/* Decoding one stream with several threads.
 *
 * The stream is cut into chunks, after synchronizing messages where possible. In a chunk with several sources, each of
 * them must synchronize. The state at the beginning of a chunk (address, context, time) is guessed from the messages
 * before it, so that the chunk can be decoded before the earlier chunks are. When these are done, the guess is compared
 * with the true state; a chunk with a wrong guess is decoded again. So the result is always that of one thread; only
 * the speed-up depends on the stream (ntr_parallel_stats).
 *
 * Each thread turns the events of its chunk into output (ntr_chunk_put), which is delivered in the order of the stream.
 * Memory is bounded: the number of chunks is fixed, and a thread with too much output waits for its turn. When the
 * first chunk needs that thread, its chunk is dropped and decoded again later (NTR_E_STATE, see ntr_chunk_put). */
#ifndef NTRACE_PARALLEL_H
#define NTRACE_PARALLEL_H

#include <ntrace/config.h>
#include <ntrace/decoder.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_parallel ntr_parallel;
typedef struct ntr_chunk ntr_chunk;

/* What the threads do with events. All functions except `deliver` are called in a worker thread, with the data of that
 * thread. */
typedef struct ntr_parallel_work {
    /* Called in the caller's thread, once for each worker: at the beginning and at the end. NULL: all threads get
     * `user`. */
    void *(*thread_data_new)(void *user); /* returns NULL when out of memory */
    void (*thread_data_free)(void *thread_data);

    /* A chunk begins; may be NULL. After `end`, the thread may get events of messages of the next chunk, and another
     * `end`. */
    void (*begin)(void *thread_data, ntr_chunk *chunk);

    /* Events, as returned by ntr_decoder_read. Not called with `counting`. With `join`, also all spans are reported to
     * `count_callback`, unless it is NULL. */
    ntr_status (*events)(void *thread_data, ntr_chunk *chunk, const ntr_event *events, size_t count);
    /* Called with `counting`: see ntr_decoder_set_count_callback. NULL: only totals are wanted. */
    ntr_count_callback *count_callback;

    /* The chunk ends: the last chance to put output. May be NULL. */
    ntr_status (*end)(void *thread_data, ntr_chunk *chunk);

    /* Receives the output in the order of the stream, in complete pieces as they were put; several pieces with the same
     * `what` may come at once. Called by one thread at a time, but by any thread. NTR_NEED_MORE, for the first piece of
     * a chunk for which ntr_chunk_again is false: the output of the chunk is dropped, and it is decoded again. Another
     * return value than NTR_OK ends decoding with that status. */
    ntr_status (*deliver)(void *user, unsigned what, const void *data, size_t size);
    void *user;

    /* Without `counting`: spans are joined (ntr_decoder_set_join; called with the data of the thread). The instructions
     * of a source that were not returned at the end of a chunk are a span of their own. NULL: every span is returned.
     */
    ntr_same_function *join;

    /* With `counting` only; NULL: the spans of a chunk are reported before its `end`. Otherwise spans are reported
     * late, which is faster where chunks have much code in common: to `count_callback` with the data of any thread, at
     * any time up to `finish`. A chunk may be reported that has to be decoded again; its spans are then reported once
     * more with the negative number of times (modulo 2^64), also with the data of another thread. In `finish` the sums
     * over all threads are those of the chunks that were delivered. It is called in the caller's thread, for one thread
     * after the other, after all output was delivered; no output can be put. Other events are reported as without
     * `finish`. `deliver` must not return NTR_NEED_MORE. */
    ntr_status (*finish)(void *thread_data);

    /* For ntr_parallel_run: reads the next bytes of the stream, up to `capacity`, sets *got, and *last when no bytes
     * follow. Called by one thread at a time, but by any worker thread, with `user`. NTR_NEED_MORE: the input ends
     * here, before the end of the stream. Another return value than NTR_OK ends decoding with that status. */
    ntr_status (*read)(void *user, uint8_t *to, size_t capacity, size_t *got, bool *last);

    unsigned join_except; /* with `join`: ntr_decoder_set_join_except */
    bool repeats; /* without `counting`: ntr_decoder_set_repeats */

    /* Without `counting` and `join`: spans end where functions change (ntr_decoder_set_division; called with the data
     * of the thread). May be NULL. */
    ntr_same_function *divide;
} ntr_parallel_work;

typedef struct ntr_parallel_config {
    size_t size; /* sizeof(ntr_parallel_config) */
    const ntr_decoder_config *decoder; /* copied; its program and allocator are used by all threads */
    unsigned threads; /* 0: the number of processors available to this process */
    bool counting;
    size_t chunk; /* minimum size of a chunk in bytes; 0: chosen by the library */
    ntr_parallel_work work; /* last: it may grow with this struct */
} ntr_parallel_config;

NTR_DEFINE_CONFIG_INIT(ntr_parallel_config)

/* Returns the number of processors that this process may use, at least 1. */
NTR_API unsigned ntr_processors(void);

/* Makes a parallel decoder. Errors: as ntr_decoder_new; NTR_E_INVALID without `deliver`, or with `finish` and
 * without `counting`; NTR_E_LIMIT when no thread can be created. */
NTR_API ntr_status ntr_parallel_new(const ntr_parallel_config *config, ntr_parallel **out);
NTR_API void ntr_parallel_free(ntr_parallel *parallel);

/* Give the next bytes of the stream. They are copied. Output that is ready is delivered meanwhile; with `last`, all
 * output. Returns NTR_NEED_MORE, or NTR_END after the last bytes. Errors: as ntr_decoder_read, and those of the
 * callbacks; NTR_E_STOPPED when ntr_decoder_config.proceed has returned false. Decoding cannot continue then. */
NTR_API ntr_status ntr_parallel_feed(ntr_parallel *parallel, const uint8_t *data, size_t size, bool last);

/* Decode the whole stream, which `read` returns: instead of ntr_parallel_feed, and faster. The threads read: the bytes
 * are decoded by the thread in whose cache they are. Returns NTR_END, or NTR_NEED_MORE after `read` has returned it;
 * all output of the bytes up to the last place where the stream can be cut is then delivered. Errors: as
 * ntr_parallel_feed; NTR_E_INVALID without `read`. With `read`, ntr_parallel_feed returns NTR_E_INVALID. */
NTR_API ntr_status ntr_parallel_run(ntr_parallel *parallel);

/* End decoding before the end of the stream: deliver what was cut into chunks so far. Returns NTR_END. Errors: as
 * ntr_parallel_feed. */
NTR_API ntr_status ntr_parallel_stop(ntr_parallel *parallel);

/* Returns a sentence that says why ntr_parallel_feed failed: that of ntr_decoder_error when a thread could not decode,
 * otherwise the text of the status. "" while nothing has failed. Valid until ntr_parallel_free. */
NTR_API const char *ntr_parallel_error(const ntr_parallel *parallel);

/* With `counting`: returns the totals of the chunks delivered so far. */
NTR_API const ntr_counts *ntr_parallel_counts(const ntr_parallel *parallel);

/* In a worker thread: put output for the current chunk. `what` is a number of the caller's choice, passed to `deliver`.
 * Errors: NTR_E_MEMORY; NTR_E_STATE: the chunk is not needed any more. The callback must return them. */
NTR_API ntr_status ntr_chunk_put(ntr_chunk *chunk, unsigned what, const void *data, size_t size);

#ifdef __cplusplus
}
#endif
#endif
