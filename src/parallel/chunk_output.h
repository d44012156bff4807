/* What was made of a piece: runs of bytes, each of one kind, in order. */
#ifndef NTR_PARALLEL_CHUNK_OUTPUT_H
#define NTR_PARALLEL_CHUNK_OUTPUT_H

#include <ntrace/allocator.h>
#include <ntrace/status.h>
#include <pthread.h>
#include <stdint.h>

/* Runs lie behind each other in parts, all of one size but for what is larger. */
typedef struct ntr_part {
    struct ntr_part *next;
    size_t used, room;
    unsigned char bytes[];
} ntr_part;

/* Where parts come from, for all threads. They are kept for the next: the system takes its time to give memory, and
 * the latest one is still in the cache. */
typedef struct ntr_parts {
    const ntr_allocator *allocator;
    pthread_mutex_t lock;
    ntr_part *spare;
} ntr_parts;

void ntr_parts_begin(ntr_parts *parts, const ntr_allocator *allocator);
void ntr_parts_end(ntr_parts *parts);

typedef struct ntr_output_run {
    size_t size; /* bytes that follow */
    uint32_t key;
    unsigned what;
} ntr_output_run;

/* One thread's. */
typedef struct ntr_chunk_output {
    ntr_part *first, *last;
    size_t size;        /* bytes of its parts that are in use */
    ntr_output_run *open; /* the run that goes on, in the last part, or NULL */
    uint32_t key;       /* of what is put now: runs of two of them can be told in one order */
} ntr_chunk_output;

/* Room to append to: at least `least` bytes, *room of them. What is appended with one call stays in one piece. NULL:
 * out of memory. Then ntr_chunk_output_used tells how many were. */
void *ntr_chunk_output_room(ntr_chunk_output *output, ntr_parts *parts, unsigned what, size_t least, size_t *room);
void ntr_chunk_output_used(ntr_chunk_output *output, size_t size);

/* Move parts behind what `to` has: all, or all but the one that is being filled. */
void ntr_chunk_output_move(ntr_chunk_output *to, ntr_chunk_output *from);
void ntr_chunk_output_move_full(ntr_chunk_output *to, ntr_chunk_output *from);

/* Take the first part out, or NULL; and give it back. */
ntr_part *ntr_chunk_output_take(ntr_chunk_output *output);
void ntr_parts_free(ntr_parts *parts, ntr_part *part);

/* The run of a part that begins at *at, which goes on behind it; NULL: there is none. */
const ntr_output_run *ntr_part_run(const ntr_part *part, size_t *at);

void ntr_chunk_output_drop(ntr_chunk_output *output, ntr_parts *parts);

#endif
