/* Where QEMU keeps the program counter is not known before: it is found by comparing, compared again, and a difference
 * ends QEMU with its reason. */
#include "plugin.h"

#include <signal.h>
#include <sys/wait.h>

#include "machine/address.c"

enum { COUNTER = 0x128, TWIN = 0x400, CODE = 0x40000000 };

static char state_of_hart[STATE_BYTES];
static uint64_t counter; /* as QEMU's interface says it */
static unsigned asked;
static struct machine_hart hart;
static qemu_bytes bytes;

uint64_t machine_read(struct machine_hart *of, enum machine_register name) {
    assert_ptr_equal(of, &hart);
    assert_int_equal(name, REGISTER_ADDRESS);
    asked++;
    return counter;
}

static int begin(void **state) {
    if (open_channel(state)) return -1;
    bytes.length = sizeof(uint64_t);
    memset(state_of_hart, 0, sizeof state_of_hart);
    hart = (struct machine_hart){.bytes = &bytes, .epoch = 1};
    hart.registers[REGISTER_ADDRESS] = (struct qemu_plugin_register *)(uintptr_t)1;
    channel->blocks[1].address = CODE;
    return 0;
}

static int end(void **state) {
    free(hart.search);
    free(hart.entered);
    return close_channel(state);
}

static void put_word(unsigned at, uint64_t value) {
    memcpy(state_of_hart + at, &value, sizeof value);
}

/* Block 1 was translated at CODE and executes so many pages above. Returns where the plugin says that it executes. */
static uint64_t execute(unsigned page) {
    counter = CODE + (uint64_t)page * MACHINE_PAGE;
    put_word(COUNTER, counter);
    return machine_address(&hart, 1, state_of_hart);
}

static void the_word_that_always_agrees_is_found(void **state) {
    (void)state;
    put_word(TWIN, CODE + MACHINE_PAGE); /* agrees at first */
    for (unsigned page = 1; page <= AGREEMENTS; page++) {
        assert_null(hart.counter);
        assert_int_equal(execute(page), CODE + (uint64_t)page * MACHINE_PAGE);
    }
    assert_ptr_equal(hart.counter, state_of_hart + COUNTER);
    asked = 0;
    assert_int_equal(execute(3), CODE + UINT64_C(3) * MACHINE_PAGE);
    assert_true(asked <= 1); /* from now on, the word is read */
    asked = 0;
    assert_int_equal(execute(4), CODE + UINT64_C(4) * MACHINE_PAGE);
    assert_int_equal(asked, 0);
}

/* One value says nothing, and of two words that agree always, none is chosen: the interface is asked each time. */
static void nothing_is_guessed(void **state) {
    (void)state;
    put_word(TWIN, CODE + UINT64_C(7) * MACHINE_PAGE);
    for (unsigned i = 0; i < 2 * AGREEMENTS; i++) execute(7);
    assert_null(hart.counter);
    for (unsigned page = 1; page < 4 * AGREEMENTS; page++) {
        put_word(TWIN, CODE + (uint64_t)page * MACHINE_PAGE);
        assert_int_equal(execute(page), CODE + (uint64_t)page * MACHINE_PAGE);
    }
    assert_null(hart.counter);
    const unsigned before = asked;
    put_word(TWIN, CODE + UINT64_C(9) * MACHINE_PAGE);
    execute(9);
    assert_int_equal(asked, before + 1);
}

static void find(void) {
    for (unsigned page = 1; page <= AGREEMENTS; page++) execute(page);
    assert_non_null(hart.counter);
}

/* Runs `act` in a process of its own, which must end by abort(). Returns what it wrote to standard error. */
static const char *ends(void (*act)(void)) {
    static char text[512];
    int ends[2], status;

    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        act();
        _exit(0);
    }
    close(ends[1]);
    const ssize_t size = read(ends[0], text, sizeof text - 1);
    text[size > 0 ? size : 0] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    return text;
}

static void settle(void) {
    machine_check_counter(&hart);
}

static void jump_often(void) {
    for (unsigned i = 0; i <= CHECK_EVERY; i++) machine_address(&hart, 1, state_of_hart);
}

static void enter(void) {
    machine_address(&hart, 1, state_of_hart);
}

static void a_word_that_differs_ends_the_trace(void **state) {
    static const char expected[] =
        "ntrace-qemu-machine: program counter at byte 296 of QEMU's state: expected 0x40002000, found 0x40007000; the "
        "trace is not valid: report the version of QEMU\n";
    (void)state;
    find();
    execute(2);
    machine_check_counter(&hart); /* it agrees */
    put_word(COUNTER, CODE + UINT64_C(7) * MACHINE_PAGE);
    assert_string_equal(ends(settle), expected);
    assert_string_equal(ends(jump_often), expected);
}

static void an_address_outside_of_the_block_is_compared_at_once(void **state) {
    (void)state;
    find();
    execute(2);
    put_word(COUNTER, CODE + UINT64_C(2) * MACHINE_PAGE + 4); /* the block does not begin there in any page */
    assert_non_null(strstr(ends(enter), "expected 0x40002000, found 0x40002004; the trace is not valid"));
}

/* What is no memory of this process is not read. */
static void a_state_that_is_none_is_not_used(void **state) {
    (void)state;
    for (unsigned page = 1; page < 2 * AGREEMENTS; page++) {
        counter = CODE + (uint64_t)page * MACHINE_PAGE;
        assert_int_equal(machine_address(&hart, 1, (const void *)(uintptr_t)8), counter);
    }
    assert_null(hart.counter);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_word_that_always_agrees_is_found, begin, end),
        cmocka_unit_test_setup_teardown(nothing_is_guessed, begin, end),
        cmocka_unit_test_setup_teardown(a_word_that_differs_ends_the_trace, begin, end),
        cmocka_unit_test_setup_teardown(an_address_outside_of_the_block_is_compared_at_once, begin, end),
        cmocka_unit_test_setup_teardown(a_state_that_is_none_is_not_used, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
