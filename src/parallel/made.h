/* What was made of a piece: runs of bytes, each of one kind, in order. */
#ifndef NTR_PARALLEL_MADE_H
#define NTR_PARALLEL_MADE_H

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

typedef struct ntr_run_head {
    size_t size; /* bytes that follow */
    uint32_t key;
    unsigned what;
} ntr_run_head;

/* One thread's. */
typedef struct ntr_made {
    ntr_part *first, *last;
    size_t size;        /* bytes of its parts that are in use */
    ntr_run_head *open; /* the run that goes on, in the last part, or NULL */
    uint32_t key;       /* of what is put now: runs of two of them can be told in one order */
} ntr_made;

/* Room to append to: at least `least` bytes, *room of them. What is appended with one call stays in one piece. NULL: out
 * of memory. Then ntr_made_used tells how many were. */
void *ntr_made_room(ntr_made *made, ntr_parts *parts, unsigned what, size_t least, size_t *room);
void ntr_made_used(ntr_made *made, size_t size);

/* Move parts behind what `to` has: all, or all but the one that is being filled. */
void ntr_made_move(ntr_made *to, ntr_made *from);
void ntr_made_move_full(ntr_made *to, ntr_made *from);

/* Take the first part out, or NULL; and give it back. */
ntr_part *ntr_made_take(ntr_made *made);
void ntr_parts_free(ntr_parts *parts, ntr_part *part);

/* The run of a part that begins at *at, which goes on behind it; NULL: there is none. */
const ntr_run_head *ntr_part_run(const ntr_part *part, size_t *at);

void ntr_made_drop(ntr_made *made, ntr_parts *parts);

#endif
