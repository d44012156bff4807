/* Differences of other producers: docs/dialects.md sections 6 to 9, with their byte vectors. */
#include "scene.h"

#define START "ProgTraceSync SRC=0 SYNC=1 ICNT=0 FADDR=0x80\n"

/* 0x100 and 0x140 jump to each other, as in the vectors of section 6.4. */
static void pingpong(scene *s, const char *dialect) {
    scene_start(s, dialect);
    s->config.params.src_bits = 4;
    code(s, 0x100, C_ADD, JR_A5);
    code(s, 0x140, C_ADD, JR_A5);
}

static void repeated_branches_apply_u_addr_again(void **state) {
    (void)state;
    scene s;
    pingpong(&s, "tt-dfd");
    const char *text = START "IndirectBranchHist SRC=0 BTYPE=0 ICNT=3 UADDR=0x20 HIST=1\nRepeatBranch SRC=0 BCNT=2\n"
                             "IndirectBranchHist SRC=0 BTYPE=0 ICNT=3 UADDR=0x20 HIST=1\n";
    decodes_to(&s, text,
               "sync 1 100\nspan 100+2/3 indirect-jump 140\nspan 140+2/3 indirect-jump 100\n"
               "span 100+2/3 indirect-jump 140\nspan 140+2/3 indirect-jump 100\n");
    /* N-Trace 1.0: the same target each time (OQ-1). */
    s.config.params.dialect = ntr_dialect_find("ntrace-1.0");
    decodes_to(&s, text,
               "sync 1 100\nspan 100+2/3 indirect-jump 140\nspan 140+2/3 indirect-jump 140\n"
               "span 140+2/3 indirect-jump 140\nspan 140+2/3 indirect-jump 100\n");
    scene_end(&s);
}

static void several_repeats_continue_each_other(void **state) {
    (void)state;
    scene s;
    pingpong(&s, "tt-dfd");
    decodes_to(&s,
               START "IndirectBranchHist SRC=0 BTYPE=0 ICNT=3 UADDR=0x20 HIST=1\nRepeatBranch SRC=0 BCNT=1\n"
                     "RepeatBranch SRC=0 BCNT=1\n",
               "sync 1 100\nspan 100+2/3 indirect-jump 140\nspan 140+2/3 indirect-jump 100\n"
               "span 100+2/3 indirect-jump 140\n");
    scene_end(&s);
}

static void bytes_that_end_a_message_are_idle_between_messages(void **state) {
    (void)state;
    scene s;
    pingpong(&s, "tt-dfd");
    const char *text =
        "raw 03 FF 03\n" START "raw 03 03\nIndirectBranchHist SRC=0 BTYPE=0 ICNT=3 UADDR=0x20 HIST=1\nraw 03\n";
    decodes_to(&s, text, "sync 1 100\nspan 100+2/3 indirect-jump 140\n");
    s.config.params.dialect = ntr_dialect_find("ntrace-1.0");
    decodes_to(&s, START "raw 03\n", "sync 1 100\ngap IDLE #2-#3 @5-@6 100 to ?\n");
    scene_end(&s);
}

static void an_empty_field_is_zero(void **state) {
    (void)state;
    scene s;
    pingpong(&s, "tt-dfd");
    /* U-ADDR=0x27B: 0x100 ^ 0x4F6 */
    decodes_to(&s, START "raw 70 81 EC 25 07\n", "sync 1 100\nspan 100+0/0 exception 5f6\n");
    s.config.params.dialect = ntr_dialect_find("ntrace-1.0");
    decodes_to(&s, START "raw 70 81 EC 25 07\n", "sync 1 100\ngap FIELD_SPLIT #2-#3 @5-@10 100 to ?\n");
    scene_end(&s);
}

/* Stopped while an Error waited for its resync (84 00 19 07); then switched off once more, where nothing is traced. */
static void stops_may_come_alone(void **state) {
    (void)state;
    scene s;
    pingpong(&s, "tt-dfd");
    decodes_to(&s, "ProgTraceSync SRC=0 SYNC=1 ICNT=0 FADDR=0x80\nraw 84 00 19 07 84 00 15 07\n",
               "sync 1 100\nstop 8 100\nstop 4 ?\n");
    scene_end(&s);
}

static void format_0_carries_a_context(void **state) {
    (void)state;
    scene s;
    pingpong(&s, "tt-dfd");
    decodes_to(&s, "raw 08 00 2C 0B\n", "context 0 v0 prv3 s17 h0\ngap NO_SYNC #1-#2 @0-@4 ? to ?\n");
    decodes_to(&s, "Ownership SRC=0 PROCESS=0x34\n",
               "context 0 v1 prv1 s1 h0\ngap NO_SYNC #1-#2 @0-@3 ? to ?\n"); /* VS */
    decodes_to(&s, "Ownership SRC=0 PROCESS=0x238\nOwnership SRC=0 PROCESS=0x23c\n", /* 6 debug, 7 firmware mode */
               "context 0 v1 prv2 s17 h0\ncontext 0 v1 prv3 s17 h0\ngap NO_SYNC #1-#3 @0-@8 ? to ?\n");
    s.config.params.context0 = NTR_CONTEXT0_HCONTEXT;
    decodes_to(&s, "raw 08 00 2C 0B\n", "context 0 v0 prv3 s0 h17\ngap NO_SYNC #1-#2 @0-@4 ? to ?\n");
    s.config.params.context0 = NTR_CONTEXT0_NONE;
    decodes_to(&s, "raw 08 00 2C 0B\n", "context 0 v0 prv3 s0 h0\ngap NO_SYNC #1-#2 @0-@4 ? to ?\n");
    scene_end(&s);
}

static void traps_have_values(void **state) {
    (void)state;
    scene s;
    pingpong(&s, "tt-dfd");
    decodes_to(&s, "raw E0 00 03\nTrapValue SRC=9 VTYPE=0 TVAL=0x80001234 TSTAMP=77\n",
               "trap-value 0 0\ntrap-value 0 80001234 src9 t77\n");
    decodes_to(&s, "TrapValue SRC=0 VTYPE=1 TVAL=0x44\n", "trap-value 1 44\n"); /* another kind is unknown */
    s.config.params.dialect = ntr_dialect_find("ntrace-1.0");
    decodes_to(&s, "raw E0 00 03\n", "vendor 56\ngap NO_SYNC #1-#2 @0-@3 ? to ?\n");
    scene_end(&s);
}

static void every_time_is_absolute(void **state) {
    (void)state;
    scene s;
    pingpong(&s, "tt-dfd");
    const char *text = "ProgTraceSync SRC=0 SYNC=1 ICNT=0 FADDR=0x80\nOwnership SRC=0 PROCESS=0xc TSTAMP=4105\n"
                       "Ownership SRC=0 PROCESS=0xc\nOwnership SRC=0 PROCESS=0xc TSTAMP=4104\n"
                       "ProgTraceSync SRC=0 SYNC=2 ICNT=0 FADDR=0x80\n";
    decodes_to(&s, text,
               "sync 1 100\ncontext 0 v0 prv3 s0 h0 t4105\ncontext 0 v0 prv3 s0 h0 t4105\n"
               "context 0 v0 prv3 s0 h0 t4104\nsync 2 100 t4104\n");
    s.config.params.ts_width = 8; /* a step back is no wrap */
    decodes_to(&s, text,
               "sync 1 100\ncontext 0 v0 prv3 s0 h0 t4105\ncontext 0 v0 prv3 s0 h0 t4105\n"
               "context 0 v0 prv3 s0 h0 t4104\nsync 2 100 t4104\n");
    scene_end(&s);
}

static void the_rule_of_times_can_be_given(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    const char *text = "ProgTraceSync SYNC=1 ICNT=0 FADDR=0x80 TSTAMP=12\nOwnership PROCESS=0xc TSTAMP=5\n";
    decodes_to(&s, text, "sync 1 100 t12\ncontext 0 v0 prv3 s0 h0 t17\n");
    s.config.params.ts_rule = NTR_TS_RULE_XOR;
    decodes_to(&s, text, "sync 1 100 t12\ncontext 0 v0 prv3 s0 h0 t9\n");
    s.config.params.ts_rule = NTR_TS_RULE_ABSOLUTE;
    decodes_to(&s, text, "sync 1 100 t12\ncontext 0 v0 prv3 s0 h0 t5\n");
    s.config.params.dialect = ntr_dialect_find("tt-dfd");
    s.config.params.ts_rule = NTR_TS_RULE_DIFFERENCE;
    decodes_to(&s, text, "sync 1 100 t12\ncontext 0 v0 prv3 s0 h0 t17\n");
    scene_end(&s);
}

/* The encoder switches off before it knows where the jump goes: U-ADDR is 0, and the place is not known. */
static void a_stop_after_a_jump_hides_its_target(void **state) {
    (void)state;
    scene s;
    pingpong(&s, "tt-dfd");
    decodes_to(&s, START "IndirectBranchHist SRC=0 BTYPE=0 ICNT=3 UADDR=0 HIST=1\nraw 84 00 15 07\n",
               "sync 1 100\nspan 100+2/3 indirect-jump 100\nstop 4 ?\n");
    decodes_to(&s, START "IndirectBranchHist SRC=0 BTYPE=0 ICNT=3 UADDR=0x20 HIST=1\nraw 84 00 15 07\n",
               "sync 1 100\nspan 100+2/3 indirect-jump 140\nstop 4 140\n");
    decodes_to(&s,
               START "IndirectBranchHist SRC=0 BTYPE=0 ICNT=3 UADDR=0 HIST=1\n"
                     "ProgTraceCorrelation SRC=0 EVCODE=4 CDF=1 ICNT=1 HIST=1\n",
               "sync 1 100\nspan 100+2/3 indirect-jump 100\nspan 100+1/1 cut 102\nstop 4 102\n");
    s.config.params.dialect = ntr_dialect_find("ntrace-1.0");
    decodes_to(&s, START "IndirectBranchHist SRC=0 BTYPE=0 ICNT=3 UADDR=0 HIST=1\nraw 84 00 15 07\n",
               "sync 1 100\nspan 100+2/3 indirect-jump 100\nstop 4 100\n");
    scene_end(&s);
}

static void full_addresses_are_no_differences(void **state) {
    (void)state;
    scene s;
    pingpong(&s, "andes");
    s.config.params.src_bits = 6;
    s.config.params.no_addr_diff = true;
    decodes_to(
        &s,
        START
        "IndirectBranchHist SRC=0 BTYPE=0 ICNT=3 UADDR=0xa0 HIST=1\nIndirectBranch SRC=0 BTYPE=0 ICNT=3 UADDR=0xa0\n",
        "sync 1 100\nspan 100+2/3 indirect-jump 140\nspan 140+2/3 indirect-jump 140\n");
    scene_end(&s);
}

static void addresses_are_extended_from_their_width(void **state) {
    (void)state;
    scene s;
    scene_start(&s, "andes");
    s.config.params.addr_bits = 39;
    decodes_to(&s, "ProgTraceSync SYNC=1 ICNT=0 FADDR=0x2000000080\n", "sync 1 ffffffc000000100\n");
    decodes_to(&s, "ProgTraceSync SYNC=1 ICNT=0 FADDR=0x7FFFFFE000000080\n", "sync 1 ffffffc000000100\n");
    decodes_to(&s, "ProgTraceSync SYNC=1 ICNT=0 FADDR=0x1000000080\n", "sync 1 2000000100\n");
    s.config.params.addr_bits = 0;
    decodes_to(&s, "ProgTraceSync SYNC=1 ICNT=0 FADDR=0x2000000080\n", "sync 1 4000000100\n");
    scene_end(&s);
}

/* EVCODE 5, 8 and 15 are stops; a synchronizing message follows. Bytes: docs/dialects.md section 7, SRC of 6 bits. */
static void changes_of_process_and_privilege_are_stops(void **state) {
    (void)state;
    static const struct {
        unsigned evcode;
        const char *bytes;
    } stops[] = {{5, "raw 84 00 54 05 07\n"}, {8, "raw 84 00 60 05 07\n"}, {15, "raw 84 00 7C 05 07\n"}};
    scene s;
    pingpong(&s, "andes");
    s.config.params.src_bits = 6;
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        char text[256], want[256];
        snprintf(text, sizeof text, START "%sProgTraceSync SRC=0 SYNC=5 ICNT=0 FADDR=0xa0\n", stops[i].bytes);
        snprintf(want, sizeof want, "sync 1 100\nspan 100+1/1 cut 102\nstop %u 102\nsync 5 140\n", stops[i].evcode);
        decodes_to(&s, text, want);
    }
    scene_end(&s);
}

/* LUI and a jump: this encoder sends the address of every JALR. A reader that infers the target takes the address, too.
 */
static void jumps_that_could_be_inferred_have_messages(void **state) {
    (void)state;
    scene s;
    for (unsigned inferred = 0; inferred < 2; inferred++) {
        scene_start(&s, "microblaze-v");
        s.config.params.sequential_jump = inferred;
        code(&s, 0x100, LUI_A5(0x1000), JR_A5_PLUS(0x10), ADD);
        code(&s, 0x1010, ADD, ADD);
        decodes_to(&s,
                   "ProgTraceSync SRC=0 SYNC=1 ICNT=0 FADDR=0x80\nIndirectBranch SRC=0 BTYPE=0 ICNT=4 UADDR=0x888\n"
                   "ProgTraceCorrelation SRC=0 EVCODE=4 CDF=0 ICNT=2\n",
                   "sync 1 100\nspan 100+2/4 indirect-jump 1010\nspan 1010+1/2 cut 1014\nstop 4 1014\n");
        scene_end(&s);
    }
}

static void times_of_a_fixed_width_must_have_it(void **state) {
    (void)state;
    scene s;
    scene_start(&s, "xuantie");
    s.config.params.ts_width = 16;
    s.config.params.ts_fixed = true;
    decodes_to(&s, "ProgTraceSync SYNC=1 ICNT=0 FADDR=0x80 TSTAMP=5\n", "sync 1 100 t5\n");
    decodes_to(&s, "raw 24 05 00 09 14 00 03\n", "sync 1 100 t5\n"); /* 18 bits */
    decodes_to(&s, "raw 24 05 00 09 17\n", "gap FIELD_SPLIT #1-#2 @0-@5 ? to ?\n");
    s.config.params.ts_fixed = false;
    decodes_to(&s, "raw 24 05 00 09 14 00 03\nraw 24 05 00 09 17\n", "sync 1 100 t5\nsync 1 100 t5\n");
    scene_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(repeated_branches_apply_u_addr_again),
        TEST(several_repeats_continue_each_other),
        TEST(bytes_that_end_a_message_are_idle_between_messages),
        TEST(an_empty_field_is_zero),
        TEST(stops_may_come_alone),
        TEST(format_0_carries_a_context),
        TEST(traps_have_values),
        TEST(every_time_is_absolute),
        TEST(the_rule_of_times_can_be_given),
        TEST(a_stop_after_a_jump_hides_its_target),
        TEST(full_addresses_are_no_differences),
        TEST(addresses_are_extended_from_their_width),
        TEST(changes_of_process_and_privilege_are_stops),
        TEST(jumps_that_could_be_inferred_have_messages),
        TEST(times_of_a_fixed_width_must_have_it),
    };
    return cmocka_run_group_tests_name("producers", tests, NULL, NULL);
}
