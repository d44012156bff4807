/* Call stacks of code that a compiler at run time makes and enters (OpenJDK, V8): jumps through t0, return addresses
 * that no call has set, and frames that continue in other code. The frames are written from the innermost one. */
#include "../test.h"

#include <ntrace/callstack.h>
#include <ntrace/program_files.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 0x100, CODE = 0x10000, CALLER = 0, INTERPRETER = 1, STUB = 2, COMPILED = 3, FUNCTIONS = 4 };
enum { PIECE = 0x40 }; /* the part of the interpreter before it was not executed, so that the trace does not have it */
enum { RET = 0x8082, C_JR_T0 = 0x8282, JR_T0 = 0x28067, JR_T0_OFFSET = 0x12028067 };

static ntr_program *code;
static ntr_debug_info *names;
static ntr_functions *known;
static ntr_callstack *stack_of_code;
static char frames[512];
static const char *inside[16];
static size_t deep;
static const char *const symbols[] = {"caller", "Interpreter", "stub", "compiled"};
static unsigned entered[FUNCTIONS]; /* calls */

static uint64_t place_in(unsigned function, unsigned offset) {
    return CODE + (uint64_t)function * SIZE + offset;
}

static uint32_t push(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool tail) {
    (void)user, (void)tail;
    const ntr_function *function = ntr_functions_get(known, frame->function);
    assert_true(deep < sizeof inside / sizeof *inside);
    inside[deep++] = function->name;
    for (unsigned i = 0; i < FUNCTIONS; i++) entered[i] += !moment->resumed && strcmp(function->name, symbols[i]) == 0;
    return 0;
}

static void pop(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool lost) {
    (void)user, (void)moment, (void)frame, (void)lost;
    deep--;
}

static ntr_status add_code(unsigned function, unsigned offset) {
    uint8_t bytes[SIZE] = {0};
    const uint32_t last[] = {RET, C_JR_T0, JR_T0, JR_T0_OFFSET};
    const ntr_image_options options = {.size = sizeof options, .bias = place_in(function, offset)};
    for (unsigned i = 0; i < 4; i++) memcpy(bytes + SIZE - 16 - offset + 4 * i, &last[i], 4);
    return ntr_program_add_raw(code, (ntr_bytes){bytes, SIZE - offset}, &options);
}

static int make_code(void **state) {
    (void)state;
    char path[] = "/tmp/ntrace-map-XXXXXX";
    ntr_status status = ntr_program_new(NULL, &code);
    const int descriptor = mkstemp(path);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        dprintf(descriptor, "%x %x %s\n", (unsigned)place_in(i, 0), (unsigned)SIZE, symbols[i]);
    for (unsigned i = 0; i < FUNCTIONS && !status; i++) status = add_code(i, i == INTERPRETER ? PIECE : 0);
    if (!status) status = ntr_program_add_perf_map(code, path, NULL);
    close(descriptor);
    unlink(path);
    deep = 0;
    memset(entered, 0, sizeof entered);
    if (!status) status = ntr_debug_info_new(code, NULL, &names);
    if (!status) status = ntr_functions_new(names, NULL, &known);
    if (!status) status = ntr_callstack_new(known, &(ntr_stack_listener){push, pop, NULL}, NULL, &stack_of_code);
    return status ? -1 : 0;
}

static int free_code(void **state) {
    (void)state;
    ntr_callstack_free(stack_of_code);
    ntr_functions_free(known);
    ntr_debug_info_free(names);
    ntr_program_free(code);
    return 0;
}

/* A span from `offset` to the instruction at `last`, in `function`. */
static void span(unsigned function, unsigned offset, unsigned last, ntr_span_end how, uint64_t target) {
    const ntr_event e = {.kind = NTR_EVENT_SPAN,
                         .address = place_in(function, offset),
                         .last = place_in(function, last),
                         .instructions = 2,
                         .halfwords = (last + 4 - offset) / 2,
                         .end = (uint8_t)how,
                         .target = target,
                         .context = NTR_CONTEXT_UNKNOWN};
    assert_non_null(ntr_callstack_frame(stack_of_code, &e));
    assert_int_equal(ntr_callstack_feed(stack_of_code, &e), NTR_OK);
}

static void has(const char *expected, unsigned function, unsigned offset) {
    span(function, offset, offset, NTR_SPAN_NOT_TAKEN, place_in(function, offset + 4));
    frames[0] = 0;
    for (size_t i = deep; i-- > 0;) sprintf(frames + strlen(frames), "%s%s", inside[i], i ? " " : "");
    assert_string_equal(frames, expected);
}

enum { AT_RET = SIZE - 16, AT_C_JR = SIZE - 12, AT_JR = SIZE - 8, AT_JR_OFFSET = SIZE - 4 };

/* A stub finds the function, and jumps behind its beginning, also where the function waits already. */
static void t0_enters_the_middle(void **state) {
    static const unsigned jumps[] = {AT_C_JR, AT_JR, AT_JR_OFFSET};
    (void)state;
    span(CALLER, 0, 0, NTR_SPAN_CALL, place_in(COMPILED, 0));
    for (unsigned i = 0; i < 3; i++) {
        span(COMPILED, 8, 12, NTR_SPAN_CALL, place_in(STUB, 0));
        has("stub compiled caller", STUB, 0);
        span(STUB, 0, jumps[i], NTR_SPAN_RETURN, place_in(COMPILED, 0x20));
        has("compiled compiled caller", COMPILED, 0x20);
        span(COMPILED, 0x24, AT_RET, NTR_SPAN_RETURN, place_in(COMPILED, 16));
        has("compiled caller", COMPILED, 16);
    }
}

/* The interpreter sets the return address, and jumps. What it calls returns to code that is executed for the first
 * time, where its recorded code begins. */
static void the_interpreter_calls_by_jumps(void **state) {
    (void)state;
    span(CALLER, 0, 0, NTR_SPAN_CALL, place_in(INTERPRETER, PIECE + 8));
    span(INTERPRETER, PIECE + 8, AT_JR, NTR_SPAN_RETURN, place_in(STUB, 0));
    has("stub Interpreter caller", STUB, 0);
    span(STUB, 4, AT_C_JR, NTR_SPAN_RETURN, place_in(COMPILED, 0x20));
    has("compiled Interpreter caller", COMPILED, 0x20);
    span(COMPILED, 0x24, AT_RET, NTR_SPAN_RETURN, place_in(INTERPRETER, PIECE));
    has("Interpreter caller", INTERPRETER, PIECE);
    span(INTERPRETER, PIECE + 4, AT_RET, NTR_SPAN_RETURN, place_in(CALLER, 4));
    has("caller", CALLER, 4);
}

/* On-stack replacement: the interpreter returns into the function that was compiled. */
static void compiled_code_replaces_a_frame(void **state) {
    (void)state;
    span(CALLER, 0, 0, NTR_SPAN_CALL, place_in(STUB, 0));
    span(STUB, 0, AT_RET, NTR_SPAN_RETURN, place_in(COMPILED, 0x20));
    has("compiled caller", COMPILED, 0x20);
    span(COMPILED, 0x24, AT_RET, NTR_SPAN_RETURN, place_in(CALLER, 4));
    has("caller", CALLER, 4);
}

/* A function calls a stub behind its own code, which jumps to another one. That is one call, of the other one. */
static void a_stub_is_not_called(void **state) {
    (void)state;
    span(CALLER, 0, 0, NTR_SPAN_CALL, place_in(COMPILED, 0));
    span(COMPILED, 0, 4, NTR_SPAN_CALL, place_in(COMPILED, AT_JR));
    has("compiled compiled caller", COMPILED, AT_JR);
    span(COMPILED, AT_JR, AT_JR, NTR_SPAN_RETURN, place_in(STUB, 0));
    has("stub compiled caller", STUB, 0);
    span(STUB, 4, AT_RET, NTR_SPAN_RETURN, place_in(COMPILED, 8));
    span(COMPILED, 8, 12, NTR_SPAN_CALL, place_in(COMPILED, AT_RET));
    has("compiled compiled caller", COMPILED,
        AT_RET); /* a function that calls itself, but for its first instructions */
    assert_int_equal(entered[COMPILED], 2);
    assert_int_equal(entered[STUB], 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(t0_enters_the_middle, make_code, free_code),
        cmocka_unit_test_setup_teardown(the_interpreter_calls_by_jumps, make_code, free_code),
        cmocka_unit_test_setup_teardown(a_stub_is_not_called, make_code, free_code),
        cmocka_unit_test_setup_teardown(compiled_code_replaces_a_frame, make_code, free_code),
    };
    return cmocka_run_group_tests_name("run_time_code", tests, NULL, NULL);
}
