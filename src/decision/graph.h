/* The control-flow graph of one function, as a list of its instructions. */
#ifndef NTR_DECISION_GRAPH_H
#define NTR_DECISION_GRAPH_H

#include <ntrace/debug_info.h>

typedef struct ntr_graph_insn {
    uint64_t address;
    uint32_t target; /* index of the target, or NTR_GRAPH_OUTSIDE */
    uint32_t bits; /* the first bytes of the instruction */
    uint8_t size, flow;
    uint64_t last_call; /* a call of this function, which never returns (noreturn.h); 0: none */
    uint8_t candidate; /* number of a candidate + 1; 0: none */
    bool joint; /* a branch that may test the result of a decision (constants.h) */
    bool anchor; /* code of which it is asked whether it is reached */
    bool barrier; /* a search for anchors ends here */
    bool entry; /* control arrives here in another way than by direct jumps and straight flow: calls, jump tables */
    bool is_target; /* of a direct jump or a branch */
    uint32_t visited;
} ntr_graph_insn;
#define NTR_GRAPH_OUTSIDE UINT32_MAX

typedef struct ntr_graph {
    const ntr_allocator *allocator;
    const ntr_program *program;
    uint64_t low, high;
    ntr_graph_insn *insns; /* sorted by address, adjacent */
    size_t count, capacity;
    uint32_t *stack;
    uint32_t mark;
    unsigned xlen;
} ntr_graph;

/* Reads the code [low, high). `debug` may be NULL. Errors: NTR_E_MEMORY. */
ntr_status ntr_graph_make(ntr_graph *graph, const ntr_program *program, ntr_debug_info *debug, uint64_t low,
                          uint64_t high);
void ntr_graph_release(ntr_graph *graph);

/* Returns the index of the instruction at `address`, or NTR_GRAPH_OUTSIDE. */
uint32_t ntr_graph_at(const ntr_graph *graph, uint64_t address);

/* Returns the set of candidates that are reached from instruction `at` before any other candidate: bit I is the
 * candidate I. */
uint64_t ntr_graph_reach(ntr_graph *graph, uint32_t at);
/* Return whether an anchor is reached before any candidate: from all entries, and from what follows instruction `at`.
 */
bool ntr_graph_enters_anchor(ntr_graph *graph);
bool ntr_graph_leaves_to_anchor(ntr_graph *graph, uint32_t at);
/* Returns the set of candidates that are reached from all entries. */
uint64_t ntr_graph_reach_first(ntr_graph *graph);

/* Returns the instruction at which the execution from `at` arrives through jumps without a condition. */
uint32_t ntr_graph_thread(const ntr_graph *graph, uint32_t at);

/* Returns whether two places have the same effect: they are one, or the same straight code, without a jump or a branch,
 * leads to one or to returns. Compilers duplicate the ends of short functions. */
bool ntr_graph_same(const ntr_graph *graph, uint32_t a, uint32_t b);

/* Returns whether the code shows that clang has not optimized it: a jump follows each branch, except for those
 * that choose between two values and those of a switch, and some jump leads to the next instruction. Every pass that
 * lays out blocks removes such jumps. */
bool ntr_graph_unoptimized(const ntr_graph *graph);

/* Returns the index of the instruction after a branch, with this outcome. */
uint32_t ntr_graph_after(const ntr_graph *graph, uint32_t branch, bool taken);

#endif
