/* Private traversal of a call tree in depth-first order, without recursion. */
#ifndef NTR_ANALYSIS_CALLTREE_WALK_H
#define NTR_ANALYSIS_CALLTREE_WALK_H

#include <ntrace/calltree.h>

/* Called for each node except the root: `enter` before its descendants, otherwise after them. */
typedef void ntr_calltree_visit(void *user, uint32_t node, bool enter);

void ntr_calltree_walk(const ntr_call_node *nodes, ntr_calltree_visit *visit, void *user);

#endif
