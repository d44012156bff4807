/* Which outcome of a branch is true, by the statements that can be executed after it.
 *
 * Idea: the body of an `if` is executed when the decision is true, and what it skips when the decision is false, both before the
 * decision is evaluated again. When code where such a statement begins is reached from one outcome of the branch without passing
 * a branch of the decision, and from the other outcome it is not, then the first outcome has the result of the statement.
 * Example: if (s) return s; f(); -- `return s` may have no code of its own. f() is reached only from the outcome that is false. */
#include "decision/matcher.h"

/* Marks the beginnings of statements in the extent, or unmarks them. Returns whether there are any. */
static bool mark_anchors(const ntr_match *m, const ntr_extent *extent, bool set) {
    bool any = false;
    uint64_t at = m->graph->low;
    for (; extent->line && ntr_statements_find(m->statements, &at, m->graph->high, m->record->path, extent); at++) {
        uint32_t insn = ntr_graph_at(m->graph, at);
        if (insn == NTR_GRAPH_OUTSIDE) continue;
        m->graph->insns[insn].anchor = set;
        any = true;
    }
    return any;
}

/* Counts which outcome leads to code that is executed with this result. */
static void vote(const ntr_matcher *x, size_t i, const ntr_extent *extent, bool result, unsigned *votes) {
    const ntr_match *m = x->match;
    const bool value = result == (m->record->flow[x->best.condition[i]].next[1] == NTR_RESULT_TRUE); /* of the condition */
    if (ntr_extent_has(extent, m->record->extent.line, m->record->extent.column)) return; /* one macro */
    if (mark_anchors(m, extent, true)) {
        bool reached = ntr_graph_reaches_anchor(m->graph, x->after[i][0]), by_taken = ntr_graph_reaches_anchor(m->graph, x->after[i][1]);
        if (reached != by_taken) votes[by_taken ? value : !value]++;
    }
    mark_anchors(m, extent, false);
}

int ntr_matcher_by_reach(const ntr_matcher *x, size_t i) {
    const ntr_decision_record *r = x->match->record;
    unsigned votes[2] = {0, 0}; /* by the value of the condition when the branch is taken */
    if (!x->match->kind.gnu || !x->match->kind.debug) return NTR_NOT_KNOWN;
    ntr_match_mark(x->match, true);
    vote(x, i, &r->when[0], false, votes);
    vote(x, i, &r->when[1], true, votes);
    vote(x, i, &r->rest, r->rest_when, votes);
    ntr_match_mark(x->match, false);
    if ((votes[0] != 0) == (votes[1] != 0)) return NTR_NOT_KNOWN;
    return votes[1] != 0;
}
