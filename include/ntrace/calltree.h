/* Calling context tree: how often and how long every function ran, by the stack it was called from. */
#ifndef NTRACE_CALLTREE_H
#define NTRACE_CALLTREE_H

#include <ntrace/callstack.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_calltree ntr_calltree;

#define NTR_CALLTREE_ROOT 0u              /* the node that every root frame is a child of */
#define NTR_CALLTREE_NONE UINT32_MAX
#define NTR_CALLTREE_DEPTH_MAX 4096       /* deeper calls count on the deepest node */
#define NTR_CALLTREE_NODES_MAX (1u << 24) /* further calling contexts count on their parent */

typedef struct ntr_call_node {
    uint32_t parent, child, sibling; /* nodes; NTR_CALLTREE_NONE ends a list */
    uint32_t function;               /* of ntr_functions; UINT32_MAX for the root */
    uint16_t depth;
    uint8_t kind;                    /* ntr_frame_kind */
    uint64_t site;                   /* where it is called from; one node a call site */
    uint64_t calls;                  /* times it was entered */
    uint64_t instructions;           /* retired in the node itself */
    uint64_t ticks;                  /* time spent in the node itself: that between two stamps is shared by
                                      * instructions among all that ran there */
    uint64_t total_instructions, total_ticks; /* with everything below; after ntr_calltree_finish */
} ntr_call_node;

/* Builds its own stacks. NULL when out of memory. */
NTR_API ntr_calltree *ntr_calltree_new(ntr_functions *functions, const ntr_allocator *allocator);
NTR_API void ntr_calltree_free(ntr_calltree *tree);

typedef enum ntr_calltree_split {
    NTR_CALLTREE_TOGETHER, /* what ran on different harts and in different contexts is one tree */
    NTR_CALLTREE_HARTS,    /* a tree a hart: below a node that is called "hart 0" */
    NTR_CALLTREE_CONTEXTS, /* and a context: "hart 0 scontext 0x5" */
} ntr_calltree_split;

/* Before the first event. Not called: together. */
NTR_API void ntr_calltree_divide(ntr_calltree *tree, ntr_calltree_split split);

/* Take `count` events in stream order. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_calltree_feed(ntr_calltree *tree, const ntr_event *events, size_t count);

/* Close what is open and add up the totals. */
NTR_API void ntr_calltree_finish(ntr_calltree *tree);

/* All nodes; a parent comes before its children. */
NTR_API const ntr_call_node *ntr_calltree_nodes(const ntr_calltree *tree, size_t *count);

/* One row a function. Total counts a recursive function once. */
typedef struct ntr_call_sum {
    uint32_t function;
    uint64_t calls, self_instructions, total_instructions, self_ticks, total_ticks;
} ntr_call_sum;

/* Fill `sums`, one for each function number below `capacity`. */
NTR_API void ntr_calltree_sums(const ntr_calltree *tree, ntr_call_sum *sums, size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
