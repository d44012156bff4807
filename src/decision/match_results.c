#include "decision/matcher.h"

/* Returns whether the code at an exit belongs to the statement that is executed with this result. In code that was
 * optimized, this statement must begin there (statements.h); also for groups, of which a condition may be left out
 * because the statement does the same without it: if (b && a) return a; return 0; is b ? a : 0. */
static bool leads_to(const ntr_match *m, uint32_t at, bool result) {
    const ntr_extent *when = &m->record->when[result];
    ntr_frame frames[NTR_FRAMES_MAX];
    size_t first = 0;
    if (!when->line || at == NTR_GRAPH_OUTSIDE) return false;
    if (ntr_extent_has(when, m->record->extent.line, m->record->extent.column)) return false; /* one macro */
    uint64_t address = m->graph->insns[at].address;
    if (!m->kind.unoptimized && (!m->kind.gnu || !m->kind.debug || m->ungrouped)) {
        if (!m->kind.gnu || !ntr_statements_any(m->statements, address)) return false;
        if (ntr_statements_within(m->statements, address, m->record->path, when)) return true;
        first = 1;
    }
    size_t count = ntr_debug_info_frames(m->debug, ntr_graph_place(m->graph, address), frames, NTR_FRAMES_MAX);
    for (size_t i = first; i < count; i++) /* inlined code: the place of its call */
        if (ntr_extent_has(when, frames[i].line, frames[i].column)) return true;
    return false;
}

static uint32_t exit_of(const ntr_matcher *x, size_t branch, bool taken) {
    return x->after[branch][taken];
}

static void add_exit(const ntr_match *m, ntr_result_exits *exits, bool result, uint32_t at) {
    exits->at[result][exits->count[result]++] = ntr_graph_thread(m->graph, at);
}

static bool has_exit(const ntr_match *m, const ntr_result_exits *exits, bool result, uint32_t at) {
    for (size_t i = 0; i < exits->count[result]; i++)
        if (ntr_graph_same(m->graph, exits->at[result][i], at)) return true;
    return false;
}

static void collect_exits(const ntr_matcher *x, size_t i, ntr_result_exits *exits) {
    for (unsigned value = 0; value < 2; value++) {
        int next = x->match->record->flow[x->best.condition[i]].next[value];
        bool taken = x->best.taken_is[i] == (int)value;
        if (next < 0 && !ntr_matcher_goes_on(x, i, taken))
            add_exit(x->match, exits, next == NTR_RESULT_TRUE, exit_of(x, i, taken));
    }
}

/* Returns the first instruction from an exit on that has a line. clang gives none to instructions that several
 * expressions share. Without them the code of one result could seem to have no place, and that of the other be taken
 * for it: the end of a loop may have the place of a `break` in its body. */
static uint32_t first_placed(const ntr_match *m, uint32_t at) {
    enum { PASSED_MAX = 64 };
    ntr_frame frames[NTR_FRAMES_MAX];
    at = ntr_graph_thread(m->graph, at);
    for (unsigned i = 0; i < PASSED_MAX && at < m->graph->count && m->graph->insns[at].flow == NTR_FLOW_LINEAR; i++) {
        if (ntr_debug_info_frames(m->debug, ntr_graph_place(m->graph, m->graph->insns[at].address), frames,
                                  NTR_FRAMES_MAX) &&
            frames[0].line)
            break;
        at = ntr_graph_thread(m->graph, at + 1);
    }
    return at;
}

/* Returns whether the code of an exit with this result sets a register that the opposite result sets in another way. */
static bool sets_apart(const ntr_matcher *x, size_t i, unsigned taken, const ntr_result_exits *exits, bool result) {
    const ntr_graph *g = x->match->graph;
    uint32_t at = exit_of(x, i, taken);
    bool apart = ntr_matcher_sets_apart(g, at, exit_of(x, i, !taken));
    for (size_t k = 0; k < exits->count[!result] && !apart; k++)
        apart = ntr_matcher_sets_apart(g, at, exits->at[!result][k]);
    return apart;
}

/* What says which result the code at an exit has: the exits of other conditions, the same with a proof (match_exits.c),
 * the source, a call in it (match_exits.c), or the value that the code stores (match_exits.c). */
enum evidence { EVIDENCE_CODE, EVIDENCE_SETS, EVIDENCE_SOURCE, EVIDENCE_CALL, EVIDENCE_VALUE };

static bool is_known(const ntr_matcher *x, size_t i, unsigned taken, const ntr_result_exits *exits,
                     enum evidence evidence, bool result) {
    const ntr_match *m = x->match;
    uint32_t at = exit_of(x, i, taken);
    if (evidence == EVIDENCE_CALL) return ntr_matcher_ends_in_call(x, at, result);
    if (evidence == EVIDENCE_VALUE) return ntr_matcher_value_at(x, at) == result;
    if (evidence == EVIDENCE_SOURCE) return leads_to(m, at, result) || leads_to(m, first_placed(m, at), result);
    return has_exit(m, exits, result, at) && (evidence == EVIDENCE_CODE || sets_apart(x, i, taken, exits, result));
}

/* Decides which outcome of a last condition means true. Returns NTR_NOT_KNOWN if nothing is known, or if the statements
 * contradict each other. */
static int value_when_taken(const ntr_matcher *x, size_t i, const ntr_result_exits *exits, enum evidence evidence) {
    const ntr_match *m = x->match;
    bool true_result = m->record->flow[x->best.condition[i]].next[1] == NTR_RESULT_TRUE;
    unsigned votes[2] = {0, 0}; /* by the value of the condition when the branch is taken */
    for (unsigned taken = 0; taken < 2; taken++)
        for (unsigned result = 0; result < 2; result++) {
            bool value = result == true_result; /* of the condition with this outcome */
            if (is_known(x, i, taken, exits, evidence, result)) votes[taken ? value : !value]++;
        }
    if ((votes[0] != 0) == (votes[1] != 0)) return NTR_NOT_KNOWN;
    return votes[1] != 0;
}

/* Both kinds of evidence for a last condition. Where the compiler threads jumps, an exit may lead past a following
 * decision to code that the other result reaches too, so equal code is no evidence there. Example: in
 * if (a > 2 || b) { if (a) f(); } g(); -- a > 2 may lead directly to f(), and its exit says nothing about b. With -Og,
 * the source must not say the opposite: in if (!a || b) return a; return 0; the outcomes !a and !b may lead to the same
 * code. If it says nothing, the code must set a result. */
static int any_value(const ntr_matcher *x, size_t i, const ntr_result_exits *exits) {
    const ntr_code_kind kind = x->match->kind;
    int by_code = value_when_taken(x, i, exits, EVIDENCE_CODE), by_source;
    if (by_code != NTR_NOT_KNOWN && kind.unoptimized) return by_code;
    by_source = value_when_taken(x, i, exits, EVIDENCE_SOURCE);
    if (by_source == NTR_NOT_KNOWN) by_source = ntr_matcher_by_reach(x, i);
    if (by_source == NTR_NOT_KNOWN && kind.debug) by_source = value_when_taken(x, i, exits, EVIDENCE_CALL);
    if (by_source == NTR_NOT_KNOWN && kind.debug) by_source = value_when_taken(x, i, exits, EVIDENCE_VALUE);
    if (by_source == NTR_NOT_KNOWN && kind.debug) return value_when_taken(x, i, exits, EVIDENCE_SETS);
    return by_code == NTR_NOT_KNOWN || by_code == by_source ? by_source : NTR_NOT_KNOWN;
}

/* Returns whether a node has only conditions below one operator. */
static bool is_one_chain(const ntr_decision_record *r, unsigned node, uint8_t operator) {
    const ntr_expression *e = &r->tree[node];
    if (e->operator== NTR_LEAF) return true;
    if (e->operator!= operator) return false;
    return is_one_chain(r, e->left, operator) && is_one_chain(r, e->right, operator);
}

/* Returns whether an outcome leads to the same code as that of another branch with this result. */
static bool is_shared(const ntr_matcher *x, size_t i, unsigned taken, int16_t result) {
    const ntr_match *m = x->match;
    for (size_t k = 0; k < m->count; k++)
        for (unsigned value = 0; value < 2 && k != i; value++) {
            const unsigned outcome = x->best.taken_is[k] == (int)value;
            if (m->record->flow[x->best.condition[k]].next[value] == result &&
                ntr_graph_same(m->graph, exit_of(x, k, outcome), exit_of(x, i, taken)))
                return true;
        }
    return false;
}

/* A group that can have one value only is left out, or only a branch of one of its conditions is left. Example: in
 * if (b || (a > 0 && !a)) break; if (a <= 0) return; -- the branch of a > 0 is that of the second statement, too, and
 * both of its outcomes mean false. So the value that all conditions have together (&&: true, ||: false) must be shown
 * by itself, and not only be the opposite of what the other outcome shows. */
static bool shows_group(const ntr_matcher *x, size_t i, const ntr_result_exits *exits, int value_when_taken) {
    const ntr_match *m = x->match;
    const uint8_t condition = x->best.condition[i];
    const ntr_group *group = m->ungrouped ? &m->grouping.groups[0][condition] : NULL;
    if (!group || group->first == group->last || m->kind.unoptimized) return true; /* -O0 folds, and threads nothing */
    const uint8_t operator= m->ungrouped->tree[group->top].operator;
    const bool one = is_one_chain(m->ungrouped, group->top, operator);
    const int16_t *flow = m->record->flow[condition].next;
    const bool alone = flow[0] >= 0 || flow[1] >= 0; /* only one value decides */
    for (unsigned value = 0; value < 2; value++) {
        const int16_t next = m->record->flow[condition].next[value];
        const bool taken = value_when_taken == (int)value, result = next == NTR_RESULT_TRUE;
        if (next >= 0 || (one && value != (operator== NTR_AND))) continue;
        bool shown = ntr_matcher_reaches(x, i, taken, result) || (alone && is_shared(x, i, taken, next));
        for (enum evidence e = EVIDENCE_SETS; e <= EVIDENCE_VALUE && !shown; e++)
            shown = is_known(x, i, taken, exits, e, result);
        if (!shown) return false;
    }
    return true;
}

/* Returns whether a branch is that of several conditions. */
static bool is_group(const ntr_matcher *x, size_t i) {
    const ntr_group *group = &x->match->grouping.groups[0][x->best.condition[i]];
    return x->match->ungrouped && group->first != group->last;
}

/* The constants with which the code compares the operand of several conditions prove their value. The branch of a
 * single condition may look like that of another one, p != NULL like q != NULL, so the source must not say the
 * opposite. gcc writes the begin of a statement also where a path goes past it: RETURN(x) after if (n < 2 || n > 6) is
 * said to begin where the result false leads. */
static int last_value(const ntr_matcher *x, size_t i, const ntr_result_exits *exits) {
    const int compared = ntr_matcher_by_operand(x, i, NULL);
    if (compared != NTR_NOT_KNOWN && is_group(x, i)) return compared;
    const int value = any_value(x, i, exits);
    if (compared != NTR_NOT_KNOWN) return value == NTR_NOT_KNOWN || value == compared ? compared : NTR_NOT_KNOWN;
    return value != NTR_NOT_KNOWN && shows_group(x, i, exits, value) ? value : NTR_NOT_KNOWN;
}

/* The same of the groups of which only one value decides. Example: if ((b && b == 0) || (!d && e)) return v; return 0;
 * -- b && b == 0 is left out, and the branches of d and e also fit the two groups. Then the outcome d would mean true,
 * and it leads to `return 0`. */
static bool shows_all_groups(const ntr_matcher *x, const ntr_result_exits *exits) {
    for (size_t i = 0; i < x->match->count; i++)
        if (is_group(x, i) && ntr_matcher_by_operand(x, i, NULL) == NTR_NOT_KNOWN &&
            !shows_group(x, i, exits, x->best.taken_is[i]))
            return false;
    return true;
}

bool ntr_matcher_results(ntr_matcher *x, ntr_result_exits *exits) {
    const ntr_match *m = x->match;
    bool changed = true, all = false;
    for (size_t i = 0; i < m->count; i++)
        if (x->best.taken_is[i] != NTR_NOT_KNOWN) collect_exits(x, i, exits);
    while (changed && !all) {
        changed = false;
        all = true;
        for (size_t i = 0; i < m->count; i++) {
            if (x->best.taken_is[i] != NTR_NOT_KNOWN) continue;
            int value = last_value(x, i, exits);
            all = false;
            if (value == NTR_NOT_KNOWN) continue;
            x->best.taken_is[i] = (int16_t)value;
            collect_exits(x, i, exits);
            changed = true;
        }
    }
    return all && shows_all_groups(x, exits);
}

bool ntr_matcher_differs(const ntr_match *m, const ntr_result_exits *exits) {
    for (size_t i = 0; i < exits->count[0]; i++)
        if (has_exit(m, exits, true, exits->at[0][i])) return false;
    return true;
}

/* ---- evidence of the line table ---------------------------------------------------------------- */

/* Returns whether a place is inside of exactly one condition. */
static bool only_condition_at(const ntr_decision_record *r, uint32_t line, uint32_t column, uint8_t *condition) {
    unsigned found = 0;
    for (size_t i = 0; i < r->shown.condition_count; i++)
        if (ntr_extent_has(&r->flow[i].extent, line, column)) {
            *condition = (uint8_t)i;
            found++;
        }
    return found == 1;
}

static bool is_operator(const ntr_condition_flow *flow, const ntr_candidate *branch) {
    return flow->operator_line == branch->line && flow->operator_column == branch->column;
}

/* Returns whether a branch is placed at the operator before its condition, or at one inside of its group. */
static bool at_operator(const ntr_match *m, unsigned condition, const ntr_candidate *branch) {
    if (!m->ungrouped) return is_operator(&m->record->flow[condition], branch);
    const ntr_group *group = &m->grouping.groups[0][condition];
    for (unsigned i = group->first; i <= group->last; i++)
        if (is_operator(&m->ungrouped->flow[i], branch)) return true;
    return false;
}

/* Returns whether a place is inside of exactly one condition of the record. The operators inside of a group belong to
 * none: gcc also places branches of other conditions there. */
static bool is_at_condition(const ntr_match *m, uint32_t line, uint32_t column, uint8_t *condition) {
    if (!m->ungrouped) return only_condition_at(m->record, line, column, condition);
    if (!only_condition_at(m->ungrouped, line, column, condition)) return false;
    uint8_t group = 0;
    while (m->grouping.groups[0][group].last < *condition) group++;
    *condition = group;
    return true;
}

/* Compares the places of the branches with their conditions. gcc places the branch of a condition without a place of
 * its own (a variable) at the operator before it, and that of the first one at the statement or at an operator. Where
 * conditions are computed together, a condition that is known may be left out, and the number of branches does not show
 * it: in (d && !(b || f)) && d, three branches for d, b and f also fit d, b || f and d. */
bool ntr_matcher_places(const ntr_matcher *x) {
    const ntr_match *m = x->match;
    if (m->kind.unoptimized && !m->kind.gnu) return true; /* clang: their order and number are compared instead */
    for (size_t i = 0; i < m->count; i++) {
        const ntr_candidate *c = &m->candidates[i];
        uint8_t condition;
        if (is_at_condition(m, c->line, c->column, &condition)) {
            if (condition != x->best.condition[i]) return false;
            continue;
        }
        if (!m->kind.unoptimized && !m->kind.gnu) return false; /* clang places branches at operators, in any order */
        if (!m->kind.unoptimized && (!m->kind.debug || m->ungrouped) && x->best.condition[i] != m->record->start &&
            !at_operator(m, x->best.condition[i], c))
            return false;
    }
    return true;
}

/* Returns whether a call inside of the last condition may be the conversion of an earlier one: gcc places it at the
 * last token that it has read, the end of the decision. Example: while (stream && use(stream.get())) -- the call of
 * `operator bool` is at the last parenthesis. */
static bool may_convert(const ntr_match *m, unsigned condition) {
    const size_t last = m->record->shown.condition_count - 1;
    if (m->ungrouped || condition != last) return false;
    for (size_t i = 0; i < last; i++)
        if (m->record->flow[i].converts) return true;
    return false;
}

/* A call is never moved to another condition. Example: in (a > 1 && a == 1) || (b > 0 || (g() || c)) the compiler
 * leaves the first part out, and three branches also fit its group, that of b > 0 and that of g() || c; but g is called
 * before the second one. */
bool ntr_matcher_calls(const ntr_matcher *x) {
    const ntr_match *m = x->match;
    ntr_graph *g = m->graph;
    ntr_frame frames[NTR_FRAMES_MAX];
    uint8_t condition;
    bool all = true;
    if (m->kind.unoptimized) return true;
    ntr_match_mark(m, true);
    for (uint32_t at = 0; at + 1 < g->count && all; at++) {
        if (g->insns[at].flow != NTR_FLOW_DIRECT_CALL && g->insns[at].flow != NTR_FLOW_INDIRECT_CALL) continue;
        const size_t count =
            ntr_debug_info_frames(m->debug, ntr_graph_place(g, g->insns[at].address), frames, NTR_FRAMES_MAX);
        if (count == 0 || !is_at_condition(m, frames[count - 1].line, frames[count - 1].column, &condition) ||
            may_convert(m, condition))
            continue;
        const ntr_branch_set next = ntr_graph_reach(g, at + 1);
        for (size_t i = 0; i < m->count && all; i++) all = !(next >> i & 1) || x->best.condition[i] == condition;
    }
    ntr_match_mark(m, false);
    return all;
}
