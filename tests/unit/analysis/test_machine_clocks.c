/* The times of two harts in the elements of a machine: one clock for all, or the instructions of each hart. */
#include "../test.h"

#include <ntrace/machine.h>

static ntr_functions *functions;

static void at(ntr_machine *machine, uint16_t src, uint8_t prv, uint64_t time) {
    const ntr_event event = {.kind = NTR_EVENT_SPAN,
                             .src = src,
                             .time = time,
                             .flags = NTR_EVENT_TIME,
                             .context = {.prv = prv},
                             .address = 0x1000,
                             .last = 0x1000,
                             .instructions = 1,
                             .halfwords = 2,
                             .end = NTR_SPAN_NOT_TAKEN};
    assert_int_equal(ntr_machine_feed(machine, &event, 1), NTR_OK);
}

/* The firmware begins on hart 0 and ends on hart 1, where S-mode begins; hart 0 is the last one with a time. */
static void expect_phases(bool own, uint64_t firmware, uint64_t supervisor) {
    ntr_machine *machine;
    ntr_machine_new(NULL, functions, NULL, &machine);
    size_t count;

    assert_non_null(machine);
    ntr_machine_set_clocks(machine, own);
    at(machine, 0, 3, 1000);
    at(machine, 1, 1, 1500);
    at(machine, 1, 1, 1600);
    at(machine, 0, 1, 9000);
    assert_int_equal(ntr_machine_finish(machine), NTR_OK);
    const ntr_phase *phases = ntr_machine_phases(machine, &count);
    assert_int_equal(count, 2);
    assert_int_equal(phases[0].ticks, firmware);
    assert_int_equal(phases[1].ticks, supervisor);
    ntr_machine_free(machine);
}

static void instruction_clocks_of_two_harts_are_not_compared(void **state) {
    (void)state;
    ntr_program *program;
    ntr_program_new(NULL, &program);
    ntr_debug_info *debug;
    ntr_debug_info_new(program, NULL, &debug);
    ntr_functions_new(debug, NULL, &functions);
    assert_non_null(functions);
    expect_phases(false, 500, 7500);
    expect_phases(true, 0, 100);
    ntr_functions_free(functions);
    ntr_debug_info_free(debug);
    ntr_program_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(instruction_clocks_of_two_harts_are_not_compared)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
