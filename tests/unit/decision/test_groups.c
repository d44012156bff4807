#include "../test.h"

#include "decision.h"
#include "decision/groups.h"

/* ---- values ------------------------------------------------------------------------------------ */

/* A decision, the borders without a branch, values of the groups, and the values of the conditions (NULL: several are
 * possible). */
static const struct {
    const char *tree;
    uint32_t joined;
    const char *groups, *values;
} rows[] = {
    {"|ab", 1, "F", "FF"},         {"|ab", 1, "T", NULL},      {"&ab", 1, "T", "TT"},      {"&ab", 1, "F", NULL},
    {"&|abc", 1, "F-", "FF-"},     {"&|abc", 1, "TT", NULL},   {"&&abc", 2, "TT", "TTT"},  {"&&abc", 2, "F-", "F--"},
    {"&&abc", 2, "TF", NULL},      {"&!|abc", 1, "TT", "FFT"}, {"&!|abc", 3, "T", "FFT"},  {"&!|abc", 2, "FT", "FFT"},
    {"&!|abc", 2, "FF", NULL},     {"|!&abc", 2, "TF", "TTF"}, {"|!&abc", 2, "TT", NULL},  {"||a&bcd", 2, "FFT", NULL},
    {"||a&bcd", 2, "FT-", "FTT-"}, {"||a&bcd", 6, "FT", NULL}, {"||a&bcd", 6, "FF", NULL}, {"||a&bcd", 7, "F", NULL},
    {"|&ab&cd", 5, "T-", "TT--"},  {"|&ab&cd", 5, "FT", NULL}, {"&a1", 1, "T", "TT"},      {"&a1", 1, "F", "F-"},
};

static void values_of_groups(void **state) {
    ntr_grouping grouping;
    static ntr_grouped_record grouped;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char values[NTR_CONDITIONS_MAX + 1] = "";
        make(rows[i].tree);
        assert_true(ntr_grouping_make(&record, rows[i].joined, &grouping, &grouped));
        bool known = ntr_grouping_expand(&record, &grouping, rows[i].groups, values);
        if (known != (rows[i].values != NULL))
            fail_msg("%s, %u, %s: %s", rows[i].tree, rows[i].joined, rows[i].groups, values);
        if (known) assert_string_equal(values, rows[i].values);
    }
}

/* Borders of two chains: (a && b) || c has no group b || c. */
static void only_operands_of_one_chain(void **state) {
    ntr_grouping grouping;
    static ntr_grouped_record grouped;
    (void)state;
    make("|&abc");
    assert_false(ntr_grouping_make(&record, 2, &grouping, &grouped));
    assert_true(ntr_grouping_make(&record, 1, &grouping, &grouped));
    assert_int_equal(grouping.count, 2);
    assert_int_equal(grouping.next[0][0], 1);
    assert_int_equal(grouping.next[0][1], NTR_RESULT_TRUE);
    assert_int_equal(grouping.next[1][0], NTR_RESULT_FALSE);
    make("&&abc");
    assert_true(ntr_grouping_make(&record, 2, &grouping, &grouped));
    assert_int_equal(grouping.groups[0][1].first, 1);
    assert_int_equal(grouping.groups[0][1].last, 2);
}

/* Two branches of a && b && c: only what both structures have is known. */
static void alternatives(void **state) {
    ntr_grouping first, second;
    static ntr_grouped_record grouped;
    char values[NTR_CONDITIONS_MAX + 1] = "";
    (void)state;
    make("&&abc");
    assert_true(ntr_grouping_make(&record, 1, &first, &grouped) && ntr_grouping_make(&record, 2, &second, &grouped));
    assert_true(ntr_grouping_expand(&record, &first, "TF", values));
    assert_string_equal(values, "TTF");
    assert_true(ntr_grouping_add(&first, &second));
    assert_false(ntr_grouping_expand(&record, &first, "TF", values));
    assert_false(ntr_grouping_expand(&record, &first, "F-", values));
    assert_true(ntr_grouping_expand(&record, &first, "TT", values));
    assert_string_equal(values, "TTT");
    assert_true(ntr_grouping_make(&record, 3, &second, &grouped));
    assert_false(ntr_grouping_add(&first, &second));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_groups),
        cmocka_unit_test(only_operands_of_one_chain),
        cmocka_unit_test(alternatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
