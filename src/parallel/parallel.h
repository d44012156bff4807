/* The inside of ntr_parallel: a ring of pieces, threads that decode them, and the caller's thread, which cuts the
 * stream (splitter.h) and compares guesses with truth. The thread that decodes the head, the first piece that is not
 * delivered yet, delivers what it makes; the caller's delivers what was made before. */
#ifndef NTR_PARALLEL_PARALLEL_H
#define NTR_PARALLEL_PARALLEL_H

#include <ntrace/parallel.h>
#include <pthread.h>

#include "decoder/snapshot.h"
#include "parallel/splitter.h"
#include "parallel/chunk_output.h"

typedef enum ntr_chunk_state {
    NTR_CHUNK_WAITING = 0, /* for a thread, or to know where it starts */
    NTR_CHUNK_RUNNING,
    NTR_CHUNK_DONE,
} ntr_chunk_state;

struct ntr_chunk {
    ntr_parallel *parallel;
    uint8_t *data;
    size_t size, room;
    bool last;      /* of the stream */
    bool guessed;   /* `start` was a guess, when the piece was cut */
    bool many_sources;      /* it could not be, because there are several sources */
    uint64_t number_shift; /* of the cutter, then */
    ntr_pre_sync pre_sync;  /* messages of it that the piece before decodes; none if that is of no use */

    /* Under the lock. */
    uint8_t state;  /* ntr_chunk_state */
    bool cancelled;  /* the guess was wrong: give up */
    bool head;      /* everything before has been delivered */
    bool ahead;     /* was begun before it was the head */
    ntr_snapshot *start, *end;
    ntr_snapshot *after_pre_sync; /* what is known where sources join the next piece; NULL: that is `end` */
    ntr_snapshot *before; /* the truth, when `start` was a guess that fitted it */
    ntr_chunk_output output;     /* to be delivered */
    ntr_status status;

    /* The thread's own while it runs. */
    ntr_chunk_output local_output;
    ntr_chunk_output pre_sync_output;    /* of the next piece's seam */
    ntr_chunk_output *target;     /* one of the two */
    ntr_counts counts, pre_sync_counts;
    ntr_status put_status; /* by ntr_chunk_put */
};

typedef struct ntr_worker {
    ntr_parallel *parallel;
    ntr_decoder *decoder;
    void *thread_data;
    pthread_t thread;
    bool started;
} ntr_worker;

struct ntr_parallel {
    ntr_parallel_config config;
    ntr_decoder_config decoder; /* of every thread */
    ntr_splitter splitter;
    size_t scanned;    /* bytes of the piece being filled that the cutter has seen */
    size_t least;     /* bytes of a piece */
    size_t most_output; /* bytes that a piece may hold before its turn */

    ntr_parts parts;
    ntr_worker *workers;
    unsigned worker_count;

    ntr_chunk *ring;
    size_t ring_size;
    uint64_t head, sent, tail; /* pieces [head, sent) are for the threads; `tail` is being filled; the one before waits
                                * for its end, if it was not sent: they have a seam */

    pthread_mutex_t lock;
    pthread_cond_t work;  /* for threads: a piece can be begun, or is the head now, or all is over */
    pthread_cond_t progress;  /* for the caller: a thread is done, or has made something for the head */
    bool stopping;

    ntr_counts counts;
    ntr_parallel_stats stats;
    ntr_chunk_output pre_sync;     /* made of the head's seam, to be delivered between what the head made, */
    ntr_part *pre_sync_part; /* ... this part of it first, from here on */
    size_t pre_sync_at;
    bool delivering;   /* somebody is, without the lock */
    ntr_status status; /* sticky: why no more is delivered */
    ntr_status ended;  /* the caller's: the same, told */
};

static inline ntr_chunk *ntr_chunk_at(const ntr_parallel *p, uint64_t number) {
    return &p->ring[number % p->ring_size];
}

/* The piece behind it in the stream. */
static inline ntr_chunk *ntr_chunk_next(const ntr_chunk *chunk) {
    const ntr_parallel *p = chunk->parallel;
    return &p->ring[((size_t)(chunk - p->ring) + 1) % p->ring_size];
}

/* Make the piece ready for the ring's next round; its memory is kept. */
void ntr_chunk_clear(ntr_chunk *chunk);

/* ---- deliver.c: all with the lock held */

/* Hand on what the head has made, without the lock; `all`: it makes no more. */
void ntr_deliver(ntr_parallel *p, ntr_chunk *head, bool all);

/* In the caller's thread: deliver what is ready; wait while more than `left` pieces are in the ring. */
ntr_status ntr_deliver_until(ntr_parallel *p, uint64_t left);

/* ---- worker.c */

/* Errors: as ntr_decoder_new, NTR_E_LIMIT. */
ntr_status ntr_workers_start(ntr_parallel *p);
void ntr_workers_end(ntr_parallel *p);

#endif
