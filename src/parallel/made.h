/* What was made of a piece: parts, each of one kind, in order. */
#ifndef NTR_PARALLEL_MADE_H
#define NTR_PARALLEL_MADE_H

#include <ntrace/allocator.h>
#include <ntrace/status.h>
#include <pthread.h>

typedef struct ntr_part {
    struct ntr_part *next;
    unsigned what;
    size_t used, room;
    unsigned char bytes[];
} ntr_part;

/* Where parts come from, for all threads. Large ones are kept for the next: the system takes its time to give memory. */
typedef struct ntr_parts {
    const ntr_allocator *allocator;
    pthread_mutex_t lock;
    ntr_part *spare;
} ntr_parts;

void ntr_parts_begin(ntr_parts *parts, const ntr_allocator *allocator);
void ntr_parts_end(ntr_parts *parts);

/* Give a part back. */
void ntr_parts_free(ntr_parts *parts, ntr_part *part);

typedef struct ntr_made {
    ntr_part *first, *last;
    size_t size;
} ntr_made;

/* Append; what is put at once stays in one part. Errors: NTR_E_MEMORY. */
ntr_status ntr_made_put(ntr_made *made, ntr_parts *parts, unsigned what, const void *data, size_t size);

/* Move all that `from` has behind what `to` has. */
void ntr_made_move(ntr_made *to, ntr_made *from);

/* Take the first part out, or NULL. */
ntr_part *ntr_made_take(ntr_made *made);

void ntr_made_drop(ntr_made *made, ntr_parts *parts);

#endif
