/* Chunk output: what the caller's functions have put for one chunk, until it is delivered.
 *
 * Idea: output is a list of parts; each part holds runs; each run is a header followed by bytes of one kind (`what`).
 * Appended bytes are never moved. Example: a thread puts 100 bytes of text (what 0), 50 bytes of text and 16 bytes of
 * statistics (what 1): two runs of 150 and 16 bytes, in one part. */
#ifndef NTR_PARALLEL_CHUNK_OUTPUT_H
#define NTR_PARALLEL_CHUNK_OUTPUT_H

#include <ntrace/allocator.h>
#include <ntrace/status.h>
#include <pthread.h>
#include <stdint.h>

/* All parts have the same size, except those for one larger piece of output. */
typedef struct ntr_part {
    struct ntr_part *next;
    size_t used, room;
    unsigned char bytes[];
} ntr_part;

/* The pool of free parts, shared by all threads. Reusing a part avoids page faults, and the latest one is still in the
 * cache. */
typedef struct ntr_parts {
    const ntr_allocator *allocator;
    pthread_mutex_t lock;
    ntr_part *spare;
} ntr_parts;

void ntr_parts_begin(ntr_parts *parts, const ntr_allocator *allocator);
void ntr_parts_end(ntr_parts *parts);

typedef struct ntr_output_run {
    size_t size; /* number of bytes that follow */
    uint32_t key;
    unsigned what;
} ntr_output_run;

/* Used by one thread at a time. */
typedef struct ntr_chunk_output {
    ntr_part *first, *last;
    size_t size;          /* bytes in its parts */
    ntr_output_run *open; /* the current run, in the last part, or NULL */
    uint32_t key;         /* key of new runs: the delivery merges the runs of two outputs by key */
} ntr_chunk_output;

/* Reserve space to append output of kind `what`: at least `least` bytes, *room of them. The bytes appended with one
 * call are delivered in one piece. NULL when out of memory. ntr_chunk_output_used then appends `size` of the bytes. */
void *ntr_chunk_output_room(ntr_chunk_output *output, ntr_parts *parts, unsigned what, size_t least, size_t *room);
void ntr_chunk_output_used(ntr_chunk_output *output, size_t size);

/* Append parts of `from` to `to`: all parts, or all except the one that is being filled. */
void ntr_chunk_output_move(ntr_chunk_output *to, ntr_chunk_output *from);
void ntr_chunk_output_move_full(ntr_chunk_output *to, ntr_chunk_output *from);

/* Remove and return the first part, or NULL. Return it to the pool with ntr_parts_free. */
ntr_part *ntr_chunk_output_take(ntr_chunk_output *output);
void ntr_parts_free(ntr_parts *parts, ntr_part *part);

/* Returns the run of a part at *at and moves *at behind it. NULL at the end of the part. */
const ntr_output_run *ntr_part_run(const ntr_part *part, size_t *at);

void ntr_chunk_output_drop(ntr_chunk_output *output, ntr_parts *parts);

#endif
