#include "../test.h"

#include <ntrace/timeline.h>

#include <string.h>

struct bench {
    ntr_program *program;
    ntr_debug_info *source;
    ntr_functions *functions;
    ntr_timeline *timeline;
};

static void open_bench(struct bench *b, size_t most) {
    ntr_program_new(NULL, &b->program);
    ntr_debug_info_new(b->program, NULL, &b->source);
    ntr_functions_new(b->source, NULL, &b->functions);
    ntr_timeline_new(b->functions, most, NULL, &b->timeline);
    assert_non_null(b->timeline);
}

static void close_bench(struct bench *b) {
    ntr_timeline_free(b->timeline);
    ntr_functions_free(b->functions);
    ntr_debug_info_free(b->source);
    ntr_program_free(b->program);
}

static void feed(struct bench *b, ntr_event e) {
    assert_int_equal(ntr_timeline_feed(b->timeline, &e, 1), NTR_OK);
}

/* 4 instructions of 4 bytes from `address` on. `time` 0: not stamped. */
static ntr_event span(uint64_t address, uint8_t end, uint64_t target, uint64_t time) {
    ntr_event e = {.context = NTR_CONTEXT_UNKNOWN};
    e.kind = NTR_EVENT_SPAN;
    e.address = address;
    e.last = address + 12;
    e.instructions = 4;
    e.halfwords = 8;
    e.end = end;
    e.target = target;
    e.time = time;
    e.flags = time ? NTR_EVENT_TIME : 0;
    return e;
}

/* The index-th slice of a kind. */
static const ntr_timeslice *slice(const struct bench *b, uint8_t kind, size_t index) {
    size_t count;
    const ntr_timeslice *s = ntr_timeline_slices(b->timeline, &count);
    for (size_t i = 0; i < count; i++)
        if (s[i].kind == kind && index-- == 0) return &s[i];
    return NULL;
}

static void calls_nest_and_last_as_many_instructions(void **state) {
    (void)state;
    struct bench b;
    open_bench(&b, 0);
    feed(&b, span(0x100, NTR_SPAN_CALL, 0x200, 0));
    feed(&b, span(0x200, NTR_SPAN_RETURN, 0x110, 0));
    feed(&b, span(0x110, NTR_SPAN_NOT_TAKEN, 0x120, 0));
    assert_int_equal(ntr_timeline_finish(b.timeline), NTR_OK);
    const ntr_timeslice *root = slice(&b, NTR_SLICE_FUNCTION, 0), *call = slice(&b, NTR_SLICE_FUNCTION, 1);
    assert_false(ntr_timeline_timed(b.timeline));
    assert_int_equal(root->begin, 0);
    assert_int_equal(root->end, 12);
    assert_int_equal(call->begin, 4);
    assert_int_equal(call->end, 8);
    assert_true(root->order < call->order);
    assert_null(slice(&b, NTR_SLICE_FUNCTION, 2));
    close_bench(&b);
}

static void stamps_make_time_the_traces_own(void **state) {
    (void)state;
    struct bench b;
    open_bench(&b, 0);
    feed(&b, span(0x100, NTR_SPAN_CALL, 0x200, 1000));
    feed(&b, span(0x200, NTR_SPAN_INTERRUPT, 0x800, 1700));
    feed(&b, span(0x800, NTR_SPAN_TRAP_RETURN, 0x210, 1750));
    feed(&b, span(0x210, NTR_SPAN_RETURN, 0x110, 2000));
    assert_int_equal(ntr_timeline_finish(b.timeline), NTR_OK);
    assert_true(ntr_timeline_timed(b.timeline));
    const ntr_timeslice *trap = slice(&b, NTR_SLICE_TRAP, 0), *call = slice(&b, NTR_SLICE_FUNCTION, 1);
    assert_int_equal(trap->begin, 1700);
    assert_int_equal(trap->end, 1750);
    assert_int_equal(trap->frame, NTR_FRAME_INTERRUPT);
    assert_int_equal(call->begin, 1000);
    assert_int_equal(call->end, 2000);
    close_bench(&b);
}

static void contexts_and_gaps_have_slices(void **state) {
    (void)state;
    struct bench b;
    open_bench(&b, 0);
    ntr_event e = {.kind = NTR_EVENT_CONTEXT, .context = {.scontext = 7, .has_scontext = true}};
    feed(&b, e);
    feed(&b, span(0x100, NTR_SPAN_CALL, 0x200, 0));
    e.context.scontext = 8;
    feed(&b, e);
    feed(&b, span(0x200, NTR_SPAN_RETURN, 0x110, 0));
    feed(&b, (ntr_event){.kind = NTR_EVENT_GAP, .reason = NTR_E_NO_IMAGE});
    assert_int_equal(ntr_timeline_finish(b.timeline), NTR_OK);
    const ntr_timeslice *first = slice(&b, NTR_SLICE_CONTEXT, 0), *second = slice(&b, NTR_SLICE_CONTEXT, 1);
    assert_int_equal(first->value, 7);
    assert_int_equal(first->end, 4);
    assert_int_equal(second->value, 8);
    assert_int_equal(second->begin, 4);
    assert_int_equal(second->end, 8);
    const ntr_timeslice *gap = slice(&b, NTR_SLICE_GAP, 0);
    assert_int_equal((int64_t)gap->value, -NTR_E_NO_IMAGE);
    assert_int_equal(gap->begin, 8);
    close_bench(&b);
}

static void the_shortest_go_first(void **state) {
    (void)state;
    struct bench b;
    size_t count;
    open_bench(&b, 16);
    feed(&b, span(0x100, NTR_SPAN_CALL, 0x200, 0)); /* one long call of ... */
    for (int i = 0; i < 1000; i++) {               /* ... many short ones */
        feed(&b, span(0x200, NTR_SPAN_CALL, 0x300, 0));
        feed(&b, span(0x300, NTR_SPAN_RETURN, 0x210, 0));
        feed(&b, span(0x210, NTR_SPAN_JUMP, 0x200, 0));
    }
    feed(&b, span(0x200, NTR_SPAN_RETURN, 0x110, 0));
    assert_int_equal(ntr_timeline_finish(b.timeline), NTR_OK);
    ntr_timeline_slices(b.timeline, &count);
    assert_int_equal(count, 2);
    assert_int_equal(ntr_timeline_shortest(b.timeline), 8);
    assert_int_equal(slice(&b, NTR_SLICE_FUNCTION, 1)->begin, 4);
    assert_int_equal(slice(&b, NTR_SLICE_FUNCTION, 1)->end, 4 + 12 * 1000 + 4);
    close_bench(&b);
}

static void call_of(struct bench *b, unsigned spans) {
    feed(b, span(0x100, NTR_SPAN_CALL, 0x200, 0));
    for (unsigned i = 1; i < spans; i++) feed(b, span(0x200, NTR_SPAN_NOT_TAKEN, 0x200, 0));
    feed(b, span(0x200, NTR_SPAN_RETURN, 0x110, 0));
}

/* A slice that is left out anyway does not make others be left out. */
static void one_that_is_too_short_takes_no_space(void **state) {
    (void)state;
    static const unsigned spans[] = {1, 1, 20, 20, 20, 20, 1}; /* the fifth one leaves no space for those of one span */
    struct bench b;
    size_t count;
    open_bench(&b, 4);
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) call_of(&b, spans[i]);
    ntr_timeline_slices(b.timeline, &count);
    assert_int_equal(count, 4);
    assert_true(ntr_timeline_shortest(b.timeline) <= 4 * 20);
    close_bench(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(calls_nest_and_last_as_many_instructions),
        TEST(stamps_make_time_the_traces_own),
        TEST(contexts_and_gaps_have_slices),
        TEST(the_shortest_go_first),
        TEST(one_that_is_too_short_takes_no_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
