/* Triggers of the debug module, external inputs and outputs (Trace Control section 4). */
#include "../test.h"
#include "rig.h"

enum { ON = 2, OFF = 3, NOTIFY = 4, BEGINS = 1, ENDS = 2 };

static bool is_tracing(system_rig *r) {
    return read32(r->system, TE) & TRACING;
}

/* Blocks with debug triggers: + on, - off, ! notify, . none; 'x' for those in the trace. */
static void debug_walk(system_rig *r, const char *triggers, const char *expected) {
    char got[64] = "";
    for (size_t i = 0; triggers[i]; i++) {
        ntr_ingress b = rig_block(0x1000 + 2 * i, 1);
        if (triggers[i] == '+') b.trigger = NTR_TRIGGER_ON;
        if (triggers[i] == '-') b.trigger = NTR_TRIGGER_OFF;
        if (triggers[i] == '!') b.trigger = NTR_TRIGGER_NOTIFY;
        got[i] = rig_push(r, &b) ? 'x' : '.';
    }
    assert_string_equal(got, expected);
}

/* On acts from the oldest instruction of its cycle, off behind the newest. CI-132 */
static void debug_triggers(void **state) {
    static system_rig r;
    (void)state;
    rig_open(&r, "");
    rig_trace(&r, TRIG_ENABLE);
    debug_walk(&r, "..-..+.-+.-.", "xxx..xxxxxx.");
    assert_false(is_tracing(&r));
    debug_walk(&r, "+.", "xx");
    assert_true(is_tracing(&r));
    assert_int_equal(rig_syncs(&r, NTR_SYNC_TRACE_ENABLE), 3);
    debug_walk(&r, ".!.-!.", "xxxx.."); /* a report only while there is trace */
    assert_int_equal(rig_syncs(&r, NTR_SYNC_TRACE_EVENT), 1);
    rig_close(&r);
}

/* Without trTeInstTrigEnable nothing changes tracing; reports come all the same. */
static void not_enabled(void **state) {
    static system_rig r;
    (void)state;
    rig_open(&r, "");
    write32(r.system, TE + 0x54, ON | OFF << 4 | NOTIFY << 8);
    rig_trace(&r, 0);
    debug_walk(&r, ".-.!.", "xxxxx");
    assert_int_equal(ntr_system_trigger(r.system, 0, 1), NTR_OK);
    assert_true(is_tracing(&r));
    assert_int_equal(ntr_system_trigger(r.system, 0, 2), NTR_OK);
    debug_walk(&r, "..", "xx");
    assert_int_equal(rig_syncs(&r, NTR_SYNC_TRACE_EVENT), 1);
    assert_int_equal(rig_syncs(&r, NTR_SYNC_EXTERNAL_TRIGGER), 1);
    write32(r.system, TE, read32(r.system, TE) & ~(uint32_t)TRACING);
    debug_walk(&r, ".+.", "...");
    assert_int_equal(ntr_system_trigger(r.system, 0, 0), NTR_OK);
    assert_false(is_tracing(&r));
    rig_close(&r);
}

/* CI-073, CI-123, CI-124: trTeInstTrigEnable acts also while the encoder is enabled. CI-128: an unsupported action
 * keeps the old one. */
static void enabled_later(void **state) {
    static system_rig r;
    (void)state;
    rig_open(&r, "");
    rig_trace(&r, 0);
    debug_walk(&r, ".-.", "xxx");
    write32(r.system, TE, read32(r.system, TE) | TRIG_ENABLE);
    debug_walk(&r, ".-.+", "xx.x");
    write32(r.system, TE, read32(r.system, TE) & ~(uint32_t)TRIG_ENABLE);
    debug_walk(&r, ".-.", "xxx");
    static const uint8_t legal[] = {0, ON, OFF, NOTIFY};
    for (unsigned i = 0; i < sizeof legal; i++)
        for (unsigned action = 0; action < 16; action++) {
            write32(r.system, TE + 0x54, legal[i]);
            write32(r.system, TE + 0x54, action);
            const bool supported = action == 0 || (action >= ON && action <= NOTIFY);
            assert_int_equal(read32(r.system, TE + 0x54), supported ? action : legal[i]);
        }
    rig_close(&r);
}

/* CI-070, CI-071: the mode of an enabled encoder is fixed; 0 ends the trace, and the mode starts it again. */
static void mode_of_an_enabled_encoder(void **state) {
    static system_rig r;
    (void)state;
    const uint32_t modes = 7 << 4, htm = 6 << 4;
    rig_open(&r, "");
    rig_trace(&r, 0); /* BTM */
    debug_walk(&r, "..", "xx");
    write32(r.system, TE, (read32(r.system, TE) & ~modes) | htm);
    assert_int_equal(read32(r.system, TE) & modes, MODE_BTM);
    write32(r.system, TE, read32(r.system, TE) & ~modes);
    assert_int_equal(read32(r.system, TE) & modes, 0);
    debug_walk(&r, "..", "..");
    write32(r.system, TE, read32(r.system, TE) | htm);
    assert_int_equal(read32(r.system, TE) & modes, MODE_BTM);
    debug_walk(&r, "..", "xx");
    rig_close(&r);
}

static void external_inputs(void **state) {
    static system_rig r;
    (void)state;
    rig_open(&r, "");
    for (unsigned input = 0; input < 8; input++) {
        write32(r.system, TE + 0x54, (uint32_t)ON << 4 * input);
        rig_trace(&r, TRIG_ENABLE);
        r.size = 0;
        write32(r.system, TE, read32(r.system, TE) & ~(uint32_t)TRACING);
        debug_walk(&r, "..", "..");
        for (unsigned other = 0; other < 8; other++) { /* action 0 does nothing */
            if (other == input) continue;
            assert_int_equal(ntr_system_trigger(r.system, 0, other), NTR_OK);
            assert_false(is_tracing(&r));
        }
        assert_int_equal(ntr_system_trigger(r.system, 0, input), NTR_OK);
        assert_true(is_tracing(&r));
        debug_walk(&r, "..", "xx");
        assert_int_equal(rig_syncs(&r, NTR_SYNC_TRACE_ENABLE), 1);
        write32(r.system, TE + 0x54, (uint32_t)NOTIFY << 4 * input);
        assert_int_equal(ntr_system_trigger(r.system, 0, input), NTR_OK);
        debug_walk(&r, "..", "xx");
        assert_int_equal(rig_syncs(&r, NTR_SYNC_EXTERNAL_TRIGGER), 1);
        write32(r.system, TE + 0x54, (uint32_t)OFF << 4 * input);
        assert_int_equal(ntr_system_trigger(r.system, 0, input), NTR_OK);
        assert_false(is_tracing(&r));
        debug_walk(&r, "..", "..");
        rig_stop(&r);
    }
    assert_int_equal(ntr_system_trigger(r.system, 0, 8), NTR_E_RANGE);
    assert_int_equal(ntr_system_trigger(r.system, 1, 0), NTR_E_RANGE);
    write32(r.system, TE + 0x54, ON); /* a disabled encoder does not begin to trace */
    assert_int_equal(ntr_system_trigger(r.system, 0, 0), NTR_OK);
    assert_false(is_tracing(&r));
    rig_close(&r);
}

static void expect_fired(system_rig *r, const char *expected) {
    char got[9] = "";
    for (unsigned i = 0; i < 8; i++) {
        got[i] = (char)('0' + r->fired[i]);
        r->fired[i] = 0;
    }
    assert_string_equal(got, expected);
}

/* Outputs 0, 3, 6 report the start of tracing, 1, 4, 7 the stop, 2 both, 5 none, for any cause. CI-130 */
static void external_outputs(void **state) {
    static system_rig r;
    (void)state;
    rig_open(&r, "");
    write32(r.system, TE + 0x54, ON | OFF << 4);
    write32(r.system, TE + 0x58, 0x21021321);
    assert_int_equal(read32(r.system, TE + 0x58), 0x21021321);
    rig_trace(&r, TRIG_ENABLE); /* by software */
    expect_fired(&r, "10110010");
    debug_walk(&r, "..", "xx");
    expect_fired(&r, "00000000");
    debug_walk(&r, "-.", "x.");
    expect_fired(&r, "01101001");
    debug_walk(&r, "-.", "..");
    expect_fired(&r, "00000000");
    debug_walk(&r, "+.", "xx");
    expect_fired(&r, "10110010");
    ntr_system_trigger(r.system, 0, 0); /* on already */
    expect_fired(&r, "00000000");
    ntr_system_trigger(r.system, 0, 1);
    expect_fired(&r, "01101001");
    ntr_system_trigger(r.system, 0, 0);
    expect_fired(&r, "10110010");
    write32(r.system, TE, read32(r.system, TE) & ~(uint32_t)ENABLE);
    expect_fired(&r, "01101001");
    rig_close(&r);
}

/* A hart runs on while trTeActive is 0: the first block after the reset need not follow the last one before it. */
static void reset_of_a_running_hart(void **state) {
    static system_rig r;
    (void)state;
    for (unsigned tracing = 0; tracing < 2; tracing++) {
        rig_open(&r, "");
        if (tracing) rig_trace(&r, 0);
        ntr_ingress block = rig_block(0x1000, 2);
        block.itype = NTR_ITYPE_NOT_TAKEN;
        assert_int_equal(ntr_system_push(r.system, 0, &block), NTR_OK);
        write32(r.system, TE, 0);
        block = rig_block(0x1004, 2);
        assert_int_equal(ntr_system_push(r.system, 0, &block), NTR_OK);
        write32(r.system, TE, ACTIVE);
        rig_trace(&r, 0);
        const uint64_t addresses[] = {0x2000, 0x3000, 0};
        rig_walk(&r, addresses, "xx");
        rig_close(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(debug_triggers),  TEST(not_enabled),      TEST(enabled_later),          TEST(mode_of_an_enabled_encoder),
        TEST(external_inputs), TEST(external_outputs), TEST(reset_of_a_running_hart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
