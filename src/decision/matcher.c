#include "decision/values.h"
#include "decision/matcher.h"

#include <string.h>

enum { STEPS_MAX = 1 << 16 };

/* Returns whether an instruction belongs to the expression around the decision. There are no labels of a switch inside
 * of it. */
static bool is_within(const ntr_match *m, uint32_t at) {
    ntr_frame frames[NTR_FRAMES_MAX];
    const ntr_decision_record *r = m->record;
    if (!ntr_debug_info_frames(m->debug, ntr_graph_place(m->graph, m->graph->insns[at].address), frames,
                               NTR_FRAMES_MAX) ||
        !frames[0].line)
        return true;
    return ntr_extent_has(&r->extent, frames[0].line, frames[0].column) ||
           ntr_extent_has(&r->whole, frames[0].line, frames[0].column);
}

/* A constant that clang without optimization computes as the result may be in the stack frame during calls. */
static bool may_continue(const ntr_match *m, uint8_t flow) {
    const bool call = flow == NTR_FLOW_DIRECT_CALL || flow == NTR_FLOW_INDIRECT_CALL;
    return flow == NTR_FLOW_LINEAR || flow == NTR_FLOW_BRANCH || (call && m->kind.unoptimized && !m->kind.gnu);
}

/* Returns the first instruction of the code before a branch that is executed only from there on to the branch. clang
 * ends each block with a jump, so that straight code has no label of a switch. */
static uint32_t straight_before(const ntr_match *m, uint32_t branch) {
    const ntr_graph_insn *insns = m->graph->insns;
    uint32_t at = branch;
    while (at && !insns[at].is_target && !insns[at].entry && may_continue(m, insns[at - 1].flow) &&
           (m->stored || is_within(m, at - 1)))
        at--;
    return at;
}

/* Stores where the outcomes of a candidate lead. A candidate that begins an evaluation is not passed. */
static void follow_constants(ntr_matcher *x) {
    const ntr_match *m = x->match;
    ntr_passed passed;
    for (size_t i = 0; i < m->count; i++) m->graph->insns[m->candidates[i].insn].joint = !(x->first >> i & 1);
    for (size_t i = 0; i < m->count; i++) {
        uint32_t branch = m->candidates[i].insn, from = straight_before(m, branch);
        for (unsigned taken = 0; taken < 2; taken++) {
            x->after[i][taken] = ntr_constants_follow(m->graph, from, branch, taken, &passed);
            x->loads[i][taken] = NTR_NOT_KNOWN;
            for (unsigned k = 0; k < passed.count; k++) {
                uint8_t candidate = m->graph->insns[passed.at[k]].candidate;
                if (!candidate) continue;
                x->retested[i][taken] = true;
                x->certain[candidate - 1] |= passed.taken[k] ? 2 : 1;
                if (candidate == m->stored) x->loads[i][taken] = passed.taken[k];
            }
            if (passed.unset != NTR_GRAPH_OUTSIDE && m->graph->insns[passed.unset].candidate)
                x->unset |= UINT64_C(1) << (m->graph->insns[passed.unset].candidate - 1);
        }
    }
    for (size_t i = 0; i < m->count; i++) m->graph->insns[m->candidates[i].insn].joint = false;
}

static void compute_reach(ntr_matcher *x) {
    ntr_match *m = x->match;
    ntr_match_mark(m, true);
    x->first = ntr_graph_reach_first(m->graph);
    follow_constants(x);
    for (size_t i = 0; i < m->count; i++)
        for (unsigned taken = 0; taken < 2; taken++)
            x->reach[i][taken] = ntr_graph_reach(m->graph, x->after[i][taken]) & ~x->first;
    ntr_match_mark(m, false);
}

/* ---- search ------------------------------------------------------------------------------------ */

/* Gives all branches of the set to a condition. Returns false when one has another condition. */
static bool assign(const ntr_matcher *x, ntr_solution *s, ntr_branch_set set, int condition) {
    for (size_t i = 0; i < x->match->count; i++) {
        if (!(set >> i & 1)) continue;
        if (s->condition[i] != NTR_NO_CONDITION && s->condition[i] != condition) return false;
        s->condition[i] = (uint8_t)condition;
    }
    return true;
}

/* Follows one value of the condition of branch `i`, which it has with the outcome `taken`. */
static bool follow(const ntr_matcher *x, ntr_solution *s, size_t i, unsigned value, unsigned taken) {
    int next = x->match->record->flow[s->condition[i]].next[value];
    ntr_branch_set set = x->reach[i][taken];
    if (ntr_matcher_goes_on(x, i, taken)) return set != 0 && assign(x, s, set, s->condition[i]);
    if (next < 0) return set == 0;
    return set != 0 && assign(x, s, set, next);
}

static bool decides_both(const ntr_matcher *x, uint8_t condition) {
    const int16_t *next = x->match->record->flow[condition].next;
    return next[0] < 0 && next[1] < 0;
}

static bool is_part(const ntr_matcher *x, size_t i) {
    return x->match->parts && x->match->parts[i].is_part;
}

static void search(ntr_matcher *x, const ntr_solution *given, ntr_branch_set done) {
    const ntr_match *m = x->match;
    size_t at = 0;
    if (++x->steps > STEPS_MAX) return;
    while (at < m->count && (given->condition[at] == NTR_NO_CONDITION || done >> at & 1)) at++;
    if (at == m->count) {
        for (size_t i = 0; i < m->count; i++)
            if (!(done >> i & 1)) return; /* a candidate has no place */
        if (x->found++ == 0) x->best = *given;
        return;
    }
    const bool part = is_part(x, at), both = !part && decides_both(x, given->condition[at]);
    for (unsigned taken_is = 0; taken_is < (both ? 1u : 2u); taken_is++) {
        ntr_solution s = *given;
        if (part && taken_is != m->parts[at].taken_is) continue;
        if (!follow(x, &s, at, taken_is, 1) || !follow(x, &s, at, !taken_is, 0)) continue;
        s.taken_is[at] = both ? NTR_NOT_KNOWN : (int16_t)taken_is;
        search(x, &s, done | UINT64_C(1) << at);
    }
}

/* ---- */

/* Returns whether a branch tests results, and on some way a value that was set before: this is a result, too, and not a
 * condition. Example: li R, 1; beqz A, L; or X, B, C; beqz X, M; L: li R, 0; M: bnez R, end -- the last branch is not
 * that of C. */
static bool tests_older_value(const ntr_matcher *x) {
    for (size_t i = 0; i < x->match->count; i++)
        if (x->certain[i] && x->unset >> i & 1) return true;
    return false;
}

static bool all_conditions(const ntr_matcher *x) {
    const ntr_decision_record *r = x->match->record;
    uint64_t seen = 0;
    for (size_t i = 0; i < x->match->count; i++)
        if (x->best.condition[i] < NTR_CONDITIONS_MAX) seen |= UINT64_C(1) << x->best.condition[i];
    return (ntr_record_evaluated(r) & ~seen) == 0;
}

/* Returns whether each outcome that decides the result stores this result where the load of it reads. */
static bool stores_results(const ntr_matcher *x) {
    const ntr_match *m = x->match;
    for (size_t i = 0; i < m->count; i++)
        for (unsigned value = 0; value < 2 && i + 1u != m->stored; value++) {
            const int next = m->record->flow[x->best.condition[i]].next[value];
            const bool taken = x->best.taken_is[i] == (int)value;
            if (next < 0 && !ntr_matcher_goes_on(x, i, taken) && x->loads[i][taken] != (next == NTR_RESULT_TRUE))
                return false;
        }
    return true;
}

/* Returns whether an outcome decides. Those of a last condition do. */
static bool decides(const ntr_matcher *x, size_t i, unsigned taken) {
    const int16_t *next = x->match->record->flow[x->best.condition[i]].next;
    const int taken_is = x->best.taken_is[i];
    return !ntr_matcher_goes_on(x, i, taken) && next[taken_is == NTR_NOT_KNOWN || (int)taken == taken_is] < 0;
}

static void mark_exits(const ntr_matcher *x, bool set) {
    ntr_graph *g = x->match->graph;
    for (size_t i = 0; i < x->match->count; i++)
        for (unsigned taken = 0; taken < 2; taken++) {
            const uint32_t at = decides(x, i, taken) ? ntr_graph_thread(g, x->after[i][taken]) : NTR_GRAPH_OUTSIDE;
            if (at < g->count) g->insns[at].anchor = set;
        }
}

/* Returns whether code leads from an outcome that does not decide to where those lead that do, and passes no branch of
 * the decision: it has other branches too. Example: in C, gcc and clang test b and c in a && (d ? (b && c) : e), and if
 * only the last of these branches were taken for that of the whole operand, evaluations would be missing. */
static bool decides_elsewhere(const ntr_matcher *x) {
    const ntr_match *m = x->match;
    bool elsewhere = false;
    if (!m->kind.unoptimized) return false;
    ntr_match_mark(m, true);
    mark_exits(x, true);
    for (size_t i = 0; i < m->count; i++)
        for (unsigned taken = 0; taken < 2; taken++)
            elsewhere |= !decides(x, i, taken) && ntr_graph_reaches_anchor(m->graph, x->after[i][taken]);
    mark_exits(x, false);
    ntr_match_mark(m, false);
    return elsewhere;
}

static const char *why_not(const ntr_match *m) {
    if (m->count < (size_t)__builtin_popcountll(ntr_record_evaluated(m->record)))
        return "it has fewer branches than conditions: the compiler folded, merged or computed conditions";
    return "its branches do not have the structure of the source: the compiler has changed them";
}

const char *ntr_match_find(ntr_match *m) {
    ntr_matcher x = {.match = m};
    ntr_result_exits exits = {0};
    if (m->count < (size_t)__builtin_popcountll(ntr_record_evaluated(m->record))) return why_not(m);
    compute_reach(&x);
    memset(x.best.condition, NTR_NO_CONDITION, sizeof x.best.condition);
    memset(x.best.taken_is, NTR_NOT_KNOWN, sizeof x.best.taken_is);
    ntr_solution begin = x.best;
    if (!m->kind.unoptimized && tests_older_value(&x)) return why_not(m);
    if (x.first == 0 || !assign(&x, &begin, x.first, m->record->start)) return why_not(m);
    search(&x, &begin, 0);
    if (x.found == 0 || x.steps > STEPS_MAX) return why_not(m);
    if (x.found > 1) return "its branches fit the source in more than one way";
    if (!all_conditions(&x) || decides_elsewhere(&x)) return why_not(m);
    for (size_t i = 0; i < m->count; i++) m->matched[i].condition = x.best.condition[i];
    m->placed = true;
    m->possible = ntr_matcher_places(&x) && ntr_matcher_calls(&x);
    if (m->stored)
        x.best.taken_is[m->stored - 1] = m->record->flow[x.best.condition[m->stored - 1]].next[1] == NTR_RESULT_TRUE;
    if (m->stored && !m->lost && !stores_results(&x)) return why_not(m);
    if (!ntr_matcher_results(&x, &exits)) return "the code does not show which outcome of a branch is true";
    for (size_t i = 0; i < m->count; i++) {
        const int compared = ntr_matcher_by_operand(&x, i, &m->operands[i]);
        if (compared == NTR_NOT_KNOWN || compared == x.best.taken_is[i]) continue;
        m->possible = false;
        return "the code compares with other constants than the source";
    }
    if (!m->stored && !ntr_matcher_differs(m, &exits)) return "both results lead to the same code";
    if (!m->possible) return "the line table does not place its branches at their conditions";
    ntr_match_mark(m, true);
    m->complete =
        m->kind.gnu && m->kind.debug && (m->kind.keeps_paths || !ntr_matcher_bypassed(m->graph, m->record, &exits));
    ntr_match_mark(m, false);
    for (size_t i = 0; i < m->count; i++)
        m->matched[i] = (ntr_matched){x.best.condition[i],
                                      x.best.taken_is[i] == 1,
                                      (x.first >> i & 1) != 0,
                                      {x.retested[i][0], x.retested[i][1]},
                                      {ntr_matcher_goes_on(&x, i, 0), ntr_matcher_goes_on(&x, i, 1)}};
    return NULL;
}

uint64_t ntr_match_retests(ntr_match *m) {
    ntr_matcher x = {.match = m};
    uint64_t retests = 0;
    compute_reach(&x);
    ntr_branch_set reached = x.first;
    for (size_t i = 0; i < m->count; i++) reached |= x.reach[i][0] | x.reach[i][1];
    for (size_t i = 0; i < m->count; i++)
        if (x.certain[i] == 3 && !(reached >> i & 1)) retests |= UINT64_C(1) << i;
    return retests;
}
