/* Counting decode: a repeated history is walked once, and the count callback receives every span. */
#include "scene.h"

#define START "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\n"

/* A loop of two branches, with a call in it. */
static void loop(scene *s) {
    code(s, 0x100, branch(8), ADD, jal(1, 0x0f8), branch(-12), JR_A5);
    code(s, 0x200, ADD, RET);
}

static ntr_counts count(const scene *s, const char *messages, ntr_tally *tally) {
    stream in = {.size = 0};
    ntr_counts counts = {0};
    assemble(&in, &s->config.params, messages);
    ntr_decoder *d;
    ntr_decoder_new(&s->config, &d);
    ntr_decoder_set_count_callback(d, ntr_tally_count, tally);
    assert_int_equal(ntr_decoder_feed(d, in.bytes, in.size, true), NTR_OK);
    assert_int_equal(ntr_decoder_count(d, &counts), NTR_END);
    ntr_decoder_free(d);
    return counts;
}

static uint64_t times(ntr_tally *tally, uint64_t address, unsigned end) {
    size_t rows;
    const ntr_tally_row *row = ntr_tally_rows(tally, &rows);
    for (size_t i = 0; i < rows; i++)
        if (row[i].address == address && row[i].end == end) return row[i].count;
    return 0;
}

#define MANY 61000000 /* near the maximum that one message may stand for */

static void repeated_branches_are_multiplied(void **state) {
    (void)state;
    scene s;
    ntr_tally *tally;
    ntr_tally_new(NULL, NULL, &tally);
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(-4));
    ntr_counts c = count(&s, START "DirectBranch ICNT=4\nRepeatBranch BCNT=61000000\n", tally);
    assert_int_equal(c.taken, MANY + 1);
    assert_int_equal(c.branches, MANY + 1);
    assert_int_equal(c.spans, MANY + 1);
    assert_int_equal(c.instructions, 2 * (MANY + 1));
    assert_int_equal(c.gaps, 0);
    assert_int_equal(times(tally, 0x100, NTR_SPAN_TAKEN), MANY + 1);
    ntr_tally_free(tally);
    scene_end(&s);
}

/* Calls and returns in the loop; the return is implicit. */
static void repeated_history_is_multiplied(void **state) {
    (void)state;
    scene s;
    ntr_tally *tally;
    ntr_tally_new(NULL, NULL, &tally);
    scene_start(&s, NULL);
    s.config.params.implicit_return = NTR_RETURN_FULL;
    loop(&s);
    ntr_counts c = count(&s, START "ResourceFull RCODE=2 RDATA0=0x5 RDATA1=61000000\n", tally);
    assert_int_equal(c.branches, 2 * (uint64_t)MANY);
    assert_int_equal(c.taken, MANY);
    assert_int_equal(c.calls, MANY);
    assert_int_equal(c.returns, MANY);
    assert_int_equal(c.instructions, 6 * (uint64_t)MANY);
    assert_int_equal(times(tally, 0x100, NTR_SPAN_NOT_TAKEN), MANY);
    assert_int_equal(times(tally, 0x10c, NTR_SPAN_TAKEN), MANY);
    assert_int_equal(times(tally, 0x200, NTR_SPAN_RETURN), MANY);
    ntr_tally_free(tally);
    scene_end(&s);
}

/* The pattern has one outcome, the loop has three branches. */
static void circles_may_take_several_passes(void **state) {
    (void)state;
    scene s;
    ntr_tally *tally;
    ntr_tally_new(NULL, NULL, &tally);
    scene_start(&s, NULL);
    code(&s, 0x100, branch(8), ADD, branch(12), ADD, ADD, branch(-20), JR_A5);
    ntr_counts c = count(&s, START "ResourceFull RCODE=2 RDATA0=0x3 RDATA1=61000000\n", tally);
    assert_int_equal(c.taken, MANY);
    assert_int_equal(c.instructions, MANY);
    assert_int_equal(times(tally, 0x100, NTR_SPAN_TAKEN), MANY / 3 + 1);
    assert_int_equal(times(tally, 0x108, NTR_SPAN_TAKEN), MANY / 3);
    assert_int_equal(times(tally, 0x114, NTR_SPAN_TAKEN), MANY / 3);
    ntr_tally_free(tally);
    ntr_tally_new(NULL, NULL, &tally);
    /* code before the loop */
    code(&s, 0x200, branch(8), ADD, branch(-0x108));
    c = count(&s, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x100\nResourceFull RCODE=2 RDATA0=0x3 RDATA1=61000001\n", tally);
    assert_int_equal(c.taken, (uint64_t)MANY + 1);
    assert_int_equal(times(tally, 0x200, NTR_SPAN_TAKEN), 1);
    assert_int_equal(times(tally, 0x208, NTR_SPAN_TAKEN), 1);
    assert_int_equal(times(tally, 0x114, NTR_SPAN_TAKEN), (MANY - 1) / 3);
    ntr_tally_free(tally);
    scene_end(&s);
}

/* A stack that overflowed within the loop has changed, although its depth is the same. */
static void a_stack_that_forgets_is_no_circle(void **state) {
    (void)state;
    scene s;
    ntr_tally *tally;
    ntr_tally_new(NULL, NULL, &tally);
    scene_start(&s, NULL);
    s.config.params.implicit_return = NTR_RETURN_FULL;
    s.config.params.return_stack = 2;
    /* every pass calls once and never returns */
    code(&s, 0x100, branch(8), ADD, jal(1, -8), JR_A5);
    ntr_counts c = count(&s, START "ResourceFull RCODE=2 RDATA0=0x2 RDATA1=1000\n", tally);
    assert_int_equal(c.branches, 1000);
    assert_int_equal(c.calls, 999);
    ntr_tally_free(tally);
    scene_end(&s);
}

static ntr_status refuse(void *user, const ntr_event *event, uint64_t number) {
    (void)user, (void)event, (void)number;
    return NTR_E_LIMIT;
}

static void who_listens_can_end_it(void **state) {
    (void)state;
    scene s;
    ntr_counts counts = {0};
    stream in = {.size = 0};
    scene_start(&s, NULL);
    loop(&s);
    assemble(&in, &s.config.params, START "ResourceFull RCODE=1 RDATA0=0x2\n");
    ntr_decoder *d;
    ntr_decoder_new(&s.config, &d);
    ntr_decoder_set_count_callback(d, refuse, NULL);
    assert_int_equal(ntr_decoder_feed(d, in.bytes, in.size, true), NTR_OK);
    assert_int_equal(ntr_decoder_count(d, &counts), NTR_E_LIMIT);
    ntr_decoder_free(d);
    scene_end(&s);
}

static void counts_equal_events(const scene *s, const char *messages) {
    stream in = {.size = 0};
    assemble(&in, &s->config.params, messages);
    const char *differs = tallies_differ(&s->config, (ntr_bytes){in.bytes, in.size});
    if (differs) fail_msg("%s of\n%s", differs, messages);
}

static void nops(scene *s, uint64_t address, unsigned count) {
    uint32_t code[201];
    for (unsigned i = 0; i < count; i++) code[i] = C_NOP;
    code[count] = CODE_END;
    add_code_for(s, address, code, NULL);
}

/* Linear code is cut at 255 halfwords; the span includes the code after the cut. */
static void long_straight_code_stays_one_span(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    nops(&s, 0x100, 200);
    nops(&s, 0x290, 200);
    code(&s, 0x420, branch(-0x320), branch(-0x324), JR_A5);
    counts_equal_events(&s, START "ResourceFull RCODE=0 RDATA0=300\nResourceFull RCODE=1 RDATA0=0x37\nResourceFull "
                                  "RCODE=2 RDATA0=0x7 RDATA1=9\n");
    scene_end(&s);
}

/* The history leads further than I-CNT, or less far. */
static void history_does_not_lead_past_icnt(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, branch(8), ADD, branch(-8), JR_A5);
    for (unsigned icnt = 0; icnt < 24; icnt++) {
        char messages[200];
        snprintf(messages, sizeof messages, START "IndirectBranchHist BTYPE=0 ICNT=%u UADDR=0x80 HIST=0x1f\n" START,
                 icnt);
        counts_equal_events(&s, messages);
    }
    scene_end(&s);
}

/* The same message, but two different branches. */
static void a_repeated_branch_may_move(void **state) {
    (void)state;
    scene s;
    ntr_tally *tally;
    ntr_tally_new(NULL, NULL, &tally);
    scene_start(&s, NULL);
    code(&s, 0x100, branch(8), ADD, branch(-8));
    count(&s, START "DirectBranch ICNT=2\nRepeatBranch BCNT=100\n", tally);
    assert_int_equal(times(tally, 0x100, NTR_SPAN_TAKEN), 51);
    assert_int_equal(times(tally, 0x108, NTR_SPAN_TAKEN), 50);
    ntr_tally_free(tally);
    scene_end(&s);
}

/* The code at an address changes within the stream: earlier executions belong to the old code. */
static void code_that_changes_is_counted_as_it_was(void **state) {
    (void)state;
    scene s;
    const ntr_image_options early = {.until = 16}, late = {.from = 16};
    scene_start(&s, NULL);
    add_code_for(&s, 0x100, (const uint32_t[]){ADD, branch(-4), JR_A5, CODE_END}, &early);
    add_code_for(&s, 0x100, (const uint32_t[]){branch(8), ADD, branch(-8), JR_A5, CODE_END}, &late);
    /* 4 + 4 * 3 bytes of the old code, more than half of the stream */
    counts_equal_events(&s, START "ResourceFull RCODE=1 RDATA0=0xf\nResourceFull RCODE=1 RDATA0=0xf\n"
                                  "ResourceFull RCODE=1 RDATA0=0xf\nResourceFull RCODE=1 RDATA0=0xf\n" START
                                  "ResourceFull RCODE=1 RDATA0=0x1f\n");
    scene_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeated_branches_are_multiplied),
        cmocka_unit_test(repeated_history_is_multiplied),
        cmocka_unit_test(circles_may_take_several_passes),
        cmocka_unit_test(a_stack_that_forgets_is_no_circle),
        cmocka_unit_test(who_listens_can_end_it),
        cmocka_unit_test(long_straight_code_stays_one_span),
        cmocka_unit_test(history_does_not_lead_past_icnt),
        cmocka_unit_test(a_repeated_branch_may_move),
        cmocka_unit_test(code_that_changes_is_counted_as_it_was),
    };
    return cmocka_run_group_tests_name("counting", tests, NULL, NULL);
}
