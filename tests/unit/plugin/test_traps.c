/* QEMU's log as the plugin for whole machines reads it: each hart is told its own traps, whatever the other harts do to
 * the memory of the log in the meantime. */
#include "plugin.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

/* Something happens after a load of the file under test: another thread runs at that moment. */
static void after_load(const volatile void *object);
#undef atomic_load
#define atomic_load(object)                                                                                            \
    __extension__({                                                                                                    \
        __typeof__(atomic_load_explicit(object, memory_order_seq_cst)) loaded =                                        \
            atomic_load_explicit(object, memory_order_seq_cst);                                                        \
        after_load(object);                                                                                            \
        loaded;                                                                                                        \
    })
#include "machine/traps.c"

enum { MIB = 1 << 20, LINES = 5 }; /* the log is given back in steps of 4 MiB */

static struct machine_hart sleeper, reader; /* harts 0 and 1 */
static int log_fd;
static off_t log_end;
static unsigned told[2];
static uint64_t causes[2];
static bool interrupted; /* the reader goes on while the sleeper awakes */

bool lane_is_traced(const struct channel_lane *lane) {
    return lane != NULL;
}

void machine_take_trap(struct machine_hart *hart, uint32_t flags, uint64_t cause, uint64_t epc, uint64_t tval,
                       bool first) {
    const unsigned vcpu = hart == &reader;

    (void)flags, (void)epc, (void)tval, (void)first;
    told[vcpu]++;
    causes[vcpu] = cause;
}

void machine_take_reset(struct machine_hart *hart) {
    (void)hart;
}

static void put(const char *text, size_t size) {
    assert_int_equal(pwrite(log_fd, text, size, log_end), size);
    log_end += (off_t)size;
}

static void put_trap(unsigned hart, unsigned cause) {
    char line[200];
    const int size = snprintf(line, sizeof line,
                              "riscv_cpu_do_interrupt: hart:%u, async:0, cause:%016x, epc:0x0000000080000210, "
                              "tval:0x0000000000000000, desc=test\n",
                              hart, cause);
    put(line, (size_t)size);
}

/* Lines that concern no hart, 1 MiB each. */
static void put_others(unsigned count) {
    char *line = malloc(MIB);
    assert_non_null(line);
    memset(line, 'x', MIB);
    line[MIB - 1] = '\n';
    while (count--) put(line, MIB);
    free(line);
}

static void after_load(const volatile void *object) {
    if (object != &given_back || !interrupted) return;
    interrupted = false;
    put_others(3 * LINES);
    machine_read_log(&reader, 1);
}

static int open_log(void **state) {
    char path[64];

    if (open_channel(state)) return -1;
    log_fd = memfd_create("log", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", log_fd);
    log_end = 0;
    memset(told, 0, sizeof told);
    atomic_store(&given_back, 0);
    for (unsigned i = 0; i < HARTS; i++) atomic_store(&places[i], NULL);
    if (!machine_map_log(path)) return -1;
    sleeper = (struct machine_hart){.lane = &channel->lanes[0], .line = start};
    reader = (struct machine_hart){.lane = &channel->lanes[1], .line = start};
    machine_log_resume(&sleeper);
    machine_log_resume(&reader);
    return 0;
}

static int close_log(void **state) {
    munmap((void *)(uintptr_t)start, log_size);
    close(file);
    close(log_fd);
    return close_channel(state);
}

/* The sleeper takes a trap now: it must be told it, and nothing else. */
static void sleeper_is_told(unsigned cause) {
    const unsigned before = told[0];

    put_trap(0, cause);
    assert_int_equal(machine_read_log(&sleeper, 0), 1);
    assert_int_equal(told[0], before + 1);
    assert_int_equal(causes[0], cause);
}

static void each_hart_has_its_own_traps(void **state) {
    (void)state;
    put_trap(0, 2);
    put_trap(1, 5);
    put_trap(1, 7);
    put("riscv_cpu_do_interrupt: hart:1, async:0, cause:", 47); /* a line that is being written */
    assert_int_equal(machine_read_log(&sleeper, 0), 1);
    assert_int_equal(machine_read_log(&reader, 1), 2);
    assert_int_equal(causes[0], 2);
    assert_int_equal(causes[1], 7);
    put("0000000000000009, epc:0x0, tval:0x0, desc=x\n", 44);
    assert_int_equal(machine_read_log(&reader, 1), 1);
    assert_int_equal(causes[1], 9);
}

/* What all have read is given back; what one has not read stays. */
static void a_hart_that_reads_later_loses_nothing(void **state) {
    (void)state;
    put_trap(0, 3);
    put_others(4 * LINES);
    machine_read_log(&reader, 1);
    assert_int_equal(atomic_load(&given_back), 0); /* the other hart has not read it */
    assert_int_equal(machine_read_log(&sleeper, 0), 1);
    assert_int_equal(causes[0], 3);
    put_others(1);
    machine_read_log(&reader, 1);
    assert_true(atomic_load(&given_back) > 0);
    sleeper_is_told(4);
}

static void a_hart_that_slept_continues_where_the_log_is(void **state) {
    (void)state;
    machine_log_idle(&sleeper);
    put_others(4 * LINES);
    machine_read_log(&reader, 1);
    assert_true(atomic_load(&given_back) > 0);
    machine_log_resume(&sleeper);
    assert_true(sleeper.line >= start + atomic_load(&given_back));
    sleeper_is_told(6);
}

/* It has seen what is given back, and another hart gives back more before it has published its place. */
static void a_hart_awakes_while_the_log_is_given_back(void **state) {
    (void)state;
    machine_log_idle(&sleeper);
    put_others(4 * LINES);
    machine_read_log(&reader, 1);
    interrupted = true;
    machine_log_resume(&sleeper);
    assert_false(interrupted);
    assert_true(sleeper.line >= start + atomic_load(&given_back));
    sleeper_is_told(8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_hart_has_its_own_traps, open_log, close_log),
        cmocka_unit_test_setup_teardown(a_hart_that_reads_later_loses_nothing, open_log, close_log),
        cmocka_unit_test_setup_teardown(a_hart_that_slept_continues_where_the_log_is, open_log, close_log),
        cmocka_unit_test_setup_teardown(a_hart_awakes_while_the_log_is_given_back, open_log, close_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
