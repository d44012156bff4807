/* --restore: all registers are as they were, also those of trace that was running. */
#include "rig.h"

enum { WORDS = 0x700 / 4 };

static void snapshot(target_rig *r, uint32_t words[4][WORDS]) {
    static const uint64_t bases[] = {TE0, TE1, FUNNEL_BASE, RAM};
    for (unsigned i = 0; i < 4; i++)
        for (unsigned k = 0; k < WORDS; k++)
            if (i < 3 || k != NTR_RAM_DATA / 4) r->inner.read32(r->inner.user, bases[i] + 4 * k, &words[i][k]);
}

static void test_running_trace(void **state) {
    static target_rig r;
    static uint32_t before[4][WORDS], after[4][WORDS];
    (void)state;
    r = (target_rig){0};
    rig_open(&r, rig_topology, rig_topology);
    assert_int_equal(ntr_target_restore(r.target), NTR_E_STATE);
    assert_int_equal(ntr_target_set_option(r.target, "filter", "addr=0x80000000-0x80000fff,priv=m"), NTR_OK);
    assert_int_equal(ntr_target_start(r.target), NTR_OK);
    snapshot(&r, before);
    assert_int_equal(before[0][NTR_TE_INST_FILTERS / 4], 1);
    assert_int_equal(before[0][NTR_TE_COMP_S_MATCH_LOW / 4], 0x80000fff);
    assert_int_equal(ntr_target_save(r.target), NTR_OK);
    assert_int_equal(ntr_target_set_option(r.target, "mode", "btm"), NTR_OK);
    assert_int_equal(ntr_target_start(r.target), NTR_OK);
    rig_execute(&r, 4);
    assert_int_equal(ntr_target_stop(r.target), NTR_OK);
    assert_int_equal(ntr_target_restore(r.target), NTR_OK);
    snapshot(&r, after);
    for (unsigned i = 0; i < 4; i++)
        for (unsigned k = 0; k < WORDS; k++)
            if (before[i][k] != after[i][k] && k != NTR_RAM_RP_LOW / 4)
                fail_msg("component %u, offset 0x%x: 0x%08x before, 0x%08x after", i, 4 * k, before[i][k], after[i][k]);
    rig_close(&r);
}

/* The probe leaves nothing enabled and finds what the model implements. */
static void test_probe(void **state) {
    static target_rig r;
    ntr_probe probe;
    (void)state;
    r = (target_rig){0};
    rig_open(&r, rig_topology, rig_topology);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(ntr_target_probe(r.target, i, false, &probe), NTR_OK);
        assert_true(probe.answers);
        for (size_t k = 0; k < probe.ability_count; k++)
            if (probe.abilities[k].value != probe.abilities[k].expected)
                fail_msg("component %zu, %s: 0x%llx, expected 0x%llx", i, probe.abilities[k].name,
                         (unsigned long long)probe.abilities[k].value, (unsigned long long)probe.abilities[k].expected);
    }
    assert_int_equal(ntr_target_probe(r.target, 4, false, &probe), NTR_E_RANGE);
    rig_all_disabled(&r, "probe");
    assert_int_equal(ntr_target_start(r.target), NTR_OK);
    assert_int_equal(ntr_target_probe(r.target, 0, true, &probe), NTR_OK); /* looking does not end a trace */
    assert_int_equal(rig_control(&r, TE0) & 6, 6);
    ntr_target_stop(r.target);
    r.defect = (defect){.base = RAM, .open = true};
    assert_int_equal(ntr_target_probe(r.target, 3, false, &probe), NTR_OK);
    assert_false(probe.answers);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_running_trace), TEST(test_probe)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
