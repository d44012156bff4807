/* Differences of older silicon: docs/dialects.md, with its byte vectors. */
#include "scene.h"

#define START "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\n"

static void runs_of_outcomes(void **state) {
    (void)state;
    scene s;
    scene_start(&s, "sifive-pre1.0");
    code(&s, 0x100, ADD, branch(-4), C_NOP);
    code(&s, 0x10a, branch(8), JR_A5, branch(-8), C_NOP);
    decodes_to(&s, START "ResourceFull RCODE=9 RDATA0=2\nResourceFull RCODE=8 RDATA0=1\n",
               "sync 3 100\nspan 100+2/4 taken 100\nspan 100+2/4 taken 100\nspan 100+2/4 not-taken 108\n");
    decodes_to(
        &s, START "ResourceFull RCODE=8 RDATA0=2\nResourceFull RCODE=9 RDATA0=0\n",
        "sync 3 100\nspan 100+2/4 not-taken 108\nspan 108+2/3 not-taken 10e\ngap FIELD_VALUE #3-#4 @6-@8 10e to ?\n");
    /* Unknown in N-Trace 1.0. */
    s.config.params.dialect = NULL;
    decodes_to(&s, START "ResourceFull RCODE=8 RDATA0=2\n", "sync 3 100\ngap FIELD_VALUE #2-#3 @4-@6 100 to ?\n");
    scene_end(&s);
}

static void long_runs_of_outcomes(void **state) {
    (void)state;
    scene s;
    scene_start(&s, "sifive-pre1.0");
    code(&s, 0x100, ADD, branch(-4), ADD);
    for (unsigned n = 1; n < 300; n += 7) {
        stream in = {.size = 0};
        char text[128];
        snprintf(text, sizeof text, START "ResourceFull RCODE=9 RDATA0=%u\n", n);
        assemble(&in, &s.config.params, text);
        ntr_decoder *d;
        ntr_decoder_new(&s.config, &d);
        ntr_counts counts = {0};
        ntr_decoder_feed(d, in.bytes, in.size, true);
        assert_int_equal(ntr_decoder_count(d, &counts), NTR_END);
        assert_int_equal(counts.taken, n);
        assert_int_equal(counts.halfwords, 4 * n);
        ntr_decoder_free(d);
    }
    scene_end(&s);
}

static void exclusive_or_times(void **state) {
    (void)state;
    scene s;
    scene_start(&s, "sifive-pre1.0");
    s.config.params.xlen = 32;
    decodes_to(&s,
               "raw 24 0D 70 10 00 20 81 6C 58 3C 13\nraw 84 00 05 E3\nraw 24 0D 74 10 00 20 81 90 58 3C 13\n"
               "raw 6C 40 21 78 2C 7F\nraw 6C 00 21 78 0F\n",
               "sync 3 40400238 t1111451\nblind 40400238+1 cut ? t1111459\n"
               "gap NO_IMAGE #2-#2 @11-@11 40400238 to ? t1111459\nstop 0 ? t1111459\nsync 3 4040023a t1111460\n"
               "gap NO_IMAGE #4-#6 @26-@37 4040023a to ? t1116068\n");
    scene_end(&s);
}

static void data_acquisition(void **state) {
    (void)state;
    scene s;
    scene_start(&s, "sifive-pre1.0");
    decodes_to(&s, "raw 1C 01 20 54 18 6C B0 07\nraw 1C 09 84 A3\nraw 1C 0D 2B\nAuxAccessWrite IDTAG=0 DQDATA=0x41\n",
               "data 0 6c6c6548/4\ndata 2 a21/2\ndata 3 a/1\ndata 0 41/4\n");
    s.config.params.dialect = NULL;
    decodes_to(&s, "raw 1C 0D 2B\n", "vendor 7\ngap NO_SYNC #1-#2 @0-@3 ? to ?\n");
    scene_end(&s);
}

static void in_circuit_trace_moves_the_reference(void **state) {
    (void)state;
    scene s;
    scene_start(&s, "sifive-pre1.0");
    s.config.params.xlen = 32;
    decodes_to(
        &s,
        "raw 8C 40 14 38 00 20 81 0B\nraw 88 24 4B\nraw 88 64 C9 F7\nraw 88 78 49 03\nraw 88 70 1C 14 00 1D 03\nraw 88 3C 2B\n",
        "ict 0 4040070a 2\nict 9 4040072e 0\nict 9 4040074a 40400730\nict 14 40400714 0\nict 12 ? 0\nict 15 40400700 0\n");
    scene_end(&s);
}

static void addresses_have_48_bits(void **state) {
    (void)state;
    scene s;
    scene_start(&s, "p550");
    decodes_to(&s, "raw 74 20 41 AC E4 54 00 00 FC FC FD 0B\n", "sync 2 ffffffff8002bcd6\n");
    decodes_to(&s, "raw 24 50 01 A0 B8 A0 FC 0C AC A8 2B\nraw 08 20 08 5F\nraw 08 33\n",
               "sync 5 555587fd1750\ncontext 2 v0 prv0 s737 h0\ncontext 3 v0 prv0 s737 h0\n");
    scene_end(&s);
}

static void direct_branches_may_end_on_jumps(void **state) {
    (void)state;
    scene s;
    scene_start(&s, "sifive-pre1.0");
    code(&s, 0x100, ADD, jal(0, 0xfc));
    code(&s, 0x200, ADD, jal(1, -0x104));
    decodes_to(&s, START "DirectBranch ICNT=4\nDirectBranch ICNT=4\n",
               "sync 3 100\nspan 100+2/4 jump 200\nspan 200+2/4 call 100\n");
    s.config.params.dialect = NULL;
    decodes_to(&s, START "DirectBranch ICNT=4\n", "sync 3 100\ngap NO_LANDING #2-#3 @4-@6 100 to ?\n");
    s.config.params.all_jumps = true;
    decodes_to(&s, START "DirectBranch ICNT=4\nDirectBranch ICNT=4\n",
               "sync 3 100\nspan 100+2/4 jump 200\nspan 200+2/4 call 100\n");
    /* HTM: one outcome for each branch. */
    decodes_to(&s, START "ResourceFull RCODE=1 RDATA0=0x7\n",
               "sync 3 100\nspan 100+2/4 jump 200\nspan 200+2/4 call 100\n");
    scene_end(&s);
}

static void jumps_to_the_next_instruction_are_silent(void **state) {
    (void)state;
    scene s;
    scene_start(&s, "sifive-pre1.0");
    code(&s, 0x100, ADD, JR_A5, ADD, branch(-4));
    decodes_to(&s, START "DirectBranch ICNT=8\n",
               "sync 3 100\nspan 100+2/4 indirect-jump 108 implicit\nspan 108+2/4 taken 108\n");
    scene_end(&s);
}

static void outcomes_may_be_missing_at_a_sync(void **state) {
    (void)state;
    scene s;
    scene_start(&s, "sifive-pre1.0");
    code(&s, 0x100, ADD, branch(-4), ADD, branch(-4));
    decodes_to(&s, START "IndirectBranchHistSync SYNC=2 BTYPE=0 ICNT=8 FADDR=0x84 HIST=0x2\n",
               "sync 3 100\nspan 100+2/4 not-taken 108\nspan 108+2/4 taken 108\n"
               "sync 2 108\n");
    scene_end(&s);
}

static void history_is_never_guessed(void **state) {
    (void)state;
    scene s;
    scene_start(&s, "sifive-pre1.0");
    code(&s, 0x100, ADD, branch(-4), ADD, branch(-4), ADD);
    decodes_to(
        &s, START "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=10 HIST=0x2\n",
        "sync 3 100\nspan 100+2/4 not-taken 108\nspan 108+1/2 cut 10c\ngap HIST_SHORT #2-#2 @4-@4 10c to ?\nstop 4 ?\n");
    scene_end(&s);
}

static void zeros_between_messages_are_idle(void **state) {
    (void)state;
    scene s;
    scene_start(&s, "sifive-pre1.0");
    code(&s, 0x100, ADD, ADD);
    decodes_to(&s, "raw 00 00\n" START "raw 00\nProgTraceCorrelation EVCODE=8 CDF=0 ICNT=2\n",
               "sync 3 100\nspan 100+1/2 cut 104\nstop 8 104\n");
    scene_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(runs_of_outcomes),
        TEST(long_runs_of_outcomes),
        TEST(exclusive_or_times),
        TEST(data_acquisition),
        TEST(in_circuit_trace_moves_the_reference),
        TEST(addresses_have_48_bits),
        TEST(direct_branches_may_end_on_jumps),
        TEST(jumps_to_the_next_instruction_are_silent),
        TEST(outcomes_may_be_missing_at_a_sync),
        TEST(history_is_never_guessed),
        TEST(zeros_between_messages_are_idle),
    };
    return cmocka_run_group_tests_name("dialects", tests, NULL, NULL);
}
