/* What applying the chunks of a tree needs, from one chunk to the next: a copy of the stacks, with functions of its
 * own, on which a chunk is tried before the tree changes (tree_chunk.c). */
#ifndef NTR_ANALYSIS_CHUNK_APPLIER_H
#define NTR_ANALYSIS_CHUNK_APPLIER_H

#include "analysis/functions.h"

typedef struct ntr_chunk_applier {
    const ntr_allocator *allocator;
    const ntr_functions *real;  /* of the tree */
    ntr_functions *functions;   /* of the copy, */
    ntr_callstack *stacks;      /* ... and its stacks */
    uint32_t *trial_of;         /* number in `functions` by that in `real`; UINT32_MAX: not known yet */
    size_t trial_count, trial_capacity;
    uint32_t *numbers;          /* of the functions of a chunk */
    size_t number_capacity;
} ntr_chunk_applier;

/* Makes one for a tree with these functions. Returns NULL when out of memory. */
ntr_chunk_applier *ntr_chunk_applier_new(const ntr_functions *real);

/* Frees it; NULL is allowed. */
void ntr_chunk_applier_free(ntr_chunk_applier *applier);

/* Makes a->stacks a copy of those of the tree. Errors: NTR_E_MEMORY. */
ntr_status ntr_chunk_applier_copy(ntr_chunk_applier *applier, const ntr_callstack *stacks);

#endif
