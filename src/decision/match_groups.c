/* Compares the code with the decision of which some conditions are computed together (groups.h). */
#include "decision/matcher.h"

#include <string.h>

static bool is_move(const ntr_graph *g, uint32_t at) {
    unsigned source;
    return g->insns[at].size <= 4 && ntr_is_move(ntr_expand(g->insns[at].bits, g->xlen), &source);
}

/* Returns whether code of the decision follows an outcome that decides its result. Then a part of it is computed behind
 * the branch, and the outcome is not its result. Example: if (a && b) x++; as beqz A, L; snez T, B; add X, X, T; L: */
static bool computes_behind(const ntr_match *m, const ntr_extent *extent, uint32_t at) {
    const ntr_graph *g = m->graph;
    ntr_frame frames[NTR_FRAMES_MAX];
    for (at = ntr_graph_thread(g, at); at < g->count && g->insns[at].flow == NTR_FLOW_LINEAR; at++) {
        if (!is_move(g, at) &&
            ntr_debug_info_frames(m->debug, ntr_graph_place(g, g->insns[at].address), frames, NTR_FRAMES_MAX) &&
            frames[0].line && ntr_extent_has(extent, frames[0].line, frames[0].column))
            return true;
        if (at + 1 < g->count && g->insns[at + 1].is_target) break;
    }
    return false;
}

static bool ends_at_branches(const ntr_match *m, const ntr_grouped_record *grouped) {
    for (size_t i = 0; i < m->count; i++)
        for (unsigned taken = 0; taken < 2; taken++) {
            bool value = m->matched[i].taken_is == (taken == 1);
            if (grouped->flow[m->matched[i].condition].next[value] >= 0) continue;
            if (computes_behind(m, &grouped->record.extent, ntr_graph_after(m->graph, m->candidates[i].insn, taken)))
                return false;
        }
    return true;
}

/* Returns whether the conditions of each group can be computed without a branch between them. */
static bool may_be_groups(const ntr_decision_record *r, const ntr_grouping *grouping) {
    for (size_t i = 0; i < grouping->count; i++)
        for (unsigned k = grouping->groups[0][i].first + 1u; k <= grouping->groups[0][i].last; k++)
            if (r->flow[k].calls) return false;
    return true;
}

/* Returns whether a condition may say something about one of another group. Then one may be left out because it is
 * known, and another structure fits the branches. Example: (d || a) || !(d == 2 || f()) is d | a and f(), which would
 * also fit d and a group of the others. */
static bool may_depend(const ntr_decision_record *r, const ntr_grouping *grouping) {
    uint64_t before = 0;
    for (size_t i = 0; i < grouping->count; i++) {
        const ntr_group *group = &grouping->groups[0][i];
        uint64_t names = 0;
        for (unsigned k = group->first; k <= group->last; k++) names |= r->flow[k].names;
        if (names & before) return true;
        before |= names;
    }
    return false;
}

/* Structures of which it is not proven what the outcomes of their branches mean. The code may have one of them all the
 * same. */
typedef struct unproven {
    ntr_match items[NTR_GROUPINGS_MAX];
    size_t count;
    bool too_many;
} unproven;

static void add_unproven(unproven *u, const ntr_match *match) {
    u->too_many |= u->count == NTR_GROUPINGS_MAX;
    if (!u->too_many) u->items[u->count++] = *match;
}

/* Adds a structure that fits. Returns false when it gives the branches other groups than those before. */
static bool add_fitting(ntr_match *fitting, const ntr_match *one) {
    if (fitting->grouping.count == 0) {
        *fitting = *one;
        return true;
    }
    for (size_t i = 0; i < one->count; i++)
        if (memcmp(&fitting->matched[i], &one->matched[i], sizeof one->matched[i]) != 0) return false;
    return ntr_grouping_add(&fitting->grouping, &one->grouping);
}

/* Adds structures that are not proven. Returns false when one of them gives the branches other groups. Example: if (f()
 * || e || (b && b)) is a branch for f(), and one for e | b. Two branches are also those of f() || e and of b && b, of
 * which more can be proven. */
static bool add_all_unproven(ntr_match *fitting, const unproven *u) {
    for (size_t k = 0; k < u->count; k++) {
        for (size_t i = 0; i < fitting->count; i++)
            if (fitting->matched[i].condition != u->items[k].matched[i].condition) return false;
        if (!ntr_grouping_add(&fitting->grouping, &u->items[k].grouping)) return false;
    }
    return !u->too_many;
}

const char *ntr_match_groups(ntr_match *match) {
    const ntr_decision_record *r = match->record;
    const size_t borders = r->shown.condition_count - 1;
    ntr_grouped_record grouped;
    ntr_match fitting = *match;
    unproven others = {.count = 0};
    if (borders == 0 || borders >= NTR_GROUPED_MAX)
        return "it has too many conditions to find out which of them were merged";
    for (uint32_t joined = 1; joined < UINT32_C(1) << borders; joined++) {
        ntr_match one = *match;
        if (!ntr_grouping_make(r, joined, &one.grouping, &grouped) || !may_be_groups(r, &one.grouping)) continue;
        one.record = &grouped.record;
        one.ungrouped = r;
        const char *reason = ntr_match_find(&one);
        if (one.possible && (reason || may_depend(r, &one.grouping))) add_unproven(&others, &one);
        if (reason || may_depend(r, &one.grouping) || !ends_at_branches(&one, &grouped)) continue;
        if (!add_fitting(&fitting, &one)) return "its branches fit the source in more than one way";
    }
    if (fitting.grouping.count == 0) return "no group of its conditions fits its branches";
    if (!add_all_unproven(&fitting, &others)) return "its branches fit the source in more than one way";
    *match = fitting;
    match->record = r;
    return NULL;
}
