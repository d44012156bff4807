#include "decision/match.h"

#include <string.h>

typedef uint64_t branch_set;

enum { NO_CONDITION = 0xff, NOT_KNOWN = -1, STEPS_MAX = 1 << 16 };

typedef struct solution {
    uint8_t condition[NTR_CANDIDATES_MAX];
    int16_t taken_is[NTR_CANDIDATES_MAX]; /* NOT_KNOWN: both outcomes decide the result */
} solution;

typedef struct matcher {
    ntr_match *match;
    branch_set reach[NTR_CANDIDATES_MAX][2]; /* by outcome: not taken, taken; without those that begin an evaluation */
    branch_set first;
    solution best;
    unsigned found, steps;
} matcher;

static void mark_candidates(const ntr_match *m, bool set) {
    for (size_t i = 0; i < m->count; i++) m->graph->insns[m->candidates[i].insn].candidate = set ? (uint8_t)(i + 1) : 0;
}

static void compute_reach(matcher *x) {
    ntr_match *m = x->match;
    mark_candidates(m, true);
    x->first = ntr_graph_reach_first(m->graph);
    for (size_t i = 0; i < m->count; i++)
        for (unsigned taken = 0; taken < 2; taken++) {
            uint32_t after = ntr_graph_after(m->graph, m->candidates[i].insn, taken);
            x->reach[i][taken] = ntr_graph_reach(m->graph, after) & ~x->first;
        }
    mark_candidates(m, false);
}

/* ---- search ------------------------------------------------------------------------------------ */

/* Gives all branches of the set to a condition. Returns false when one has another condition. */
static bool assign(const matcher *x, solution *s, branch_set set, int condition) {
    for (size_t i = 0; i < x->match->count; i++) {
        if (!(set >> i & 1)) continue;
        if (s->condition[i] != NO_CONDITION && s->condition[i] != condition) return false;
        s->condition[i] = (uint8_t)condition;
    }
    return true;
}

/* Follows one value of the condition of branch `i`, which it has with the outcome `taken`. */
static bool follow(const matcher *x, solution *s, size_t i, unsigned value, unsigned taken) {
    int next = x->match->record->flow[s->condition[i]].next[value];
    branch_set set = x->reach[i][taken];
    if (next < 0) return set == 0;
    return set != 0 && assign(x, s, set, next);
}

static bool decides_both(const matcher *x, uint8_t condition) {
    const int16_t *next = x->match->record->flow[condition].next;
    return next[0] < 0 && next[1] < 0;
}

static void search(matcher *x, const solution *given, branch_set done) {
    const ntr_match *m = x->match;
    size_t at = 0;
    if (++x->steps > STEPS_MAX) return;
    while (at < m->count && (given->condition[at] == NO_CONDITION || done >> at & 1)) at++;
    if (at == m->count) {
        for (size_t i = 0; i < m->count; i++)
            if (!(done >> i & 1)) return; /* a candidate has no place */
        if (x->found++ == 0) x->best = *given;
        return;
    }
    bool both = decides_both(x, given->condition[at]);
    for (unsigned taken_is = 0; taken_is < (both ? 1u : 2u); taken_is++) {
        solution s = *given;
        if (!follow(x, &s, at, taken_is, 1) || !follow(x, &s, at, !taken_is, 0)) continue;
        s.taken_is[at] = both ? NOT_KNOWN : (int16_t)taken_is;
        search(x, &s, done | UINT64_C(1) << at);
    }
}

/* ---- results ----------------------------------------------------------------------------------- */

/* Returns whether the code at an exit belongs to the statement that is executed with this result. In code that was
 * optimized, this statement must begin there (statements.h). */
static bool leads_to(const ntr_match *m, uint32_t at, bool result) {
    const ntr_extent *when = &m->record->when[result];
    ntr_frame frames[NTR_FRAMES_MAX];
    size_t first = 0;
    if (!when->line || at == NTR_GRAPH_OUTSIDE) return false;
    if (ntr_extent_has(when, m->record->extent.line, m->record->extent.column)) return false; /* one macro */
    uint64_t address = m->graph->insns[at].address;
    if (!m->kind.plain && !(m->kind.gnu && m->kind.debug)) {
        if (!m->kind.gnu || !ntr_statements_any(m->statements, address)) return false;
        if (ntr_statements_within(m->statements, address, m->record->path, when)) return true;
        first = 1;
    }
    size_t count = ntr_debug_info_frames(m->debug, NULL, address, frames, NTR_FRAMES_MAX);
    for (size_t i = first; i < count; i++) /* inlined code: the place of its call */
        if (ntr_extent_has(when, frames[i].line, frames[i].column)) return true;
    return false;
}

static uint32_t exit_of(const ntr_match *m, size_t branch, bool taken) {
    return ntr_graph_after(m->graph, m->candidates[branch].insn, taken);
}

typedef struct result_exits {
    uint32_t at[2][2 * NTR_CANDIDATES_MAX]; /* by result */
    size_t count[2];
} result_exits;

static void add_exit(const ntr_match *m, result_exits *exits, bool result, uint32_t at) {
    exits->at[result][exits->count[result]++] = ntr_graph_thread(m->graph, at);
}

static bool has_exit(const ntr_match *m, const result_exits *exits, bool result, uint32_t at) {
    for (size_t i = 0; i < exits->count[result]; i++)
        if (ntr_graph_same(m->graph, exits->at[result][i], at)) return true;
    return false;
}

static void collect_exits(const matcher *x, size_t i, result_exits *exits) {
    for (unsigned value = 0; value < 2; value++) {
        int next = x->match->record->flow[x->best.condition[i]].next[value];
        bool taken = x->best.taken_is[i] == (int)value;
        if (next < 0) add_exit(x->match, exits, next == NTR_RESULT_TRUE, exit_of(x->match, i, taken));
    }
}

/* Returns the first instruction from an exit on that has a line. clang gives none to instructions that several expressions
 * share. Without them the code of one result could seem to have no place, and that of the other be taken for it: the end of
 * a loop may have the place of a `break` in its body. */
static uint32_t first_placed(const ntr_match *m, uint32_t at) {
    enum { PASSED_MAX = 64 };
    ntr_frame frames[NTR_FRAMES_MAX];
    at = ntr_graph_thread(m->graph, at);
    for (unsigned i = 0; i < PASSED_MAX && at < m->graph->count && m->graph->insns[at].flow == NTR_FLOW_LINEAR; i++) {
        if (ntr_debug_info_frames(m->debug, NULL, m->graph->insns[at].address, frames, NTR_FRAMES_MAX) && frames[0].line) break;
        at = ntr_graph_thread(m->graph, at + 1);
    }
    return at;
}

/* Decides which outcome of a last condition means true: by what the exits of other conditions, or else the source, say of
 * the code at its own exits. Returns NOT_KNOWN if nothing is known, or if the statements contradict each other. */
static int value_when_taken(const matcher *x, size_t i, const result_exits *exits, bool by_source) {
    const ntr_match *m = x->match;
    bool true_result = m->record->flow[x->best.condition[i]].next[1] == NTR_RESULT_TRUE;
    unsigned votes[2] = {0, 0}; /* by the value of the condition when the branch is taken */
    for (unsigned taken = 0; taken < 2; taken++)
        for (unsigned result = 0; result < 2; result++) {
            uint32_t at = exit_of(m, i, taken);
            bool known = by_source ? leads_to(m, at, result) || leads_to(m, first_placed(m, at), result)
                                   : has_exit(m, exits, result, at);
            bool value = result == true_result; /* of the condition with this outcome */
            if (known) votes[taken ? value : !value]++;
        }
    if ((votes[0] != 0) == (votes[1] != 0)) return NOT_KNOWN;
    return votes[1] != 0;
}

static bool is_threaded(const ntr_match *m) {
    return !m->kind.plain && !m->kind.debug;
}

/* Both kinds of evidence for a last condition. Where the compiler threads jumps, an exit may lead past a following
 * decision to code that the other result reaches too, so equal code is no evidence there. Example: in
 * if (a > 2 || b) { if (a) f(); } g(); -- a > 2 may lead directly to f(), and its exit says nothing about b. */
static int last_value(const matcher *x, size_t i, const result_exits *exits) {
    int by_code = value_when_taken(x, i, exits, false), by_source;
    if (by_code != NOT_KNOWN && !is_threaded(x->match)) return by_code;
    by_source = value_when_taken(x, i, exits, true);
    return by_code == NOT_KNOWN || by_code == by_source ? by_source : NOT_KNOWN;
}

static bool find_results(matcher *x, result_exits *exits) {
    const ntr_match *m = x->match;
    bool changed = true, all = false;
    for (size_t i = 0; i < m->count; i++)
        if (x->best.taken_is[i] != NOT_KNOWN) collect_exits(x, i, exits);
    while (changed && !all) {
        changed = false;
        all = true;
        for (size_t i = 0; i < m->count; i++) {
            if (x->best.taken_is[i] != NOT_KNOWN) continue;
            int value = last_value(x, i, exits);
            all = false;
            if (value == NOT_KNOWN) continue;
            x->best.taken_is[i] = (int16_t)value;
            collect_exits(x, i, exits);
            changed = true;
        }
    }
    return all;
}

static bool results_differ(const ntr_match *m, const result_exits *exits) {
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

/* Compares the places of the branches with their conditions. gcc places the branch of a condition without a place of its
 * own (a variable) at the operator before it, and that of the first one at the statement or at an operator. */
static bool places_agree(const matcher *x) {
    const ntr_match *m = x->match;
    if (m->kind.plain && !m->kind.gnu) return true; /* clang: their order and number are compared instead */
    for (size_t i = 0; i < m->count; i++) {
        const ntr_candidate *c = &m->candidates[i];
        const ntr_condition_flow *flow = &m->record->flow[x->best.condition[i]];
        uint8_t condition;
        if (only_condition_at(m->record, c->line, c->column, &condition)) {
            if (condition != x->best.condition[i]) return false;
            continue;
        }
        bool at_operator = flow->operator_line == c->line && flow->operator_column == c->column;
        if (!m->kind.plain && !m->kind.gnu) return false; /* clang places branches at operators, in any order */
        if (!m->kind.plain && !at_operator && x->best.condition[i] != m->record->start) return false;
    }
    return true;
}

/* ---- */

static bool all_conditions(const matcher *x) {
    const ntr_decision_record *r = x->match->record;
    uint64_t seen = 0;
    for (size_t i = 0; i < x->match->count; i++)
        if (x->best.condition[i] < NTR_CONDITIONS_MAX) seen |= UINT64_C(1) << x->best.condition[i];
    for (size_t i = 0; i < r->shown.condition_count; i++)
        if (!r->conditions[i].constant && !(seen >> i & 1)) return false;
    return true;
}

static size_t evaluated(const ntr_decision_record *r) {
    size_t count = 0;
    for (size_t i = 0; i < r->shown.condition_count; i++) count += !r->conditions[i].constant;
    return count;
}

static const char *why_not(const ntr_match *m) {
    if (m->count < evaluated(m->record))
        return "it has fewer branches than conditions: the compiler folded, merged or computed conditions";
    return "its branches do not have the structure of the source: the compiler has changed them";
}

const char *ntr_match_find(ntr_match *m) {
    matcher x = {.match = m};
    result_exits exits = {0};
    if (m->count < evaluated(m->record)) return why_not(m);
    compute_reach(&x);
    memset(x.best.condition, NO_CONDITION, sizeof x.best.condition);
    memset(x.best.taken_is, NOT_KNOWN, sizeof x.best.taken_is);
    solution begin = x.best;
    if (x.first == 0 || !assign(&x, &begin, x.first, m->record->start)) return why_not(m);
    search(&x, &begin, 0);
    if (x.found == 0 || x.steps > STEPS_MAX) return why_not(m);
    if (x.found > 1) return "its branches fit the source in more than one way";
    if (!all_conditions(&x)) return why_not(m);
    for (size_t i = 0; i < m->count; i++) m->matched[i].condition = x.best.condition[i];
    m->placed = true;
    if (!find_results(&x, &exits)) return "the code does not show which outcome of a branch is true";
    if (!results_differ(m, &exits)) return "both results lead to the same code";
    if (!places_agree(&x)) return "the line table does not place its branches at their conditions";
    for (size_t i = 0; i < m->count; i++)
        m->matched[i] = (ntr_matched){x.best.condition[i], x.best.taken_is[i] == 1, (x.first >> i & 1) != 0};
    return NULL;
}
