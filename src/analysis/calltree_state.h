/* State of a call tree, shared by calltree.c (creation, sums), calltree_nodes.c (the nodes) and calltree_count.c
 * (counting). */
#ifndef NTR_ANALYSIS_CALLTREE_STATE_H
#define NTR_ANALYSIS_CALLTREE_STATE_H

#include <ntrace/calltree.h>

#include "analysis/callstack.h"
#include "analysis/chunk_head.h"
#include "analysis/followers.h"
#include "analysis/open_log.h"
#include "analysis/time_attribution.h"

/* Prediction of child nodes. Calls tend to repeat in the same order, so each node records the child that was entered
 * last, and each child the sibling that was entered after it. The tree of a recursive program is larger than the
 * caches; a correct prediction avoids the lookup in the hash table. */
struct prediction {
    uint32_t last, next;
};

/* A slot of the hash table. The nodes of a large tree are not in the caches: the hash decides without them. */
struct node_slot {
    uint32_t number; /* of a node; NTR_CALLTREE_NONE: free */
    uint32_t hash;   /* its lower bits select the slot */
};

/* State of a source. Most spans stay in the function of the previous span and only increase a count. */
struct calltree_source {
    ntr_time_attribution time; /* attribution of time */
    bool stays;        /* the stack does not change while execution stays in `code` */
    uint32_t node;     /* node of the top frame */
    ntr_function_range code; /* code of the top frame's function */
};

struct ntr_calltree {
    const ntr_allocator *allocator;
    ntr_callstack *stacks;
    ntr_call_node *nodes;
    size_t count, capacity;
    struct prediction *predictions; /* one per node */
    size_t prediction_capacity;
    struct node_slot *slots; /* hash table by node_key, open addressing */
    size_t slot_count;
    ntr_functions *functions;
    ntr_calltree_split split;
    struct calltree_source *sources;
    size_t source_count, source_capacity;
    ntr_status failed;
    ntr_open_log *log; /* of a part of a trace; else NULL */
    ntr_chunk_frames *kept; /* log->kept; NULL without a log */
    ntr_chunk_applier *applier;
    ntr_chunk_head *head; /* of a chunk; else NULL */
    ntr_followers followers;
    bool fed, followed; /* it has had an event, a follower: frame handles are those of `followers` */
    ntr_event last; /* with followers */
};

/* ---- calltree_nodes.c */

/* Makes the hash table of nodes, or a larger one. `slot_count` is a power of two. Returns false when out of memory. */
bool ntr_calltree_resize(ntr_calltree *t, size_t slot_count);

/* Returns the child of `parent` for this frame, which is made when there is none: then, when out of memory, `failed` is
 * set and the result is the parent, as it is beyond the limits of the tree. */
uint32_t ntr_calltree_child(ntr_calltree *t, uint32_t parent, const ntr_stack_frame *frame);

/* Returns the node of a frame with this handle. */
uint32_t ntr_calltree_node_of(const ntr_calltree *t, uint32_t handle);

/* Functions of ntr_stack_listener; `user` is the tree. ntr_calltree_leave only with followers. */
uint32_t ntr_calltree_enter(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool tail);
void ntr_calltree_leave(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool lost);

/* ---- calltree_count.c */

/* Takes the ticks of ntr_time_attribution; `user` is the tree. */
void ntr_calltree_take_ticks(void *user, uint32_t node, uint64_t ticks);

#endif
