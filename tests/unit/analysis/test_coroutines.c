/* Which coroutine continues where swapcontext or gogo is left, and which fiber where OCaml's functions are left: the
 * frames, from the innermost one. */
#include "../test.h"

#include "../program/elf_builder.h"

#include <ntrace/callstack.h>

#include <string.h>

enum { SIZE = 0x20, RAISES = 0x1a, SIGRETURN = 0x14, AFTER_CALL = 0x1e };

static const char *const functions[] = {"start",         "first",          "second",          "yield",
                                        "swapcontext",   "setcontext",     "runtime.execute", "gogo",
                                        "runtime.mcall", "getcontext",     "caml_runstack",   "caml_perform",
                                        "caml_resume",   "caml_reperform", "caml_c_call"};
enum {
    START,
    FIRST,
    SECOND,
    YIELD,
    SWAP,
    SET,
    EXECUTE,
    GOGO,
    MCALL,
    GET,
    RUNSTACK,
    PERFORM,
    RESUME,
    REPERFORM,
    C_CALL
};

static elf_builder elf;
static ntr_program *program;
static ntr_debug_info *debug;
static ntr_functions *table;
static ntr_callstack *stacks;
static char seen[1024]; /* names of the frames of the last span, the innermost first */
static const char *open_frames[64];
static size_t depth;
static unsigned calls[64]; /* by the number of the function */

static uint64_t at(unsigned function, unsigned halfword) {
    return TEXT_ADDRESS + (uint64_t)function * SIZE + 2 * (uint64_t)halfword;
}

static uint32_t enter(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool tail) {
    (void)user;
    (void)tail;
    assert_true(depth < 64);
    open_frames[depth++] = ntr_functions_get(table, frame->function)->name;
    if (!moment->resumed && frame->function < 64) calls[frame->function]++;
    return 0;
}

static void leave(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool lost) {
    (void)user;
    (void)moment;
    (void)lost;
    assert_true(depth > 0);
    assert_string_equal(open_frames[--depth], ntr_functions_get(table, frame->function)->name);
}

static int begin(void **state) {
    (void)state;
    elf_begin(&elf, true);
    elf_segment(&elf, 1, CODE_AT, TEXT_ADDRESS, CODE_MAX, CODE_MAX);
    for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++)
        elf_symbol(&elf, functions[i], 0x12, 1, at(i, 0), SIZE);
    elf_put(&elf, CODE_AT + SECOND * SIZE + RAISES + 2, 2, 0x8282); /* jr t0 */
    elf_put(&elf, CODE_AT + GET * SIZE + SIGRETURN, 4, 0x08b00893); /* li a7, 139 */
    elf_put(&elf, CODE_AT + FIRST * SIZE + AFTER_CALL - 2, 2, 0x9282); /* jalr t0 */
    elf_arch(&elf, "rv64gc");
    ntr_program_new(NULL, &program);
    if (elf_write(&elf) || ntr_program_add_elf(program, elf.path, NULL) != NTR_OK) return -1;
    ntr_debug_info_new(program, NULL, &debug);
    if (ntr_functions_new(debug, NULL, &table) != NTR_OK) return -1;
    depth = 0;
    memset(calls, 0, sizeof calls);
    return ntr_callstack_new(table, &(ntr_stack_listener){.enter = enter, .leave = leave}, NULL, &stacks) == NTR_OK
               ? 0
               : -1;
}

static int end(void **state) {
    (void)state;
    ntr_callstack_free(stacks);
    ntr_functions_free(table);
    ntr_debug_info_free(debug);
    ntr_program_free(program);
    elf_end(&elf);
    return 0;
}

/* Executes two instructions at `from`, which end so. */
static void go(uint64_t from, ntr_span_end how, uint64_t target) {
    const ntr_event e = {.kind = NTR_EVENT_SPAN,
                         .address = from,
                         .last = from + 2,
                         .instructions = 2,
                         .halfwords = 2,
                         .end = (uint8_t)how,
                         .target = target,
                         .context = NTR_CONTEXT_UNKNOWN};
    assert_non_null(ntr_callstack_frame(stacks, &e));
    seen[0] = 0;
    for (size_t i = depth; i-- > 0;) sprintf(seen + strlen(seen), "%s%s", open_frames[i], i ? " " : "");
    assert_int_equal(ntr_callstack_feed(stacks, &e), NTR_OK);
}

static void call(unsigned from, unsigned halfword, unsigned to) {
    go(at(from, halfword), NTR_SPAN_CALL, at(to, 0));
}

static void is(const char *frames, uint64_t where) {
    go(where, NTR_SPAN_NOT_TAKEN, where + 4);
    assert_string_equal(seen, frames);
}

/* swapcontext of the function that called it at `halfword` continues elsewhere. */
static void swap(unsigned from, unsigned halfword, uint64_t target) {
    call(from, halfword, SWAP);
    go(at(SWAP, 0), NTR_SPAN_INDIRECT_JUMP, target);
}

static unsigned calls_of(const char *name) {
    for (uint32_t i = 0; ntr_functions_get(table, i); i++)
        if (strcmp(ntr_functions_get(table, i)->name, name) == 0) return calls[i];
    return 0;
}

/* Two coroutines that start swaps to; each of them yields at a place of its own. */
static void own_places(void **state) {
    (void)state;
    swap(START, 0, at(FIRST, 0));
    is("first", at(FIRST, 0));
    call(FIRST, 2, SECOND);
    swap(SECOND, 0, at(START, 2));
    is("start", at(START, 2));
    swap(START, 4, at(YIELD, 0));
    is("yield", at(YIELD, 0));
    swap(YIELD, 2, at(SECOND, 2)); /* not by way of start */
    is("second first", at(SECOND, 2));
    go(at(SECOND, 4), NTR_SPAN_RETURN, at(FIRST, 4));
    is("first", at(FIRST, 4));
    swap(FIRST, 6, at(START, 6));
    is("start", at(START, 6));
    swap(START, 8, at(FIRST, 8));
    is("first", at(FIRST, 8));
    assert_int_equal(calls_of("first"), 1);
    assert_int_equal(calls_of("second"), 1);
}

/* Begins `yield`, called by `function`, called by its coroutine's first function. */
static void yields_in(unsigned first, unsigned function, unsigned halfword, unsigned from, unsigned start) {
    swap(from, start, at(first, 0));
    call(first, 0, function);
    call(function, halfword, YIELD);
    swap(YIELD, 0, at(from, start + 2));
}

/* All yield at one place: the frames that they have in common are known, the others after a return. */
static void one_place(void **state) {
    (void)state;
    yields_in(FIRST, SECOND, 2, START, 0);
    yields_in(GET, SECOND, 2, START, 2);
    yields_in(FIRST, SECOND, 4, START, 4);
    is("start", at(START, 6));
    swap(START, 8, at(YIELD, 2));
    is("yield", at(YIELD, 2));
    go(at(YIELD, 4), NTR_SPAN_RETURN, at(SECOND, 4)); /* not the third */
    is("second", at(SECOND, 4));
    go(at(SECOND, 4), NTR_SPAN_RETURN, at(GET, 2));
    is("getcontext", at(GET, 2));
    swap(GET, 2, at(YIELD, 2));
    is("yield", at(YIELD, 2)); /* both that are left have another place in second */
    go(at(YIELD, 4), NTR_SPAN_RETURN, at(SECOND, 6));
    is("second first", at(SECOND, 6));
    assert_int_equal(calls_of("yield"), 3);
}

/* Two have the same callers: either may continue, and the other one later. */
static void equal_ones(void **state) {
    (void)state;
    yields_in(FIRST, SECOND, 2, START, 0);
    yields_in(FIRST, SECOND, 2, START, 2);
    swap(START, 4, at(YIELD, 2));
    is("yield second first", at(YIELD, 2));
    swap(YIELD, 4, at(START, 6));
    swap(START, 6, at(YIELD, 2));
    is("yield second first", at(YIELD, 2));
    swap(YIELD, 8, at(START, 8));
    swap(START, 8, at(YIELD, 2));
    is("yield", at(YIELD, 2)); /* neither waits there */
}

/* Coroutines may have continued in a gap. */
static void after_a_gap(void **state) {
    (void)state;
    swap(START, 0, at(FIRST, 0));
    call(FIRST, 2, SECOND);
    swap(SECOND, 0, at(START, 2));
    const ntr_event gap = {.kind = NTR_EVENT_GAP, .context = NTR_CONTEXT_UNKNOWN};
    assert_int_equal(ntr_callstack_feed(stacks, &gap), NTR_OK);
    swap(START, 4, at(SECOND, 2));
    is("second", at(SECOND, 2));
    assert_int_equal(calls_of("second"), 1);
}

/* setcontext goes to a coroutine, or to a frame of its own. */
static void setcontext_goes_back(void **state) {
    (void)state;
    call(START, 0, FIRST);
    call(FIRST, 0, SECOND);
    call(SECOND, 0, SET);
    go(at(SET, 0), NTR_SPAN_INDIRECT_JUMP, at(FIRST, 8));
    is("first start", at(FIRST, 8));
    swap(FIRST, 10, at(SECOND, 0));
    is("second", at(SECOND, 0));
    call(SECOND, 2, SET);
    go(at(SET, 0), NTR_SPAN_INDIRECT_JUMP, at(FIRST, 12));
    is("first start", at(FIRST, 12));
}

/* A goroutine waits below mcall; a function named gogo that execute has not called is none of Go. */
static void goroutines(void **state) {
    (void)state;
    call(FIRST, 0, YIELD);
    call(YIELD, 0, MCALL);
    call(MCALL, 0, EXECUTE);
    call(EXECUTE, 0, GOGO);
    go(at(GOGO, 0), NTR_SPAN_RETURN, at(SECOND, 0));
    is("second", at(SECOND, 0));
    call(SECOND, 0, START);
    call(START, 0, GOGO);
    go(at(GOGO, 0), NTR_SPAN_RETURN, at(START, 2));
    is("start second", at(START, 2));
    call(START, 2, MCALL);
    call(MCALL, 0, EXECUTE);
    call(EXECUTE, 0, GOGO);
    go(at(GOGO, 0), NTR_SPAN_RETURN, at(YIELD, 2));
    is("yield first", at(YIELD, 2));
    assert_int_equal(calls_of("yield"), 1);
}

/* The handler of a signal ends with a jump to swapcontext: it waits until the code of the kernel that returns from it.
 */
static void switched_by_signals(void **state) {
    (void)state;
    const uint64_t returned = at(GET, 0) + SIGRETURN;
    swap(START, 0, at(FIRST, 0));
    call(FIRST, 2, SECOND);
    go(at(SECOND, 2), NTR_SPAN_INTERRUPT, at(YIELD, 0));
    go(at(YIELD, 0), NTR_SPAN_JUMP, at(SWAP, 0));
    go(at(SWAP, 0), NTR_SPAN_INDIRECT_JUMP, at(START, 2));
    is("start", at(START, 2));
    swap(START, 4, returned);
    is("getcontext second first", returned);
    assert_int_equal(calls_of("first"), 1);
    assert_int_equal(calls_of("second"), 1);
}

/* A function returns to an address that no call has set: the program has loaded it into ra before a jump. */
static void own_return(void **state) {
    (void)state;
    call(START, 0, FIRST);
    call(FIRST, 0, SECOND);
    go(at(SECOND, 0), NTR_SPAN_JUMP, at(YIELD, 0));
    go(at(YIELD, 0), NTR_SPAN_RETURN, at(SECOND, 6));
    is("second first start", at(SECOND, 6));
    go(at(SECOND, 6), NTR_SPAN_RETURN, at(FIRST, 2));
    is("first start", at(FIRST, 2));
    go(at(FIRST, 2), NTR_SPAN_JUMP, at(YIELD, 0));
    go(at(YIELD, 0), NTR_SPAN_RETURN,
       at(FIRST, 0) + AFTER_CALL); /* a call could return there, so it is another stack */
    is("first", at(FIRST, 0) + AFTER_CALL);
}

/* Go continues the function that has recovered from a panic by t0, behind the call that ended so: this is no call. */
static void recovered(void **state) {
    (void)state;
    call(START, 0, FIRST);
    call(FIRST, 0, YIELD);
    call(YIELD, 0, SECOND);
    go(at(SECOND, 0) + RAISES, NTR_SPAN_RETURN, at(FIRST, 8));
    is("first start", at(FIRST, 8));
    go(at(FIRST, 8), NTR_SPAN_RETURN, at(START, 2));
    is("start", at(START, 2));
    assert_int_equal(calls_of("first"), 1);
}

/* ---- fibers: a handler is the function `get`, and what a fiber continues with is `execute` */

/* `from` begins a fiber, whose first function calls `function`. */
static void fiber(unsigned from, unsigned halfword, unsigned first, unsigned at_call, unsigned function) {
    call(from, halfword, RUNSTACK);
    call(RUNSTACK, 0, first);
    call(first, at_call, function);
}

static void perform(unsigned from, unsigned halfword) {
    call(from, halfword, PERFORM);
    go(at(PERFORM, 0), NTR_SPAN_JUMP, at(GET, 0));
}

static void returns(unsigned from, unsigned to, unsigned halfword) {
    go(at(from, 0), NTR_SPAN_RETURN, at(to, halfword));
}

static void resume(unsigned from, unsigned halfword) {
    call(from, halfword, RESUME);
    go(at(RESUME, 0), NTR_SPAN_INDIRECT_JUMP, at(EXECUTE, 0));
}

/* The handler takes the place of the fiber, which continues on top of another function than the one that began it. */
static void one_fiber(void **state) {
    (void)state;
    fiber(START, 0, FIRST, 0, SECOND);
    is("second first caml_runstack start", at(SECOND, 0));
    perform(SECOND, 2);
    is("getcontext start", at(GET, 0));
    returns(GET, START, 2);
    call(START, 2, GET);
    resume(GET, 0);
    is("runtime.execute second first caml_runstack getcontext start", at(EXECUTE, 0));
    returns(EXECUTE, SECOND, 4);
    returns(SECOND, FIRST, 2);
    returns(FIRST, RUNSTACK, 2);
    is("caml_runstack getcontext start", at(RUNSTACK, 2));
    go(at(RUNSTACK, 4), NTR_SPAN_RETURN, at(GET, 0)); /* jr t0: the handler of the result */
    returns(GET, GET, 2);
    is("getcontext start", at(GET, 2));
    assert_int_equal(calls_of("first"), 1);
    assert_int_equal(calls_of("second"), 1);
    assert_int_equal(calls_of("caml_runstack"), 1);
    assert_int_equal(calls_of("getcontext"), 3);
    assert_int_equal(calls_of("runtime.execute"), 1);
}

/* Fibers that wait in one function: their callers are known after a return, those of caml_resume always. */
static void some_fibers(void **state) {
    (void)state;
    fiber(START, 0, FIRST, 0, SECOND), perform(SECOND, 2), returns(GET, START, 2);
    fiber(START, 0, FIRST, 2, SECOND), perform(SECOND, 2), returns(GET, START, 2);
    fiber(START, 0, YIELD, 0, SECOND), perform(SECOND, 2), returns(GET, START, 2);
    resume(START, 4);
    is("runtime.execute second caml_resume start", at(EXECUTE, 0));
    returns(EXECUTE, SECOND, 4);
    is("second caml_resume start", at(SECOND, 4));
    call(SECOND, 6, FIRST);
    is("first second caml_resume start", at(FIRST, 0));
    returns(FIRST, SECOND, 8);
    returns(SECOND, FIRST, 4);
    is("first caml_runstack start", at(FIRST, 4));
    perform(FIRST, 6);
    is("getcontext start", at(GET, 0));
    returns(GET, START, 6);
    resume(START, 8);
    returns(EXECUTE, FIRST, 8); /* the other ones wait elsewhere */
    is("first caml_runstack start", at(FIRST, 8));
    perform(FIRST, 8);
    returns(GET, START, 10);
    resume(START, 10);
    returns(EXECUTE, SECOND, 4);
    perform(SECOND, 10); /* the handler is that of one of them, and its caller is known */
    is("getcontext start", at(GET, 0));
    returns(GET, START, 12);
    is("start", at(START, 12));
    assert_int_equal(calls_of("second"), 3);
}

/* A fiber that is not known ends: the functions below are those of who continued it. */
static void unknown_fiber(void **state) {
    (void)state;
    fiber(START, 0, FIRST, 0, SECOND), perform(SECOND, 2), returns(GET, START, 2);
    fiber(START, 0, YIELD, 0, SECOND), perform(SECOND, 2), returns(GET, START, 2);
    call(START, 2, FIRST);
    resume(FIRST, 4);
    returns(EXECUTE, SECOND, 4);
    go(at(SECOND, 4), NTR_SPAN_RETURN, at(FIRST, 12)); /* fits neither, and is not the function that continued it */
    is("first caml_resume first start", at(FIRST, 12));
    returns(FIRST, FIRST, 6);
    is("first start", at(FIRST, 6));
}

/* An exception shows the fiber, too: only one has the function of its handler. */
static void raised(void **state) {
    (void)state;
    fiber(START, 0, FIRST, 0, SECOND), perform(SECOND, 2), returns(GET, START, 2);
    fiber(START, 0, YIELD, 0, SECOND), perform(SECOND, 2), returns(GET, START, 2);
    resume(START, 4);
    returns(EXECUTE, SECOND, 4);
    go(at(SECOND, 0) + RAISES, NTR_SPAN_RETURN, at(YIELD, 8));
    is("yield caml_runstack start", at(YIELD, 8));
    returns(YIELD, START, 6);
    is("start", at(START, 6));
}

/* An effect that the inner fiber's handler does not know goes to the outer one, and all of both waits. */
static void passed_on(void **state) {
    (void)state;
    fiber(START, 0, FIRST, 0, RUNSTACK);
    call(RUNSTACK, 4, SECOND);
    perform(SECOND, 2);
    is("getcontext first caml_runstack start", at(GET, 0));
    go(at(GET, 2), NTR_SPAN_JUMP, at(REPERFORM, 0));
    go(at(REPERFORM, 0), NTR_SPAN_JUMP, at(PERFORM, 4));
    go(at(PERFORM, 4), NTR_SPAN_JUMP, at(GET, 0));
    is("getcontext start", at(GET, 0));
    resume(GET, 4);
    returns(EXECUTE, SECOND, 4);
    is("second caml_runstack first caml_runstack getcontext start", at(SECOND, 4));
    /* without a handler, it comes back */
    call(SECOND, 4, PERFORM);
    go(at(PERFORM, 0), NTR_SPAN_JUMP, at(GET, 0));
    is("getcontext first caml_runstack getcontext start", at(GET, 0));
    go(at(GET, 2), NTR_SPAN_JUMP, at(REPERFORM, 0));
    go(at(REPERFORM, 0), NTR_SPAN_JUMP, at(PERFORM, 4));
    go(at(PERFORM, 4), NTR_SPAN_JUMP, at(C_CALL, 0));
    is("caml_c_call second caml_runstack first caml_runstack getcontext start", at(C_CALL, 0));
    /* of two fibers that are not known, the inner one performs */
    call(C_CALL, 0, PERFORM);
    go(at(PERFORM, 0), NTR_SPAN_JUMP, at(GET, 0));
    go(at(GET, 2), NTR_SPAN_JUMP, at(REPERFORM, 0));
    go(at(REPERFORM, 0), NTR_SPAN_JUMP, at(PERFORM, 4));
    go(at(PERFORM, 4), NTR_SPAN_JUMP, at(GET, 0));
    fiber(GET, 2, FIRST, 0, SECOND), perform(SECOND, 2), returns(GET, GET, 4);
    resume(GET, 6);
    is("runtime.execute caml_resume getcontext getcontext start", at(EXECUTE, 0));
    returns(EXECUTE, YIELD, 4); /* no such place */
    perform(YIELD, 4);
    is("getcontext caml_resume getcontext getcontext start", at(GET, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(own_places, begin, end),
        cmocka_unit_test_setup_teardown(one_place, begin, end),
        cmocka_unit_test_setup_teardown(after_a_gap, begin, end),
        cmocka_unit_test_setup_teardown(setcontext_goes_back, begin, end),
        cmocka_unit_test_setup_teardown(goroutines, begin, end),
        cmocka_unit_test_setup_teardown(equal_ones, begin, end),
        cmocka_unit_test_setup_teardown(switched_by_signals, begin, end),
        cmocka_unit_test_setup_teardown(own_return, begin, end),
        cmocka_unit_test_setup_teardown(recovered, begin, end),
        cmocka_unit_test_setup_teardown(one_fiber, begin, end),
        cmocka_unit_test_setup_teardown(some_fibers, begin, end),
        cmocka_unit_test_setup_teardown(unknown_fiber, begin, end),
        cmocka_unit_test_setup_teardown(raised, begin, end),
        cmocka_unit_test_setup_teardown(passed_on, begin, end),
    };
    return cmocka_run_group_tests_name("coroutines", tests, NULL, NULL);
}
