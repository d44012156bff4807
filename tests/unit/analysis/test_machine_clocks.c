/* The times of two harts in the elements of a machine: one clock for all, or the instructions of each hart. */
#include "../test.h"

#include <ntrace/machine.h>
#include <ntrace/profile.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ntr_functions *functions;

/* An instruction at `address`, which ends in this way. */
static void span(ntr_machine *machine, uint16_t src, uint8_t prv, uint64_t time, uint64_t address, ntr_span_end end,
                 uint64_t target) {
    const ntr_event event = {.kind = NTR_EVENT_SPAN,
                             .src = src,
                             .time = time,
                             .flags = NTR_EVENT_TIME,
                             .context = {.prv = prv},
                             .address = address,
                             .last = address,
                             .target = target,
                             .instructions = 1,
                             .halfwords = 2,
                             .end = (uint8_t)end};
    assert_int_equal(ntr_machine_feed(machine, &event, 1), NTR_OK);
}

static void at(ntr_machine *machine, uint16_t src, uint8_t prv, uint64_t time) {
    span(machine, src, prv, time, 0x1000, NTR_SPAN_NOT_TAKEN, 0x1004);
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

/* An interrupt and a system call of hart 0, while the time of hart 1 is far ahead. */
static void traps_take_the_time_of_their_hart(void **state) {
    (void)state;
    ntr_program *program;
    ntr_debug_info *debug;
    ntr_machine *machine;
    ntr_profile profile;
    size_t count;
    ntr_program_new(NULL, &program);
    ntr_debug_info_new(program, NULL, &debug);
    ntr_functions_new(debug, NULL, &functions);
    ntr_machine_new(NULL, functions, NULL, &machine);
    assert_non_null(machine);
    ntr_machine_set_clocks(machine, true);
    at(machine, 1, 0, 5000000);
    span(machine, 0, 0, 1000, 0x1000, NTR_SPAN_INTERRUPT, 0x8000);
    at(machine, 1, 0, 6000000);
    span(machine, 0, 1, 1100, 0x8000, NTR_SPAN_TRAP_RETURN, 0x1004);
    at(machine, 1, 0, 7000000);
    span(machine, 0, 0, 1200, 0x1004, NTR_SPAN_EXCEPTION, 0x9000);
    at(machine, 1, 0, 8000000);
    span(machine, 0, 1, 1230, 0x9000, NTR_SPAN_TRAP_RETURN, 0x1008);
    span(machine, 0, 0, 1300, 0x1008, NTR_SPAN_NOT_TAKEN, 0x100c);
    at(machine, 1, 0, 9000000);
    assert_int_equal(ntr_machine_finish(machine), NTR_OK);
    const ntr_trap *const *traps = ntr_machine_traps(machine, &count);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(traps[i]->count, 1);
        assert_int_equal(traps[i]->ticks.sum, traps[i]->kind == NTR_TRAP_INTERRUPT ? 100 : 30);
    }
    assert_int_equal(ntr_profile_machine(&profile, NTR_PROFILE_INTERRUPT, machine, NULL), NTR_OK);
    assert_int_equal(profile.count, 2);
    for (size_t i = 0; i < profile.count; i++)
        if (strcmp(profile.rows[i].name, "(no interrupt)") == 0)
            assert_int_equal(profile.rows[i].self_ticks, 300 - 100 + 4000000);
        else
            assert_int_equal(profile.rows[i].self_ticks, 100);
    ntr_profile_release(&profile);
    ntr_machine_free(machine);
    ntr_functions_free(functions);
    ntr_debug_info_free(debug);
    ntr_program_free(program);
}

/* The functions of a kernel, from the text of its kallsyms. */
static void add_kernel(ntr_program *program) {
    static const char text[] = "0000000000001000 T do_one_initcall\n0000000000002000 t first_init\n"
                               "0000000000003000 t second_init\n0000000000004000 T _end\n";
    static const uint8_t code[0x3000];
    char path[] = "/tmp/ntrace-clocks-XXXXXX";
    ntr_image_options options;
    ntr_image_options_init(&options);
    options.bias = 0x1000;
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){code, sizeof code}, &options), NTR_OK);
    const int file = mkstemp(path);
    assert_int_equal(write(file, text, sizeof text - 1), (ssize_t)sizeof text - 1);
    close(file);
    assert_int_equal(ntr_program_add_symbols(program, path, NULL), NTR_OK);
    unlink(path);
}

/* Initcalls of hart 0: during the first one, and between both, the time of hart 1 is far ahead. */
static void initcalls_take_the_time_of_their_hart(void **state) {
    (void)state;
    ntr_program *program;
    ntr_debug_info *debug;
    ntr_machine *machine;
    size_t count;
    ntr_program_new(NULL, &program);
    add_kernel(program);
    ntr_debug_info_new(program, NULL, &debug);
    ntr_functions_new(debug, NULL, &functions);
    ntr_machine_new(NULL, functions, NULL, &machine);
    assert_non_null(machine);
    at(machine, 1, 3, 5000000);
    span(machine, 0, 1, 1000, 0x1000, NTR_SPAN_INDIRECT_CALL, 0x2000);
    at(machine, 1, 3, 6000000);
    span(machine, 0, 1, 1100, 0x2000, NTR_SPAN_RETURN, 0x1004);
    at(machine, 1, 3, 7000000);
    span(machine, 0, 1, 1500, 0x1004, NTR_SPAN_INDIRECT_CALL, 0x3000);
    span(machine, 0, 1, 1530, 0x3000, NTR_SPAN_RETURN, 0x1008);
    at(machine, 1, 3, 8000000);
    span(machine, 0, 1, 1600, 0x1008, NTR_SPAN_NOT_TAKEN, 0x100c);
    assert_int_equal(ntr_machine_finish(machine), NTR_OK);
    const ntr_initcall *calls = ntr_machine_initcalls(machine, &count);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++) {
        const bool first = strcmp(calls[i].name, "first_init") == 0;
        assert_string_equal(calls[i].name, first ? "first_init" : "second_init");
        assert_int_equal(calls[i].calls, 1);
        assert_int_equal(calls[i].ticks, first ? 100 : 30);
    }
    ntr_machine_free(machine);
    ntr_functions_free(functions);
    ntr_debug_info_free(debug);
    ntr_program_free(program);
}

/* Hart 0 executes the first instruction in U-mode. In the stream, hart 1 comes first, with later times. */
static void expect_init(bool own, bool timed, uint64_t ticks, uint64_t all_ticks) {
    ntr_machine_totals totals;
    ntr_machine *machine;
    ntr_machine_new(NULL, functions, NULL, &machine);
    assert_non_null(machine);
    ntr_machine_set_clocks(machine, own);
    at(machine, 1, 3, 5000);
    at(machine, 1, 3, 5100);
    at(machine, 0, 3, 1000);
    at(machine, 0, 0, 1600);
    at(machine, 0, 0, 9000);
    assert_int_equal(ntr_machine_finish(machine), NTR_OK);
    ntr_machine_totals_init(&totals);
    ntr_machine_totals_get(machine, &totals);
    assert_int_equal(totals.harts, 2);
    assert_true(totals.has_user);
    assert_int_equal(totals.user_timed, timed);
    if (timed) assert_int_equal(totals.user_time - totals.begin, ticks);
    assert_int_equal(totals.end - totals.begin, all_ticks);
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
    expect_init(false, true, 600, 8000);
    expect_init(true, false, 0, 100);
    ntr_functions_free(functions);
    ntr_debug_info_free(debug);
    ntr_program_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(instruction_clocks_of_two_harts_are_not_compared),
                                       TEST(traps_take_the_time_of_their_hart),
                                       TEST(initcalls_take_the_time_of_their_hart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
