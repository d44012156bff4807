/* The clock of a source: N-Trace 1.0 timestamps, and the XOR of older dialects. */
#include "../random.h"
#include "../test.h"

#include <ntrace/clock.h>

static ntr_clock after(const ntr_params *params, ntr_clock clock, unsigned tcode, uint64_t tstamp) {
    ntr_message m = {.tcode = (uint8_t)tcode, .tstamp = tstamp, .present = UINT64_C(1) << NTR_FIELD_TSTAMP};
    ntr_clock_follow(&clock, params, &m);
    return clock;
}

static ntr_params with_width(const char *dialect, uint8_t width) {
    ntr_params params;
    ntr_params_init(&params, ntr_dialect_find(dialect));
    params.timestamps = NTR_TIMESTAMPS_ON;
    params.ts_width = width;
    return params;
}

static void differences_are_added(void **state) {
    (void)state;
    ntr_params params = with_width("ntrace-1.0", 40);
    ntr_clock clock = after(&params, (ntr_clock){0}, NTR_TCODE_PROG_TRACE_SYNC, 1000);
    clock = after(&params, clock, NTR_TCODE_DIRECT_BRANCH, 24);
    assert_true(clock.known);
    assert_int_equal(clock.time, 1024);
}

static void a_counter_that_wrapped_goes_on(void **state) {
    (void)state;
    ntr_params params = with_width("ntrace-1.0", 8);
    ntr_clock clock = after(&params, (ntr_clock){0}, NTR_TCODE_PROG_TRACE_SYNC, 250);
    clock = after(&params, clock, NTR_TCODE_PROG_TRACE_SYNC, 3);
    assert_int_equal(clock.time, 256 + 3);
    clock = after(&params, clock, NTR_TCODE_PROG_TRACE_SYNC, 3);
    assert_int_equal(clock.time, 256 + 3);
}

static void differences_are_xored(void **state) {
    (void)state;
    ntr_params params = with_width("p550", 8);
    ntr_clock clock = after(&params, (ntr_clock){0}, NTR_TCODE_PROG_TRACE_SYNC, 0x81);
    clock = after(&params, clock, NTR_TCODE_DIRECT_BRANCH, 0x03);
    assert_int_equal(clock.time, 0x82);
    clock = after(&params, clock, NTR_TCODE_DIRECT_BRANCH, 0x80);
    assert_int_equal(clock.time, 0x102);
}

/* Decoding may begin at a synchronizing message with a known time: reading it again changes nothing. */
static void a_sync_told_twice_is_one_time(void **state) {
    (void)state;
    uint64_t random = 1;
    static const char *const dialects[] = {"ntrace-1.0", "p550", "sifive-pre1.0"};
    for (unsigned i = 0; i < 30000; i++) {
        uint64_t x = next_random(&random);
        ntr_params params = with_width(dialects[i % 3], (uint8_t)(x % 65));
        ntr_clock clock = {.time = next_random(&random) >> (x >> 8 & 63), .known = true};
        uint64_t tstamp = next_random(&random) >> (x >> 16 & 63);
        ntr_clock once = after(&params, clock, NTR_TCODE_INDIRECT_BRANCH_SYNC, tstamp);
        ntr_clock twice = after(&params, once, NTR_TCODE_INDIRECT_BRANCH_SYNC, tstamp);
        if (twice.time != once.time || twice.known != once.known)
            fail_msg("%s, %u bits: 0x%llx, sync 0x%llx: 0x%llx, then 0x%llx", dialects[i % 3], params.ts_width,
                     (unsigned long long)clock.time, (unsigned long long)tstamp, (unsigned long long)once.time,
                     (unsigned long long)twice.time);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(differences_are_added),
        TEST(a_counter_that_wrapped_goes_on),
        TEST(differences_are_xored),
        TEST(a_sync_told_twice_is_one_time),
    };
    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
