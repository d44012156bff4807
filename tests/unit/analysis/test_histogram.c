#include "../test.h"

#include <ntrace/interrupts.h>

#include <string.h>

static ntr_histogram spread;

static void fill(const uint64_t *values, size_t count) {
    memset(&spread, 0, sizeof spread);
    for (size_t i = 0; i < count; i++) ntr_histogram_add(&spread, values[i]);
}

/* Every percentile is the exact one or at most 1/32 above it. */
static void close_above(void **state) {
    (void)state;
    for (unsigned power = 0; power < 64; power++) {
        const uint64_t low = (uint64_t)1 << power, value = low + low / 3, values[] = {0, value, UINT64_MAX};
        fill(values, 3);
        uint64_t median = ntr_histogram_percentile(&spread, 50);
        assert_true(median >= value && median - value <= value / 32);
        if (value < 64) assert_int_equal(median, value);
        assert_int_equal(ntr_histogram_percentile(&spread, 100), UINT64_MAX);
        assert_int_equal(ntr_histogram_percentile(&spread, 1), 0);
    }
}

static void ranks(void **state) {
    (void)state;
    memset(&spread, 0, sizeof spread);
    assert_int_equal(ntr_histogram_percentile(&spread, 50), 0);
    for (uint64_t i = 1; i <= 50; i++) ntr_histogram_add(&spread, i);
    assert_int_equal(ntr_histogram_percentile(&spread, 50), 25);
    assert_int_equal(ntr_histogram_percentile(&spread, 99), 50);
    assert_int_equal(ntr_histogram_percentile(&spread, 98), 49);
    assert_int_equal(spread.sum, 1275);
    assert_int_equal(spread.least, 1);
    assert_int_equal(spread.most, 50);
}

static void octaves(void **state) {
    (void)state;
    const uint64_t values[] = {0, 1, 2, 3, 4, 63, 64, 127, 128, UINT64_MAX};
    fill(values, sizeof values / sizeof values[0]);
    assert_int_equal(ntr_histogram_octave(&spread, 0), 2);
    assert_int_equal(ntr_histogram_octave(&spread, 1), 2);
    assert_int_equal(ntr_histogram_octave(&spread, 2), 1);
    assert_int_equal(ntr_histogram_octave(&spread, 5), 1);
    assert_int_equal(ntr_histogram_octave(&spread, 6), 2);
    assert_int_equal(ntr_histogram_octave(&spread, 7), 1);
    assert_int_equal(ntr_histogram_octave(&spread, 63), 1);
    assert_int_equal(spread.sum, UINT64_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(close_above),
        cmocka_unit_test(ranks),
        cmocka_unit_test(octaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
