/* Wide and plain ways of looking at MSEO and MDO bits give the same answers. */
#include "../test.h"

#include "wire/ends.h"
#include "wire/window.h"

static uint64_t next_random(uint64_t *state) {
    uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static void fill(uint8_t *bytes, size_t size, uint64_t seed) {
    uint64_t random = seed;
    for (size_t i = 0; i < size; i++) {
        uint64_t x = next_random(&random);
        bytes[i] = (uint8_t)x;
        if (seed & 1 && x >> 8 & 15) bytes[i] &= 0xfd; /* ends are rare */
    }
}

static void windows_agree(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        uint8_t bytes[NTR_WINDOW];
        ntr_window want = {0, 0};
        fill(bytes, sizeof bytes, seed);
        for (unsigned i = 0; i < NTR_WINDOW; i++) {
            want.low |= (uint32_t)(bytes[i] & 1) << i;
            want.high |= (uint32_t)(bytes[i] >> 1 & 1) << i;
        }
        ntr_window got = ntr_window_of(bytes), portable = ntr_window_portable(bytes);
        assert_int_equal(got.low, want.low);
        assert_int_equal(got.high, want.high);
        assert_int_equal(portable.low, want.low);
        assert_int_equal(portable.high, want.high);
    }
}

static void mdo_bits_are_gathered(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        uint8_t bytes[8];
        uint64_t want = 0;
        fill(bytes, sizeof bytes, seed);
        for (unsigned i = 0; i < 8; i++) want |= (uint64_t)(bytes[i] >> 2) << 6 * i;
        assert_int_equal(ntr_gather_mdo(ntr_load8(bytes)), want);
        for (unsigned size = 0; size < 8; size++)
            assert_int_equal(ntr_load_upto8(bytes, size), ntr_load8(bytes) & ((UINT64_C(1) << 8 * size) - 1));
    }
}

static void scans_agree(void **state) {
    (void)state;
    enum { SIZE = 200 };
    for (uint64_t seed = 0; seed < 20000; seed++) {
        uint8_t bytes[SIZE];
        fill(bytes, SIZE, seed);
        size_t first = seed % 33, size = SIZE - first - seed % 40, want = 0;
        if (seed % 5 == 0)
            for (size_t i = 0; i < SIZE; i++) bytes[i] &= 0xfd; /* none at all */
        while (want < size && (bytes[first + want] & 3) != 3) want++;
        assert_int_equal(ntr_find_end(bytes + first, size), want);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(windows_agree),
        TEST(mdo_bits_are_gathered),
        TEST(scans_agree),
    };
    return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
