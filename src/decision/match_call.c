/* Results of which the source is one call of a function that never returns.
 *
 * In a macro, all code has one place, and the line table does not show which outcome of the last branch leads where.
 * Example: assert(a && b) is a && b ? (void)0 : __assert_fail(...). The result of which straight code leads to this
 * call is the one that has it in the source, if the other result has no such call. */
#include "decision/matcher.h"

#include <string.h>

enum { CALL_STEPS_MAX = 64 };

/* Returns whether the function at an address has this symbol. */
static bool is_named(const ntr_graph *g, uint64_t address, const char *name) {
    ntr_symbol symbol;
    const size_t length = strlen(name);
    if (ntr_program_symbol(g->program, NULL, address, &symbol) != NTR_OK || symbol.address != address) return false;
    return strncmp(symbol.name, name, length) == 0 &&
           (!symbol.name[length] || symbol.name[length] == '@'); /* abort@plt */
}

bool ntr_matcher_ends_in_call(const ntr_matcher *x, uint32_t exit, bool result) {
    const ntr_graph *g = x->match->graph;
    const char *const *called = x->match->record->called;
    if (!called[result] || (called[!result] && strcmp(called[0], called[1]) == 0)) return false;
    uint32_t at = ntr_graph_thread(g, exit);
    for (unsigned i = 0; i < CALL_STEPS_MAX && at < g->count; i++) {
        if (g->insns[at].last_call) return is_named(g, g->insns[at].last_call, called[result]);
        if (g->insns[at].flow != NTR_FLOW_LINEAR) return false;
        at = ntr_graph_thread(g, at + 1);
    }
    return false;
}
