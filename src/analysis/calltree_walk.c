#include "analysis/calltree_walk.h"

void ntr_calltree_walk(const ntr_call_node *nodes, ntr_calltree_visit *visit, void *user) {
    uint32_t at = nodes[NTR_CALLTREE_ROOT].child;
    while (at != NTR_CALLTREE_NONE && at != NTR_CALLTREE_ROOT) {
        visit(user, at, true);
        if (nodes[at].child != NTR_CALLTREE_NONE) {
            at = nodes[at].child;
            continue;
        }
        visit(user, at, false);
        while (nodes[at].sibling == NTR_CALLTREE_NONE && nodes[at].parent != NTR_CALLTREE_ROOT) {
            at = nodes[at].parent;
            visit(user, at, false);
        }
        at = nodes[at].sibling;
    }
}
