/* A capture that is interrupted before any step, or whose connection fails at any access, leaves nothing enabled. */
#include "rig.h"

enum { STEPS_MAX = 2000 };

static void test_interrupt_at_each_step(void **state) {
    unsigned at = 1;
    ntr_status status = NTR_END;
    (void)state;
    for (; status == NTR_END && at < STEPS_MAX; at++) {
        static target_rig r;
        char when[40];
        r = (target_rig){.interrupt_at = at};
        rig_open(&r, rig_topology, rig_topology);
        status = ntr_target_start(r.target);
        if (status == NTR_END) assert_string_equal(ntr_target_error(r.target), "interrupted");
        assert_int_equal(ntr_target_stop(r.target), NTR_OK);
        snprintf(when, sizeof when, "interrupted at step %u", at);
        rig_all_disabled(&r, when);
        rig_close(&r);
    }
    assert_int_equal(status, NTR_OK);
    assert_in_range(at, 40, STEPS_MAX - 1); /* four components with a dozen steps and more each */
}

/* The whole capture, with the access number `at` failing. Returns the number of accesses. */
static unsigned capture_failing_at(unsigned at) {
    static target_rig r;
    ntr_target_state seen;
    ntr_target_content content;
    size_t bytes = 0;
    char when[60];
    r = (target_rig){.fail_at = at};
    rig_open(&r, rig_topology, rig_topology);
    ntr_status status = ntr_target_start(r.target);
    const bool started = status == NTR_OK;
    if (started) {
        rig_execute(&r, 5);
        status = ntr_target_poll(r.target, &seen);
    }
    if (at && r.accesses >= at) {
        assert_int_equal(status, NTR_E_IO);
        assert_non_null(strstr(ntr_target_error(r.target), "sysbus=failed"));
    }
    const unsigned before = r.accesses;
    status = ntr_target_stop(r.target);
    assert_int_equal(status, NTR_OK); /* one failure is repeated */
    snprintf(when, sizeof when, "access %u of %u fails", at, before);
    rig_all_disabled(&r, when);
    if (started) status = ntr_target_read(r.target, 3, rig_count, &bytes, &content);
    const unsigned accesses = r.accesses;
    rig_close(&r);
    return accesses;
}

static void test_failure_at_each_access(void **state) {
    (void)state;
    const unsigned count = capture_failing_at(0);
    assert_true(count > 150);
    for (unsigned at = 1; at <= count; at++) capture_failing_at(at);
}

/* A connection that is gone for good: the stop says for each component that it could not be reached, and ends. */
static void test_connection_lost(void **state) {
    static target_rig r;
    (void)state;
    r = (target_rig){0};
    rig_open(&r, rig_topology, rig_topology);
    assert_int_equal(ntr_target_start(r.target), NTR_OK);
    r.defect = (defect){.base = TE0, .dead = true};
    assert_int_equal(ntr_target_stop(r.target), NTR_E_IO);
    assert_non_null(strstr(r.notes, "te0 at 0x10000000: read of trTeControl failed"));
    assert_int_equal(rig_control(&r, RAM) & 2, 0);
    assert_int_equal(rig_control(&r, FUNNEL_BASE) & 2, 0);
    assert_int_equal(rig_control(&r, TE1) & 2, 0);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_interrupt_at_each_step), TEST(test_failure_at_each_access),
                                       TEST(test_connection_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
