/* Destructors of temporaries, in code that was not optimized.
 *
 * A condition with a temporary that has a destructor, `a && make(b)`, is compiled with a flag that says whether the
 * temporary exists. After the decision, a branch that is of no condition tests the flag and skips the call of the
 * destructor. The result of the decision is tested after that. */
#ifndef NTR_DECISION_CLEANUPS_H
#define NTR_DECISION_CLEANUPS_H

#include "decision/graph.h"

/* Makes the graph skip calls of destructors: the first instruction of a call, and a branch that does nothing but skip
 * one, become jumps to what follows the call. What a destructor does to registers and memory does not matter for the
 * result of a decision. `debug` has the places of the code. */
void ntr_cleanups_skip(ntr_graph *graph, ntr_debug_info *debug);

#endif
