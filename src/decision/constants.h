/* Branches that are decided by constants.
 *
 * Code without optimization, and C++ with gcc, computes the result of a decision as 0 or 1, and tests it with a further
 * branch. Example: while (a && b) is compiled to
 *
 *     beqz A, L; beqz B, L; li R, 1; j M; L: li R, 0; M: beqz R, end
 *
 * The taken outcome of the first branch sets R to 0, so the last branch is certainly taken then. The first branch leads
 * to `end`, as if the last one were not there. The same holds where the compiler does not branch for b but moves its
 * value to R: the last branch is then that of b.
 *
 * Only straight code is followed. Registers and words of the stack frame have known values after an instruction that
 * sets them to a constant; everything else is not known. */
#ifndef NTR_DECISION_CONSTANTS_H
#define NTR_DECISION_CONSTANTS_H

#include "decision/graph.h"

enum { NTR_PASSED_MAX = 4 };

/* Branches (`joint` in the graph) on the way from an outcome of which the outcomes are certain. */
typedef struct ntr_passed {
    uint32_t at[NTR_PASSED_MAX]; /* instructions */
    bool taken[NTR_PASSED_MAX];
    unsigned count;
    uint32_t unset; /* the joint branch at which the code ends, if its operand is not known and was not set since
                       `from`; NTR_GRAPH_OUTSIDE: none */
} ntr_passed;

/* Returns the instruction after the last joint branch that is certain after an outcome of a branch; without any, the
 * one after this branch. `from`: the execution comes to the branch only through all instructions from here on. */
uint32_t ntr_constants_follow(const ntr_graph *graph, uint32_t from, uint32_t branch, bool taken, ntr_passed *passed);

#endif
