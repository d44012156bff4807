/* The corner cases of N-Trace 1.0 section 10. */
#include "sideband.h"

enum { NONE, EXC, INT, MRET, NT, TK, ICALL = 8, CALL = 9, JR = 10, RET = 13 };

/* NT-290 */
static void jump_after_jump(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "");
    run(&r, 0x100);
    rig_insn(&r, 0x104, 2, RET);
    rig_insn(&r, 0x200, 2, RET);
    rig_insn(&r, 0x300, 4, JR);
    run(&r, 0x400);
    rig_expect_messages(&r, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80; IndirectBranch BTYPE=0 ICNT=3 UADDR=0x180; "
                            "IndirectBranch BTYPE=0 ICNT=1 UADDR=0x80; IndirectBranch BTYPE=0 ICNT=2 UADDR=0x380");
    rig_close(&r);
}

/* NT-291 */
static void exception_after_trap(void **state) {
    (void)state;
    static const struct {
        const char *options;
        unsigned first;
        const char *messages;
    } ROWS[] = {
        {"", EXC, "IndirectBranch BTYPE=2 ICNT=2 UADDR=0x480; IndirectBranch BTYPE=2 ICNT=0 UADDR=0x880"},
        {"", INT, "IndirectBranch BTYPE=3 ICNT=2 UADDR=0x480; IndirectBranch BTYPE=2 ICNT=0 UADDR=0x880"},
        {"btype-detail=off", INT,
         "IndirectBranch BTYPE=1 ICNT=2 UADDR=0x480; IndirectBranch BTYPE=1 ICNT=0 UADDR=0x880"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        rig r;
        rig_open(&r, ROWS[i].options);
        rig_insn(&r, 0x100, 4, ROWS[i].first);
        rig_expect_messages(&r, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80");
        rig_block(&r, 0x800, 0, 2, EXC); /* the handler's first instruction traps */
        run(&r, 0x1900);
        rig_expect_messages(&r, ROWS[i].messages);
        rig_close(&r);
    }
}

/* NT-292. Without an address there is nothing to synchronize at but the handler (OQ-15). */
static void interrupt_pending_at_debug_exit(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "");
    rig_block(&r, 0x100, 0, 2, INT);
    run(&r, 0x800);
    rig_expect_messages(&r, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80; IndirectBranch BTYPE=3 ICNT=0 UADDR=0x480");
    rig_close(&r);
    rig_open(&r, "");
    sideband(&r, (ntr_ingress){.priv = NTR_PRIV_U, .no_iaddr = true});
    sideband(&r, (ntr_ingress){.itype = INT, .priv = NTR_PRIV_M, .no_iaddr = true});
    run(&r, 0x800);
    rig_expect_messages(&r, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x400");
    rig_close(&r);
}

/* NT-293 */
static void exception_at_first_traced_instruction(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "");
    rig_block(&r, 0x100, 0, 2, EXC);
    run(&r, 0x800);
    rig_expect_messages(&r, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80; IndirectBranch BTYPE=2 ICNT=0 UADDR=0x480");
    rig_close(&r);
}

/* NT-294 */
static void trace_starts_disabled(void **state) {
    (void)state;
    rig r;
    open_untraced(&r, "");
    run(&r, 0x100);
    run(&r, 0x104);
    rig_expect_messages(&r, "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=0 HIST=0x1");
    enable(&r);
    run(&r, 0x108);
    rig_expect_messages(&r, "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x84");
    rig_close(&r);
}

/* NT-295 */
static void halts_while_disabled(void **state) {
    (void)state;
    rig r;
    open_untraced(&r, "mode=btm");
    run(&r, 0x100);
    rig_expect_messages(&r, "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=0");
    enter_debug(&r, 0x104);
    enter_debug(&r, 0x104);
    rig_expect_messages(&r, "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=0");
    rig_close(&r);
}

/* NT-296 */
static void trap_after_trap_return(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "context");
    run(&r, 0x100);
    rig_insn(&r, 0x104, 4, MRET);
    rig_expect_messages(&r, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80; Ownership PROCESS=0xe");
    r.block.priv = NTR_PRIV_U;
    rig_block(&r, 0x400, 0, 2, EXC);
    rig_expect_messages(&r, "IndirectBranch BTYPE=0 ICNT=4 UADDR=0x280; Ownership PROCESS=0x0");
    r.block.priv = NTR_PRIV_M;
    run(&r, 0x800);
    rig_expect_messages(&r, "IndirectBranch BTYPE=2 ICNT=0 UADDR=0x600; Ownership PROCESS=0xc");
    rig_close(&r);
}

/* NT-261, NT-274, CI-125: a trace-notify that waits when trace stops is sent before the stop, if the address of the
 * next instruction is known. */
static void a_notify_is_sent_before_the_stop(void **state) {
    (void)state;
    enum { HALT, HALT_AT, SWITCH_OFF, RECORD_ENDS, NEXT_BLOCK };
    static const struct {
        const char *options;
        unsigned itype, how;
        const char *expected;
    } CASES[] = {
        {"", NT, HALT,
         "IndirectBranchHistSync SYNC=6 BTYPE=0 ICNT=4 FADDR=0x204 HIST=0x2; ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=0 HIST=0x1"},
        {"", NT, HALT_AT,
         "IndirectBranchHistSync SYNC=6 BTYPE=0 ICNT=4 FADDR=0x204 HIST=0x2; ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=0 HIST=0x1"},
        {"", NT, SWITCH_OFF,
         "IndirectBranchHistSync SYNC=6 BTYPE=0 ICNT=4 FADDR=0x204 HIST=0x2; ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=0 HIST=0x1"},
        {"", NT, RECORD_ENDS,
         "IndirectBranchHistSync SYNC=6 BTYPE=0 ICNT=4 FADDR=0x204 HIST=0x2; ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=0 HIST=0x1"},
        {"mode=btm", NONE, HALT,
         "IndirectBranchSync SYNC=6 BTYPE=0 ICNT=4 FADDR=0x204; ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=0"},
        {"mode=btm context", NONE, HALT,
         "IndirectBranchSync SYNC=6 BTYPE=0 ICNT=4 FADDR=0x204; Ownership PROCESS=0xe; ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=0"},
        /* the target of a taken branch is known with the next block only */
        {"", TK, HALT, "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=4 HIST=0x3"},
        {"", TK, HALT_AT,
         "IndirectBranchHistSync SYNC=6 BTYPE=0 ICNT=4 FADDR=0x204 HIST=0x3; ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=0 HIST=0x1"},
        {"", TK, NEXT_BLOCK,
         "IndirectBranchHistSync SYNC=6 BTYPE=0 ICNT=4 FADDR=0x204 HIST=0x3; ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=0 HIST=0x1"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        rig r;
        rig_open(&r, CASES[i].options);
        r.block.trigger = NTR_TRIGGER_NOTIFY;
        rig_block(&r, 0x400, 4, 4, CASES[i].itype);
        r.block.trigger = 0;
        r.size = 0;
        switch (CASES[i].how) {
        case HALT: sideband(&r, (ntr_ingress){.halted = true, .no_iaddr = true}); break;
        case HALT_AT: enter_debug(&r, 0x408); break;
        case RECORD_ENDS: rig_stop(&r, NTR_ADDRESS_UNKNOWN); break;
        case SWITCH_OFF: disable(&r); break;
        default:
            disable(&r);
            run(&r, 0x408);
            break;
        }
        rig_expect_messages(&r, CASES[i].expected);
        rig_close(&r);
    }
}

/* Trace is off when an interrupt without an address comes: the next address is that of its handler. The jump or branch
 * before it went elsewhere, so that its target stays unknown; a trap before it has the address of the last handler. */
static void an_untraced_interrupt_hides_the_target_of_a_jump(void **state) {
    (void)state;
    static const struct {
        unsigned itype, trigger;
        const char *expected;
    } CASES[] = {
        {JR, 0, "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=4 HIST=0x1"},
        {JR, NTR_TRIGGER_NOTIFY, "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=4 HIST=0x1"},
        {TK, NTR_TRIGGER_NOTIFY, "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=4 HIST=0x3"},
        {NT, NTR_TRIGGER_NOTIFY,
         "IndirectBranchHistSync SYNC=6 BTYPE=0 ICNT=4 FADDR=0x204 HIST=0x2; ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=0 HIST=0x1"},
        {INT, 0, "IndirectBranch BTYPE=3 ICNT=4 UADDR=0x600; ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=0 HIST=0x1"},
        {INT, NTR_TRIGGER_NOTIFY,
         "IndirectBranchSync SYNC=6 BTYPE=3 ICNT=4 FADDR=0x400; ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=0 HIST=0x1"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        rig r;
        rig_open(&r, "");
        r.block.trigger = (uint8_t)CASES[i].trigger;
        rig_block(&r, 0x400, 4, 4, CASES[i].itype);
        r.block.trigger = 0;
        r.size = 0;
        disable(&r);
        sideband(&r, (ntr_ingress){.itype = INT, .priv = NTR_PRIV_M, .no_iaddr = true});
        run(&r, 0x800);
        rig_expect_messages(&r, CASES[i].expected);
        rig_close(&r);
    }
}

/* NT-140, NT-142, NT-148: hcontext is always followed by scontext. PROCESS is FORMAT, PRV << 2, context << 5. */
static void hcontext_is_followed_by_scontext(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "context=hcontext");
    r.block = (ntr_ingress){.cycle = true, .priv = NTR_PRIV_S, .scontext = 7, .hcontext = 5};
    run(&r, 0x100);
    rig_expect_messages(&r, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80; Ownership PROCESS=0xa7; Ownership PROCESS=0xe6");
    r.block.ctype = NTR_CTYPE_IMPRECISE;
    r.block.hcontext = 6;
    run(&r, 0x104);
    rig_expect_messages(&r, "Ownership PROCESS=0xc7; Ownership PROCESS=0xe6");
    r.block.scontext = 8;
    run(&r, 0x108);
    rig_expect_messages(&r, "Ownership PROCESS=0x106");
    r.block.ctype = NTR_CTYPE_UNREPORTED;
    r.block.priv = NTR_PRIV_U;
    run(&r, 0x10c);
    rig_expect_messages(&r, "Ownership PROCESS=0x0");
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(jump_after_jump),
        TEST(exception_after_trap),
        TEST(interrupt_pending_at_debug_exit),
        TEST(exception_at_first_traced_instruction),
        TEST(trace_starts_disabled),
        TEST(halts_while_disabled),
        TEST(trap_after_trap_return),
        TEST(a_notify_is_sent_before_the_stop),
        TEST(an_untraced_interrupt_hides_the_target_of_a_jump),
        TEST(hcontext_is_followed_by_scontext),
    };
    return cmocka_run_group_tests_name("encoder corners", tests, NULL, NULL);
}
