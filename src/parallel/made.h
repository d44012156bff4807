/* What was made of a piece: parts, each of one kind, in order. */
#ifndef NTR_PARALLEL_MADE_H
#define NTR_PARALLEL_MADE_H

#include <ntrace/allocator.h>
#include <ntrace/status.h>

typedef struct ntr_part {
    struct ntr_part *next;
    unsigned what;
    size_t used, room;
    unsigned char bytes[];
} ntr_part;

typedef struct ntr_made {
    ntr_part *first, *last;
    size_t size;
} ntr_made;

/* Append; what is put at once stays in one part. Errors: NTR_E_MEMORY. */
ntr_status ntr_made_put(ntr_made *made, const ntr_allocator *allocator, unsigned what, const void *data, size_t size);

/* Move all that `from` has behind what `to` has. */
void ntr_made_move(ntr_made *to, ntr_made *from);

/* Take the first part out, or NULL. The caller gives it back to the allocator. */
ntr_part *ntr_made_take(ntr_made *made);

void ntr_made_drop(ntr_made *made, const ntr_allocator *allocator);

#endif
