#include "analysis/function_ranges.h"

#include "../test.h"

#define SIZE 16

static void add(ntr_function_ranges *r, uint64_t low, uint32_t number) {
    const ntr_function_range range = {low, low + SIZE, {0, UINT64_MAX}, number};
    const ntr_function_range *in = ntr_function_ranges_add(r, &range, NULL);

    assert_non_null(in);
    assert_true(in->low <= low && in->high >= low + SIZE);
    assert_int_equal(in->number, number);
}

/* Ranges with free space between them, added in an order that fills every leaf. */
static void many(void **state) {
    enum { COUNT = 5000, STEP = 2749 }; /* without common divisor */
    ntr_function_ranges r = {0};
    uint64_t low, high;
    (void)state;
    assert_null(ntr_function_ranges_find(&r, 5, 7, &low, &high, NULL));
    assert_int_equal(low, 0);
    assert_true(high == UINT64_MAX);
    for (uint32_t i = 0; i < COUNT; i++) add(&r, (uint64_t)(i * STEP % COUNT + 1) * 2 * SIZE, i * STEP % COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint64_t at = (uint64_t)(i + 1) * 2 * SIZE;
        const ntr_function_range *range = ntr_function_ranges_find(&r, at + SIZE - 1, 7, &low, &high, NULL);
        assert_non_null(range);
        assert_int_equal(range->low, at);
        assert_int_equal(range->number, i);
        assert_null(ntr_function_ranges_find(&r, at + SIZE, 7, &low, &high, NULL));
        assert_int_equal(low, at + SIZE);
        assert_true(high == (i + 1 < COUNT ? at + 2 * SIZE : UINT64_MAX));
    }
    assert_null(ntr_function_ranges_find(&r, 2 * SIZE - 1, 7, &low, &high, NULL));
    assert_int_equal(low, 0);
    assert_int_equal(high, 2 * SIZE);
    ntr_function_ranges_free(&r, NULL);
}

/* A range extends the one before it, but only of the same function. */
static void extended(void **state) {
    ntr_function_ranges r = {0};
    uint64_t low, high;
    (void)state;
    add(&r, 0x1000, 1);
    add(&r, 0x1000 + SIZE, 1);
    add(&r, 0x1000 + 2 * SIZE, 2);
    const ntr_function_range *range = ntr_function_ranges_find(&r, 0x1000 + SIZE, 7, &low, &high, NULL);
    assert_int_equal(range->low, 0x1000);
    assert_int_equal(range->high, 0x1000 + 2 * SIZE);
    assert_int_equal(ntr_function_ranges_find(&r, 0x1000 + 2 * SIZE, 7, &low, &high, NULL)->number, 2);
    ntr_function_ranges_free(&r, NULL);
}

/* A range that holds at other offsets gives way to the one that holds. */
static void replaced(void **state) {
    ntr_function_ranges r = {0};
    uint64_t low, high;
    (void)state;
    add(&r, 0x1000, 1);
    const ntr_function_range early = {0x2000, 0x2000 + SIZE, {0, 99}, 2},
                             late = {0x2000, 0x2000 + SIZE / 2, {100, 200}, 3};
    assert_non_null(ntr_function_ranges_add(&r, &early, NULL));
    assert_int_equal(ntr_function_ranges_find(&r, 0x2000, 99, &low, &high, NULL)->number, 2);
    assert_null(ntr_function_ranges_find(&r, 0x2004, 100, &low, &high, NULL));
    assert_int_equal(low, 0x1000 + SIZE);
    assert_true(high == UINT64_MAX);
    assert_non_null(ntr_function_ranges_add(&r, &late, NULL));
    assert_int_equal(ntr_function_ranges_find(&r, 0x2004, 100, &low, &high, NULL)->number, 3);
    assert_null(ntr_function_ranges_find(&r, 0x2004, 201, &low, &high, NULL));
    assert_int_equal(ntr_function_ranges_find(&r, 0x1000, 201, &low, &high, NULL)->number, 1);
    ntr_function_ranges_free(&r, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(many), cmocka_unit_test(extended), cmocka_unit_test(replaced)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
