/* Corner cases of flow: section 10, and the open questions about walk ends, history and repeats. */
#include "scene.h"

#define START "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\n"

/* ---- section 10 */

static void jumps_directly_after_jumps(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, JR_A5);
    code(&s, 0x200, C_RET);
    code(&s, 0x300, RET);
    decodes_to(&s,
               START "IndirectBranch BTYPE=0 ICNT=4 UADDR=0x180\nIndirectBranch BTYPE=0 ICNT=1 UADDR=0x80\n"
                     "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x100\n",
               "sync 3 100\nspan 100+2/4 indirect-jump 200\nspan 200+1/1 return 300\nspan 300+1/2 return 100\n");
    scene_end(&s);
}

static void traps_directly_after_traps(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, MRET);
    code(&s, 0x200, ADD, MRET);
    /* At the first traced instruction, at the first one of the handler, and directly after the return. */
    decodes_to(&s,
               START "IndirectBranch BTYPE=3 ICNT=0 UADDR=0x180\nIndirectBranch BTYPE=2 ICNT=0 UADDR=0x0\n"
                     "IndirectBranch BTYPE=0 ICNT=4 UADDR=0x180\nIndirectBranch BTYPE=3 ICNT=0 UADDR=0x180\n",
               "sync 3 100\nspan 100+0/0 interrupt 200\nspan 200+0/0 exception 200\nspan 200+2/4 trap-return 100\n"
               "span 100+0/0 interrupt 200\n");
    scene_end(&s);
}

static void traps_after_branches_end_two_spans(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(0x40), ADD, jal(0, -12), ADD);
    decodes_to(&s, START "IndirectBranchHist BTYPE=3 ICNT=4 UADDR=0x180 HIST=0x3\n",
               "sync 3 100\nspan 100+2/4 taken 144\nspan 144+0/0 interrupt 200\n");
    decodes_to(&s, START "IndirectBranchHist BTYPE=3 ICNT=8 UADDR=0x180 HIST=0x2\n",
               "sync 3 100\nspan 100+2/4 not-taken 108\nspan 108+2/4 jump 100\nspan 100+0/0 interrupt 200\n");
    scene_end(&s);
}

static void stops_come_in_pairs(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, ADD);
    decodes_to(&s,
               "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=0\n" START "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=2\n"
               "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=0\nProgTraceSync SYNC=5 ICNT=0 FADDR=0x82\n",
               "stop 4 ?\nsync 3 100\nspan 100+1/2 cut 104\nstop 0 104\nstop 4 ?\nsync 5 104\n");
    scene_end(&s);
}

/* ---- synchronizing messages during a walk */

/* NT-174, NT-175, NT-178 */
static void syncs_on_linear_code_are_no_jumps(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(0x40), ADD, ADD);
    const char *events = "sync 3 100\nspan 100+1/2 cut 104\nsync 6 104\n";
    decodes_to(&s, START "ProgTraceSync SYNC=6 ICNT=2 FADDR=0x82\n", events);
    decodes_to(&s, START "DirectBranchSync SYNC=6 ICNT=2 FADDR=0x82\n", events);
    decodes_to(&s, START "IndirectBranchSync SYNC=6 BTYPE=0 ICNT=2 FADDR=0x82\n", events);
    decodes_to(&s, START "IndirectBranchHistSync SYNC=6 BTYPE=0 ICNT=2 FADDR=0x82 HIST=0x1\n", events);
    decodes_to(&s, START "IndirectBranchHistSync SYNC=2 BTYPE=0 ICNT=4 FADDR=0x84 HIST=0x2\n",
               "sync 3 100\nspan 100+2/4 not-taken 108\nsync 2 108\n");
    scene_end(&s);
}

/* A branch without history bit at a synchronizing message: F-ADDR shows whether it was taken (OQ-24). */
static void sync_addresses_show_outcomes(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(0x40), ADD);
    decodes_to(&s, START "DirectBranchSync SYNC=2 ICNT=4 FADDR=0xa2\n",
               "sync 3 100\nspan 100+2/4 taken 144\nsync 2 144\n");
    decodes_to(&s, START "DirectBranchSync SYNC=2 ICNT=4 FADDR=0x84\n",
               "sync 3 100\nspan 100+2/4 not-taken 108\nsync 2 108\n");
    decodes_to(&s, START "DirectBranchSync SYNC=2 ICNT=4 FADDR=0x200\n",
               "sync 3 100\nspan 100+2/4 not-taken 108\ngap ADDRESS_MISMATCH #2-#2 @4-@4 108 to 400\nsync 2 400\n");
    scene_end(&s);
}

static void syncs_that_restart_may_be_anywhere(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, ADD);
    decodes_to(&s, START "ProgTraceSync SYNC=1 ICNT=2 FADDR=0x80\n", "sync 3 100\nspan 100+1/2 cut 104\nsync 1 100\n");
    scene_end(&s);
}

static void indirect_jumps_may_end_in_syncs(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, JR_A5);
    decodes_to(&s, START "IndirectBranchSync SYNC=2 BTYPE=0 ICNT=4 FADDR=0x100\n",
               "sync 3 100\nspan 100+2/4 indirect-jump 200\nsync 2 200\n");
    decodes_to(&s, START "IndirectBranchSync SYNC=2 BTYPE=2 ICNT=2 FADDR=0x100\n",
               "sync 3 100\nspan 100+1/2 exception 200\nsync 2 200\n");
    scene_end(&s);
}

/* ---- history */

/* NT-225 */
static void history_and_count_come_in_any_order(void **state) {
    (void)state;
    static const char *const streams[] = {
        START
        "ResourceFull RCODE=0 RDATA0=8\nResourceFull RCODE=1 RDATA0=0x7\nIndirectBranchHist BTYPE=0 ICNT=6 UADDR=0x0 HIST=0x2\n",
        START
        "ResourceFull RCODE=1 RDATA0=0x7\nResourceFull RCODE=0 RDATA0=8\nIndirectBranchHist BTYPE=0 ICNT=6 UADDR=0x0 HIST=0x2\n",
        START
        "ResourceFull RCODE=1 RDATA0=0x3\nResourceFull RCODE=0 RDATA0=12\nResourceFull RCODE=1 RDATA0=0x6\nIndirectBranch BTYPE=0 ICNT=2 UADDR=0x0\n",
        START "IndirectBranchHist BTYPE=0 ICNT=14 UADDR=0x0 HIST=0xe\n",
    };
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(-4), JR_A5);
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++)
        decodes_to(&s, streams[i],
                   "sync 3 100\nspan 100+2/4 taken 100\nspan 100+2/4 taken 100\nspan 100+2/4 not-taken 108\n"
                   "span 108+1/2 indirect-jump 100\n");
    scene_end(&s);
}

static void counts_alone_lead_to_the_next_branch(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, jal(0, 0x40), ADD);
    code(&s, 0x144, ADD, ADD, branch(-4), ADD);
    decodes_to(&s, START "ResourceFull RCODE=0 RDATA0=20\n",
               "sync 3 100\nspan 100+2/4 jump 144\nspan 144+2/4 cut 14c\n");
    decodes_to(&s, START "ResourceFull RCODE=0 RDATA0=6\n",
               "sync 3 100\nspan 100+2/4 jump 144\nspan 144+1/2 cut 148\n");
    scene_end(&s);
}

/* I-CNT that leads further than the history (OQ-9). */
static void branches_beyond_the_history_are_not_taken(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(-4), ADD, branch(-4), JR_A5);
    decodes_to(
        &s, START "IndirectBranchHist BTYPE=0 ICNT=10 UADDR=0x0 HIST=0x2\n",
        "sync 3 100\nspan 100+2/4 not-taken 108\nspan 108+2/4 not-taken 110\nspan 110+1/2 indirect-jump 100\nnote HIST_SHORT\n");
    scene_end(&s);
}

/* A branch without outcome is noted only in HTM. The trace mode follows from messages, including those inside a gap,
 * but not from ResourceFull with RCODE 0, and not from messages before a stop. */
static void messages_show_the_mode(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(-4), JR_A5);
    const char *behind = "IndirectBranch BTYPE=0 ICNT=6 UADDR=0x0\n";
    const char *ran = "span 100+2/4 not-taken 108\nspan 108+1/2 indirect-jump 100\n";
    const struct {
        const char *before, *expected, *note;
    } scenes[] = {
        {START, "sync 3 100\n", ""},
        {START "ResourceFull RCODE=0 RDATA0=0\n", "sync 3 100\n", ""},
        {START "DirectBranch ICNT=4\n", "sync 3 100\nspan 100+2/4 taken 100\n", ""},
        {START "IndirectBranchHist BTYPE=0 ICNT=6 UADDR=0x0 HIST=0x2\n",
         "sync 3 100\nspan 100+2/4 not-taken 108\nspan 108+1/2 indirect-jump 100\n", "note HIST_SHORT\n"},
        {START "raw 02 03\nIndirectBranchHist BTYPE=0 ICNT=10 UADDR=0x0 HIST=0x2\n" START,
         "sync 3 100\ngap MSEO_RESERVED #2-#4 @4-@10 100 to 100\nsync 3 100\n", "note HIST_SHORT\n"},
        {START "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=4 HIST=0x3\n" START,
         "sync 3 100\nspan 100+2/4 taken 100\nstop 4 100\nsync 3 100\n", ""},
    };
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        char messages[800], expected[800];
        snprintf(messages, sizeof messages, "%s%s", scenes[i].before, behind);
        snprintf(expected, sizeof expected, "%s%s%s", scenes[i].expected, ran, scenes[i].note);
        decodes_to(&s, messages, expected);
    }
    scene_end(&s);
}

static void history_that_is_left_is_a_gap(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(-4), JR_A5);
    decodes_to(&s, START "IndirectBranchHist BTYPE=0 ICNT=6 UADDR=0x0 HIST=0x4\n",
               "sync 3 100\nspan 100+2/4 not-taken 108\ngap HIST_LEFT #2-#3 @4-@8 108 to ?\n");
    decodes_to(&s, START "ResourceFull RCODE=1 RDATA0=0xf\nProgTraceCorrelation EVCODE=4 CDF=0 ICNT=8\n",
               "sync 3 100\nspan 100+2/4 taken 100\nspan 100+2/4 taken 100\nspan 100+2/4 taken 100\n"
               "gap HIST_LEFT #3-#3 @7-@7 100 to ?\nstop 4 ?\n");
    scene_end(&s);
}

/* A loop without outcomes: a jump to itself, or a jump that is inferred when direct jumps have history bits. */
static void start_loop(scene *s, bool inferred) {
    scene_start(s, NULL);
    s->config.params.all_jumps = s->config.params.sequential_jump = inferred;
    if (inferred)
        code(s, 0x100, LUI_A5(0), JR_A5_PLUS(0x100));
    else
        code(s, 0x100, jal(0, 0));
}

static void endless_loops_without_branches_end(void **state) {
    (void)state;
    for (int inferred = 0; inferred < 2; inferred++) {
        scene s;
        start_loop(&s, inferred);
        s.config.strict = true;
        stream in = {.size = 0};
        assemble(&in, &s.config.params, START "ResourceFull RCODE=1 RDATA0=0x2\n");
        ntr_decoder *d;
        ntr_decoder_new(&s.config, &d);
        ntr_counts counts = {0};
        assert_int_equal(ntr_decoder_feed(d, in.bytes, in.size, true), NTR_OK);
        assert_int_equal(ntr_decoder_count(d, &counts), NTR_E_LOOP);
        ntr_decoder_free(d);
        scene_end(&s);
    }
}

/* The result does not depend on how many events are read at a time. */
static void a_loop_without_branches_ends(void **state) {
    (void)state;
    for (int inferred = 0; inferred < 2; inferred++) {
        scene s;
        start_loop(&s, inferred);
        stream in = {.size = 0};
        assemble(&in, &s.config.params, START "ResourceFull RCODE=1 RDATA0=0x2\n");
        ntr_decoder *d;
        ntr_status status = ntr_decoder_new(&s.config, &d);
        ntr_event events[256];
        size_t count, reads = 0;
        assert_int_equal(ntr_decoder_feed(d, in.bytes, in.size, true), NTR_OK);
        do {
            assert_true(++reads < 10000);
            status = ntr_decoder_read(d, events, 256, &count);
        } while (status == NTR_OK);
        assert_int_equal(status, NTR_END);
        assert_int_equal(events[count - 1].kind, NTR_EVENT_GAP);
        assert_int_equal(events[count - 1].reason, NTR_E_LOOP);
        ntr_decoder_free(d);
        scene_end(&s);
    }
}

/* HREPEAT is the total, not the number of additional occurrences (OQ-5). */
static void repeated_history_counts_all_occurrences(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, branch(8), ADD, branch(-8), JR_A5);
    decodes_to(
        &s, START "ResourceFull RCODE=2 RDATA0=0x5 RDATA1=2\nIndirectBranchHist BTYPE=0 ICNT=20 UADDR=0x0 HIST=0x4\n",
        "sync 3 100\nspan 100+1/2 not-taken 104\nspan 104+2/4 taken 100\nspan 100+1/2 not-taken 104\nspan 104+2/4 taken 100\n"
        "span 100+1/2 not-taken 104\nspan 104+2/4 not-taken 10c\nspan 10c+1/2 indirect-jump 100\n");
    decodes_to(&s, START "ResourceFull RCODE=2 RDATA0=0x5 RDATA1=0\n",
               "sync 3 100\ngap FIELD_VALUE #2-#3 @4-@8 100 to ?\n");
    decodes_to(&s, START "ResourceFull RCODE=1 RDATA0=0x1\n", "sync 3 100\nnote FIELD_VALUE\n");
    decodes_to(&s, START "ResourceFull RCODE=5 RDATA0=0x1\n", "sync 3 100\ngap FIELD_VALUE #2-#3 @4-@6 100 to ?\n");
    scene_end(&s);
}

/* ---- RepeatBranch: where it leads (OQ-1), and what it repeats (OQ-2) */

#define TO_200 "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x180\n"

static void repeats_go_to_the_same_target(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, JR_A5);
    code(&s, 0x200, ADD, branch(-4), JR_A5);
    decodes_to(&s,
               START TO_200
               "IndirectBranchHist BTYPE=0 ICNT=6 UADDR=0x0 HIST=0x2\nRepeatBranch BCNT=1\nRepeatBranch BCNT=1\n",
               "sync 3 100\nspan 100+1/2 indirect-jump 200\n"
               "span 200+2/4 not-taken 208\nspan 208+1/2 indirect-jump 200\n"
               "span 200+2/4 not-taken 208\nspan 208+1/2 indirect-jump 200\n"
               "span 200+2/4 not-taken 208\nspan 208+1/2 indirect-jump 200\n");
    decodes_to(
        &s, START TO_200 "DirectBranch ICNT=4\nRepeatBranch BCNT=2\n",
        "sync 3 100\nspan 100+1/2 indirect-jump 200\nspan 200+2/4 taken 200\nspan 200+2/4 taken 200\nspan 200+2/4 taken 200\n");
    scene_end(&s);
    /* The first address: no second XOR. */
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(8), ADD, JR_A5);
    code(&s, 0x200, ADD, branch(8), ADD, JR_A5);
    decodes_to(&s, "raw 24 05 00 0B 70 81 00 19 0B 78 0F",
               "sync 1 100\nspan 100+2/4 not-taken 108\nspan 108+2/4 indirect-jump 200\n"
               "span 200+2/4 not-taken 208\nspan 208+2/4 indirect-jump 200\n"
               "span 200+2/4 not-taken 208\nspan 208+2/4 indirect-jump 200\n"
               "span 200+2/4 not-taken 208\nspan 208+2/4 indirect-jump 200\n");
    scene_end(&s);
}

static void repeats_of_nothing_are_errors(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, JR_A5);
    code(&s, 0x200, ADD, branch(-4), JR_A5);
    decodes_to(&s, START "RepeatBranch BCNT=1\n", "sync 3 100\ngap REPEAT #2-#3 @4-@6 100 to ?\n");
    decodes_to(&s, "RepeatBranch BCNT=1\n", "gap NO_SYNC #1-#2 @0-@2 ? to ?\n");
    decodes_to(&s, START TO_200 "ResourceFull RCODE=0 RDATA0=2\nRepeatBranch BCNT=1\n",
               "sync 3 100\nspan 100+1/2 indirect-jump 200\nspan 200+1/2 cut 204\ngap REPEAT #4-#5 @10-@12 204 to ?\n");
    decodes_to(&s, START TO_200 "DirectBranch ICNT=4\nRepeatBranch BCNT=0\n",
               "sync 3 100\nspan 100+1/2 indirect-jump 200\nspan 200+2/4 taken 200\nnote FIELD_VALUE\n");
    scene_end(&s);
}

/* A message that says nothing of the flow may come before the RepeatBranch (OQ-2, NT-115). */
static void repeats_ignore_what_is_not_flow(void **state) {
    (void)state;
    static const struct {
        const char *message, *event;
    } cases[] = {
        {"Ownership PROCESS=0x0\n", "context 0 v0 prv0 s0 h0\n"},
        {"raw e4 07\n", "vendor 57\n"},         /* TCODE 57 */
        {"raw a0 07\n", "vendor 40\n"},         /* TCODE 40, reserved */
        {"Error ETYPE=8 ECODE=0\n", "overflow 8 0\n"}, /* vendor-defined */
    };
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(-4), JR_A5);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char messages[256], events[256];
        snprintf(messages, sizeof messages, START "DirectBranch ICNT=4\n%sRepeatBranch BCNT=1\n", cases[i].message);
        snprintf(events, sizeof events, "sync 3 100\nspan 100+2/4 taken 100\n%sspan 100+2/4 taken 100\n",
                 cases[i].event);
        decodes_to(&s, messages, events);
    }
    scene_end(&s);
}

/* ProgTraceCorrelation of an encoder that leaves I-CNT out where it is 0 (OQ-21). */
static void a_stop_without_icnt_reads_zero(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(-4), JR_A5);
    decodes_to(&s, "raw 84 03\n" START "DirectBranch ICNT=4\nraw 84 13\n",
               "note FIELD_MISSING\nstop 0 ?\nsync 3 100\nspan 100+2/4 taken 100\nnote FIELD_MISSING\nstop 4 100\n");
    scene_end(&s);
}

/* NT-358: SYNC and B-TYPE inform; the flow is the same whatever they say (but SYNC 7 says that messages were lost).
 * NT-250, NT-355: each synchronizing message is a start, and its address counts last. */
static void kinds_are_not_needed_for_the_flow(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(8), ADD, JR_A5);
    code(&s, 0x200, ADD, JR_A5);
    for (unsigned sync = 1; sync < 10; sync += sync == 5 ? 4 : 2)
        for (unsigned kind = 0; kind < 4; kind++) {
            char messages[256], events[256];
            /* Interrupted before the target of the jump was reported (OQ-15): the addresses are the same. */
            static const char *const ends[] = {NULL, "trap", "exception", "interrupt"};
            char first[64] = "200", second[64] = "100";
            if (kind) snprintf(first, sizeof first, "?\nspan ?+0/0 %s 200", ends[kind]);
            if (kind) snprintf(second, sizeof second, "?\nspan ?+0/0 %s 100", ends[kind]);
            snprintf(
                messages, sizeof messages,
                "ProgTraceSync SYNC=%u ICNT=0 FADDR=0x80\nIndirectBranchHist BTYPE=%u ICNT=6 UADDR=0x180 HIST=0x3\n"
                "IndirectBranchHistSync SYNC=%u BTYPE=%u ICNT=4 FADDR=0x80 HIST=0x1\n",
                sync, kind, sync, kind);
            snprintf(
                events, sizeof events,
                "sync %u 100\nspan 100+2/4 taken 10c\nspan 10c+1/2 indirect-jump %s\nspan 200+2/4 indirect-jump %s\n"
                "sync %u 100\n",
                sync, first, second, sync);
            decodes_to(&s, messages, events);
        }
    scene_end(&s);
}

/* ---- walk ends that do not fit the code */

/* Numbers that occur only in damaged messages: walking so far would take years. */
static void counts_beyond_belief_are_gaps(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, jal(0, 0));
    decodes_to(&s, START "DirectBranch ICNT=0x1e8c0000000000\n", "sync 3 100\ngap FIELD_VALUE #2-#3 @4-@14 100 to ?\n");
    decodes_to(&s, START "ResourceFull RCODE=0 RDATA0=0x1e8c0000000000\n",
               "sync 3 100\ngap FIELD_VALUE #2-#3 @4-@15 100 to ?\n");
    scene_end(&s);
    scene_start(&s, NULL);
    code(&s, 0x100, branch(0));
    decodes_to(&s, START "ResourceFull RCODE=2 RDATA0=0x3 RDATA1=0x10000000000\n",
               "sync 3 100\ngap FIELD_VALUE #2-#3 @4-@13 100 to ?\n");
    decodes_to(&s, START "DirectBranch ICNT=2\nRepeatBranch BCNT=0x10000001\n",
               "sync 3 100\nspan 100+1/2 taken 100\ngap FIELD_VALUE #3-#4 @6-@12 100 to ?\n");
    scene_end(&s);
    scene_start(&s, "sifive-pre1.0");
    code(&s, 0x100, branch(0));
    decodes_to(&s, START "ResourceFull RCODE=9 RDATA0=0x10000001\n",
               "sync 3 100\ngap FIELD_VALUE #2-#3 @4-@11 100 to ?\n");
    scene_end(&s);
}

static void impossible_landings_are_gaps(void **state) {
    (void)state;
    static const struct {
        const char *message, *events;
    } cases[] = {
        {"DirectBranch ICNT=2\n", "gap NO_LANDING #2-#3 @4-@6 100 to ?\n"}, /* on an add */
        {"IndirectBranch BTYPE=0 ICNT=2 UADDR=0x180\n", "gap NO_LANDING #2-#3 @4-@8 100 to ?\n"},
        {"IndirectBranch BTYPE=0 ICNT=4 UADDR=0x180\n", "gap NO_LANDING #2-#3 @4-@8 100 to ?\n"}, /* on a branch */
        {"IndirectBranch BTYPE=0 ICNT=10 UADDR=0x180\n", /* past an indirect jump */
         "span 100+2/4 not-taken 108\ngap UNEXPECTED_INDIRECT #2-#3 @4-@8 108 to ?\n"},
        {"DirectBranch ICNT=3\n", "span 100+1/2 cut 104\ngap ICNT_SPLITS #2-#3 @4-@6 104 to ?\n"},
    };
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(-4), JR_A5, ADD, ADD, ECALL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char messages[256], events[256];
        snprintf(messages, sizeof messages, START "%s", cases[i].message);
        snprintf(events, sizeof events, "sync 3 100\n%s", cases[i].events);
        decodes_to(&s, messages, events);
    }
    scene_end(&s);
}

/* An ECALL does not retire, so I-CNT does not count it (OQ-32). */
static void environment_calls_end_a_run_before_them(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, ECALL, ADD);
    decodes_to(&s, START "IndirectBranch BTYPE=2 ICNT=2 UADDR=0x180\n", "sync 3 100\nspan 100+1/2 exception 200\n");
    decodes_to(&s, START "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=6\n",
               "sync 3 100\nspan 100+1/2 cut 104\ngap NO_LANDING #2-#2 @4-@4 104 to ?\nstop 0 ?\n");
    /* Some encoders count it and report the trap as an indirect jump. */
    decodes_to(&s, START "IndirectBranch BTYPE=0 ICNT=4 UADDR=0x180\n",
               "sync 3 100\nspan 100+2/4 exception 200\nnote NO_LANDING\n");
    scene_end(&s);
    scene_start(&s, "refcode");
    code(&s, 0x100, ADD, ECALL, ADD);
    decodes_to(&s, START "IndirectBranch BTYPE=0 ICNT=4 UADDR=0x180\n", "sync 3 100\nspan 100+2/4 exception 200\n");
    scene_end(&s);
}

/* An interrupt before the target of the jump was reported: one message for both (OQ-15). */
static void traps_may_hide_the_target_of_a_jump(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, JR_A5);
    decodes_to(&s, START "IndirectBranch BTYPE=3 ICNT=4 UADDR=0x180\n",
               "sync 3 100\nspan 100+2/4 indirect-jump ?\nspan ?+0/0 interrupt 200\n");
    decodes_to(&s, START "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=4\n",
               "sync 3 100\nspan 100+2/4 indirect-jump ?\nstop 0 ?\n");
    scene_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(jumps_directly_after_jumps),
        TEST(traps_directly_after_traps),
        TEST(traps_after_branches_end_two_spans),
        TEST(stops_come_in_pairs),
        TEST(syncs_on_linear_code_are_no_jumps),
        TEST(sync_addresses_show_outcomes),
        TEST(syncs_that_restart_may_be_anywhere),
        TEST(indirect_jumps_may_end_in_syncs),
        TEST(history_and_count_come_in_any_order),
        TEST(counts_alone_lead_to_the_next_branch),
        TEST(branches_beyond_the_history_are_not_taken),
        TEST(messages_show_the_mode),
        TEST(history_that_is_left_is_a_gap),
        TEST(endless_loops_without_branches_end),
        TEST(a_loop_without_branches_ends),
        TEST(repeated_history_counts_all_occurrences),
        TEST(repeats_go_to_the_same_target),
        TEST(repeats_of_nothing_are_errors),
        TEST(repeats_ignore_what_is_not_flow),
        TEST(a_stop_without_icnt_reads_zero),
        TEST(kinds_are_not_needed_for_the_flow),
        TEST(counts_beyond_belief_are_gaps),
        TEST(impossible_landings_are_gaps),
        TEST(environment_calls_end_a_run_before_them),
        TEST(traps_may_hide_the_target_of_a_jump),
    };
    return cmocka_run_group_tests_name("corners", tests, NULL, NULL);
}
