/* Parallel decoding: the private state, shared by the files of src/parallel.
 *
 * Idea: the stream is cut into chunks, by the caller's thread or by the worker threads (cut.c), and the state at the
 * beginning of each is guessed (splitter.h, decoder/snapshot.h). Worker threads decode the chunks of a ring at the same
 * time, and keep their output (chunk_output.h). Output is delivered in order, after the guesses were compared with the
 * true states (deliver.c).
 *
 * Invariant: chunks before `head` are delivered and free; [head, sent) can be decoded; `tail` is being filled. The head
 * starts from a true state. Example, with 2 threads: chunk 5 is the head and half delivered, 6 is running from a guess,
 * 7 is done and waits, 8 waits for the pre-sync messages of 9, which is being filled: head 5, sent 8, tail 9. */
#ifndef NTR_PARALLEL_STATE_H
#define NTR_PARALLEL_STATE_H

#include <ntrace/chunk_output.h>
#include <pthread.h>

#include "decoder/snapshot.h"
#include "parallel/splitter.h"
#include "parallel/chunk_output.h"

typedef enum ntr_chunk_state {
    NTR_CHUNK_WAITING = 0, /* for a thread, or for its start state */
    NTR_CHUNK_RUNNING,
    NTR_CHUNK_DONE,
} ntr_chunk_state;

struct ntr_chunk {
    ntr_parallel *parallel;
    uint8_t *data;
    size_t size, room;
    bool last;             /* last chunk of the stream */
    bool alone;            /* the next chunk has no pre-sync messages */
    bool guessed;          /* `start` was a guess when the chunk was cut */
    bool many_sources;     /* no guess because of the other sources */
    uint64_t number_shift; /* ntr_splitter.number_shift at that time */
    ntr_pre_sync pre_sync; /* messages of this chunk that the chunk before decodes; empty without a guess */

    /* Protected by the lock. */
    uint8_t state;  /* ntr_chunk_state */
    bool cancelled; /* the guess was wrong: stop decoding */
    bool put_back;  /* the head needs the thread: stop decoding, to be decoded again later (schedule.c) */
    bool again;     /* `deliver` has refused the output: it is decoded again */
    bool waits_for_room; /* its thread waits: it holds too much output */
    bool head;      /* everything before is delivered */
    bool ahead;     /* was begun before it became the head */
    ntr_snapshot *start, *end;
    ntr_snapshot *after_pre_sync; /* state after the next chunk's pre-sync messages; NULL: the same as `end` */
    ntr_snapshot *before;         /* true start state, when `start` is a guess that matches it */
    ntr_chunk_output output;      /* ready to be delivered */
    ntr_status status;

    /* Used only by the thread that decodes the chunk. */
    ntr_chunk_output local_output;
    ntr_chunk_output pre_sync_output; /* of the next chunk's pre-sync messages */
    ntr_chunk_output *target;         /* points to one of the two */
    ntr_counts counts, pre_sync_counts;
    uint64_t reports; /* calls of the count callback */
    size_t put;            /* bytes of output so far */
    ntr_status put_status; /* why ntr_chunk_put fails */
    /* With late counts (late_counts.h): */
    ntr_snapshot *counted_from; /* counts from this start are to be taken back; may be the same as `start` */
    bool counted_next;          /* the next chunk's pre-sync messages were counted, too */
    bool counted_before;        /* counts of the pre-sync messages of this chunk are to be taken back, */
    uint64_t counted_at;        /* which began at this offset of the stream */
    char error[NTR_DECODER_ERROR_SIZE]; /* ntr_decoder_error when decoding the chunk failed */
};

/* Each report of a count changes the worker of its thread: `apart` keeps the workers of two threads out of one cache
 * line, and out of two that are fetched together. */
typedef struct ntr_worker {
    ntr_parallel *parallel;
    ntr_decoder *decoder;
    void *thread_data;
    pthread_t thread;
    bool started;
    uint64_t reports; /* calls of the count callback for the chunk */
    bool discarding;  /* the count callback is not called, */
    bool taking_back; /* or with the opposite sign (late_counts.c) */
    uint8_t apart[128];
} ntr_worker;

struct ntr_parallel {
    ntr_parallel_config config;
    ntr_decoder_config decoder; /* config of the decoder of each thread */
    ntr_splitter splitter;
    size_t scanned;     /* bytes of the current chunk that the splitter has scanned */
    size_t wanted;      /* minimum size of the current chunk in bytes, */
    size_t first_least, least; /* ... of the first ones, and of the next one */
    bool guessed_before; /* the chunk before the current one has a guess */
    bool all_read;       /* `read` has returned the last bytes */
    size_t most_output; /* maximum bytes of output that a chunk holds before it becomes the head */
    size_t most_held;   /* bytes of output of the chunks behind the head above which none is begun early */

    ntr_parts parts;
    ntr_worker *workers;
    unsigned worker_count, started; /* wanted, and running as threads */

    ntr_chunk *ring;
    size_t ring_size;
    /* Chunks [head, sent) can be decoded. `tail` is being filled. The chunk before `tail`, if not sent, waits for it:
     * its thread decodes the pre-sync messages of `tail`. Protected by the lock; `tail` is changed by the thread that
     * cuts. */
    uint64_t head, sent, tail;
    uint64_t cut; /* bytes of the stream before `tail` */
    bool reading; /* the threads read the input, */
    bool cutting; /* and one of them does so now */
    ntr_status input; /* NTR_END: all input was cut; NTR_NEED_MORE: no more input is given; error of reading */

    pthread_mutex_t lock;
    pthread_cond_t work; /* for threads: a chunk can be begun, the head has changed, or decoding ends */
    pthread_cond_t progress; /* for the caller: a thread is done, or the head has output */
    bool stopping;

    ntr_counts counts;
    ntr_parallel_stats stats;
    ntr_chunk_output pre_sync; /* of the head's pre-sync messages, delivered between the head's output: */
    ntr_part *pre_sync_part; /* the current part of it, and the position in it */
    size_t pre_sync_at;
    bool delivering; /* a thread delivers, without the lock */
    ntr_status status; /* sticky: why delivery has ended */
    ntr_status ended; /* the same, as returned to the caller */
    char error[NTR_DECODER_ERROR_SIZE]; /* of the chunk that failed; "" when a callback failed */
};

static inline ntr_chunk *ntr_chunk_at(const ntr_parallel *p, uint64_t number) {
    return &p->ring[number % p->ring_size];
}

/* Returns the chunk after this one in the stream. */
static inline ntr_chunk *ntr_chunk_next(const ntr_chunk *chunk) {
    const ntr_parallel *p = chunk->parallel;
    return &p->ring[((size_t)(chunk - p->ring) + 1) % p->ring_size];
}

/* ---- late_counts.c */

/* Reset the chunk for the next round of the ring. Its memory is kept. */
void ntr_chunk_clear(ntr_chunk *chunk);

/* Drop what was decoded: the chunk waits to be decoded from `start`. No thread decodes it. The lock is held. */
void ntr_chunk_restart(ntr_chunk *chunk);

/* ---- cut.c */

/* Cut the input that the caller gives. Errors: NTR_E_MEMORY, and those of ntr_deliver_until. */
ntr_status ntr_cut_input(ntr_parallel *p, const uint8_t *data, size_t size, bool last);

/* Returns whether a thread without a chunk can read and cut the next one. The lock is held. */
bool ntr_cut_possible(const ntr_parallel *p);

/* Read and cut the next chunk. The lock is held at entry and return. */
void ntr_cut_next(ntr_parallel *p);

/* Adapt the size of further chunks to what this one has reported. The lock is held. */
void ntr_parallel_adapt(ntr_parallel *p, const ntr_chunk *done);

/* ---- schedule.c: all with the lock held */

/* Returns the chunk that a thread without a chunk decodes next, or NULL. */
ntr_chunk *ntr_schedule_next(const ntr_parallel *p);

/* Returns whether the thread of the chunk must wait before it continues: the chunk holds too much output. */
bool ntr_schedule_must_wait(const ntr_parallel *p, const ntr_chunk *chunk);

/* To be called when a thread begins to wait for room, and when a chunk becomes the head. If the head needs a thread and
 * all of them wait for room, chooses a chunk to be put back and returns true: the caller wakes the threads. */
bool ntr_schedule_put_back(ntr_parallel *p);

/* ---- deliver.c: all with the lock held */

/* Deliver the head's output; the lock is released meanwhile. `all`: the head is done. */
void ntr_deliver(ntr_parallel *p, ntr_chunk *head, bool all);

/* In the caller's thread: deliver what is ready, and wait while more than `left` chunks are not delivered. */
ntr_status ntr_deliver_until(ntr_parallel *p, uint64_t left);

/* ---- worker.c */

/* Create the threads and their decoders. Errors: as ntr_decoder_new, NTR_E_LIMIT. */
ntr_status ntr_workers_start(ntr_parallel *p);
void ntr_workers_end(ntr_parallel *p);

#endif
