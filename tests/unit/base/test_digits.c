/* Numbers as digits, against the C library's. */
#include "../random.h"
#include "../test.h"

#include "base/digits.h"

#include <inttypes.h>
#include <stdio.h>

static void check(uint64_t value) {
    char expected[32], dec[48], hex[48];
    int size = snprintf(expected, sizeof expected, "%" PRIu64, value);
    assert_int_equal(ntr_text_dec(dec, value) - dec, size);
    assert_memory_equal(dec, expected, (size_t)size);
    size = snprintf(expected, sizeof expected, "%" PRIx64, value);
    assert_int_equal(ntr_text_hex(hex, value) - hex, size);
    assert_memory_equal(hex, expected, (size_t)size);
}

static void small_ones(void **state) {
    (void)state;
    for (uint64_t value = 0; value <= 200000; value++) check(value);
}

static void around_powers(void **state) {
    (void)state;
    for (uint64_t power = 1;; power *= 10) {
        for (uint64_t factor = 1; factor < 10 && power <= UINT64_MAX / factor; factor++)
            for (uint64_t near = 0; near < 3; near++) check(factor * power - 1 + near);
        if (power > UINT64_MAX / 10) break;
    }
    for (unsigned bit = 0; bit < 64; bit++)
        for (uint64_t near = 0; near < 3; near++) check((UINT64_C(1) << bit) - 1 + near);
    check(UINT64_MAX);
}

static void any(void **state) {
    (void)state;
    uint64_t random = 1;
    for (unsigned i = 0; i < 1000000; i++) {
        uint64_t value = next_random(&random);
        check(value >> (value & 63));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(small_ones), TEST(around_powers), TEST(any)};
    return cmocka_run_group_tests_name("digits", tests, NULL, NULL);
}
