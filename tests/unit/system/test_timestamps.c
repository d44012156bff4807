/* Timestamp units: sources, prescaling, width, and timestamps in messages (Trace Control section 3). */
#include "../test.h"
#include "rig.h"

enum { TS_ACTIVE = 1, TS_COUNT = 2, TS_RESET = 4, TS_RUN_IN_DEBUG = 8, TS_ENABLE = 1 << 15 };
enum { NONE = 0, EXTERNAL = 1 << 4, SYSTEM = 2 << 4, CORE = 3 << 4, SHARED = 4 << 4, MODE_MASK = 7 << 4 };

static void control(system_rig *r, uint32_t base, uint32_t bits) {
    write32(r->system, base + 0x40, bits);
    assert_int_equal(read32(r->system, base + 0x40) & 0xffff, bits & ~(uint32_t)TS_RESET);
}

static uint64_t counter(system_rig *r, uint32_t base) {
    return read32(r->system, base + 0x48) | (uint64_t)read32(r->system, base + 0x4c) << 32;
}

static void external(void **state) {
    static system_rig r;
    (void)state;
    rig_open(&r, "\"ts_width\":48");
    assert_int_equal(read32(r.system, TE + 0x40) >> 24, 48);
    for (unsigned base = TE; base <= FUNNEL; base += FUNNEL) {
        control(&r, base, TS_ACTIVE | EXTERNAL);
        ntr_system_set_time(r.system, 0x123456789abcdef);
        assert_int_equal(counter(&r, base), base == TE ? 0x456789abcdef : 0x123456789abcdef);
        ntr_system_step(r.system, 1000);
        assert_int_equal(counter(&r, base), base == TE ? 0x456789abcdef : 0x123456789abcdef);
        ntr_system_set_time(r.system, 5);
        assert_int_equal(counter(&r, base), 5);
        control(&r, base, EXTERNAL); /* in reset */
        assert_int_equal(counter(&r, base), 0);
        control(&r, base, TS_ACTIVE | NONE);
        assert_int_equal(counter(&r, base), 0);
    }
    rig_close(&r);
}

/* The system clock in encoder and funnel: stopped, run, prescaled, cleared, reset. CI-113, CI-114, CI-117 */
static void internal_system(void **state) {
    static system_rig r;
    (void)state;
    rig_open(&r, "");
    for (unsigned base = TE; base <= FUNNEL; base += FUNNEL) {
        control(&r, base, TS_ACTIVE | SYSTEM);
        ntr_system_step(r.system, 100);
        assert_int_equal(counter(&r, base), 0);
        for (unsigned prescale = 0; prescale < 4; prescale++) {
            const uint32_t on = TS_ACTIVE | TS_COUNT | SYSTEM | prescale << 8;
            control(&r, base, on | TS_RESET);
            for (unsigned cycle = 1; cycle <= 300; cycle++) {
                ntr_system_step(r.system, 1);
                assert_int_equal(counter(&r, base), cycle >> 2 * prescale);
            }
            ntr_system_step(r.system, 5000);
            assert_int_equal(counter(&r, base), 5300u >> 2 * prescale);
            control(&r, base, on & ~(uint32_t)TS_COUNT); /* stopped, and it keeps what it has */
            ntr_system_step(r.system, 1000);
            assert_int_equal(counter(&r, base), 5300u >> 2 * prescale);
        }
        control(&r, base, TS_COUNT | SYSTEM); /* in reset */
        ntr_system_step(r.system, 1000);
        assert_int_equal(counter(&r, base), 0);
        control(&r, base, TS_ACTIVE | TS_COUNT | SYSTEM);
        assert_int_equal(counter(&r, base), 0);
        ntr_system_step(r.system, 7);
        assert_int_equal(counter(&r, base), 7);
        control(&r, base, TS_ACTIVE | TS_COUNT | SYSTEM | TS_RESET);
        assert_int_equal(counter(&r, base), 0);
    }
    rig_close(&r);
}

/* The core's clock stands still while the hart is halted or in debug mode, unless asked to go on. CI-109, CI-115 */
static void internal_core(void **state) {
    static system_rig r;
    static const uint32_t modes[] = {SYSTEM, CORE, CORE | TS_RUN_IN_DEBUG};
    const ntr_ingress halted = {.halted = true, .cycle = true, .no_iaddr = true}, runs = rig_block(0x1000, 1);
    ntr_ingress debug = runs;
    (void)state;
    rig_open(&r, "");
    debug.priv = NTR_PRIV_D;
    for (unsigned i = 0; i < 3; i++) {
        control(&r, TE, TS_ACTIVE | TS_COUNT | TS_RESET | modes[i]);
        rig_push(&r, &runs);
        ntr_system_step(r.system, 10);
        assert_int_equal(counter(&r, TE), 10);
        rig_push(&r, &halted);
        ntr_system_step(r.system, 20);
        assert_int_equal(counter(&r, TE), modes[i] == CORE ? 10 : 30);
        rig_push(&r, &debug);
        ntr_system_step(r.system, 40);
        assert_int_equal(counter(&r, TE), modes[i] == CORE ? 10 : 70);
        rig_push(&r, &runs);
        ntr_system_step(r.system, 80);
        assert_int_equal(counter(&r, TE), modes[i] == CORE ? 90 : 150);
    }
    write32(r.system, FUNNEL + 0x40, CORE); /* funnels have none */
    assert_int_not_equal(read32(r.system, FUNNEL + 0x40) & MODE_MASK, CORE);
    rig_close(&r);
}

/* Shared time is that of its source, through its width; a source that is off has none. NT-287, CI-048, CI-108 */
static void shared(void **state) {
    static system_rig r;
    (void)state;
    rig_open(&r, "\"ts_width\":16");
    control(&r, TE, TS_ACTIVE | SHARED);
    control(&r, FUNNEL, TS_ACTIVE | TS_COUNT | SYSTEM | 1 << 8);
    ntr_system_step(r.system, 4 * 0x12345);
    assert_int_equal(counter(&r, FUNNEL), 0x12345);
    assert_int_equal(counter(&r, TE), 0x2345);
    control(&r, FUNNEL, TS_ACTIVE | EXTERNAL);
    ntr_system_set_time(r.system, 99);
    assert_int_equal(counter(&r, TE), 99);
    write32(r.system, FUNNEL, 0);
    assert_int_equal(counter(&r, TE), 0);
    rig_close(&r);
}

/* Whole times in synchronizing messages, differences in the others, modulo the width; none without trTsEnable.
 * NT-113, CI-118 */
static void in_messages(void **state) {
    static system_rig r;
    static const struct {
        uint32_t bits;
        const char *options;
        uint64_t first, second;
    } cases[] = {
        {TS_ENABLE | EXTERNAL, "", 0x12345, 0x0},
        {TS_ENABLE | EXTERNAL, "\"ts_width\":8", 0x45, 0x0},
        {TS_ENABLE | TS_COUNT | SYSTEM, "", 1000, 500},
        {TS_ENABLE | TS_COUNT | SYSTEM | 1 << 8, "", 250, 125},
        {TS_ENABLE | TS_COUNT | SYSTEM, "\"ts_width\":10", 1000, 500}, /* 1500 is 476 by then */
        {TS_ENABLE | TS_COUNT | CORE | 2 << 8, "", 62, 31},
        {TS_ENABLE | SHARED, "", 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rig_open(&r, cases[i].options);
        control(&r, TE, TS_ACTIVE | cases[i].bits);
        ntr_system_set_time(r.system, 1);
        ntr_system_step(r.system, 1000);
        rig_trace(&r, 0);
        for (unsigned n = 0; n < 3; n++) {
            ntr_ingress b = rig_block(0x1000, 1);
            b.time = 0x12345;
            rig_push(&r, &b);
            if (n == 0) ntr_system_step(r.system, 500);
        }
        const ntr_params params = rig_params(&r);
        ntr_message first, second, third;
        size_t at = 0;
        ntr_system_step(r.system, 1);
        assert_true(rig_next(&r, &params, &at, &first) && rig_next(&r, &params, &at, &second) &&
                    rig_next(&r, &params, &at, &third));
        assert_true(NTR_HAS(&first, TSTAMP) && NTR_HAS(&third, TSTAMP));
        assert_int_equal(first.tstamp, cases[i].first);
        assert_int_equal(second.tstamp + third.tstamp, cases[i].second);
        rig_close(&r);
    }
    for (unsigned bits = EXTERNAL; bits <= SHARED; bits += EXTERNAL) {
        ntr_message m;
        size_t at = 0;
        rig_open(&r, "");
        control(&r, TE, TS_ACTIVE | TS_COUNT | bits);
        rig_trace(&r, 0);
        for (unsigned n = 0; n < 3; n++)
            rig_push(&r, &(ntr_ingress){.iaddr = 0x1000, .iretire = 1, .itype = 14, .cycle = true});
        const ntr_params params = rig_params(&r);
        while (rig_next(&r, &params, &at, &m)) assert_false(NTR_HAS(&m, TSTAMP));
        assert_true(at > 0);
        rig_close(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(external), TEST(internal_system), TEST(internal_core), TEST(shared),
                                       TEST(in_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
