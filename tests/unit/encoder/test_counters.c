/* Counters and optimizations: I-CNT, HIST, HREPEAT, B-CNT, sequential jumps, returns, all-jumps. */
#include "rig.h"
#include <ntrace/encoder_hardware.h>

enum { NONE, EXC, INT, MRET, NT, TK, IND, ICALL = 8, CALL = 9, JR = 10, J = 11, SWAP = 12, RET = 13, OTHER = 14 };

#define START "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80; "

/* NT-192, NT-056 */
static void icnt_and_hist_full_at_once(void **state) {
    (void)state;
    static const struct {
        const char *options, *messages;
    } ROWS[] = {
        {"", "ResourceFull RCODE=0 RDATA0=0x6; ResourceFull RCODE=1 RDATA0=0xa; "},
        {"full-first=hist", "ResourceFull RCODE=1 RDATA0=0xa; ResourceFull RCODE=0 RDATA0=0x6; "},
    };
    for (size_t i = 0; i < 2; i++) {
        rig r;
        char options[64], text[256];
        snprintf(options, sizeof options, "icnt-bits=3 hist-bits=4 %s", ROWS[i].options);
        rig_open(&r, options);
        rig_insn(&r, 0x100, 4, NT);
        rig_insn(&r, 0x104, 4, TK);
        rig_insn(&r, 0x100, 4, NT);
        rig_insn(&r, 0x104, 4, TK); /* fits neither 3 bits nor the register */
        rig_stop(&r, 0x100);
        snprintf(text, sizeof text, START "%sProgTraceCorrelation EVCODE=0 CDF=1 ICNT=2 HIST=0x3", ROWS[i].messages);
        rig_expect_messages(&r, text);
        rig_close(&r);
    }
    rig r;
    rig_open(&r, "icnt-bits=3 hist-bits=3 full=after");
    rig_insn(&r, 0x100, 4, NT);
    rig_insn(&r, 0x104, 4, TK);
    rig_stop(&r, 0x100);
    rig_expect_messages(&r, START "ResourceFull RCODE=0 RDATA0=0x4; ResourceFull RCODE=1 RDATA0=0x5; "
                                  "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=0 HIST=0x1");
    rig_close(&r);
}

/* SYNC=4 before the block that does not fit; as part of a branch message when one is due. NT-258 */
static void icnt_full_as_sync(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "mode=btm icnt-bits=3 icnt-full=sync");
    for (unsigned i = 0; i < 4; i++) run(&r, 0x100 + 4 * i);
    rig_expect_messages(&r, START "ProgTraceSync SYNC=4 ICNT=6 FADDR=0x86");
    rig_close(&r);
    rig_open(&r, "mode=btm icnt-bits=3 icnt-full=sync full=after");
    run(&r, 0x100);
    rig_insn(&r, 0x104, 4, TK);
    run(&r, 0x200);
    rig_expect_messages(&r, START "DirectBranchSync SYNC=4 ICNT=4 FADDR=0x100");
    rig_close(&r);
}

/* NT-324 */
static void hrepeat_at_its_limit(void **state) {
    (void)state;
    static const struct {
        const char *options, *messages;
    } ROWS[] = {
        {"history-repeats=whole",
         START "ResourceFull RCODE=2 RDATA0=0x7 RDATA1=3; ResourceFull RCODE=2 RDATA0=0x7 RDATA1=3; "
               "ResourceFull RCODE=1 RDATA0=0x7; ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=32 HIST=0x7"},
        {"", START "ResourceFull RCODE=2 RDATA0=0x7 RDATA1=3; ResourceFull RCODE=2 RDATA0=0x3 RDATA1=3; "
                   "ResourceFull RCODE=2 RDATA0=0x7 RDATA1=3; ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=32 HIST=0x3"},
    };
    for (size_t i = 0; i < 2; i++) {
        rig r;
        char options[128];
        snprintf(options, sizeof options, "hist-bits=3 hrepeat-bits=2 repeated-history %s", ROWS[i].options);
        rig_open(&r, options);
        for (unsigned k = 0; k < 16; k++) rig_insn(&r, 0x100, 4, TK);
        rig_stop(&r, 0x100);
        rig_expect_messages(&r, ROWS[i].messages);
        rig_close(&r);
    }
}

/* NT-107 */
static void bcnt_at_its_limit(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "mode=btm repeated-history bcnt-bits=2");
    for (unsigned k = 0; k < 7; k++) rig_insn(&r, 0x100, 4, TK);
    rig_stop(&r, 0x100);
    rig_expect_messages(&r, START "DirectBranch ICNT=2; RepeatBranch BCNT=3; DirectBranch ICNT=2; RepeatBranch BCNT=2; "
                                  "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=0");
    rig_close(&r);
}

/* In HTM RepeatBranch needs its own option; repeated-history does not enable it (OQ-3). */
static void repeat_branch_is_its_own_option_in_htm(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "repeated-history");
    for (unsigned k = 0; k < 3; k++) rig_insn(&r, 0x100, 4, JR);
    rig_stop(&r, 0x100);
    rig_expect_messages(&r, START
                        "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x0; IndirectBranch BTYPE=0 ICNT=2 UADDR=0x0; "
                        "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x0; ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=0 HIST=0x1");
    rig_close(&r);
}

/* Only bit-identical messages are repeated: U-ADDR 0 in both (OQ-1); same I-CNT, B-TYPE and HIST. */
static void what_is_no_repeat(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "repeat-branch");
    rig_insn(&r, 0x100, 4, JR);
    rig_insn(&r, 0x200, 4, JR); /* U-ADDR was not 0 before */
    rig_insn(&r, 0x200, 4, JR); /* repeat */
    rig_insn(&r, 0x200, 2, JR); /* other I-CNT */
    rig_insn(&r, 0x200, 2, EXC);/* other B-TYPE */
    rig_insn(&r, 0x200, 2, NT);
    rig_insn(&r, 0x202, 2, JR); /* HIST */
    rig_insn(&r, 0x200, 2, TK);
    rig_insn(&r, 0x202, 2, JR); /* other HIST */
    rig_stop(&r, 0x200);
    rig_expect_messages(
        &r, START "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x180; IndirectBranch BTYPE=0 ICNT=2 UADDR=0x0; "
                  "RepeatBranch BCNT=1; IndirectBranch BTYPE=0 ICNT=1 UADDR=0x0; "
                  "IndirectBranch BTYPE=2 ICNT=1 UADDR=0x0; IndirectBranchHist BTYPE=0 ICNT=2 UADDR=0x0 HIST=0x2; "
                  "IndirectBranchHist BTYPE=0 ICNT=2 UADDR=0x0 HIST=0x3; "
                  "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=0 HIST=0x1");
    rig_close(&r);
}

/* What happens again goes into one HIST so that it can be a repeat, even where a split would be shorter. */
static void a_second_time_is_sent_so_that_a_third_repeats(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "repeat-branch repeated-history");
    for (unsigned times = 0; times < 5; times++) {
        for (unsigned k = 0; k < 30; k++) rig_insn(&r, 0x100, 4, TK);
        rig_insn(&r, 0x100, 4, JR);
    }
    rig_stop(&r, 0x100);
    rig_expect_messages(&r,
                        START "ResourceFull RCODE=2 RDATA0=0x3 RDATA1=30; IndirectBranch BTYPE=0 ICNT=62 UADDR=0x0; "
                              "IndirectBranchHist BTYPE=0 ICNT=62 UADDR=0x0 HIST=0x7fffffff; RepeatBranch BCNT=3; "
                              "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=0 HIST=0x1");
    rig_close(&r);
}

/* NT-300 */
static void sequential_jumps(void **state) {
    (void)state;
    static const struct {
        const char *options;
        unsigned itype, halfwords;
        bool message;
    } ROWS[] = {
        {"sequential-jump", JR, 4, false},
        {"sequential-jump", JR, 2, false}, /* LUI in the block, or before it */
        {"sequential-jump", ICALL, 4, false},
        {"sequential-jump", OTHER, 4, false},
        {"sequential-jump", SWAP, 4, false},
        {"sequential-jump", RET, 4, true},
        {"", JR, 4, true},
        {"sequential-jump implicit-return=full", SWAP, 4, true},
        {"sequential-jump itype-width=3", IND, 4, false},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        rig r;
        rig_open(&r, ROWS[i].options);
        run(&r, 0x100);
        r.block.sijump = true;
        rig_block(&r, 0x104, ROWS[i].halfwords, 4, ROWS[i].itype);
        r.block.sijump = false;
        run(&r, 0x400);
        char text[128] = "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80";
        if (ROWS[i].message)
            snprintf(text, sizeof text, START "IndirectBranch BTYPE=0 ICNT=%u UADDR=0x280", ROWS[i].halfwords + 2);
        rig_expect_messages(&r, text);
        rig_close(&r);
    }
}

/* LUI counted by one message, the jump by the next: the jump is not inferable (OQ-28). NT-301 */
static void a_message_between_spoils_a_sequential_jump(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "sequential-jump icnt-bits=2");
    run(&r, 0x100);
    r.block.sijump = true;
    rig_insn(&r, 0x104, 4, JR); /* 2 + 2 do not fit into 2 bits */
    r.block.sijump = false;
    run(&r, 0x200);
    rig_expect_messages(&r, START "ResourceFull RCODE=0 RDATA0=0x2; IndirectBranch BTYPE=0 ICNT=2 UADDR=0x180");
    rig_close(&r);
    rig_open(&r, "sequential-jump");
    r.block.sijump = true;
    rig_insn(&r, 0x100, 4, JR); /* nothing before it was traced */
    r.block.sijump = false;
    run(&r, 0x200);
    rig_expect_messages(&r, START "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x180");
    rig_close(&r);
}

static void calls(rig *r, unsigned depth) {
    for (unsigned i = 0; i < depth; i++) rig_insn(r, 0x100 + 0x100 * i, 4, CALL);
    for (unsigned i = depth; i; i--) rig_insn(r, i == depth ? 0x100 + 0x100 * i : 0x104 + 0x100 * i, 4, RET);
    run(r, 0x104);
}

/* Deeper than the stack: the oldest calls are forgotten, or not counted. NT-306, NT-312, NT-315 */
static void deeper_than_the_stack(void **state) {
    (void)state;
    static const char *const OPTIONS[] = {"early-returns implicit-return=full return-stack=3",
                                          "early-returns implicit-return=count return-stack=3",
                                          "early-returns implicit-return=partial return-stack=3"};
    for (size_t i = 0; i < 3; i++) {
        rig r;
        rig_open(&r, OPTIONS[i]);
        calls(&r, 5);
        rig_expect_messages(&r, START
                            "IndirectBranch BTYPE=0 ICNT=18 UADDR=0x182; IndirectBranch BTYPE=0 ICNT=2 UADDR=0x180");
        rig_close(&r);
    }
}

/* NT-313 */
static void returns_elsewhere_are_told(void **state) {
    (void)state;
    static const struct {
        const char *options;
        uint64_t back;
        bool message;
    } ROWS[] = {
        {"early-returns implicit-return=full", 0x104, false},
        {"early-returns implicit-return=full", 0x108, true},
        {"early-returns implicit-return=full", 0x10104, true},
        {"early-returns implicit-return=partial compare-bits=8", 0x10104, false},
        {"early-returns implicit-return=partial compare-bits=8", 0x106, true},
        {"early-returns implicit-return=count", 0x108, false},
        {"early-returns implicit-return=off", 0x104, true},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        rig r;
        rig_open(&r, ROWS[i].options);
        rig_insn(&r, 0x100, 4, CALL);
        rig_insn(&r, 0x200, 2, RET);
        r.length = 0;
        run(&r, ROWS[i].back);
        assert_int_equal(r.length != 0, ROWS[i].message);
        rig_close(&r);
    }
}

/* NT-305: a return is inferred only if an earlier message reported its call; ResourceFull with I-CNT is such a
 * message. In the return stack of one entry, an entry that replaces another is reported no earlier. */
static void a_return_is_not_in_the_message_of_its_call(void **state) {
    (void)state;
#define TOLD                                                                                                           \
    "IndirectBranch BTYPE=0 ICNT=5 UADDR=0x2; IndirectBranch BTYPE=0 ICNT=2 UADDR=0x102; "                             \
    "IndirectBranch BTYPE=0 ICNT=5 UADDR=0x380"
    static const struct {
        const char *options, *messages;
    } ROWS[] = {
        {"implicit-return=full", START TOLD},
        {"implicit-return=count return-stack=1", START TOLD},
        {"early-returns implicit-return=full",
         START "IndirectBranch BTYPE=0 ICNT=7 UADDR=0x100; IndirectBranch BTYPE=0 ICNT=5 UADDR=0x380"},
        {"icnt-bits=2 implicit-return=full", START
         "ResourceFull RCODE=0 RDATA0=0x2; ResourceFull RCODE=0 RDATA0=0x3; IndirectBranch BTYPE=0 ICNT=2 UADDR=0x100; "
         "ResourceFull RCODE=0 RDATA0=0x3; IndirectBranch BTYPE=0 ICNT=2 UADDR=0x380"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        rig r;
        rig_open(&r, ROWS[i].options);
        rig_insn(&r, 0x100, 4, CALL);
        run(&r, 0x200);
        rig_insn(&r, 0x204, 2, RET);
        rig_insn(&r, 0x104, 4, ICALL);
        rig_insn(&r, 0x300, 2, RET); /* the call was a message of its own */
        run(&r, 0x108);
        rig_insn(&r, 0x10c, 4, JR);
        run(&r, 0x400);
        rig_expect_messages(&r, ROWS[i].messages);
        rig_close(&r);
    }
    rig r; /* the ring: 0x100 is forgotten, 0x200 and 0x300 are reported, 0x400 is not */
    rig_open(&r, "implicit-return=full return-stack=3");
    for (uint64_t pc = 0x100; pc <= 0x300; pc += 0x100) rig_insn(&r, pc, 4, ICALL);
    rig_insn(&r, 0x400, 4, CALL);
    for (uint64_t pc = 0x500; pc >= 0x200; pc -= 0x100) rig_insn(&r, pc == 0x500 ? pc : pc + 4, 4, RET);
    run(&r, 0x104);
    rig_expect_messages(&r,
                        START "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x180; IndirectBranch BTYPE=0 ICNT=2 UADDR=0x80; "
                              "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x380; IndirectBranch BTYPE=0 ICNT=4 UADDR=0x2; "
                              "IndirectBranch BTYPE=0 ICNT=6 UADDR=0x280");
    rig_close(&r);
}

/* A co-routine swap pops and pushes; an interrupted return is implicit. */
static void swaps_and_interrupted_returns(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "early-returns implicit-return=full");
    rig_insn(&r, 0x100, 4, CALL);
    rig_insn(&r, 0x200, 2, SWAP); /* back to 0x104, which may come back to 0x202 */
    rig_insn(&r, 0x104, 2, SWAP);
    rig_insn(&r, 0x202, 2, RET);
    rig_block(&r, 0x106, 0, 2, INT); /* resumes where the return went */
    run(&r, 0x800);
    rig_expect_messages(&r, START "IndirectBranch BTYPE=3 ICNT=5 UADDR=0x480");
    rig_close(&r);
}

/* The port has no address after the jump: one message with the handler address (OQ-15). */
static void interrupt_without_address_behind_a_jump(void **state) {
    (void)state;
    static const struct {
        const char *options;
        unsigned itype;
        const char *messages;
    } ROWS[] = {
        {"", JR, START "IndirectBranch BTYPE=3 ICNT=2 UADDR=0x480"},
        {"mode=btm", TK, START "DirectBranch ICNT=2; IndirectBranch BTYPE=3 ICNT=0 UADDR=0x480"},
        {"", NT, START "IndirectBranchHist BTYPE=3 ICNT=2 UADDR=0x480 HIST=0x2"},
        {"", EXC, START "IndirectBranch BTYPE=2 ICNT=2 UADDR=0x480"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        rig r;
        rig_open(&r, ROWS[i].options);
        rig_insn(&r, 0x100, 4, ROWS[i].itype);
        ntr_ingress b = {.cycle = true, .priv = NTR_PRIV_M, .itype = INT, .no_iaddr = true};
        assert_int_equal(ntr_encoder_push(r.encoder, &b), NTR_OK);
        run(&r, 0x800);
        rig_expect_messages(&r, ROWS[i].messages);
        rig_close(&r);
    }
}

static void all_jumps(void **state) {
    (void)state;
    for (int htm = 0; htm < 2; htm++) {
        rig r;
        rig_open(&r, htm ? "all-jumps early-returns implicit-return=full"
                         : "mode=btm all-jumps early-returns implicit-return=full");
        rig_insn(&r, 0x100, 4, J);
        rig_insn(&r, 0x200, 4, CALL);
        rig_insn(&r, 0x300, 2, RET);
        rig_stop(&r, 0x204);
        rig_expect_messages(
            &r, htm ? START "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=5 HIST=0x7"
                    : START "DirectBranch ICNT=2; DirectBranch ICNT=2; ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=1");
        rig_close(&r);
    }
}

/* NT-158 */
static void empty_history_forms(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "empty-hist=send");
    rig_insn(&r, 0x100, 4, JR);
    assert_int_equal(ntr_encoder_request_sync(r.encoder, NTR_SYNC_PERIODIC), NTR_OK);
    rig_insn(&r, 0x200, 4, JR);
    rig_stop(&r, 0x300);
    rig_expect_messages(&r, START "IndirectBranchHistSync SYNC=2 BTYPE=0 ICNT=2 FADDR=0x100 HIST=0x1; "
                                  "IndirectBranchHist BTYPE=0 ICNT=2 UADDR=0x80 HIST=0x1; "
                                  "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=0 HIST=0x1");
    rig_close(&r);
}

/* NT-325, NT-332 */
static void source_and_extension(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "src-bits=4 src-id=5 extend-addr");
    run(&r, 0xffffffff800031f4);
    rig_insn(&r, 0xffffffff800031f8, 4, JR);
    rig_stop(&r, 0x100);
    rig_expect_messages(&r, "ProgTraceSync SRC=5 SYNC=3 ICNT=0 FADDR=0xfc00018fa:36; "
                            "IndirectBranch SRC=5 BTYPE=0 ICNT=4 UADDR=0xfc000187a:36; "
                            "ProgTraceCorrelation SRC=5 EVCODE=0 CDF=1 ICNT=0 HIST=0x1");
    rig_close(&r);
    rig_open(&r, "src-bits=4 src-id=5 inhibit-src");
    run(&r, 0x100);
    rig_expect(&r, "24 0D 00 0B");
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(icnt_and_hist_full_at_once),
        TEST(icnt_full_as_sync),
        TEST(hrepeat_at_its_limit),
        TEST(bcnt_at_its_limit),
        TEST(repeat_branch_is_its_own_option_in_htm),
        TEST(what_is_no_repeat),
        TEST(a_second_time_is_sent_so_that_a_third_repeats),
        TEST(sequential_jumps),
        TEST(a_message_between_spoils_a_sequential_jump),
        TEST(deeper_than_the_stack),
        TEST(returns_elsewhere_are_told),
        TEST(a_return_is_not_in_the_message_of_its_call),
        TEST(swaps_and_interrupted_returns),
        TEST(interrupt_without_address_behind_a_jump),
        TEST(all_jumps),
        TEST(empty_history_forms),
        TEST(source_and_extension),
    };
    return cmocka_run_group_tests_name("encoder counters", tests, NULL, NULL);
}
