/* Conditions, outcomes and independence pairs of all decisions with two to four conditions, against their definitions:
 * an expression is evaluated by the rules of C, each pair of vectors is tried, and a condition decides a result if the
 * result changes with its value (DO-178C, masking MC/DC; what was not evaluated may have any value). */
#include "../test.h"

#include "decision.h"

#include <ntrace/decision.h>
#include <stdio.h>
#include <stdlib.h>

enum { ORACLE_CONDITIONS = 4, ORACLE_VECTORS = 16, ORACLE_TEXT = 32 };

/* ---- the expression by itself: the prefix form of decision.h */

typedef struct oracle_run {
    const char *text;
    unsigned inputs; /* bit I: value of condition I */
    unsigned next;   /* number of the next condition in the text */
    char seen[ORACLE_CONDITIONS + 1];
} oracle_run;

/* Evaluates one operand as C does; `skipped`: it is not evaluated. */
static bool oracle_operand(oracle_run *r, bool skipped) {
    const char sign = *r->text++;
    if (sign == '!') return !oracle_operand(r, skipped);
    if (sign == '&' || sign == '|') {
        const bool left = oracle_operand(r, skipped);
        const bool right = oracle_operand(r, skipped || left == (sign == '|'));
        return sign == '&' ? left && right : left || right;
    }
    const bool value = r->inputs >> r->next & 1;
    r->seen[r->next++] = skipped ? '-' : value ? 'T' : 'F';
    return value;
}

static bool oracle_evaluate(const char *text, unsigned inputs, char *seen) {
    oracle_run r = {.text = text, .inputs = inputs};
    const bool result = oracle_operand(&r, false);
    strcpy(seen, r.seen);
    return result;
}

/* Returns whether some values of what the vector has not evaluated make the condition decide. */
static bool oracle_decides(const char *text, const ntr_vector *v, size_t count, size_t condition) {
    for (unsigned inputs = 0; inputs < 1u << count; inputs++) {
        char seen[ORACLE_CONDITIONS + 1];
        bool agrees = true;
        for (size_t i = 0; i < count; i++) agrees &= v->values[i] == '-' || (v->values[i] == 'T') == (inputs >> i & 1);
        if (agrees && oracle_evaluate(text, inputs, seen) != oracle_evaluate(text, inputs ^ 1u << condition, seen))
            return true;
    }
    return false;
}

static bool oracle_differ(const ntr_vector *a, const ntr_vector *b, size_t i) {
    return a->values[i] != '-' && b->values[i] != '-' && a->values[i] != b->values[i];
}

static bool oracle_pair(const char *text, const ntr_vector *a, const ntr_vector *b, size_t count, size_t condition,
                        bool masking) {
    if (a->result == b->result || !oracle_differ(a, b, condition)) return false;
    for (size_t i = 0; i < count && !masking; i++)
        if (i != condition && oracle_differ(a, b, i)) return false;
    return !masking || (oracle_decides(text, a, count, condition) && oracle_decides(text, b, count, condition));
}

static bool oracle_has_pair(const char *text, size_t condition, bool masking) {
    for (size_t i = 0; i < record.vector_count; i++)
        for (size_t k = i + 1; k < record.vector_count; k++)
            if (oracle_pair(text, &record.vectors[i], &record.vectors[k], record.shown.condition_count, condition,
                            masking))
                return true;
    return false;
}

/* ---- what the library says */

static void oracle_compare_condition(const char *text, size_t i, unsigned subset) {
    const ntr_condition *c = &conditions[i];
    const bool unique = oracle_has_pair(text, i, false), masking = unique || oracle_has_pair(text, i, true);
    bool seen[2] = {false, false};
    if (c->covered != unique || c->masking != masking)
        fail_msg("%s, vectors 0x%x, condition %zu: covered %d, masking %d; expected %d, %d", text, subset, i,
                 c->covered, c->masking, unique, masking);
    for (size_t k = 0; k < record.vector_count; k++) {
        seen[0] |= record.vectors[k].values[i] == 'F';
        seen[1] |= record.vectors[k].values[i] == 'T';
    }
    assert_int_equal(c->false_seen, seen[0]);
    assert_int_equal(c->true_seen, seen[1]);
    if (masking) /* the pair that is shown is one */
        assert_true(oracle_pair(text, &record.vectors[c->pair[0]], &record.vectors[c->pair[1]],
                                record.shown.condition_count, i, !unique));
}

static void oracle_compare(const char *text, const ntr_vector *all, size_t count, unsigned subset) {
    bool covered = true, masking = true, results[2] = {false, false};
    for (size_t i = 0; i < count; i++) {
        if (!(subset >> i & 1)) continue;
        results[all[i].result] = true;
        assert_int_equal(ntr_vectors_add(NULL, &record.vectors, &record.vector_count, &record.vector_capacity, &all[i]),
                         NTR_OK);
    }
    ntr_record_states(&record);
    for (size_t i = 0; i < record.shown.condition_count; i++) {
        oracle_compare_condition(text, i, subset);
        covered &= conditions[i].covered;
        masking &= conditions[i].masking;
    }
    assert_int_equal(record.shown.state, covered ? NTR_COVER_COVERED : NTR_COVER_NOT_COVERED);
    assert_int_equal(record.shown.masking_state, masking ? NTR_COVER_COVERED : NTR_COVER_NOT_COVERED);
    assert_int_equal(record.shown.decision_state, results[0] && results[1] ? NTR_COVER_COVERED : NTR_COVER_NOT_COVERED);
    record.vector_count = 0;
}

/* Follows the graph of the conditions: it must evaluate those that C evaluates, in this order. */
static void oracle_compare_flow(const char *text, unsigned inputs, const char *seen, bool result) {
    char found[ORACLE_CONDITIONS + 1] = "";
    memset(found, '-', record.shown.condition_count);
    int at = record.start, before = -1;
    while (at >= 0) {
        const bool value = inputs >> at & 1;
        assert_true(at > before); /* conditions are evaluated from left to right */
        before = at;
        found[at] = value ? 'T' : 'F';
        at = flow[at].next[value];
    }
    if (strcmp(found, seen) != 0 || (at == NTR_RESULT_TRUE) != result)
        fail_msg("%s, inputs 0x%x: expected %s %d, found %s %d", text, inputs, seen, result, found,
                 at == NTR_RESULT_TRUE);
}

static unsigned oracle_decisions;

static void oracle_judge(const char *text) {
    ntr_vector all[ORACLE_VECTORS];
    size_t count = 0;
    make(text);
    for (unsigned inputs = 0; inputs < 1u << record.shown.condition_count; inputs++) {
        ntr_vector v = {.count = 1, .runs = 1};
        size_t i = 0;
        v.result = oracle_evaluate(text, inputs, v.values);
        oracle_compare_flow(text, inputs, v.values, v.result);
        while (i < count && strcmp(all[i].values, v.values) != 0) i++;
        if (i == count) all[count++] = v;
    }
    for (unsigned subset = 0; subset < 1u << count; subset++) oracle_compare(text, all, count, subset);
    free(record.vectors);
    oracle_decisions++;
}

/* Expressions are made from a list of shapes: '.' is an operand, '@' an operator. */
static void oracle_fill(const char *shape, char *text, size_t size) {
    if (!*shape) {
        text[size] = 0;
        oracle_judge(text);
        return;
    }
    static const char *const operators[] = {"&", "|", "!&", "!|"};
    static const char *const operands[] = {"a", "!a"};
    const bool operator_ = *shape == '@';
    const size_t kinds = operator_ ? sizeof operators / sizeof *operators : sizeof operands / sizeof *operands;
    for (size_t i = 0; i < kinds; i++) {
        const char *part = operator_ ? operators[i] : operands[i];
        memcpy(text + size, part, strlen(part));
        oracle_fill(shape + 1, text, size + strlen(part));
    }
}

static void all_small_decisions(void **state) {
    (void)state;
    static const char *const shapes[] = {"@..",     "@.@..",   "@@...",   "@.@.@..",
                                         "@.@@...", "@@..@..", "@@.@...", "@@@...."};
    char text[ORACLE_TEXT];
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) oracle_fill(shapes[i], text, 0);
    assert_int_equal(oracle_decisions, 4 * 4 + 2 * 16 * 8 + 5 * 64 * 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(all_small_decisions)};
    return cmocka_run_group_tests_name("oracle", tests, NULL, NULL);
}
