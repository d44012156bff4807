#include "../test.h"

#include "decision.h"

#include <ntrace/decision.h>
#include <stdlib.h>

static void see(const ntr_allocator *allocator, const char *values, bool result) {
    ntr_vector vector = {.result = result, .count = 1, .runs = 1};
    memcpy(vector.values, values, strlen(values));
    (void)ntr_vectors_add(allocator, &record.vectors, &record.vector_count, &record.vector_capacity, &vector);
}

static void forget(void) {
    free(record.vectors);
}

/* ---- graphs ------------------------------------------------------------------------------------ */

static void expect_next(unsigned condition, int when_false, int when_true) {
    assert_int_equal(flow[condition].next[0], when_false);
    assert_int_equal(flow[condition].next[1], when_true);
}

static void graphs(void **state) {
    (void)state;
    make("|&abc");
    assert_int_equal(record.start, 0);
    expect_next(0, 2, 1);
    expect_next(1, 2, NTR_RESULT_TRUE);
    expect_next(2, NTR_RESULT_FALSE, NTR_RESULT_TRUE);
    make("&!|abc");
    expect_next(0, 1, NTR_RESULT_FALSE);
    expect_next(1, 2, NTR_RESULT_FALSE);
    expect_next(2, NTR_RESULT_FALSE, NTR_RESULT_TRUE);
    make("&1b");
    assert_int_equal(record.start, 1);
    make("|a&0c"); /* the constant decides: c is never evaluated */
    expect_next(0, NTR_RESULT_FALSE, NTR_RESULT_TRUE);
    make("|1b");
    assert_int_equal(record.start, NTR_RESULT_TRUE);
}

/* ---- pairs ------------------------------------------------------------------------------------- */

static void unique_cause(void **state) {
    (void)state;
    make("&ab");
    see(NULL, "TT", true);
    see(NULL, "F-", false);
    ntr_record_states(&record);
    assert_true(conditions[0].covered && !conditions[1].covered);
    assert_int_equal(record.shown.state, NTR_COVER_NOT_COVERED);
    assert_int_equal(record.shown.decision_state, NTR_COVER_COVERED);
    see(NULL, "TF", false);
    ntr_record_states(&record);
    assert_int_equal(record.shown.state, NTR_COVER_COVERED);
    assert_string_equal(record.vectors[conditions[1].pair[0]].values, "TF");
    assert_string_equal(record.vectors[conditions[1].pair[1]].values, "TT");
    forget();
}

/* (a || b) && (c || d): T-T- and FTFF differ in a and in the result; c shows by masking, not by unique cause. */
static void masking(void **state) {
    (void)state;
    make("&|ab|cd");
    see(NULL, "T-T-", true);
    see(NULL, "FTFF", false);
    ntr_record_states(&record);
    assert_true(conditions[2].masking && !conditions[2].covered);
    assert_false(conditions[0].masking || conditions[1].masking || conditions[3].masking);
    forget();
}

static void see_open(const char *values, uint64_t count) {
    ntr_vector vector = {.open = true, .count = count, .runs = 1};
    memcpy(vector.values, values, strlen(values));
    (void)ntr_vectors_add(NULL, &record.vectors, &record.vector_count, &record.vector_capacity, &vector);
}

/* A value that is not known may be either one: nothing is shown by it, and nothing is excluded. */
static void values_that_are_not_known(void **state) {
    (void)state;
    make("&a|bc");
    see(NULL, "F--", false);
    see(NULL, "TT-", true);
    see_open("TF?", 1);
    ntr_record_states(&record);
    assert_true(conditions[0].covered && !conditions[0].open);
    assert_true(!conditions[1].covered && conditions[1].open);
    assert_true(!conditions[2].covered && !conditions[2].open); /* one evaluation is no pair */
    assert_int_equal(record.shown.state, NTR_COVER_NOT_COVERED);
    assert_int_equal(record.shown.decision_state, NTR_COVER_COVERED);
    see_open("TF?", 1);
    ntr_record_states(&record);
    assert_true(conditions[2].open && conditions[2].open_masking);
    assert_int_equal(record.shown.state, NTR_COVER_NOT_DETERMINABLE);
    assert_non_null(record.shown.reason);
    forget();
    make("&ab");
    see_open("T?", 9);
    ntr_record_states(&record);
    assert_true(!conditions[0].open && conditions[1].open); /* a was never false */
    assert_int_equal(record.shown.state, NTR_COVER_NOT_COVERED);
    assert_int_equal(record.shown.decision_state, NTR_COVER_NOT_DETERMINABLE);
    assert_false(record.shown.true_seen || record.shown.false_seen);
    see(NULL, "F-", false);
    ntr_record_states(&record);
    assert_true(conditions[0].open && conditions[1].open);
    assert_int_equal(record.shown.state, NTR_COVER_NOT_DETERMINABLE);
    forget();
}

/* T-FT and FTFF differ in a and in d, so neither is a unique cause: the last condition counts as the others do. */
static void the_last_condition_differs(void **state) {
    (void)state;
    make("&|ab|cd");
    see(NULL, "T-FT", true);
    see(NULL, "FTFF", false);
    ntr_record_states(&record);
    for (unsigned i = 0; i < 4; i++) assert_false(conditions[i].covered);
    assert_true(conditions[3].masking);
    see(NULL, "T-FF", false);
    ntr_record_states(&record);
    assert_true(conditions[3].covered && !conditions[0].covered);
    forget();
}

static void constants(void **state) {
    (void)state;
    make("&&a1c");
    see(NULL, "TTT", true);
    see(NULL, "TTF", false);
    see(NULL, "F--", false);
    ntr_record_states(&record);
    assert_int_equal(record.shown.state, NTR_COVER_COVERED);
    forget();
}

/* Vectors of an undetermined decision are certain: it is covered by them, or not determinable, but never not covered.
 */
static void undetermined(void **state) {
    (void)state;
    make("|ab");
    record.undetermined = true;
    record.shown.reason = "why";
    see(NULL, "T-", true);
    ntr_record_states(&record);
    assert_int_equal(record.shown.state, NTR_COVER_NOT_DETERMINABLE);
    see(NULL, "FT", true);
    see(NULL, "FF", false);
    ntr_record_states(&record);
    assert_int_equal(record.shown.state, NTR_COVER_COVERED);
    assert_non_null(record.shown.reason); /* further evaluations may be missing */
    assert_true(record.shown.true_seen && record.shown.false_seen);
    record.undetermined = false;
    ntr_record_states(&record);
    assert_null(record.shown.reason);
    forget();
}

static void equal_vectors_are_added(void **state) {
    (void)state;
    make("&ab");
    see(NULL, "TT", true);
    see(NULL, "F-", false);
    see(NULL, "TT", true);
    assert_int_equal(record.vector_count, 2);
    assert_string_equal(record.vectors[0].values, "F-");
    assert_int_equal(record.vectors[1].count, 2);
    forget();
}

/* ---- out of memory ----------------------------------------------------------------------------- */

static unsigned allowed;

static void *fail_later(void *user, void *old, size_t size) {
    (void)user;
    if (size == 0) {
        free(old);
        return NULL;
    }
    if (allowed == 0) return NULL;
    allowed--;
    return realloc(old, size);
}

/* A vector that cannot be stored is reported, and those before it stay. */
static void out_of_memory(void **state) {
    ntr_decisions *none;
    (void)state;
    const ntr_allocator allocator = {.resize = fail_later};
    for (unsigned i = 0; i < 3; i++) {
        make("&ab");
        allowed = i;
        see(&allocator, "TT", true);
        assert_int_equal(record.vector_count, i ? 1 : 0);
        allowed = 0;
        const ntr_vector known = {.values = "TT", .result = true, .count = 1};
        ntr_status status =
            ntr_vectors_add(&allocator, &record.vectors, &record.vector_count, &record.vector_capacity, &known);
        assert_int_equal(status, i ? NTR_OK : NTR_E_MEMORY); /* a known vector needs no memory */
        if (i) assert_int_equal(record.vectors[0].count, 2);
        forget();
    }
    allowed = 0;
    assert_int_equal(ntr_decisions_new(&allocator, &none), NTR_E_MEMORY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(graphs),
        TEST(unique_cause),
        TEST(masking),
        TEST(values_that_are_not_known),
        TEST(the_last_condition_differs),
        TEST(constants),
        TEST(undetermined),
        TEST(equal_vectors_are_added),
        TEST(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
