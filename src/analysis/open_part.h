/* Applying the call tree of a part of a trace (open_log.h) to the stacks and to the tree of the parts before it. */
#ifndef NTR_ANALYSIS_OPEN_PART_H
#define NTR_ANALYSIS_OPEN_PART_H

#include "analysis/open_log.h"

/* A node of a part. Nodes are in the order of first use; the first one is the root, a child of the root is a base. */
typedef struct ntr_open_node {
    uint32_t parent;   /* index of a node before */
    uint32_t function; /* index */
    uint64_t site, calls, instructions, ticks;
    uint8_t kind;      /* ntr_frame_kind */
} ntr_open_node;

typedef struct ntr_open_part {
    const ntr_open_node *nodes;
    const ntr_open_entry *entries;
    const ntr_open_frame *frames;
    const uint32_t *functions; /* numbers, by index */
    size_t count, entry_count, frame_count, function_count;
    const ntr_chunk_frame *left; /* for the followers of the tree: frames by index of their functions, and */
    size_t left_count;
    uint64_t now, entered;       /* ... sums of the chunk */
} ntr_open_part;

/* Applies the part to the stacks, and to the tree that they are of; NULL: to stacks without a listener, to find out
 * whether it can be applied. Errors: NTR_E_STATE: a guess of the part is wrong, and *why says which; NTR_E_FORMAT: the
 * part is not possible; NTR_E_MEMORY. */
ntr_status ntr_open_part_apply(const ntr_open_part *part, ntr_callstack *stacks, ntr_calltree *tree, const char **why,
                               const ntr_allocator *allocator);

#endif
