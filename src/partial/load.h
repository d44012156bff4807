/* Loading of a partial, shared by load.c and load_part.c. Private. */
#ifndef NTR_PARTIAL_LOAD_H
#define NTR_PARTIAL_LOAD_H

#include "analysis/open_log.h"
#include "analysis/sums.h"
#include "partial/partial.h"

/* A node of the tree. */
typedef struct loaded_node {
    ntr_record record;
    uint64_t parent;  /* index of the node */
    uint32_t number;  /* in the tree */
} loaded_node;

typedef struct loading {
    ntr_partial *partial;
    ntr_analysis *analysis;
    const ntr_allocator *allocator;
    uint64_t *bias;      /* of each image */
    uint32_t *functions; /* numbers in the analysis */
    loaded_node *nodes;
    size_t node_count, node_capacity;
} loading;

/* Stores the address in the program of an offset in an image (number + 1; 0: none). False: there is no such image. */
bool ntr_load_address(const loading *l, uint64_t image, uint64_t offset, uint64_t *address);

/* Applies the nodes and the log of a part to the tree, after its functions were loaded. Errors: NTR_E_STATE (a guess of
 * the part is wrong), NTR_E_FORMAT, NTR_E_MEMORY. */
ntr_status ntr_load_part(loading *l);

#endif
