/* Whole streams of N-Trace 1.0 sections 15.4 to 15.10, byte for byte. Where the reference encoder has a habit of
 * its own (CDF=0 in HTM without history) the option for it is given. */
#include "rig.h"

enum { NONE, EXC, INT, MRET, NT, TK, CALL = 9, JR = 10, ICALL = 8, RET = 13 };

/* ---- program A ---------------------------------------------------------------------------------- */

static void program_a(rig *r, int run) {
    rig_insn(r, 0x100, 2, NONE);
    rig_insn(r, 0x102, 4, run == 1 ? TK : NT);
    if (run == 1) {
        rig_insn(r, 0x200, 2, NONE);
        rig_stop(r, 0x202);
        return;
    }
    rig_insn(r, 0x106, 4, NONE);
    rig_insn(r, 0x10a, 4, run == 2 ? TK : NT);
    if (run == 2) {
        rig_insn(r, 0x300, 4, NONE);
        rig_stop(r, 0x304);
        return;
    }
    rig_insn(r, 0x10e, 2, NONE);
    rig_insn(r, 0x110, 4, NONE);
    rig_stop(r, 0x114);
}

static void section_15_4(void **state) {
    (void)state;
    static const char *const EXPECT[2][3] = {
        {"24 0D 00 0B, 0C 0F, 84 00 07", "24 0D 00 0B, 0C 1F, 84 00 0B", "24 0D 00 0B, 84 00 2B"},
        {"24 0D 00 0B, 84 40 11 0F", "24 0D 00 0B, 84 40 25 17", "24 0D 00 0B, 84 40 29 13"},
    };
    for (int htm = 0; htm < 2; htm++)
        for (int run = 0; run < 3; run++) {
            rig r;
            rig_open(&r, htm ? "mode=htm" : "mode=btm");
            program_a(&r, run + 1);
            rig_expect(&r, EXPECT[htm][run]);
            rig_close(&r);
        }
}

/* ---- program B ---------------------------------------------------------------------------------- */

static void program_b(rig *r) {
    rig_insn(r, 0x100, 2, NONE);
    rig_insn(r, 0x102, 4, NT);
    for (unsigned pc = 0x106; pc < 0x11a; pc += 4) rig_insn(r, pc, 4, NONE);
    rig_insn(r, 0x11a, 2, NONE);
    rig_stop(r, 0x11c);
}

static void section_15_5(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "icnt-bits=4 full=after");
    program_b(&r);
    rig_expect(&r, "24 0D 00 0B, 6C 40 0B, 84 40 15 0B");
    rig_close(&r);
    rig_open(&r, "mode=btm icnt-bits=4 full=after icnt-full=sync");
    program_b(&r);
    rig_expect(&r, "24 0D 00 0B, 24 50 09 24 0B, 84 00 17");
    rig_close(&r);
}

/* NT-220: the history is read from its stop-bit, oldest branch first; without branches it is 1. NT-223 */
static void history_examples(void **state) {
    static const struct {
        const char *branches, *message;
    } rows[] = {{"nt", "HIST=0x5"}, {"ttt", "HIST=0xf"}, {"nnnn", "HIST=0x10"}, {"", "HIST=0x1"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        rig r;
        char expected[128];
        unsigned halfwords = 0;
        rig_open(&r, "mode=htm empty-hist=send");
        uint64_t pc = 0x100;
        for (const char *b = rows[i].branches; *b; b++, halfwords += 2, pc += 4)
            rig_insn(&r, pc, 4, *b == 't' ? TK : NT);
        rig_insn(&r, pc, 4, NTR_ITYPE_OTHER_INDIRECT);
        rig_insn(&r, 0x400, 4, NONE);
        snprintf(expected, sizeof expected,
                 "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80; IndirectBranchHist BTYPE=0 ICNT=%u UADDR=0x280 %s",
                 halfwords + 2, rows[i].message);
        rig_expect_messages(&r, expected);
        rig_close(&r);
    }
    rig r; /* a register of 4 bits is full with three branches; its stop-bit is the highest bit */
    rig_open(&r, "mode=htm hist-bits=4");
    for (unsigned i = 0; i < 4; i++) rig_insn(&r, 0x100 + 4 * i, 4, NT);
    rig_expect_messages(&r, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80; ResourceFull RCODE=1 RDATA0=0x8");
    rig_close(&r);
}

/* NT-365: a loop of an addition and a branch with a rare interrupt; the sum of all I-CNT is what was retired, however
 * often the counter is full. NT-106: a branch message has two bytes at least. */
static void counts_add_up(void **state) {
    static const char *const options[] = {"mode=htm icnt-bits=5", "mode=btm icnt-bits=5",
                                          "mode=htm icnt-bits=8 hist-bits=8"};
    (void)state;
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        rig r;
        uint64_t halfwords = 0, sum = 0;
        unsigned resources = 0;
        rig_open(&r, options[i]);
        for (unsigned n = 1; n <= 300; n++) {
            for (unsigned k = 0; k < 5; k++, halfwords++) rig_insn(&r, 0x100 + 2 * k, 2, NONE);
            rig_insn(&r, 0x10a, 4, TK), halfwords += 2;
            if (n % 61) continue;
            rig_block(&r, 0x100, 1, 2, INT), halfwords++;
            rig_insn(&r, 0x800, 4, MRET), halfwords += 2;
            rig_insn(&r, 0x102, 2, NONE), halfwords++;
            rig_insn(&r, 0x104, 4, NTR_ITYPE_OTHER_DIRECT), halfwords += 2;
        }
        rig_stop(&r, 0x100);
        for (size_t at = 0, end; at < r.size; at = end) {
            ntr_message m;
            for (end = at; (r.stream[end] & 3) != 3; end++) {
            }
            end++;
            assert_int_equal(ntr_message_decode(&r.config.params, (ntr_bytes){r.stream + at, end - at}, &m), NTR_OK);
            if (m.tcode == NTR_TCODE_DIRECT_BRANCH) assert_true(end - at >= 2);
            if (m.present >> NTR_FIELD_ICNT & 1) sum += m.icnt;
            if (m.tcode == NTR_TCODE_RESOURCE_FULL && m.rcode == 0) sum += m.rdata0, resources++;
        }
        assert_int_equal(sum, halfwords);
        if (i == 0) assert_true(resources > 10);
        rig_close(&r);
    }
}

/* The counter is sent before the instruction that does not fit: 13 halfwords, then 1. NT-232, NT-348 */
static void full_before_the_instruction(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "icnt-bits=4");
    for (unsigned i = 0; i < 7; i++) rig_insn(&r, 0x100 + 4 * i, 4, NONE);
    rig_insn(&r, 0x11c, 4, NONE); /* 14 + 2 do not fit into 4 bits */
    rig_stop(&r, 0x120);
    rig_expect(&r, "24 0D 00 0B, 6C 80 0F, 84 40 09 07");
    rig_close(&r);
}

/* ---- programs C, D, E --------------------------------------------------------------------------- */

static void program_c(rig *r) {
    rig_insn(r, 0x100, 4, NONE);
    rig_insn(r, 0x104, 4, NONE);
    rig_insn(r, 0x108, 4, JR);
    for (int i = 0; i < 4; i++) {
        rig_insn(r, 0x200, 4, NONE);
        rig_insn(r, 0x204, 4, NT);
        rig_insn(r, 0x208, 4, NONE);
        rig_insn(r, 0x20c, 4, JR);
    }
    rig_insn(r, 0x200, 4, NONE);
    rig_insn(r, 0x204, 4, TK);
    rig_insn(r, 0x210, 4, NONE);
    rig_insn(r, 0x214, 4, JR);
    rig_insn(r, 0x100, 4, NONE);
    rig_insn(r, 0x104, 4, NONE);
    rig_stop(r, 0x108);
}

static void program_d(rig *r) {
    rig_insn(r, 0x100, 4, NONE);
    rig_insn(r, 0x104, 4, CALL);
    rig_insn(r, 0x200, 4, NONE);
    rig_insn(r, 0x204, 2, NT);
    rig_insn(r, 0x206, 4, NONE);
    rig_insn(r, 0x20a, 2, RET);
    rig_insn(r, 0x108, 2, NONE);
    rig_insn(r, 0x10a, 4, ICALL);
    rig_insn(r, 0x300, 2, NONE);
    rig_insn(r, 0x302, 4, CALL);
    rig_insn(r, 0x200, 4, NONE);
    rig_insn(r, 0x204, 2, TK);
    rig_insn(r, 0x20a, 2, RET);
    rig_insn(r, 0x306, 4, RET);
    rig_insn(r, 0x10e, 4, NONE);
    rig_stop(r, 0x112);
}

static void program_e(rig *r) {
    for (int i = 0; i < 156; i++) {
        rig_insn(r, 0x100, 4, NONE);
        rig_insn(r, 0x104, 4, i < 155 ? TK : NT);
    }
    rig_insn(r, 0x108, 4, JR);
    rig_insn(r, 0x200, 4, NONE);
    rig_insn(r, 0x204, 4, NONE);
    rig_stop(r, 0x208);
}

/* The reference encoder infers returns also in the message that reports their call. NT-340, NT-347 */
static void section_15_10(void **state) {
    (void)state;
    static const struct {
        void (*program)(rig *);
        const char *options, *stream;
    } CASES[] = {
        {program_c, "",
         "24 05 00 0B, 10 61 00 1B, 70 81 01 0B, 70 81 01 0B, 70 81 01 0B, 70 81 01 0B, 70 81 00 19 0F, 84 00 13"},
        {program_c, "repeat-branch", "24 05 00 0B, 10 61 00 1B, 70 81 01 0B, 78 0F, 70 81 00 19 0F, 84 00 13"},
        {program_c, "mode=btm",
         "24 05 00 0B, 10 61 00 1B, 10 81 03, 10 81 03, 10 81 03, 10 81 03, 0C 13, 10 41 00 1B, 84 00 13"},
        {program_c, "mode=btm repeat-branch",
         "24 05 00 0B, 10 61 00 1B, 10 81 03, 78 0F, 0C 13, 10 41 00 1B, 84 00 13"},
        {program_d, "", "24 05 00 0B, 70 A1 11 0B, 10 31 10 13, 70 71 0D 0F, 10 21 10 13, 84 00 0B"},
        {program_d, "early-returns implicit-return=full", "24 05 00 0B, 70 D1 00 11 0B, 84 40 2D 0F"},
        {program_d, "early-returns implicit-return=count", "24 05 00 0B, 70 D1 00 11 0B, 84 40 2D 0F"},
        {program_d, "early-returns implicit-return=partial compare-bits=4", "24 05 00 0B, 70 D1 00 11 0B, 84 40 2D 0F"},
        {program_d, "mode=btm early-returns implicit-return=full", "24 05 00 0B, 10 D1 00 13, 0C 1B, 84 00 17"},
        {program_e, "",
         "24 05 00 0B, 6C C4 FC FC FC FC FF, 6C C4 FC FC FC FC FF, 6C C4 FC FC FC FC FF, 6C C4 FC FC FC FC FF, "
         "6C C4 FC FC FC FC FF, 70 20 9D 00 19 0B, 84 00 13"},
        {program_e, "repeated-history history-repeats=whole",
         "24 05 00 0B, 6C C8 FC FC FC FC FD 17, 70 20 9D 00 19 0B, 84 00 13"},
        {program_e, "full=after",
         "24 05 00 0B, 6C C4 FC FC FC FC FF, 6C C4 FC FC FC FC FF, 6C C4 FC FC FC FC FF, "
         "6C C4 FC FC FC FC FF, 6C C4 FC FC FC FC FF, 70 20 9D 00 19 0B, 84 00 13"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        rig r;
        char options[128];
        snprintf(options, sizeof options, "start-sync=1 empty-cdf=0 %s", CASES[i].options);
        rig_open(&r, options);
        CASES[i].program(&r);
        rig_expect(&r, CASES[i].stream);
        rig_close(&r);
    }
}

/* The same instructions in longer blocks make the same stream. */
static void blocks_of_any_length_are_the_same(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "start-sync=1 empty-cdf=0 early-returns implicit-return=full");
    rig_block(&r, 0x100, 4, 4, CALL);
    rig_block(&r, 0x200, 3, 2, NT);
    rig_block(&r, 0x206, 3, 2, RET);
    rig_block(&r, 0x108, 3, 4, ICALL);
    rig_block(&r, 0x300, 3, 4, CALL);
    rig_block(&r, 0x200, 3, 2, TK);
    rig_block(&r, 0x20a, 1, 2, RET);
    rig_block(&r, 0x306, 2, 4, RET);
    rig_block(&r, 0x10e, 2, 4, NONE);
    rig_stop(&r, 0x112);
    rig_expect(&r, "24 05 00 0B, 70 D1 00 11 0B, 84 40 2D 0F");
    rig_close(&r);
}

/* Ingress port section 7: nine instructions in four cycles. */
static void ingress_example(void **state) {
    (void)state;
    for (int htm = 0; htm < 2; htm++) {
        rig r;
        rig_open(&r, htm ? "" : "mode=btm");
        rig_block(&r, 0x1000, 7, 2, ICALL);
        rig_block(&r, 0x0940, 3, 2, NT);
        rig_block(&r, 0x0946, 1, 2, TK);
        rig_block(&r, 0x0988, 4, 4, NONE);
        rig_stop(&r, 0x0990);
        rig_expect(&r, htm ? "24 0D 00 83, 10 71 80 CB, 84 40 21 17" : "24 0D 00 83, 10 71 80 CB, 0C 13, 84 00 13");
        rig_close(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(section_15_4),
        TEST(section_15_5),
        TEST(history_examples),
        TEST(counts_add_up),
        TEST(full_before_the_instruction),
        TEST(section_15_10),
        TEST(blocks_of_any_length_are_the_same),
        TEST(ingress_example),
    };
    return cmocka_run_group_tests_name("encoder streams", tests, NULL, NULL);
}
