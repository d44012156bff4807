#include "../test.h"

#include <ntrace/tally.h>

#include <string.h>

static const uint8_t CODE[] = {
    0x13, 0x00, 0x00, 0x00, /* 0x100 nop          */
    0x01, 0x00,             /* 0x104 c.nop        */
    0x63, 0x04, 0x00, 0x00, /* 0x106 beqz zero,+8 */
    0x01, 0x00,             /* 0x10a c.nop        */
    0x01, 0x00,             /* 0x10c c.nop        */
    0x01, 0x00,             /* 0x10e c.nop        */
};

static ntr_event span(uint64_t address, uint64_t last, uint32_t instructions, uint32_t halfwords, uint8_t end,
                      uint64_t target) {
    ntr_event e;
    memset(&e, 0, sizeof e);
    e.kind = NTR_EVENT_SPAN;
    e.address = address;
    e.last = last;
    e.instructions = instructions;
    e.halfwords = halfwords;
    e.end = end;
    e.target = target;
    return e;
}

static void equal_spans_are_one_row_and_counts_add_up(void **state) {
    (void)state;
    ntr_program *program;
    ntr_program_new(NULL, &program);
    ntr_image_options at = {.size = sizeof at, .bias = 0x100};
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){CODE, sizeof CODE}, &at), NTR_OK);
    ntr_tally *tally;
    ntr_tally_new(NULL, NULL, &tally);
    ntr_event events[5];
    for (int i = 0; i < 3; i++) events[i] = span(0x100, 0x106, 3, 5, NTR_SPAN_TAKEN, 0x10e);
    events[3] = span(0x104, 0x106, 2, 3, NTR_SPAN_NOT_TAKEN, 0x10a);
    memset(&events[4], 0, sizeof events[4]);
    events[4].kind = NTR_EVENT_GAP;
    assert_int_equal(ntr_tally_feed(tally, events, 5), NTR_OK);

    size_t rows;
    const ntr_tally_row *row = ntr_tally_rows(tally, &rows);
    assert_int_equal(rows, 2);
    assert_int_equal(row[0].count, 3);
    assert_int_equal(row[1].count, 1);
    assert_int_equal(ntr_tally_gaps(tally), 1);

    /* Sorting must not break further counting. */
    assert_int_equal(ntr_tally_feed(tally, events, 1), NTR_OK);
    ntr_insn_count *counts;
    size_t count;
    assert_int_equal(ntr_tally_instructions(tally, program, UINT32_MAX, &counts, &count), NTR_OK);
    assert_int_equal(count, 3);
    assert_int_equal(counts[0].address, 0x100);
    assert_int_equal(counts[0].executed, 4);
    assert_int_equal(counts[1].executed, 5);
    assert_int_equal(counts[2].executed, 5);
    assert_int_equal(counts[2].taken, 4);
    assert_int_equal(counts[2].not_taken, 1);
    assert_int_equal(counts[2].flow, NTR_FLOW_BRANCH);
    ntr_tally_free_counts(tally, counts);
    ntr_tally_free(tally);
    ntr_program_free(program);
}

static ntr_event at_time(ntr_event event, uint64_t message, uint64_t time) {
    event.message = message;
    event.time = time;
    event.flags |= NTR_EVENT_TIME;
    return event;
}

static void time_is_of_rows_and_their_instructions(void **state) {
    (void)state;
    ntr_program *program;
    ntr_program_new(NULL, &program);
    ntr_image_options at = {.size = sizeof at, .bias = 0x100};
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){CODE, sizeof CODE}, &at), NTR_OK);
    ntr_tally *tally;
    ntr_tally_new(NULL, NULL, &tally);
    ntr_tally_keep_time(tally);
    ntr_event events[] = {
        at_time(span(0x100, 0x106, 3, 5, NTR_SPAN_TAKEN, 0x10e), 1, 1000), /* the beginning of this time is unknown */
        at_time(span(0x10a, 0x10c, 2, 2, NTR_SPAN_JUMP, 0x100), 2, 1050),
        at_time(span(0x100, 0x106, 3, 5, NTR_SPAN_TAKEN, 0x10e), 2, 1050),
    };
    assert_int_equal(ntr_tally_feed(tally, events, 3), NTR_OK);
    size_t rows;
    const ntr_tally_row *row = ntr_tally_rows(tally, &rows);
    assert_int_equal(rows, 2);
    assert_int_equal(row[0].ticks, 30);
    assert_int_equal(row[1].ticks, 20);

    /* Rows were put in order meanwhile. */
    events[0] = at_time(span(0x104, 0x106, 2, 3, NTR_SPAN_NOT_TAKEN, 0x10a), 3, 1065);
    assert_int_equal(ntr_tally_feed(tally, events, 1), NTR_OK);
    ntr_insn_count *counts;
    size_t count;
    assert_int_equal(ntr_tally_instructions(tally, program, UINT32_MAX, &counts, &count), NTR_OK);
    assert_int_equal(count, 5);
    const uint64_t ticks[] = {10, 10 + 7, 10 + 8, 10, 10};
    for (size_t i = 0; i < count; i++) assert_int_equal(counts[i].ticks, ticks[i]);
    ntr_tally_free_counts(tally, counts);
    ntr_tally_free(tally);
    ntr_program_free(program);
}

static void many_rows_are_told_apart(void **state) {
    (void)state;
    ntr_tally *tally;
    ntr_tally_new(NULL, NULL, &tally);
    for (int round = 0; round < 2; round++)
        for (uint64_t i = 0; i < 5000; i++) {
            ntr_event e = span(0x1000 + 2 * i, 0x1000 + 2 * i, 1, 1, NTR_SPAN_CUT, 0x1002 + 2 * i);
            assert_int_equal(ntr_tally_feed(tally, &e, 1), NTR_OK);
        }
    size_t rows;
    const ntr_tally_row *row = ntr_tally_rows(tally, &rows);
    assert_int_equal(rows, 5000);
    for (size_t i = 0; i < rows; i++) {
        assert_int_equal(row[i].address, 0x1000 + 2 * i);
        assert_int_equal(row[i].count, 2);
    }
    ntr_tally_free(tally);
}

/* Two versions of code at 0x100. The first has zeros where nothing was executed before the second came. */
static const uint8_t BEFORE[] = {0x13, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00},
                     AFTER[] = {0x01, 0x00, 0x13, 0x00, 0x00, 0x00, 0x13, 0x00, 0x00, 0x00, 0x82, 0x80};

static void each_row_has_the_version_that_was_executed(void **state) {
    (void)state;
    ntr_program *program;
    ntr_program_new(NULL, &program);
    const ntr_image_options first = {.size = sizeof first, .bias = 0x100, .until = 50},
                            second = {.size = sizeof second, .bias = 0x100, .from = 50};
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){BEFORE, sizeof BEFORE}, &first), NTR_OK);
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){AFTER, sizeof AFTER}, &second), NTR_OK);
    ntr_tally *tally;
    ntr_tally_new(program, NULL, &tally);
    ntr_event events[] = {
        span(0x100, 0x104, 2, 3, NTR_SPAN_CUT, 0x106),
        span(0x100, 0x102, 2, 3, NTR_SPAN_CUT, 0x106),
        span(0x106, 0x10a, 2, 3, NTR_SPAN_RETURN, 0x200),
        span(0x10a, 0x10a, 1, 1, NTR_SPAN_RETURN, 0x200),
    };
    for (size_t i = 1; i < 4; i++) events[i].offset = 60;
    assert_int_equal(ntr_tally_feed(tally, events, 4), NTR_OK);
    ntr_insn_count *counts;
    size_t count;
    assert_int_equal(ntr_tally_instructions(tally, program, UINT32_MAX, &counts, &count), NTR_OK);
    const struct {
        uint64_t address, executed, position;
        ntr_flow flow;
    } expected[] = {{0x100, 1, 0, NTR_FLOW_LINEAR}, {0x100, 1, 50, NTR_FLOW_LINEAR}, {0x102, 1, 50, NTR_FLOW_LINEAR},
                    {0x104, 1, 0, NTR_FLOW_LINEAR}, {0x106, 1, 50, NTR_FLOW_LINEAR}, {0x10a, 2, 50, NTR_FLOW_RETURN}};
    assert_int_equal(count, 6);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(counts[i].position, expected[i].position);
        assert_int_equal(counts[i].address, expected[i].address);
        assert_int_equal(counts[i].executed, expected[i].executed);
        assert_int_equal(counts[i].flow, expected[i].flow);
    }
    ntr_tally_free_counts(tally, counts);
    ntr_tally_free(tally);
    ntr_program_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(equal_spans_are_one_row_and_counts_add_up),
        TEST(time_is_of_rows_and_their_instructions),
        TEST(many_rows_are_told_apart),
        TEST(each_row_has_the_version_that_was_executed),
    };
    return cmocka_run_group_tests_name("tally", tests, NULL, NULL);
}
