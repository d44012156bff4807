/* Calling contexts: which functions were on a hart's stack, each context once.
 *
 * A node is a function with the node of its caller. The first level has a node for each hart, so that a node also names
 * the hart. Nodes are numbered from 0 in the order of first use: a caller has a lower number than what it calls. */
#ifndef NTR_EXPLORE_NODES_H
#define NTR_EXPLORE_NODES_H

#include <ntrace/allocator.h>
#include <ntrace/status.h>
#include <stddef.h>
#include <stdint.h>

#define NTR_NODE_NONE UINT32_MAX
#define NTR_NODE_HART 0xff /* kind of the node of a hart; the others are ntr_frame_kind */

enum {
    NTR_NODE_DEPTH_MAX = 1000, /* deeper calls are counted in the deepest node */
    NTR_EXPLORE_NODES_MAX = 1 << 20,   /* further contexts are counted in their caller */
};

typedef struct ntr_node {
    uint32_t parent;   /* NTR_NODE_NONE: the node is that of a hart */
    uint32_t function; /* number in ntr_functions; of a hart: its SRC */
    uint16_t src;
    uint16_t depth; /* 0: hart */
    uint8_t kind;
} ntr_node;

/* A zeroed struct with `allocator` set is empty. */
typedef struct ntr_nodes {
    const ntr_allocator *allocator;
    ntr_node *items;
    size_t count, capacity;
    uint32_t *slots; /* hash table of numbers + 1; 0: empty */
    size_t slot_count;
    uint64_t left_out; /* contexts that were counted in their caller */
} ntr_nodes;

/* Returns the node of a hart, or NTR_NODE_NONE when out of memory. */
uint32_t ntr_nodes_hart(ntr_nodes *nodes, uint16_t src);

/* Returns the node of a function that `parent` calls, or NTR_NODE_NONE when out of memory. */
uint32_t ntr_nodes_call(ntr_nodes *nodes, uint32_t parent, uint32_t function, uint8_t kind);

void ntr_nodes_release(ntr_nodes *nodes);

#endif
