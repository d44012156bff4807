/* Dialect ctte: docs/dialects.md section 12. Outcomes, counters and indexes are worked out by hand. */
#include "scene.h"

#include <ntrace/index_build.h>

#define START "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\n"

/* 100: add; 104: branch to 10c; 108: add; 10c: branch to 100; 110: jr a5; 114: beq to itself; 118: add; 11c: jr a5 */
static void start(scene *s) {
    scene_start(s, "ctte");
    code(s, 0x100, ADD, branch(8), ADD, branch(-12), JR_A5, branch(0), ADD, JR_A5);
    code(s, 0x200, jal(0, 0), ADD);
}

#define FIRST_TAKEN  "span 100+2/4 taken 10c\n"
#define FIRST_NOT    "span 100+2/4 not-taken 108\n"
#define SECOND_TAKEN "span 10c+1/2 taken 100\n"

/* All counters begin with 1: not taken. */
static void branches_go_as_predicted(void **state) {
    (void)state;
    scene s;
    start(&s);
    s.config.params.branch_predictor = 9;
    /* The first branch is taken (not as predicted): BCNT 0. Then the second one, which was not to be taken either. */
    decodes_to(&s,
               START "BranchPredict BCNT=0\nBranchPredict BCNT=0\nProgTraceCorrelation EVCODE=4 CDF=1 ICNT=8 HIST=1\n",
               "sync 5 100\n" FIRST_TAKEN SECOND_TAKEN "span 100+1/2 cut 104\nstop 4 104\n");
    /* Now both counters are 2: taken. Four branches go as predicted; the next, at 104, does not and its counter is 1.
     */
    decodes_to(&s, START "BranchPredict BCNT=0\nBranchPredict BCNT=0\nBranchPredict BCNT=4\n",
               "sync 5 100\n" FIRST_TAKEN SECOND_TAKEN FIRST_TAKEN SECOND_TAKEN FIRST_TAKEN SECOND_TAKEN FIRST_NOT);
    scene_end(&s);
}

static void branches_without_message_go_as_predicted(void **state) {
    (void)state;
    scene s;
    start(&s);
    s.config.params.branch_predictor = 9;
    /* not taken, not taken, and the jump at 110 */
    decodes_to(&s, START "IndirectBranchHist BTYPE=0 ICNT=10 UADDR=0 HIST=1\n",
               "sync 5 100\n" FIRST_NOT "span 108+2/4 not-taken 110\nspan 110+1/2 indirect-jump 100\n");
    /* HIST is stronger than the prediction, and trains the counter: taken from the second time on */
    decodes_to(&s,
               START "IndirectBranchHist BTYPE=0 ICNT=8 UADDR=0 HIST=2\n" START
                     "IndirectBranchHist BTYPE=0 ICNT=8 UADDR=0 HIST=0x6\n",
               "sync 5 100\n" FIRST_NOT "gap NO_LANDING #2-#3 @4-@8 108 to 100\nsync 5 100\n" FIRST_TAKEN
               "span 10c+1/2 not-taken 110\nspan 110+1/2 indirect-jump 100\n");
    scene_end(&s);
}

/* The halfwords that BranchPredict walked are taken off the next I-CNT; a full I-CNT leaves branches to later messages.
 */
static void counts_of_halfwords_include_predicted_branches(void **state) {
    (void)state;
    scene s;
    start(&s);
    s.config.params.branch_predictor = 9;
    decodes_to(&s,
               START "ResourceFull RCODE=0 RDATA0=4\nBranchPredict BCNT=1\nResourceFull RCODE=0 RDATA0=4\n"
                     "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=10 HIST=1\n",
               "sync 5 100\n" FIRST_NOT "span 108+2/4 taken 100\n" FIRST_NOT
               "span 108+2/4 taken 100\nspan 100+1/2 cut 104\nstop 4 104\n");
    scene_end(&s);
}

/* After a loss the counters of the encoder are unknown, until a start resets both sides. */
static void predictions_are_unknown_after_a_loss(void **state) {
    (void)state;
    scene s;
    start(&s);
    s.config.params.branch_predictor = 9;
    decodes_to(&s,
               START "raw 01 03\nProgTraceSync SYNC=2 ICNT=0 FADDR=0x80\nBranchPredict BCNT=0\n"
                     "ProgTraceSync SYNC=7 ICNT=0 FADDR=0x80\nBranchPredict BCNT=0\n",
               "sync 5 100\ngap MSEO_SEQUENCE #2-#3 @4-@6 100 to 100\nsync 2 100\n"
               "span 100+1/2 cut 104\ngap HIST_SHORT #4-#5 @10-@12 104 to 100\nsync 7 100\n" FIRST_TAKEN);
    /* A BranchPredict without a predictor is an error of the parameters. */
    s.config.params.branch_predictor = 0;
    decodes_to(&s, START "BranchPredict BCNT=0\n", "sync 5 100\ngap FIELD_VALUE #2-#3 @4-@6 100 to ?\n");
    scene_end(&s);
}

/* 0x110 and 0x11c: bits 2 and up are 0x44 and 0x47; slices of 6 bits: 4 ^ 1 = 5, 7 ^ 1 = 6. */
static void targets_come_from_the_cache(void **state) {
    (void)state;
    scene s;
    start(&s);
    s.config.params.jump_cache = 6;
    const char *jump = "span 110+1/2 indirect-jump ";
    char text[400];
    snprintf(text, sizeof text, "sync 5 110\n%s118\nspan 118+2/4 indirect-jump 110\n%s118\nstop 4 118\n", jump, jump);
    /* to 118 (index 6 ^ 1 = 7), to 110 (index 5), and to 118 by the cache */
    decodes_to(&s,
               "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x88\nIndirectBranchHist BTYPE=0 ICNT=2 UADDR=0x4 HIST=1\n"
               "IndirectBranchHist BTYPE=0 ICNT=4 UADDR=0x4 HIST=1\nJumpTargetCache BTYPE=0 ICNT=2 JIDX=7 HIST=1\n"
               "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=0 HIST=1\n",
               text);
    /* An empty entry: lost until the next synchronizing message. So is the whole cache after a start. */
    snprintf(text, sizeof text, "sync 5 110\n%s118\nsync 5 110\ngap FIELD_VALUE #4-#5 @12-@16 110 to ?\n", jump);
    decodes_to(&s,
               "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x88\nIndirectBranchHist BTYPE=0 ICNT=2 UADDR=0x4 HIST=1\n"
               "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x88\nJumpTargetCache BTYPE=0 ICNT=2 JIDX=7 HIST=1\n",
               text);
    /* A trap is not put into the cache. */
    decodes_to(&s,
               "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x88\nIndirectBranchHist BTYPE=2 ICNT=0 UADDR=0x4 HIST=1\n"
               "JumpTargetCache BTYPE=0 ICNT=4 JIDX=7 HIST=1\n",
               "sync 5 110\nspan 110+0/0 exception 118\ngap FIELD_VALUE #3-#4 @8-@12 118 to ?\n");
    scene_end(&s);
}

/* 32-bit streams: the index is made of bits 2 to 25. 0x04000118: bit 26 does not count. */
static void indexes_have_the_width_of_addresses(void **state) {
    (void)state;
    scene s;
    start(&s);
    s.config.params.jump_cache = 6;
    code(&s, 0x04000118, JR_A5);
    const char *text =
        "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x88\nIndirectBranchHist BTYPE=0 ICNT=2 UADDR=0x2000004 HIST=1\n"
        "JumpTargetCache BTYPE=0 ICNT=2 JIDX=7 HIST=1\n";
    const char *found = "sync 5 110\nspan 110+1/2 indirect-jump 4000118\nspan 4000118+1/2 indirect-jump 4000118\n";
    s.config.params.xlen = 32;
    decodes_to(&s, text, found);
    s.config.params.xlen = 64; /* bit 26 is bit 0 of the fifth slice: index 6 */
    decodes_to(&s, text,
               "sync 5 110\nspan 110+1/2 indirect-jump 4000118\ngap FIELD_VALUE #3-#4 @12-@16 4000118 to ?\n");
    scene_end(&s);
}

static void a_branch_to_itself_is_repeated(void **state) {
    (void)state;
    scene s;
    start(&s);
    const char *loop = "span 114+1/2 taken 114\n";
    char text[400];
    /* reached by the jump at 110; executed once within I-CNT and twice more */
    snprintf(text, sizeof text, "sync 5 110\nspan 110+1/2 indirect-jump 114\n%s%s%s", loop, loop, loop);
    decodes_to(&s,
               "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x88\nIndirectBranchHist BTYPE=0 ICNT=2 UADDR=0x2 HIST=1\n"
               "RepeatInstruction RCNT=2 ICNT=2 HIST=3\n",
               text);
    /* The outcome may be left out, and I-CNT may end before the branch. */
    decodes_to(&s,
               "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x88\nIndirectBranchHist BTYPE=0 ICNT=2 UADDR=0x2 HIST=1\n"
               "RepeatInstruction RCNT=2 ICNT=2 HIST=1\n",
               text);
    decodes_to(&s,
               "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x88\nIndirectBranchHist BTYPE=0 ICNT=2 UADDR=0x2 HIST=1\n"
               "RepeatInstruction RCNT=3 ICNT=0 HIST=1\n",
               text);
    /* With F-ADDR: RCNT + 1 more times, the last of which left the loop. */
    snprintf(text, sizeof text, "sync 5 114\n%s%s%sspan 114+1/2 not-taken 118\nsync 2 118\n", loop, loop, loop);
    decodes_to(&s,
               "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x8a\nRepeatInstructionSync SYNC=2 RCNT=2 ICNT=2 FADDR=0x8c HIST=3\n",
               text);
    /* A jump to itself. */
    decodes_to(&s, "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x100\nRepeatInstruction RCNT=1 ICNT=2 HIST=1\n",
               "sync 5 200\nspan 200+1/2 jump 200\nspan 200+1/2 jump 200\n");
    /* Something else. */
    decodes_to(&s, START "RepeatInstruction RCNT=1 ICNT=2 HIST=1\n",
               "sync 5 100\nspan 100+1/2 cut 104\ngap NO_LANDING #2-#3 @4-@8 104 to ?\n");
    scene_end(&s);
}

/* It synchronizes like every message with F-ADDR. */
static void a_repeated_instruction_synchronizes(void **state) {
    (void)state;
    scene s;
    start(&s);
    decodes_to(&s,
               "RepeatInstructionSync SYNC=2 RCNT=2 ICNT=2 FADDR=0x8c HIST=3 TSTAMP=9\n"
               "IndirectBranchHist BTYPE=0 ICNT=4 UADDR=0x4 HIST=1 TSTAMP=1\n",
               "sync 2 118 t9\nspan 118+2/4 indirect-jump 110 t10\n");
    scene_end(&s);
}

static void messages_before_the_start_are_dropped(void **state) {
    (void)state;
    scene s;
    start(&s);
    const char *text = "ResourceFull RCODE=0 RDATA0=4\nIndirectBranchHist BTYPE=0 ICNT=10 UADDR=0 HIST=1\n" START;
    decodes_to(&s, text, "sync 5 100\n");
    s.config.params.dialect = ntr_dialect_find("ntrace-1.0");
    decodes_to(&s, text, "gap NOT_SYNCED #1-#3 @0-@7 ? to 100\nsync 5 100\n");
    scene_end(&s);
}

/* Messages that only carry fields leave the flow as it is. */
static void other_messages_do_not_change_the_flow(void **state) {
    (void)state;
    scene s;
    start(&s);
    decodes_to(
        &s,
        "raw 04 E0 64 14 34 4B\n" START "raw E8 C4 FC FC FC 3D C4 00 A0 89 D1 18 09 04 A1 58 08 07\n"
        "raw 1C F0 A8 20 78 9C 64 54 44 D0 30 88 10 07\nraw 20 87\nraw 3C 04 00 23\n"
        "IndirectBranchHist BTYPE=0 ICNT=8 UADDR=0 HIST=0x6\n",
        "vendor 1\nsync 5 100\nvendor 58\ndata 2748 1122334455667788/0\noverflow 1 2\nwatchpoint 8001\n" FIRST_TAKEN
        "span 10c+1/2 not-taken 110\nspan 110+1/2 indirect-jump 100\n");
    scene_end(&s);
}

/* Elements of 64 bits beyond the first one. */
static void long_data_is_whole(void **state) {
    (void)state;
    scene s;
    ntr_event e[4];
    size_t count;
    start(&s);
    stream in = {.size = 0};
    assemble(&in, &s.config.params,
             "raw 1C 14 00 00 00 04 00 00 08 00 00 00 00 00 F0 3C 00 00 80 00 00 00 00 00 73\n"
             "raw 14 00 85 40 20 0C 54 D8 84 A4 B8 70 EC 7F\n");
    ntr_decoder *d;
    ntr_decoder_new(&s.config, &d);
    assert_int_equal(ntr_decoder_feed(d, in.bytes, in.size, true), NTR_OK);
    assert_int_equal(ntr_decoder_read(d, e, 4, &count), NTR_END);
    assert_int_equal(count, 2);
    assert_int_equal(e[0].kind, NTR_EVENT_DATA);
    assert_int_equal(e[0].tag, 5);
    assert_int_equal(e[0].data, 0x80001000);
    assert_int_equal(e[0].data_more[0], 0x80000ff0);
    assert_int_equal(e[0].data_more[1], 7);
    assert_int_equal(e[1].kind, NTR_EVENT_ACCESS);
    assert_int_equal(e[1].data, 0xfedcba9876543210);
    assert_int_equal(e[1].data_more[0], 1);
    assert_int_equal(e[1].data_more[1], 0);
    ntr_decoder_free(d);
    scene_end(&s);
}

/* A window begins only where both sides start with empty tables. */
static void index_points_are_where_the_tables_are_known(void **state) {
    (void)state;
    scene s;
    start(&s);
    s.config.params.branch_predictor = 9;
    stream in = {.size = 0};
    assemble(&in, &s.config.params,
             START "ProgTraceSync SYNC=2 ICNT=0 FADDR=0x80\nProgTraceSync SYNC=7 ICNT=0 FADDR=0x80\n");
    for (unsigned bits = 0; bits <= 9; bits += 9) {
        s.config.params.branch_predictor = (uint8_t)bits;
        ntr_index *index;
        ntr_index_new(&s.config.params, 0, NULL, &index);
        ntr_reader reader;
        ntr_message m;
        size_t count;
        assert_int_equal(ntr_reader_init(&reader, &s.config.params), NTR_OK);
        assert_int_equal(ntr_reader_feed(&reader, in.bytes, in.size, true), NTR_OK);
        while (ntr_reader_next(&reader, &m) == NTR_OK) assert_int_equal(ntr_index_message(index, &m), NTR_OK);
        assert_int_equal(ntr_index_finish(index), NTR_OK);
        ntr_index_points(index, &count);
        assert_int_equal(count, bits ? 2 : 3);
        ntr_index_free(index);
    }
    scene_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(branches_go_as_predicted),
        TEST(branches_without_message_go_as_predicted),
        TEST(counts_of_halfwords_include_predicted_branches),
        TEST(predictions_are_unknown_after_a_loss),
        TEST(targets_come_from_the_cache),
        TEST(indexes_have_the_width_of_addresses),
        TEST(a_branch_to_itself_is_repeated),
        TEST(a_repeated_instruction_synchronizes),
        TEST(messages_before_the_start_are_dropped),
        TEST(other_messages_do_not_change_the_flow),
        TEST(long_data_is_whole),
        TEST(index_points_are_where_the_tables_are_known),
    };
    return cmocka_run_group_tests_name("ctte", tests, NULL, NULL);
}
