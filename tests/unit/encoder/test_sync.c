/* Synchronization cases 1 to 6 (N-Trace 1.0 section 9), and what a synchronization resets. */
#include "sideband.h"

enum { NONE, EXC, INT, MRET, NT, TK, ICALL = 8, CALL = 9, JR = 10, RET = 13 };

/* NT-271 */
static void case_1(void **state) {
    (void)state;
    rig r;
    open_untraced(&r, "start-sync=5 announce=off");
    run(&r, 0x100);
    rig_expect_messages(&r, "");
    enable(&r);
    run(&r, 0x104);
    rig_expect_messages(&r, "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x82");
    run(&r, 0x108);
    enter_debug(&r, 0x10c);
    rig_expect_messages(&r, "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=4 HIST=0x1");
    enter_debug(&r, 0x10c);
    run(&r, 0x10c);
    rig_expect_messages(&r, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x86");
    disable(&r);
    rig_expect_messages(&r, "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=2 HIST=0x1");
    run(&r, 0x110);
    rig_expect_messages(&r, "");
    rig_close(&r);
}

/* Enabled while in debug mode. NT-272 NT-260 */
static void case_2(void **state) {
    (void)state;
    for (int announce = 0; announce < 2; announce++) {
        rig r;
        open_untraced(&r, announce ? "" : "announce=off");
        enter_debug(&r, 0x100);
        enable(&r);
        rig_expect_messages(&r, announce ? "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=0 HIST=0x1" : "");
        run(&r, 0x100);
        rig_expect_messages(&r, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80");
        disable(&r);
        rig_expect_messages(&r, "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=2 HIST=0x1");
        rig_close(&r);
    }
}

/* Disabled while in debug mode. NT-257, NT-273 */
static void case_3(void **state) {
    (void)state;
    for (int announce = 0; announce < 2; announce++) {
        rig r;
        rig_open(&r, announce ? "start-sync=5" : "start-sync=5 announce=off");
        run(&r, 0x100);
        enter_debug(&r, 0x104);
        rig_expect_messages(&r, "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80; "
                                "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=2 HIST=0x1");
        disable(&r);
        rig_expect_messages(&r, announce ? "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=0 HIST=0x1" : "");
        run(&r, 0x104);
        run(&r, 0x108);
        rig_expect_messages(&r, "");
        rig_close(&r);
    }
}

/* A sync trigger: notify from the hart is SYNC=6, from outside SYNC=0. NT-252 */
static void case_4(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "start-sync=5");
    run(&r, 0x100);
    enter_debug(&r, 0x104);
    run(&r, 0x104);
    rig_expect_messages(&r,
                        "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80; "
                        "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=2 HIST=0x1; ProgTraceSync SYNC=3 ICNT=0 FADDR=0x82");
    r.block.trigger = NTR_TRIGGER_NOTIFY;
    rig_insn(&r, 0x108, 4, NT);
    r.block.trigger = 0;
    run(&r, 0x10c);
    rig_expect_messages(&r, "IndirectBranchHistSync SYNC=6 BTYPE=0 ICNT=4 FADDR=0x86 HIST=0x2");
    assert_int_equal(ntr_encoder_trigger(r.encoder, NTR_TRIGGER_NOTIFY), NTR_OK);
    run(&r, 0x110);
    rig_expect_messages(&r, "IndirectBranchSync SYNC=0 BTYPE=0 ICNT=2 FADDR=0x88");
    disable(&r);
    rig_expect_messages(&r, "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=2 HIST=0x1");
    rig_close(&r);
}

static void triggers_that_are_not_enabled(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "start-sync=5 trigger-enable=off");
    run(&r, 0x100);
    assert_int_equal(ntr_encoder_trigger(r.encoder, NTR_TRIGGER_OFF), NTR_OK);
    run(&r, 0x104);
    disable(&r);
    rig_expect_messages(&r,
                        "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80; ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=4 HIST=0x1");
    rig_close(&r);
}

/* NT-275 */
static void case_5(void **state) {
    (void)state;
    for (int announce = 0; announce < 2; announce++) {
        rig r;
        open_untraced(&r, announce ? "" : "announce=off");
        enter_debug(&r, 0x100);
        enable(&r);
        disable(&r);
        rig_expect_messages(&r, announce ? "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=0 HIST=0x1; "
                                           "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=0 HIST=0x1"
                                         : "");
        run(&r, 0x100);
        rig_expect_messages(&r, "");
        rig_close(&r);
    }
}

/* Periodic, at the exact event: here after every 16 halfwords. NT-181, NT-197, NT-276 */
static void case_6a(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "start-sync=5 sync-mode=halfwords sync-max=0 sync-form=exact");
    for (unsigned i = 0; i < 9; i++) run(&r, 0x100 + 4 * i);
    rig_expect_messages(&r,
                        "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80; IndirectBranchSync SYNC=2 BTYPE=0 ICNT=16 FADDR=0x90");
    for (unsigned i = 9; i < 16; i++) rig_insn(&r, 0x100 + 4 * i, 4, i == 12 ? NT : NONE);
    run(&r, 0x140);
    rig_expect_messages(&r, "IndirectBranchHistSync SYNC=2 BTYPE=0 ICNT=16 FADDR=0xa0 HIST=0x2");
    disable(&r);
    rig_expect_messages(&r, "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=2 HIST=0x1");
    rig_close(&r);
}

/* Periodic, delayed: the next branch message is the sync. Another sync starts the count anew. CI-081, NT-269 */
static void case_6b(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "mode=btm start-sync=5 sync-mode=halfwords sync-max=0");
    for (unsigned i = 0; i < 10; i++) run(&r, 0x100 + 4 * i);
    rig_insn(&r, 0x128, 4, TK);
    run(&r, 0x200);
    rig_expect_messages(&r, "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80; DirectBranchSync SYNC=2 ICNT=22 FADDR=0x100");
    for (unsigned i = 1; i < 6; i++) run(&r, 0x200 + 4 * i);
    rig_insn(&r, 0x218, 4, JR);
    run(&r, 0x300); /* 14 halfwords: not due */
    rig_expect_messages(&r, "IndirectBranch BTYPE=0 ICNT=14 UADDR=0x80");
    rig_insn(&r, 0x304, 4, JR);
    run(&r, 0x400);
    rig_expect_messages(&r, "IndirectBranchSync SYNC=2 BTYPE=0 ICNT=4 FADDR=0x200");
    disable(&r);
    rig_expect_messages(&r, "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=2");
    rig_close(&r);
}

static void periodic_by_messages_and_cycles(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "mode=btm sync-mode=messages sync-max=0");
    for (unsigned i = 0; i < 18; i++) rig_insn(&r, 0x100, 4, TK);
    rig_stop(&r, 0x100);
    ntr_encoder_status status;
    ntr_encoder_status_get(r.encoder, &status);
    assert_int_equal(status.syncs, 2); /* start; the 17th branch is the sync, the 18th an ordinary one */
    rig_close(&r);
    rig_open(&r, "sync-mode=cycles sync-max=0 sync-form=exact");
    run(&r, 0x100);
    assert_int_equal(ntr_encoder_tick(r.encoder, 15), NTR_OK);
    rig_expect_messages(&r, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80");
    run(&r, 0x104); /* in the 16th cycle behind the first sync */
    rig_expect_messages(&r, "IndirectBranchSync SYNC=2 BTYPE=0 ICNT=2 FADDR=0x82");
    r.block.cycle = false;
    for (unsigned i = 0; i < 20; i++) run(&r, 0x108 + 4 * i); /* all in one cycle */
    rig_expect_messages(&r, "");
    rig_close(&r);
}

/* NT-255, NT-277: a periodic synchronization waits for a branch message, but not longer than one more period. A loop of
 * taken branches has none in HTM. */
static void periodic_is_bounded(void **state) {
    (void)state;
    static const char *const OPTIONS[] = {"sync-mode=halfwords sync-max=0", "sync-mode=cycles sync-max=0"};
    for (unsigned n = 0; n < 2; n++) {
        rig r;
        rig_open(&r, OPTIONS[n]);
        const unsigned blocks = n ? 32 : 16; /* 32 cycles, 32 halfwords */
        for (unsigned i = 0; i < blocks; i++) rig_insn(&r, 0x100, 4, TK);
        rig_expect_messages(&r, n ? "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80; ResourceFull RCODE=1 RDATA0=0xffffffff"
                                  : "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80");
        rig_insn(&r, 0x100, 4, TK);
        rig_expect_messages(&r, n ? "IndirectBranchHistSync SYNC=2 BTYPE=0 ICNT=64 FADDR=0x80 HIST=0x3"
                                  : "IndirectBranchHistSync SYNC=2 BTYPE=0 ICNT=32 FADDR=0x80 HIST=0x1ffff");
        rig_close(&r);
    }
}

/* ---- what a sync resets, and which reason wins ------------------------------------------------------- */

static void everything_pending_is_told_before_a_sync(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "hist-bits=4 repeated-history history-repeats=whole");
    for (unsigned i = 0; i < 7; i++) rig_insn(&r, 0x100, 4, TK); /* HIST 3 taken, twice, and one more */
    assert_int_equal(ntr_encoder_request_sync(r.encoder, NTR_SYNC_TRACE_EVENT), NTR_OK);
    rig_insn(&r, 0x100, 4, TK);
    rig_expect_messages(&r, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80; ResourceFull RCODE=2 RDATA0=0xf RDATA1=2; "
                            "IndirectBranchHistSync SYNC=6 BTYPE=0 ICNT=14 FADDR=0x80 HIST=0x3");
    rig_stop(&r, 0x100);
    rig_expect_messages(&r, "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=2 HIST=0x3");
    rig_close(&r);
}

/* NT-307 */
static void a_sync_forgets_calls_and_repeats(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "implicit-return=full repeat-branch");
    rig_insn(&r, 0x100, 4, CALL);
    assert_int_equal(ntr_encoder_request_sync(r.encoder, NTR_SYNC_TRACE_EVENT), NTR_OK);
    rig_insn(&r, 0x200, 4, RET); /* its call was sent before the sync */
    rig_insn(&r, 0x104, 4, JR);
    for (int i = 0; i < 3; i++) rig_insn(&r, 0x300, 4, JR);
    assert_int_equal(ntr_encoder_request_sync(r.encoder, NTR_SYNC_TRACE_EVENT), NTR_OK);
    rig_insn(&r, 0x300, 4, JR);
    rig_insn(&r, 0x300, 4, JR);
    rig_stop(&r, 0x300);
    rig_expect_messages(&r,
                        "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80; IndirectBranchSync SYNC=6 BTYPE=0 ICNT=2 FADDR=0x100; "
                        "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x182; IndirectBranch BTYPE=0 ICNT=2 UADDR=0x102; "
                        "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x0; RepeatBranch BCNT=1; "
                        "IndirectBranchSync SYNC=6 BTYPE=0 ICNT=2 FADDR=0x180; "
                        "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x0; RepeatBranch BCNT=1; "
                        "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=0 HIST=0x1");
    rig_close(&r);
}

/* A call that is itself the synchronizing message: its return address is cleared with the rest (OQ-17). */
static void the_push_of_a_synchronizing_call_is_lost(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "implicit-return=full");
    rig_insn(&r, 0x100, 4, ICALL);
    assert_int_equal(ntr_encoder_request_sync(r.encoder, NTR_SYNC_PERIODIC), NTR_OK);
    rig_insn(&r, 0x200, 2, RET);
    run(&r, 0x104);
    rig_expect_messages(&r,
                        "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80; IndirectBranchSync SYNC=2 BTYPE=0 ICNT=2 FADDR=0x100; "
                        "IndirectBranch BTYPE=0 ICNT=1 UADDR=0x182");
    rig_close(&r);
}

static void the_strongest_reason_is_told(void **state) {
    (void)state;
    static const uint8_t ORDER[] = {7, 3, 1, 9, 5, 6, 0, 4, 2};
    for (size_t i = 0; i + 1 < sizeof ORDER; i++) {
        rig r;
        char text[128];
        rig_open(&r, "mode=btm");
        run(&r, 0x100);
        r.size = r.length = 0;
        for (size_t k = sizeof ORDER; k > i; k--) ntr_encoder_request_sync(r.encoder, ORDER[k - 1]);
        run(&r, 0x104);
        snprintf(text, sizeof text, "%s SYNC=%u %sICNT=2 FADDR=0x82",
                 ORDER[i] == 4 ? "ProgTraceSync" : "IndirectBranchSync", ORDER[i], ORDER[i] == 4 ? "" : "BTYPE=0 ");
        rig_expect_messages(&r, text);
        rig_close(&r);
    }
}

/* ---- reset, low power, triggers ----------------------------------------------------------------------- */

/* NT-205, NT-254, NT-263 */
static void reset_restarts_with_its_own_reason(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "");
    rig_insn(&r, 0x100, 4, NT);
    sideband(&r, (ntr_ingress){.reset = true, .no_iaddr = true});
    run(&r, 0x1000);
    rig_expect_messages(&r,
                        "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80; ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=2 HIST=0x2; "
                        "ProgTraceSync SYNC=1 ICNT=0 FADDR=0x800");
    assert_int_equal(ntr_encoder_stop(r.encoder, 0x1004, NTR_EVCODE_LOW_POWER), NTR_OK);
    run(&r, 0x2000);
    rig_expect_messages(
        &r, "ProgTraceCorrelation EVCODE=1 CDF=1 ICNT=2 HIST=0x1; ProgTraceSync SYNC=9 ICNT=0 FADDR=0x1000");
    rig_close(&r);
}

/* Debug mode shown by priv alone. */
static void debug_mode_by_privilege(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "");
    rig_insn(&r, 0x100, 4, JR);
    r.block.priv = NTR_PRIV_D;
    run(&r, 0x800);
    run(&r, 0x804);
    r.block.priv = NTR_PRIV_M;
    run(&r, 0x200);
    rig_expect_messages(&r,
                        "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80; ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=2 HIST=0x1; "
                        "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x100");
    rig_close(&r);
}

static void triggers(rig *r, uint64_t pc, unsigned set) {
    r->block.trigger = (uint8_t)set;
    run(r, pc);
    r->block.trigger = 0;
}

static void triggers_act_on_whole_cycles(void **state) {
    (void)state;
    rig r;
    open_untraced(&r, "announce=off");
    triggers(&r, 0x100, NTR_TRIGGER_ON | NTR_TRIGGER_OFF); /* this cycle only */
    run(&r, 0x104);
    rig_expect_messages(&r,
                        "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80; ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=2 HIST=0x1");
    triggers(&r, 0x108, NTR_TRIGGER_ON);
    triggers(&r, 0x10c, NTR_TRIGGER_OFF);
    triggers(&r, 0x110, NTR_TRIGGER_ON); /* no gap */
    triggers(&r, 0x114, NTR_TRIGGER_OFF);
    r.block.cycle = false;
    run(&r, 0x118); /* still the trace-off cycle */
    r.block.cycle = true;
    run(&r, 0x11c);
    rig_expect_messages(&r,
                        "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x84; ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=10 HIST=0x1");
    rig_close(&r);
    rig_open(&r, "trigger-enable=off");
    triggers(&r, 0x100, NTR_TRIGGER_OFF);
    run(&r, 0x104);
    rig_expect_messages(&r, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80");
    rig_close(&r);
}

/* Switched off while a jump waits for its target: the jump is sent first, then the correlation. */
static void switched_off_behind_a_jump(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "");
    rig_insn(&r, 0x100, 4, JR);
    disable(&r);
    rig_expect_messages(&r, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80");
    run(&r, 0x200);
    rig_expect_messages(
        &r, "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x180; ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=0 HIST=0x1");
    run(&r, 0x204);
    rig_expect_messages(&r, "");
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(case_1),
        TEST(case_2),
        TEST(case_3),
        TEST(case_4),
        TEST(case_5),
        TEST(case_6a),
        TEST(case_6b),
        TEST(periodic_by_messages_and_cycles),
        TEST(periodic_is_bounded),
        TEST(everything_pending_is_told_before_a_sync),
        TEST(a_sync_forgets_calls_and_repeats),
        TEST(the_push_of_a_synchronizing_call_is_lost),
        TEST(the_strongest_reason_is_told),
        TEST(reset_restarts_with_its_own_reason),
        TEST(debug_mode_by_privilege),
        TEST(triggers_that_are_not_enabled),
        TEST(triggers_act_on_whole_cycles),
        TEST(switched_off_behind_a_jump),
    };
    return cmocka_run_group_tests_name("encoder sync", tests, NULL, NULL);
}
