/* Independence pairs: two evaluations that show that a condition decides the result.
 *
 * Unique-cause: the results differ, the condition was evaluated in both and differs, and every other condition is equal
 * or not evaluated in one of them. This is the definition of llvm-cov.
 *
 * Masking: the results differ, the condition was evaluated in both and differs, and in both its value decides the
 * result, which means that no other operand on the way from the condition to the root of the expression masks it. An
 * operand that was not evaluated masks nothing. Example: (a || b) && (c || d), the vectors T-T- (true) and FTFF (false)
 * are a masking pair of c: a differs, but a || b is true in both. */
#include "decision/record.h"

#include <string.h>

static bool unique_cause(const ntr_vector *a, const ntr_vector *b, size_t count, size_t condition) {
    for (size_t i = 0; i < count; i++) {
        if (i == condition || a->values[i] == b->values[i]) continue;
        if (a->values[i] != '-' && b->values[i] != '-') return false;
    }
    return true;
}

/* Value of a node in a vector: 1, 0, or -1 when it was not evaluated. */
static int node_value(const ntr_decision_record *r, unsigned node, const ntr_vector *v) {
    const ntr_expression *e = &r->tree[node];
    if (e->operator== NTR_LEAF) {
        char value = v->values[e->condition];
        return value == '-' ? -1 : value == 'T';
    }
    int left = node_value(r, e->left, v);
    if (e->operator== NTR_NOT) return left < 0 ? -1 : !left;
    if (left < 0) return -1;
    if (left == (e->operator== NTR_OR)) return left;
    return node_value(r, e->right, v);
}

/* Returns 1 when the condition is below `node` and decides its value, 0 when it is there and masked, -1 when it is not
 * there. */
static int decides(const ntr_decision_record *r, unsigned node, const ntr_vector *v, size_t condition) {
    const ntr_expression *e = &r->tree[node];
    if (e->operator== NTR_LEAF) return e->condition == condition ? 1 : -1;
    int below = decides(r, e->left, v, condition);
    unsigned sibling = e->right;
    if (e->operator== NTR_NOT) return below;
    if (below < 0) {
        below = decides(r, e->right, v, condition);
        sibling = e->left;
    }
    if (below != 1) return below;
    int other = node_value(r, sibling, v);
    return other < 0 || other != (e->operator== NTR_OR);
}

static bool masking(const ntr_decision_record *r, const ntr_vector *a, const ntr_vector *b, size_t condition) {
    return decides(r, r->root, a, condition) == 1 && decides(r, r->root, b, condition) == 1;
}

static void find_pairs(ntr_decision_record *r, size_t condition) {
    ntr_condition *c = &r->conditions[condition];
    for (size_t i = 0; i < r->vector_count; i++)
        for (size_t k = i + 1; k < r->vector_count; k++) {
            const ntr_vector *a = &r->vectors[i], *b = &r->vectors[k];
            char x = a->values[condition], y = b->values[condition];
            if (a->open || b->open || a->result == b->result || x == y || x == '-' || y == '-') continue;
            bool unique = unique_cause(a, b, r->shown.condition_count, condition);
            if (unique && !c->covered) {
                c->covered = c->masking = true;
                c->pair[0] = (uint32_t)i, c->pair[1] = (uint32_t)k;
            } else if (!c->masking && masking(r, a, b, condition)) {
                c->masking = true;
                c->pair[0] = (uint32_t)i, c->pair[1] = (uint32_t)k;
            }
        }
}

/* Returns the vector with one of the values that its '?' can have; a vector without '?' as it is. */
static ntr_vector completed(const ntr_decision_record *r, const ntr_vector *v, bool value) {
    ntr_vector whole = *v;
    for (size_t i = 0; v->open && i < r->shown.condition_count; i++) {
        if (v->values[i] != '?') continue;
        whole.values[i] = value ? 'T' : 'F';
        whole.result = r->flow[i].next[value] == NTR_RESULT_TRUE;
    }
    return whole;
}

/* Notes a pair that is possible with vectors of which a value is not known. */
static void find_open_pair(ntr_decision_record *r, size_t condition, const ntr_vector *a, const ntr_vector *b) {
    ntr_condition *c = &r->conditions[condition];
    const char x = a->values[condition], y = b->values[condition];
    if (a->result == b->result || x == y || x == '-' || y == '-') return;
    const bool unique = unique_cause(a, b, r->shown.condition_count, condition);
    c->open = c->open || (unique && !c->covered);
    c->open_masking = c->open_masking || (!c->masking && (unique || masking(r, a, b, condition)));
}

static void find_open_pairs(ntr_decision_record *r, size_t condition) {
    for (size_t i = 0; i < r->vector_count; i++)
        for (size_t k = i; k < r->vector_count; k++) {
            if (!r->vectors[i].open && !r->vectors[k].open) continue;
            if (i == k && r->vectors[i].count < 2) continue; /* its '?' has one value */
            for (unsigned values = 0; values < 4; values++) {
                const ntr_vector a = completed(r, &r->vectors[i], values & 1),
                                 b = completed(r, &r->vectors[k], values >> 1);
                find_open_pair(r, condition, &a, &b);
            }
        }
}

static void see_values(ntr_decision_record *r, size_t condition) {
    ntr_condition *c = &r->conditions[condition];
    c->covered = c->masking = c->true_seen = c->false_seen = c->open = c->open_masking = false;
    for (size_t i = 0; i < r->vector_count; i++) {
        c->true_seen |= r->vectors[i].values[condition] == 'T';
        c->false_seen |= r->vectors[i].values[condition] == 'F';
    }
}

/* A decision that is not completely determinable can still be shown to be covered: its vectors are certain. It is
 * certainly not covered when a condition has no pair, whatever the values are that are not known. */
static uint8_t state_of(bool undetermined, bool covered, bool missing) {
    if (covered) return NTR_COVER_COVERED;
    return undetermined || !missing ? NTR_COVER_NOT_DETERMINABLE : NTR_COVER_NOT_COVERED;
}

void ntr_record_states(ntr_decision_record *r) {
    bool covered = true, masked = true, missing = false, missing_masked = false, open = false;
    bool results[2] = {r->results[0], r->results[1]};
    const bool undetermined = r->undetermined || r->incomplete;
    for (size_t i = 0; i < r->shown.condition_count; i++) {
        const ntr_condition *c = &r->conditions[i];
        see_values(r, i);
        if (c->constant) continue;
        find_pairs(r, i);
        find_open_pairs(r, i);
        covered = covered && c->covered;
        masked = masked && c->masking;
        missing = missing || !(c->covered || c->open);
        missing_masked = missing_masked || !(c->masking || c->open_masking);
    }
    for (size_t i = 0; i < r->vector_count; i++)
        if (r->vectors[i].open)
            open = true;
        else
            results[r->vectors[i].result] = true;
    r->shown.vectors = r->vectors;
    r->shown.vector_count = r->vector_count;
    r->shown.state = state_of(undetermined, covered, missing);
    r->shown.masking_state = state_of(undetermined, masked, missing_masked);
    r->shown.decision_state = state_of(r->undetermined, results[0] && results[1], !open);
    r->shown.false_seen = results[0];
    r->shown.true_seen = results[1];
    r->shown.partly = open && !undetermined;
    if (!undetermined)
        r->shown.reason =
            open && r->lost
                ? "its result is not used, or is not in memory: the value of its last condition is not known"
            : open ? "the compiler computed its last condition without a branch: its value is known from a "
                     "trace with loads (run --data)"
                   : NULL;
}
