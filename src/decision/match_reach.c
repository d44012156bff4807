/* Which outcome of a branch is true, by the statements that can be executed after it.
 *
 * Idea: the body of an `if` is executed when the decision is true, and what it skips when the decision is false, both
 * before the decision is evaluated again. When code where such a statement begins is reached from one outcome of the
 * branch without passing a branch of the decision, and from the other outcome it is not, then the first outcome has the
 * result of the statement. If each outcome reaches a statement that the other does not reach, nothing is known.
 * Example: if (s) return s; f(); -- `return s` may have no code of its own. f() is reached only from the outcome that
 * is false. */
#include "decision/matcher.h"

/* Returns whether some statement is reached from one outcome and not from the other. */
static bool reaches_alone(const ntr_matcher *x, size_t i, bool taken, const ntr_extent *extent) {
    const ntr_match *m = x->match;
    uint64_t at = m->graph->low;
    ntr_graph_reach(m->graph, x->after[i][taken]);
    const uint32_t mark = m->graph->mark; /* the other search overwrites it where it comes, too */
    ntr_graph_reach(m->graph, x->after[i][!taken]);
    for (; ntr_statements_find(m->statements, &at, m->graph->high, m->record->path, extent); at++) {
        const uint32_t insn = ntr_graph_at(m->graph, at);
        if (insn != NTR_GRAPH_OUTSIDE && m->graph->insns[insn].visited == mark) return true;
    }
    return false;
}

/* The same of an extent: only this outcome does. Other statements may share code with some of it, such as `return`, so
 * that both outcomes lead there. */
static bool reaches(const ntr_matcher *x, size_t i, bool taken, const ntr_extent *extent) {
    const ntr_decision_record *r = x->match->record;
    if (!extent->line || ntr_extent_has(extent, r->extent.line, r->extent.column)) return false; /* one macro */
    return reaches_alone(x, i, taken, extent) && !reaches_alone(x, i, !taken, extent);
}

bool ntr_matcher_reaches(const ntr_matcher *x, size_t i, bool taken, bool result) {
    const ntr_decision_record *r = x->match->record;
    if (!x->match->kind.gnu || !x->match->kind.debug) return false;
    ntr_match_mark(x->match, true);
    const bool found =
        reaches(x, i, taken, &r->when[result]) || (r->rest_when == result && reaches(x, i, taken, &r->rest));
    ntr_match_mark(x->match, false);
    return found;
}

int ntr_matcher_by_reach(const ntr_matcher *x, size_t i) {
    const bool true_result = x->match->record->flow[x->best.condition[i]].next[1] == NTR_RESULT_TRUE;
    bool votes[2] = {false, false}; /* by the value of the condition when the branch is taken */
    for (unsigned taken = 0; taken < 2; taken++)
        for (unsigned result = 0; result < 2; result++)
            if (ntr_matcher_reaches(x, i, taken, result)) votes[(result == true_result) == taken] = true;
    if (votes[0] == votes[1]) return NTR_NOT_KNOWN;
    return votes[1];
}
