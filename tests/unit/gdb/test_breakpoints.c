/* Which breakpoints exist, and which existed at the previous resume. */
#include "../test.h"

#include "gdb/breakpoints.h"

enum { FIRST = 0x1000, SECOND = 0x1004, THIRD = 0x1008 };

static void set(ntr_gdb_breakpoints *b, uint64_t address) {
    assert_int_equal(ntr_gdb_breakpoint_add(b, address, false), NTR_OK);
}

static void resume(ntr_gdb_breakpoints *b) {
    assert_int_equal(ntr_gdb_breakpoints_resume(b), NTR_OK);
}

static void new_until_the_next_resume(void **state) {
    (void)state;
    ntr_gdb_breakpoints b = {0};
    set(&b, FIRST);
    assert_true(ntr_gdb_breakpoint_at(&b, FIRST) && ntr_gdb_breakpoint_is_new(&b, FIRST));
    assert_false(ntr_gdb_breakpoint_was(&b, FIRST));
    resume(&b);
    assert_true(ntr_gdb_breakpoint_was(&b, FIRST) && !ntr_gdb_breakpoint_is_new(&b, FIRST));
    set(&b, SECOND);
    assert_true(ntr_gdb_breakpoint_is_new(&b, SECOND) && !ntr_gdb_breakpoint_is_new(&b, FIRST));
    ntr_gdb_breakpoints_release(&b);
}

/* A debugger removes its breakpoints at each stop. Those that it does not set again are forgotten at the next resume.
 */
static void removed_ones_are_forgotten(void **state) {
    (void)state;
    ntr_gdb_breakpoints b = {0};
    set(&b, FIRST);
    set(&b, SECOND);
    set(&b, THIRD);
    resume(&b);
    ntr_gdb_breakpoint_remove(&b, SECOND, false);
    ntr_gdb_breakpoint_remove(&b, THIRD, false);
    assert_false(ntr_gdb_breakpoint_at(&b, SECOND));
    assert_true(ntr_gdb_breakpoint_was(&b, SECOND)); /* until execution resumes */
    resume(&b);
    assert_true(ntr_gdb_breakpoint_was(&b, FIRST));
    assert_false(ntr_gdb_breakpoint_was(&b, SECOND) || ntr_gdb_breakpoint_was(&b, THIRD));
    set(&b, THIRD);
    assert_true(ntr_gdb_breakpoint_is_new(&b, THIRD));
    ntr_gdb_breakpoint_remove(&b, FIRST, false);
    ntr_gdb_breakpoint_remove(&b, THIRD, false);
    resume(&b);
    assert_false(ntr_gdb_breakpoint_was(&b, FIRST) || ntr_gdb_breakpoint_was(&b, THIRD));
    ntr_gdb_breakpoints_release(&b);
}

static void hardware_and_software_are_counted_apart(void **state) {
    (void)state;
    ntr_gdb_breakpoints b = {0};
    assert_int_equal(ntr_gdb_breakpoint_add(&b, FIRST, true), NTR_OK);
    set(&b, FIRST);
    assert_true(ntr_gdb_breakpoint_is_hardware(&b, FIRST));
    ntr_gdb_breakpoint_remove(&b, FIRST, true);
    assert_false(ntr_gdb_breakpoint_is_hardware(&b, FIRST));
    assert_false(ntr_gdb_breakpoint_is_hardware(&b, SECOND));
    ntr_gdb_breakpoints_release(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(new_until_the_next_resume), TEST(removed_ones_are_forgotten),
                                       TEST(hardware_and_software_are_counted_apart)};
    return cmocka_run_group_tests_name("breakpoints", tests, NULL, NULL);
}
