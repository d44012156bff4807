/* Branch predictor and jump target cache: docs/dialects.md section 12. Indexes and counters are worked out by hand. */
#include "../test.h"
#include "trace/flow_tables.h"

static ntr_flow_tables tables_of(unsigned counters, unsigned entries, unsigned xlen) {
    ntr_flow_tables tables;
    ntr_params params;
    ntr_params_init(&params, NULL);
    params.branch_predictor = (uint8_t)counters;
    params.jump_cache = (uint8_t)entries;
    params.xlen = (uint8_t)xlen;
    assert_int_equal(ntr_flow_tables_new(&tables, &params, NULL), NTR_OK);
    return tables;
}

static void counters_saturate(void **state) {
    (void)state;
    static const bool outcomes[] = {true, true, true, true, false, false, false, false, false, true, true};
    static const bool predictions[] = {false, true, true, true, true, true, false, false, false, false, false};
    ntr_flow_tables t = tables_of(9, 0, 64);
    for (size_t i = 0; i < sizeof outcomes; i++) {
        assert_int_equal(ntr_flow_predict(&t, 0x80000104), predictions[i]);
        ntr_flow_learn(&t, 0x80000104, outcomes[i]);
    }
    ntr_flow_tables_free(&t, NULL);
}

static void counters_are_selected_from_bit_2_up(void **state) {
    (void)state;
    ntr_flow_tables t = tables_of(2, 0, 64);
    ntr_flow_learn(&t, 0x100, true);
    assert_true(ntr_flow_predict(&t, 0x102)); /* bit 1 does not count */
    assert_true(ntr_flow_predict(&t, 0x110)); /* four counters: bits 2 and 3 */
    assert_false(ntr_flow_predict(&t, 0x104));
    assert_false(ntr_flow_predict(&t, 0x108));
    ntr_flow_tables_free(&t, NULL);
}

static void indexes_are_made_of_slices(void **state) {
    (void)state;
    static const struct {
        uint64_t target;
        unsigned entries, xlen, index;
    } known[] = {
        {0x0, 6, 64, 0},           {0x3, 6, 64, 0},
        {0xfc, 6, 64, 63},         {0x100, 6, 64, 1},
        {0x80000000, 6, 64, 0x20}, /* bit 31 is bit 29 of the shifted address: 29 = 4 * 6 + 5 */
        {0x80000000, 6, 32, 0},    {0x02000000, 6, 32, 0x20}, /* bit 25: 23 = 3 * 6 + 5 */
        {0x04000000, 6, 32, 0},    {UINT64_C(1) << 63, 6, 64, 2}, /* 61 = 10 * 6 + 1: the last slice is short */
        {0x118, 6, 64, 7},         {0x118, 4, 64, 2}, /* 0x46: 6 ^ 4 */
        {0x118, 15, 64, 0x46},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        ntr_flow_tables t = tables_of(0, known[i].entries, known[i].xlen);
        uint64_t target = 1;
        assert_int_equal(ntr_flow_cache_index(&t, known[i].target), known[i].index);
        assert_false(ntr_flow_cache_get(&t, known[i].index, &target));
        ntr_flow_cache_put(&t, known[i].target & ~UINT64_C(1));
        assert_true(ntr_flow_cache_get(&t, known[i].index, &target));
        assert_int_equal(target, known[i].target & ~UINT64_C(1));
        assert_false(ntr_flow_cache_get(&t, UINT64_C(1) << known[i].entries, &target));
        ntr_flow_tables_free(&t, NULL);
    }
}

static void copies_are_equal_until_one_changes(void **state) {
    (void)state;
    ntr_flow_tables a = tables_of(3, 4, 64), b;
    uint64_t target;
    assert_false(a.known);
    ntr_flow_tables_reset(&a);
    assert_true(a.known);
    ntr_flow_learn(&a, 4, true);
    ntr_flow_cache_put(&a, 0x1234);
    assert_int_equal(ntr_flow_tables_copy(&b, &a, NULL), NTR_OK);
    assert_true(ntr_flow_tables_equal(&a, &b));
    ntr_flow_learn(&b, 4, true);
    assert_false(ntr_flow_tables_equal(&a, &b));
    ntr_flow_learn(&a, 4, true);
    ntr_flow_cache_put(&b, 0x5678);
    assert_false(ntr_flow_tables_equal(&a, &b));
    ntr_flow_tables_lose(&a);
    assert_false(a.known);
    assert_false(ntr_flow_cache_get(&a, ntr_flow_cache_index(&a, 0x1234), &target));
    ntr_flow_tables_free(&a, NULL);
    ntr_flow_tables_free(&b, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(counters_saturate),
        TEST(counters_are_selected_from_bit_2_up),
        TEST(indexes_are_made_of_slices),
        TEST(copies_are_equal_until_one_changes),
    };
    return cmocka_run_group_tests_name("flow tables", tests, NULL, NULL);
}
