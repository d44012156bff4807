/* Calling context tree: number of calls, instructions and time of each function, by the stack it was called from. */
#ifndef NTRACE_CALLTREE_H
#define NTRACE_CALLTREE_H

#include <ntrace/callstack.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_calltree ntr_calltree;

#define NTR_CALLTREE_ROOT      0u              /* the parent of all root frames */
#define NTR_CALLTREE_NONE      UINT32_MAX
#define NTR_CALLTREE_DEPTH_MAX 4096       /* deeper calls are counted in the deepest node */
#define NTR_CALLTREE_NODES_MAX (1u << 24) /* further calling contexts are counted in their parent */

typedef struct ntr_call_node {
    uint32_t parent, child, sibling; /* numbers of nodes; NTR_CALLTREE_NONE ends a list */
    uint32_t function;               /* number in ntr_functions; UINT32_MAX for the root */
    uint16_t depth;
    uint8_t kind;                    /* ntr_frame_kind */
    uint64_t site;                   /* address of the call; each call site has a node of its own */
    uint64_t calls;                  /* number of entries */
    uint64_t instructions;           /* instructions retired in the node itself */
    uint64_t ticks;                  /* time of the node itself; the time between two timestamps is divided among
                     * the nodes in proportion to their instructions */
    uint64_t total_instructions, total_ticks; /* including all descendants; valid after ntr_calltree_finish */
} ntr_call_node;

/* Makes an empty tree. The tree maintains call stacks of its own. `functions` must outlive it. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_calltree_new(ntr_functions *functions, const ntr_allocator *allocator, ntr_calltree **out);
NTR_API void ntr_calltree_free(ntr_calltree *tree);

typedef enum ntr_calltree_split {
    NTR_CALLTREE_TOGETHER, /* one tree for all harts and contexts */
    NTR_CALLTREE_HARTS, /* one subtree per hart, below a node named "hart 0" */
    NTR_CALLTREE_CONTEXTS, /* one subtree per hart and context, below a node named "hart 0 scontext 0x5" */
    /* One subtree per process, below a node "python3.13 (45)"; "hart 0" where the process is not known. Not for a part
     * of a trace (ntr_calltree_open). */
    NTR_CALLTREE_PROCESSES,
} ntr_calltree_split;

/* Selects how the tree is divided. Call it before the first event. The default is NTR_CALLTREE_TOGETHER. */
NTR_API void ntr_calltree_divide(ntr_calltree *tree, ntr_calltree_split split);
NTR_API ntr_calltree_split ntr_calltree_divided(const ntr_calltree *tree);

/* Makes a tree that of a part of a trace, for ntr_partial_write: the stacks at its beginning are not known. Errors:
 * NTR_E_MEMORY. */
NTR_API ntr_status ntr_calltree_open(ntr_calltree *tree);

/* Takes only the times of events that precede those of ntr_calltree_feed: of messages before a part. */
NTR_API void ntr_calltree_follow_time(ntr_calltree *tree, const ntr_event *events, size_t count);

/* Processes `count` events in stream order, of a decoder that divides spans (ntr_decoder_set_division). Errors:
 * NTR_E_MEMORY. */
NTR_API ntr_status ntr_calltree_feed(ntr_calltree *tree, const ntr_event *events, size_t count);

/* Closes open frames and computes the totals. */
NTR_API void ntr_calltree_finish(ntr_calltree *tree);

/* Returns all nodes and stores their number in *count. A parent precedes its children. */
NTR_API const ntr_call_node *ntr_calltree_nodes(const ntr_calltree *tree, size_t *count);

/* The sum over all nodes of a function. The totals count nested calls of a recursive function once. */
typedef struct ntr_call_sum {
    uint32_t function;
    uint64_t calls, self_instructions, total_instructions, self_ticks, total_ticks;
} ntr_call_sum;

/* Fills `sums` with one element for each function number below `capacity`. */
NTR_API void ntr_calltree_sums(const ntr_calltree *tree, ntr_call_sum *sums, size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
