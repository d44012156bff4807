#include "decision/builder.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <stdlib.h>

#define WITHOUT_BRANCHES "it has no branches: the compiler folded or computed it"

enum { EXPECTED_MAX = 256, LEFT_OUT_TRIES = 200 };

/* A condition at a place where several decisions may be. */
typedef struct expected {
    ntr_decision_record *record;
    uint8_t condition;
    uint32_t order;
} expected;

static int compare_expected(const void *a, const void *b) {
    const expected *x = a, *y = b;
    NTR_COMPARE_BY(order);
    return 0;
}

static bool within(const ntr_extent *outer, const ntr_extent *inner) {
    return ntr_extent_has(outer, inner->line, inner->column) &&
           (inner->end_line < outer->end_line ||
            (inner->end_line == outer->end_line && inner->end_column <= outer->end_column));
}

static bool tests_operands(const ntr_map_builder *b, const ntr_decision_record *r, size_t condition);

/* Returns the decision of which one is a part (record.h), where the code tests operands, or NULL. */
static ntr_decision_record *whole_of(const ntr_map_builder *b, const ntr_decision_record *part) {
    for (size_t i = 0; part->part_of && !b->kind.gnu && i < b->decisions->count; i++) {
        ntr_decision_record *r = b->decisions->records[i];
        if (r->id == part->part_of) return tests_operands(b, r, part->part_condition) ? r : NULL;
    }
    return NULL;
}

/* Returns whether the last condition has no branch of its own: gcc does not test it when the result is not used, and
 * clang computes it when the result is stored. */
static bool computes_last(const ntr_map_builder *b, const ntr_decision_record *r) {
    if (b->kind.gnu) return r->unused;
    return (r->is_value && !whole_of(b, r)) || (b->shape.computes_choices && r->chooses);
}

/* Returns whether the operands of a condition ?: have branches of their own. clang computes the last condition of a
 * loop and tests the result. */
static bool tests_operands(const ntr_map_builder *b, const ntr_decision_record *r, size_t condition) {
    const bool last = condition + 1u == r->shown.condition_count;
    if (!b->kind.unoptimized || !b->shape.tests_operands || !r->flow[condition].choice) return false;
    return b->kind.gnu || !last || (!r->loop && !computes_last(b, r));
}

/* Stores the places in the order of the branches that evaluate a condition in code that was not optimized. Returns
 * their number. */
static unsigned branches_for(const ntr_map_builder *b, const ntr_decision_record *r, size_t condition,
                             uint32_t *order) {
    const ntr_condition_flow *flow = &r->flow[condition];
    const bool last = condition + 1 == r->shown.condition_count;
    if (r->conditions[condition].constant || !(ntr_record_evaluated(r) >> condition & 1)) return 0;
    order[0] = flow->order;
    if (!b->kind.unoptimized) return 1;
    if (last && computes_last(b, r)) return 0;
    if (!tests_operands(b, r, condition)) return 1;
    unsigned count = 0;
    for (unsigned i = 0; i < flow->tested.count && i < NTR_TESTED_MAX; i++)
        if (b->kind.gnu || !flow->tested.logical[i]) order[count++] = flow->tested.order[i];
    return count;
}

/* Returns whether a single condition only passes the value of a decision in it on: __builtin_expect(!!(a || b), 1). gcc
 * may test the conditions of that decision, and not its value. */
static bool passes_on(const ntr_map_builder *b, size_t index) {
    const ntr_decisions *d = b->decisions;
    const ntr_decision_record *r = d->records[index];
    for (size_t i = index; r->shown.condition_count == 1 && i < d->count && d->records[i]->group == r->group; i++) {
        if (d->records[i]->shown.line > r->extent.end_line) break;
        if (d->records[i]->truth_of == r->id) return true;
    }
    return false;
}

/* Lists the conditions of all decisions in the extent of an entry, one for each branch. `passed_on`: also those that
 * only pass a value on. Returns their number, or 0 when there are more than `capacity`. */
static size_t list_expected(const ntr_map_builder *b, uint32_t entry, expected *list, size_t capacity, bool passed_on) {
    const ntr_decisions *d = b->decisions;
    const ntr_extent *outer = &b->extents.items[entry].extent;
    size_t count = 0, first = b->extents.items[entry].record;
    const char *group = d->records[first]->group;
    while (first && d->records[first - 1]->group == group && d->records[first - 1]->shown.line >= outer->line) first--;
    for (size_t i = first; i < d->count && d->records[i]->group == group; i++) {
        ntr_decision_record *r = d->records[i];
        if (r->shown.line > outer->end_line) break;
        if (!within(outer, &r->extent) || r->too_large || (!passed_on && passes_on(b, i))) continue;
        for (size_t k = 0; k < r->shown.condition_count; k++) {
            uint32_t order[NTR_TESTED_MAX];
            for (unsigned n = branches_for(b, r, k, order); n--;) {
                if (count == capacity) return 0;
                list[count++] = (expected){r, (uint8_t)k, order[n]};
            }
        }
    }
    if (count) qsort(list, count, sizeof *list, compare_expected);
    return count;
}

/* The branches of an expression, one for each item of the list. */
typedef struct in_order {
    expected list[EXPECTED_MAX];
    const ntr_found_branch *found[EXPECTED_MAX];
    size_t count;
    ntr_decision_record *records[EXPECTED_MAX]; /* the decisions, also those that have only branches of their parts */
    size_t record_count;
    bool fewer; /* conditions that only pass a value on have no branch */
} in_order;

/* The branch of the condition of which a decision is the value, or NULL: it tests the result. */
static const ntr_found_branch *test_of(const in_order *o, const ntr_decision_record *r) {
    const ntr_found_branch *test = NULL;
    for (size_t i = 0; r->truth_of && i < o->count; i++) {
        if (o->list[i].record->id != r->truth_of || o->list[i].condition != r->truth_condition) continue;
        if (test) return NULL;
        test = o->found[i];
    }
    return test;
}

/* The branches of a decision, and those of its parts. */
typedef struct branch_list {
    const ntr_found_branch *found[EXPECTED_MAX + 1];
    uint8_t conditions[EXPECTED_MAX]; /* of the decision */
    ntr_operand_part parts[EXPECTED_MAX + 1];
    size_t listed, used; /* with the branch that tests the result */
} branch_list;

static const char *try(ntr_map_builder *b, const in_order *o, const ntr_decision_record *r, branch_list *list,
                       ntr_match *match);

/* Stores what the branches of a part, which is matched by itself, say of the condition. */
static bool take_part(ntr_map_builder *b, const in_order *o, const ntr_decision_record *part, branch_list *list) {
    branch_list *inner = ntr_alloc(b->map->allocator, 1, sizeof *inner);
    ntr_match match;
    const bool matched = inner && !try(b, o, part, inner, &match);
    for (size_t i = 0; matched && i < inner->used; i++) {
        const ntr_matched *m = &match.matched[i];
        size_t at = 0;
        while (list->found[at] != inner->found[i]) at++;
        list->parts[at].is_part = true;
        for (unsigned taken = 0; taken < 2; taken++) {
            const int next = part->flow[m->condition].next[taken == m->taken_is];
            list->parts[at].goes_on[taken] = m->goes_on[taken] || next >= 0;
            if (!list->parts[at].goes_on[taken])
                list->parts[at].taken_is = taken == ((next == NTR_RESULT_TRUE) != part->part_negated);
        }
    }
    ntr_dealloc(b->map->allocator, inner);
    return matched;
}

/* Lists the branches of a decision. Returns whether its parts are known. */
static bool list_branches(ntr_map_builder *b, const in_order *o, const ntr_decision_record *r, branch_list *list) {
    bool known = true;
    *list = (branch_list){0};
    for (size_t i = 0; i < o->count; i++) {
        const ntr_decision_record *at = o->list[i].record;
        uint8_t condition = o->list[i].condition;
        while (at && at != r) {
            condition = at->part_condition;
            at = whole_of(b, at);
        }
        if (!at) continue;
        list->conditions[list->used] = condition;
        list->found[list->used++] = o->found[i];
    }
    list->listed = list->used;
    for (size_t i = 0; known && i < o->record_count; i++)
        if (whole_of(b, o->records[i]) == r) known = take_part(b, o, o->records[i], list);
    const ntr_found_branch *test = computes_last(b, r) ? test_of(o, r) : NULL;
    if (test && list->used && test->address > list->found[list->used - 1]->address) list->found[list->used++] = test;
    return known;
}

static bool same_order(const ntr_decision_record *record, const branch_list *list, const ntr_match *match) {
    for (size_t i = 0; i < list->listed; i++)
        if (match->matched[i].condition != list->conditions[i]) return false;
    return list->listed == list->used || match->matched[list->listed].condition + 1u == record->shown.condition_count;
}

/* Matches the branches of a decision. Returns NULL, or why it is not possible. */
static const char *try(ntr_map_builder *b, const in_order *o, const ntr_decision_record *r, branch_list *list,
                       ntr_match *match) {
    *match = (ntr_match){0};
    if (!list_branches(b, o, r, list)) return "the branches of an operand of ?: are not known";
    return ntr_builder_try(b, r, list->found, list->used, list->parts, match);
}

/* Returns whether each condition of a decision has its branches; that of a last condition may test the result. */
static bool has_all(ntr_map_builder *b, const in_order *o, const ntr_decision_record *r, branch_list *list,
                    ntr_match *match, const char **reason) {
    if (computes_last(b, r) && !test_of(o, r)) return false;
    *reason = try(b, o, r, list, match);
    return match->placed && same_order(r, list, match);
}

/* Returns whether the branches of a decision fit, or the decision has none for its last condition. */
static bool fits(ntr_map_builder *b, const in_order *o, const ntr_decision_record *r, bool exact) {
    branch_list list;
    ntr_match match;
    const char *reason;
    uint32_t load;
    if (has_all(b, o, r, &list, &match, &reason)) return true;
    if (!computes_last(b, r) || !list_branches(b, o, r, &list)) return false;
    return !exact || !ntr_builder_try_stored(b, r, list.found, list.listed, list.parts, &match, &load) ||
           !ntr_builder_try_lost(b, r, list.found, list.listed, list.parts, &match);
}

static const char *why_computed(const ntr_map_builder *b) {
    return b->kind.gnu ? "its result is not used, so that its last condition is not tested"
                       : "the compiler computed its last condition without a branch";
}

/* Adds a copy of a decision of which no branch tests the last condition. */
static ntr_status keep_computed(ntr_map_builder *b, ntr_decision_record *r, const branch_list *list) {
    ntr_match match = {0};
    uint32_t load;
    if (!b->kind.gnu && !ntr_builder_try_stored(b, r, list->found, list->listed, list->parts, &match, &load))
        return ntr_builder_keep_stored(b, r, list->found, list->listed, &match, load);
    if (!ntr_builder_try_lost(b, r, list->found, list->listed, list->parts, &match))
        return ntr_builder_keep_lost(b, r, list->found, list->listed, &match);
    return ntr_builder_keep(b, r, list->found, list->listed, &match, why_computed(b));
}

static void list_records(const ntr_map_builder *b, in_order *o) {
    o->record_count = 0;
    for (size_t i = 0; i < o->count; i++)
        for (ntr_decision_record *r = o->list[i].record; r; r = whole_of(b, r)) {
            size_t at = 0;
            while (at < o->record_count && o->records[at] != r) at++;
            if (at < o->record_count || at == EXPECTED_MAX) break;
            o->records[o->record_count++] = r;
        }
}

/* Gives one branch to each condition, without those of the set `left_out`. */
static void give_branches(ntr_map_builder *b, in_order *o, const ntr_found_branch *found, size_t count,
                          uint64_t left_out) {
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t at = ntr_graph_at(&b->graph, found[i].address);
        const bool out = i < 64 && (left_out >> i & 1);
        if (at != NTR_GRAPH_OUTSIDE) b->graph.insns[at].joint = out;
        if (!out) o->found[used++] = &found[i];
    }
}

static bool all_fit(ntr_map_builder *b, const in_order *o, bool exact) {
    for (size_t i = 0; i < o->record_count; i++)
        if (!fits(b, o, o->records[i], exact)) return false;
    return true;
}

/* Gives the branches to the conditions, when `more` branches below `end` are also left out: such that only test a
 * result, of which all conditions have branches of their own. The last ones are tried first. Returns whether all
 * decisions fit. */
static bool leave_out(ntr_map_builder *b, in_order *o, const ntr_found_branch *found, size_t count, uint64_t retests,
                      size_t end, size_t more, uint64_t left_out, unsigned *tries) {
    if (!more) {
        if (!(*tries)--) return *tries = 0, false;
        give_branches(b, o, found, count, left_out);
        return all_fit(b, o, false);
    }
    while (end-- > 0 && *tries)
        if ((retests >> end & 1) &&
            leave_out(b, o, found, count, retests, end, more - 1, left_out | UINT64_C(1) << end, tries))
            return true;
    return false;
}

/* Gives the branches to the conditions of the list. Returns whether all decisions fit. `exact`: there are no others. */
static bool try_list(ntr_map_builder *b, const ntr_found_branch *found, size_t count, bool exact, in_order *o) {
    unsigned tries = LEFT_OUT_TRIES;
    if (!o->count || count < o->count || (exact && o->count != count)) return false;
    list_records(b, o);
    give_branches(b, o, found, o->count, 0);
    if (count == o->count) return all_fit(b, o, exact);
    const uint64_t retests = count > NTR_CANDIDATES_MAX ? 0 : ntr_builder_retests(b, found, count);
    return leave_out(b, o, found, count, retests, count, count - o->count, 0, &tries);
}

/* The same of all conditions, or without those that only pass a value on. */
static bool try_shape(ntr_map_builder *b, uint32_t entry, const ntr_found_branch *found, size_t count, bool exact,
                      in_order *o) {
    o->fewer = false;
    const size_t all = o->count = list_expected(b, entry, o->list, EXPECTED_MAX, true);
    if (try_list(b, found, count, exact, o)) return true;
    o->fewer = b->kind.gnu && !exact;
    if (o->fewer) o->count = list_expected(b, entry, o->list, EXPECTED_MAX, false);
    return o->fewer && o->count < all && try_list(b, found, count, false, o);
}

static bool same_list(const in_order *x, const in_order *y) {
    for (size_t i = 0; i < x->count; i++)
        if (x->list[i].record != y->list[i].record || x->list[i].condition != y->list[i].condition) return false;
    return x->count == y->count;
}

/* Finds how the compiler evaluates ?: here. clang does it in another way in C++, and computes a choice between values
 * that it knows; gcc tests both operands in C. Only one of the further shapes may fit, with all branches. */
static bool find_shape(ntr_map_builder *b, uint32_t entry, const ntr_found_branch *found, size_t count, in_order *o) {
    in_order other;
    bool fits = false;
    b->shape = (ntr_choice_shape){!b->kind.gnu, false};
    if (try_shape(b, entry, found, count, false, o)) return true;
    for (unsigned shape = 1; shape < (b->kind.gnu ? 2 : 4); shape++) {
        const ntr_choice_shape before = b->shape;
        b->shape = (ntr_choice_shape){!b->kind.gnu != (shape & 1), shape >> 1};
        if (!try_shape(b, entry, found, count, true, fits ? &other : o)) {
            if (fits) b->shape = before;
            continue;
        }
        if (fits && !same_list(o, &other)) return false;
        fits = true;
    }
    return fits;
}

/* Adds copies of decisions that only pass a value on and have no branch. */
static ntr_status add_passing(ntr_map_builder *b, uint32_t entry, const ntr_found_branch *found, const in_order *o) {
    expected list[EXPECTED_MAX] = {{0}};
    const size_t count = list_expected(b, entry, list, EXPECTED_MAX, true);
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (at < o->record_count && o->records[at] != list[i].record) at++;
        if (at == o->record_count) TRY(ntr_builder_add_copy(b, list[i].record, found, WITHOUT_BRANCHES));
    }
    return NTR_OK;
}

/* Code that was not optimized has its branches in the order of the source. Some compilers place the branches of nested
 * decisions, and of those in macros, at the decision around them, so their places say little. The branches are given to
 * the conditions in order, and each decision is then matched. Stores whether all of them fit. */
ntr_status ntr_builder_in_order(ntr_map_builder *b, uint32_t entry, const ntr_found_branch *found, size_t count,
                                bool *done) {
    in_order o;
    branch_list list;
    ntr_match match;
    *done = b->kind.unoptimized && find_shape(b, entry, found, count, &o);
    for (size_t i = 0; *done && i < o.record_count; i++) {
        ntr_decision_record *r = o.records[i];
        const char *reason = NULL;
        if (has_all(b, &o, r, &list, &match, &reason))
            TRY(ntr_builder_keep(b, r, list.found, list.used, &match, reason));
        else if (list_branches(b, &o, r, &list))
            TRY(keep_computed(b, r, &list));
    }
    return *done && o.fewer ? add_passing(b, entry, found, &o) : NTR_OK;
}

/* ---- decisions without branches ---------------------------------------------------------------- */

/* Decisions inside of the extent that have no branch of their own: whether they were computed, or their branches are
 * placed elsewhere, is not known. */
ntr_status ntr_builder_without_branches(ntr_map_builder *b, const ntr_found_branch *found, size_t count) {
    expected list[EXPECTED_MAX] = {{0}};
    size_t need = list_expected(b, found->root, list, EXPECTED_MAX, true);
    for (size_t i = 0; i < need; i++) {
        bool seen = i && list[i].record == list[i - 1].record;
        for (size_t k = 0; k < i && !seen; k++) seen = list[k].record == list[i].record;
        for (size_t k = 0; k < count && !seen; k++)
            seen = ntr_extent_equal(&b->decisions->records[found[k].record]->extent, &list[i].record->extent);
        if (!seen) TRY(ntr_builder_add_copy(b, list[i].record, found, WITHOUT_BRANCHES));
    }
    return NTR_OK;
}

/* The branches of clang have the order of the source, but not its places. */
ntr_status ntr_builder_unknown(ntr_map_builder *b, const ntr_found_branch *found) {
    expected list[EXPECTED_MAX] = {{0}};
    size_t count = list_expected(b, found->root, list, EXPECTED_MAX, true);
    for (size_t i = 0; i < count; i++) {
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++) seen = list[k].record == list[i].record;
        if (!seen)
            TRY(ntr_builder_add_copy(b, list[i].record, found,
                                     "the expression around it has other branches than its conditions need"));
    }
    return NTR_OK;
}
