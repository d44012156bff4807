/* Comparison of two executions: what is a difference, and where the comparison continues behind one. */
#include "../test.h"

#include <ntrace/difference.h>

#include <string.h>

enum { MOST = 4000 };

/* An execution of events, or of addresses. */
struct script {
    ntr_event events[MOST];
    uint64_t addresses[MOST];
    size_t count, at;
    ntr_status end; /* what comes behind the last one */
};

static ntr_status next_event(void *user, const ntr_event **event) {
    struct script *script = user;
    if (script->at == script->count) return script->end;
    *event = &script->events[script->at++];
    return NTR_OK;
}

static ntr_status next_address(void *user, uint64_t *address, uint64_t *line) {
    struct script *script = user;
    if (script->at == script->count) return script->end;
    *line = script->at + 1;
    *address = script->addresses[script->at++];
    return NTR_OK;
}

static struct script one, other;

static ntr_event *add(struct script *script, uint8_t kind, uint64_t address) {
    ntr_event *event = &script->events[script->count];
    assert_true(script->count < MOST);
    *event = (ntr_event){.kind = kind, .context = NTR_CONTEXT_UNKNOWN, .message = ++script->count};
    event->address = address;
    return event;
}

/* A span of `instructions` instructions of four bytes. */
static ntr_event *span(struct script *script, uint64_t address, uint32_t instructions, uint8_t end, uint64_t target) {
    ntr_event *event = add(script, NTR_EVENT_SPAN, address);
    event->instructions = instructions;
    event->halfwords = 2 * instructions;
    event->end = end;
    event->target = target;
    return event;
}

static void gap(struct script *script, uint64_t address) {
    ntr_event *event = add(script, NTR_EVENT_GAP, 0);
    event->gap.from_address = address;
}

/* Iterations of a loop at 0x1000, the i-th of them a span of i + 1 instructions: no two are equal. */
static void loop(struct script *script, unsigned from, unsigned until) {
    for (unsigned i = from; i < until; i++) span(script, 0x1000, i + 1, NTR_SPAN_TAKEN, 0x1000);
}

static void start(void) {
    one.count = one.at = other.count = other.at = 0;
    one.end = other.end = NTR_END;
}

static ntr_comparison *compare_with(const ntr_program *program, bool list_a, bool list_b, bool ignore_time) {
    ntr_execution a, b;
    ntr_comparison_config config;
    ntr_status status;
    ntr_execution_init(&a);
    ntr_execution_init(&b);
    if (list_a)
        a.next_address = next_address;
    else
        a.next_event = next_event;
    if (list_b)
        b.next_address = next_address;
    else
        b.next_event = next_event;
    a.user = &one;
    b.user = &other;
    ntr_comparison_config_init(&config);
    config.a = &a;
    config.b = &b;
    config.program = program;
    config.ignore_time = ignore_time;
    ntr_comparison *comparison;
    status = ntr_comparison_new(&config, &comparison);
    assert_int_equal(status, NTR_OK);
    return comparison;
}

static ntr_comparison *compare(void) {
    return compare_with(NULL, false, false, false);
}

static const ntr_difference *next(ntr_comparison *comparison) {
    const ntr_difference *difference;
    assert_int_equal(ntr_comparison_next(comparison, &difference), NTR_OK);
    return difference;
}

static void expect_end(ntr_comparison *comparison, uint64_t equal) {
    const ntr_difference *difference;
    ntr_status status = ntr_comparison_next(comparison, &difference);
    if (status == NTR_OK)
        fail_msg("difference of kind %u at 0x%llx", difference->kind, (unsigned long long)difference->a->address);
    assert_int_equal(status, NTR_END);
    assert_null(difference);
    assert_int_equal(ntr_comparison_next(comparison, &difference), NTR_END);
    assert_int_equal(ntr_comparison_equal(comparison), equal);
    assert_string_equal(ntr_comparison_error(comparison), "");
    ntr_comparison_free(comparison);
}

/* ---- equal --------------------------------------------------------------------------------------- */

static void messages_make_no_difference(void **state) {
    (void)state;
    start();
    span(&one, 0x1000, 9, NTR_SPAN_TAKEN, 0x2000);
    span(&one, 0x2000, 1, NTR_SPAN_CUT, 0x2004);
    add(&one, NTR_EVENT_STOP, 0x2004);
    span(&other, 0x1000, 2, NTR_SPAN_CUT, 0x1008);
    add(&other, NTR_EVENT_SYNC, 0x1008);
    span(&other, 0x1008, 0, NTR_SPAN_CUT, 0x1008);
    span(&other, 0x1008, 7, NTR_SPAN_TAKEN, 0x2000);
    add(&other, NTR_EVENT_CONTEXT, 0);
    span(&other, 0x2000, 1, NTR_SPAN_CUT, 0x2004);
    add(&other, NTR_EVENT_STOP, 0x2004);
    expect_end(compare(), 10);
}

static void nothing_equals_nothing(void **state) {
    (void)state;
    start();
    expect_end(compare(), 0);
}

/* Code without image is counted in halfwords, and compared all the same. */
static void code_that_is_not_known_is_compared_too(void **state) {
    (void)state;
    start();
    for (unsigned i = 0; i < 2; i++) {
        ntr_event *event = add(i ? &other : &one, NTR_EVENT_NO_CODE, 0x1000);
        event->halfwords = 10 + i;
        event->end = NTR_SPAN_INDIRECT_JUMP;
        event->target = 0x2000;
    }
    ntr_comparison *comparison = compare();
    const ntr_difference *d = next(comparison);
    assert_int_equal(d->kind, NTR_DIFFERENCE_EXECUTION);
    assert_int_equal(d->a->instructions, 10);
    assert_int_equal(d->b->instructions, 11);
    expect_end(comparison, 0); /* both ends are the place where they agree again */
}

static void a_trap_is_any_trap(void **state) {
    (void)state;
    start();
    span(&one, 0x1000, 1, NTR_SPAN_TRAP, 0x2000);
    span(&one, 0x2000, 1, NTR_SPAN_EXCEPTION, 0x3000);
    span(&other, 0x1000, 1, NTR_SPAN_INTERRUPT, 0x2000);
    span(&other, 0x2000, 1, NTR_SPAN_TRAP, 0x3000);
    expect_end(compare(), 2);
    start();
    span(&one, 0x1000, 1, NTR_SPAN_EXCEPTION, 0x2000);
    span(&other, 0x1000, 1, NTR_SPAN_INTERRUPT, 0x2000);
    ntr_comparison *comparison = compare();
    assert_int_equal(next(comparison)->kind, NTR_DIFFERENCE_EXECUTION);
    expect_end(comparison, 0);
}

/* ---- different ----------------------------------------------------------------------------------- */

static void steps_are_told_as_they_are(void **state) {
    (void)state;
    start();
    loop(&one, 0, 3);
    loop(&other, 0, 3);
    ntr_event *event = span(&one, 0x1000, 4, NTR_SPAN_RETURN, 0x2000);
    event->offset = 77;
    event->flags = NTR_EVENT_TIME;
    event->time = 12;
    event->context.prv = 3;
    event = span(&other, 0x1000, 4, NTR_SPAN_RETURN, 0x3000);
    event->flags = NTR_EVENT_TARGET_UNKNOWN;
    ntr_comparison *comparison = compare();
    const ntr_difference *d = next(comparison);
    assert_int_equal(d->kind, NTR_DIFFERENCE_EXECUTION);
    assert_int_equal(d->equal, 6);
    assert_false(d->last);
    assert_int_equal(d->a->kind, NTR_STEP_RUN);
    assert_int_equal(d->a->end, NTR_SPAN_RETURN);
    assert_int_equal(d->a->address, 0x1000);
    assert_int_equal(d->a->target, 0x2000);
    assert_int_equal(d->a->instructions, 4);
    assert_int_equal(d->a->offset, 77);
    assert_int_equal(d->a->message, 4);
    assert_true(d->a->timed);
    assert_int_equal(d->a->time, 12);
    assert_int_equal(d->a->context.prv, 3);
    assert_int_equal(d->b->target, 0);
    assert_false(d->b->timed);
    expect_end(comparison, 6);
}

/* Steps are missing on one side, or other ones stand there. */
static void comparison_continues_where_both_agree_again(void **state) {
    (void)state;
    static const struct {
        unsigned missing_a, missing_b, extra;
    } cases[] = {{1, 0, 0}, {0, 1, 0}, {20, 0, 0}, {0, 300, 0}, {5, 7, 0}, {0, 0, 1}, {0, 0, 40}, {3, 0, 9}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned from_a = 400 + cases[i].missing_a, from_b = 400 + cases[i].missing_b;
        unsigned from = from_a > from_b ? from_a : from_b;
        uint64_t equal = 0;
        start();
        loop(&one, 0, 400);
        loop(&other, 0, 400);
        for (unsigned k = 0; k < cases[i].extra; k++) span(&other, 0x5000, k, NTR_SPAN_JUMP, 0x5000);
        loop(&one, from_a, 1000);
        loop(&other, from_b, 1000);
        for (unsigned k = 0; k < 1000; k++) equal += k < 400 || k >= from ? k + 1 : 0;
        ntr_comparison *comparison = compare();
        const ntr_difference *d = next(comparison);
        assert_int_equal(d->equal, 400 * 401 / 2);
        assert_false(d->last);
        expect_end(comparison, equal);
    }
}

/* Fewer than eight equal steps in a row may be a coincidence. */
static void a_few_equal_steps_are_no_agreement(void **state) {
    (void)state;
    for (unsigned run = 7; run <= 8; run++) {
        start();
        span(&one, 0x9000, 1, NTR_SPAN_JUMP, 0x1000);
        loop(&one, 0, run);
        span(&one, 0x9000, 2, NTR_SPAN_JUMP, 0x1000);
        loop(&other, 0, run);
        span(&other, 0x9000, 3, NTR_SPAN_JUMP, 0x1000);
        ntr_comparison *comparison = compare();
        assert_int_equal(next(comparison)->a->address, 0x9000);
        if (run == 8) assert_int_equal(next(comparison)->equal, 36);
        expect_end(comparison, run == 8 ? 36 : 0);
    }
}

static void executions_that_never_agree_are_told_so(void **state) {
    (void)state;
    start();
    loop(&one, 0, 1);
    loop(&other, 0, 1);
    for (unsigned i = 0; i < 2000; i++) {
        span(&one, 0x2000, i, NTR_SPAN_TAKEN, 0x2000);
        span(&other, 0x3000, i, NTR_SPAN_TAKEN, 0x3000);
    }
    ntr_comparison *comparison = compare();
    const ntr_difference *d = next(comparison);
    assert_int_equal(d->equal, 1);
    assert_true(d->last);
    expect_end(comparison, 1);
}

static void a_side_that_ends_earlier_differs(void **state) {
    (void)state;
    start();
    loop(&one, 0, 5);
    loop(&other, 0, 3);
    ntr_comparison *comparison = compare();
    const ntr_difference *d = next(comparison);
    assert_int_equal(d->equal, 6);
    assert_int_equal(d->a->instructions, 4);
    assert_int_equal(d->b->kind, NTR_STEP_END);
    expect_end(comparison, 6);
}

static void gaps_are_told_and_counted(void **state) {
    (void)state;
    start();
    loop(&one, 0, 20);
    loop(&other, 0, 10);
    gap(&other, 0x1234);
    loop(&other, 12, 20);
    ntr_comparison *comparison = compare();
    const ntr_difference *d = next(comparison);
    assert_int_equal(d->kind, NTR_DIFFERENCE_GAP);
    assert_int_equal(d->b->kind, NTR_STEP_GAP);
    assert_int_equal(d->b->address, 0x1234);
    assert_int_equal(ntr_comparison_gaps(comparison, 0), 0);
    assert_int_equal(ntr_comparison_gaps(comparison, 1), 1);
    expect_end(comparison, 210 - 11 - 12);
}

/* ---- context and time ---------------------------------------------------------------------------- */

static void contexts_differ_where_both_are_known(void **state) {
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        start();
        ntr_context *a = &span(&one, 0x1000, 5, NTR_SPAN_TAKEN, 0x1000)->context;
        ntr_context *b = &span(&other, 0x1000, 5, NTR_SPAN_TAKEN, 0x1000)->context;
        bool differ = i & 1;
        if (i < 2)
            a->prv = 1, b->prv = differ ? 3 : NTR_PRV_UNKNOWN;
        else if (i < 4)
            a->prv = b->prv = 1, a->v = differ, a->has_scontext = true, a->scontext = 5;
        else if (i < 6)
            a->has_scontext = b->has_scontext = true, a->scontext = 5, b->scontext = differ ? 6 : 5;
        else
            a->has_hcontext = true, b->has_hcontext = differ, a->hcontext = 7;
        ntr_comparison *comparison = compare();
        if (differ) assert_int_equal(next(comparison)->kind, NTR_DIFFERENCE_CONTEXT);
        expect_end(comparison, 5);
    }
}

/* Ends of spans with times; those at which not every encoder sends a message are not compared. */
static void times_are_compared_where_every_encoder_sends_them(void **state) {
    (void)state;
    for (unsigned end = 0; end < NTR_SPAN_KINDS; end++) {
        for (unsigned variant = 0; variant < 5; variant++) {
            start();
            ntr_event *a = span(&one, 0x1000, 5, (uint8_t)end, 0x1000),
                      *b = span(&other, 0x1000, 5, (uint8_t)end, 0x1000);
            a->flags = b->flags = NTR_EVENT_TIME;
            a->time = 100;
            b->time = 101;
            if (variant == 1) a->flags |= NTR_EVENT_IMPLICIT;
            if (variant == 2) b->flags = 0;
            if (variant == 3) b->time = 100;
            bool differ = end >= NTR_SPAN_INDIRECT_JUMP && (variant == 0);
            ntr_comparison *comparison = compare_with(NULL, false, false, variant == 4);
            if (differ) assert_int_equal(next(comparison)->kind, NTR_DIFFERENCE_TIME);
            expect_end(comparison, 5);
        }
    }
}

static void one_message_gives_one_time(void **state) {
    (void)state;
    start();
    for (unsigned i = 0; i < 2; i++) {
        struct script *script = i ? &other : &one;
        for (unsigned k = 0; k < 2; k++) {
            ntr_event *event = span(script, 0x1000, 1, NTR_SPAN_RETURN, 0x1000);
            event->flags = NTR_EVENT_TIME;
            event->message = 1;
            event->time = k ? 5 + i : 5; /* only the first of both is compared */
        }
    }
    expect_end(compare(), 2);
}

/* ---- lists --------------------------------------------------------------------------------------- */

static const uint8_t code[] = {
    0x13, 0,    0,    0,    /* 0x1000 addi x0, x0, 0 */
    0x01, 0,          /* 0x1004 c.nop */
    0x73, 0,    0,    0,    /* 0x1006 ecall */
    0x73, 0,    0x10, 0, /* 0x100a ebreak */
    0x02, 0x90,       /* 0x100e c.ebreak */
    0x01, 0,          /* 0x1010 c.nop */
    0x01, 0,          /* 0x1012 c.nop */
};

static ntr_program *program_of_code(void) {
    ntr_program *program;
    ntr_program_new(NULL, &program);
    ntr_image_options options = {.size = sizeof options, .bias = 0x1000};
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){code, sizeof code}, &options), NTR_OK);
    return program;
}

static void list(struct script *script, size_t count, const uint64_t *addresses) {
    memcpy(script->addresses, addresses, count * sizeof *addresses);
    script->count = count;
}

static void a_trace_is_compared_with_a_list(void **state) {
    (void)state;
    static const uint64_t all[] = {0x1000, 0x1004, 0x1006, 0x100a, 0x100e, 0x1010, 0x1012};
    ntr_program *program = program_of_code();
    for (unsigned swap = 0; swap < 2; swap++) {
        struct script *trace = swap ? &other : &one, *listed = swap ? &one : &other;
        start(); /* traps: what traps does not retire, but the list has it */
        span(trace, 0x1000, 2, NTR_SPAN_EXCEPTION, 0x100a);
        span(trace, 0x100a, 0, NTR_SPAN_EXCEPTION, 0x100e);
        span(trace, 0x100e, 0, NTR_SPAN_EXCEPTION, 0x1010);
        add(trace, NTR_EVENT_STOP, 0x1010);
        span(trace, 0x1010, 2, NTR_SPAN_CUT, 0x1014);
        list(listed, 7, all);
        expect_end(compare_with(program, swap, !swap, false), 4);

        start(); /* an instruction that retires is missed */
        span(trace, 0x1000, 1, NTR_SPAN_CUT, 0x1004);
        span(trace, 0x1010, 2, NTR_SPAN_CUT, 0x1014);
        list(listed, 7, all);
        ntr_comparison *comparison = compare_with(program, swap, !swap, false);
        const ntr_difference *d = next(comparison);
        assert_int_equal(d->kind, NTR_DIFFERENCE_EXECUTION);
        assert_int_equal((swap ? d->a : d->b)->address, 0x1004);
        assert_int_equal((swap ? d->a : d->b)->message, 2); /* the line */
        assert_int_equal((swap ? d->b : d->a)->address, 0x1010);
        expect_end(comparison, 3);
    }
    /* Two lists: the same instructions, or not. */
    start();
    list(&one, 7, all);
    list(&other, 7, all);
    expect_end(compare_with(NULL, true, true, false), 7);
    start();
    list(&one, 7, all);
    list(&other, 6, all + 1);
    ntr_comparison *comparison = compare_with(program, true, true, false);
    assert_int_equal(next(comparison)->equal, 0);
    expect_end(comparison, 6);
    ntr_program_free(program);
}

/* ---- failures ------------------------------------------------------------------------------------ */

static void a_failure_is_no_end(void **state) {
    (void)state;
    const ntr_difference *difference;
    for (unsigned side = 0; side < 2; side++) {
        start();
        loop(&one, 0, 5);
        loop(&other, 0, 5);
        (side ? &other : &one)->end = NTR_E_IO;
        ntr_comparison *comparison = compare();
        assert_int_equal(ntr_comparison_next(comparison, &difference), NTR_E_IO);
        assert_null(difference);
        assert_string_equal(ntr_comparison_error(comparison), side ? "the second execution: input or output failed"
                                                                   : "the first execution: input or output failed");
        assert_int_equal(ntr_comparison_next(comparison, &difference), NTR_E_IO);
        ntr_comparison_free(comparison);
    }
}

static void bad_configs_are_refused(void **state) {
    ntr_comparison *none;
    (void)state;
    ntr_execution a, b;
    ntr_comparison_config config;
    for (unsigned i = 0; i < 7; i++) {
        ntr_execution_init(&a);
        ntr_execution_init(&b);
        ntr_comparison_config_init(&config);
        a.next_event = b.next_event = next_event;
        config.a = &a;
        config.b = &b;
        if (i == 0) config.size = 0;
        if (i == 1) config.b = NULL;
        if (i == 2) b.next_event = NULL;
        if (i == 3) a.next_address = next_address;
        if (i == 4) b.next_event = NULL, b.next_address = next_address; /* without a program */
        if (i == 5) a.size = 3;
        if (i == 6) a.size = offsetof(ntr_execution, next_event);
        assert_int_equal(ntr_comparison_new(&config, &none), NTR_E_INVALID);
    }
    assert_int_equal(ntr_comparison_new(NULL, &none), NTR_E_INVALID);
    ntr_comparison_free(NULL);
}

/* A program that was built when the structs were shorter, or will be when they are longer. */
static void configs_of_other_versions_are_taken(void **state) {
    (void)state;
    struct {
        ntr_comparison_config config;
        char later[40];
    } large;
    ntr_execution a;
    ntr_status status;
    start();
    memset(&large, 0xff, sizeof large);
    ntr_execution_init(&a);
    a.next_event = next_event;
    a.user = &one;
    ntr_comparison_config_init(&large.config);
    large.config.a = large.config.b = &a;
    large.config.size = sizeof large;
    ntr_comparison *comparison;
    status = ntr_comparison_new(&large.config, &comparison);
    assert_int_equal(status, NTR_OK);
    ntr_comparison_free(comparison);
    large.config.size = offsetof(ntr_comparison_config, allocator);
    large.config.allocator = (const ntr_allocator *)&one;
    status = ntr_comparison_new(&large.config, &comparison);
    assert_int_equal(status, NTR_OK);
    ntr_comparison_free(comparison);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(messages_make_no_difference),
        TEST(nothing_equals_nothing),
        TEST(code_that_is_not_known_is_compared_too),
        TEST(a_trap_is_any_trap),
        TEST(steps_are_told_as_they_are),
        TEST(comparison_continues_where_both_agree_again),
        TEST(a_few_equal_steps_are_no_agreement),
        TEST(executions_that_never_agree_are_told_so),
        TEST(a_side_that_ends_earlier_differs),
        TEST(gaps_are_told_and_counted),
        TEST(contexts_differ_where_both_are_known),
        TEST(times_are_compared_where_every_encoder_sends_them),
        TEST(one_message_gives_one_time),
        TEST(a_trace_is_compared_with_a_list),
        TEST(a_failure_is_no_end),
        TEST(bad_configs_are_refused),
        TEST(configs_of_other_versions_are_taken),
    };
    return cmocka_run_group_tests_name("difference", tests, NULL, NULL);
}
