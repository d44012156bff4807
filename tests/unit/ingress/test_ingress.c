/* The ingress port: what is inconsistent, Ownership, filters; ingress as text. */
#include "../encoder/rig.h"

#include <ntrace/ingress.h>

enum { NONE, EXC, INT, MRET, NT, TK, IND, ICALL = 8, CALL = 9, JR = 10, RET = 13 };

#define START "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80"

/* ---- consistency ---------------------------------------------------------------------------------------- */

/* NT-040, NT-041 */
static void inconsistent_records_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *options;
        ntr_ingress block; /* comes behind 0x100 add(4), 0x104 branch not taken(4) */
        const char *why;
    } ROWS[] = {
        {"", {.iaddr = 0x108, .iretire = 2, .itype = 7}, "itype 7 is reserved with 4-bit itype"},
        {"", {.iaddr = 0x108, .iretire = 2, .itype = IND}, "itype 6 is reserved with 4-bit itype"},
        {"itype-width=3", {.iaddr = 0x108, .iretire = 2, .itype = RET}, "itype 13 is reserved with 3-bit itype"},
        {"", {.iaddr = 0x108, .iretire = 2, .priv = 2}, "priv 2 is reserved"},
        {"", {.iaddr = 0x108, .iretire = 2, .priv = 9}, "priv 9 is reserved"},
        {"", {.iaddr = 0x108, .iretire = 2, .ctype = 4}, "ctype 4 does not exist"},
        {"", {.iaddr = 0x108, .iretire = 2, .trigger = 8}, "trigger 0x8 has unknown bits"},
        {"", {.iaddr = 0x108, .iretire = 2, .ilastsize = 4}, "ilastsize 4 is larger than 3"},
        {"", {.iaddr = 0x109, .iretire = 2}, "iaddr 0x109 is odd"},
        {"xlen=32", {.iaddr = 0x100000108, .iretire = 2}, "iaddr 0x100000108 has more than 32 bits"},
        {"", {.iaddr = 0x108, .iretire = 0x200000}, "iretire 2097152 is more than 1048576"},
        {"", {.itype = TK}, "itype 5 without a retired instruction (iretire 0)"},
        {"",
         {.itype = EXC, .no_iaddr = true},
         "an exception without retired instruction needs the iaddr of the one that trapped"},
        {"", {.iretire = 2, .no_iaddr = true}, "iretire 2 without iaddr"},
        {"",
         {.iaddr = 0x108, .iretire = 1, .ilastsize = 1},
         "iretire 1 is less than the last instruction's 2 halfwords"},
        {"",
         {.iaddr = 0x108, .iretire = 4, .ilastsize = 2, .itype = TK},
         "itype 5 is a branch or jump, which has 1 or 2 halfwords, not 4"},
        {"",
         {.iaddr = 0x108, .iretire = 2, .halted = true},
         "instructions retire while the hart is halted or in reset"},
        {"", {.iaddr = 0x10a, .iretire = 2}, "iaddr 0x10a does not follow the block before, which ends at 0x108"},
        {"context",
         {.iaddr = 0x108, .iretire = 2, .scontext = 1ull << 59},
         "scontext and hcontext have at most 59 bits"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        rig r;
        rig_open(&r, ROWS[i].options);
        r.block.priv = NTR_PRIV_U;
        rig_insn(&r, 0x100, 4, NONE);
        rig_insn(&r, 0x104, 4, NT);
        ntr_ingress b = ROWS[i].block;
        b.cycle = true;
        char text[160];
        snprintf(text, sizeof text, "record 3: %s", ROWS[i].why);
        assert_int_equal(ntr_encoder_push(r.encoder, &b), NTR_E_INGRESS);
        assert_string_equal(ntr_encoder_error(r.encoder), text);
        rig_insn(&r, 0x108, 4, NONE); /* the state is as before */
        rig_stop(&r, 0x10c);
        const char *last = strrchr(r.text, ',');
        assert_string_equal(last, ", 84 40 19 0B"); /* I-CNT 6, HIST 2 */
        rig_close(&r);
    }
}

static void cycles_hang_together(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "");
    rig_insn(&r, 0x100, 4, NT);
    ntr_ingress b = {.iaddr = 0x104, .iretire = 2, .priv = NTR_PRIV_U};
    assert_int_equal(ntr_encoder_push(r.encoder, &b), NTR_E_INGRESS);
    assert_string_equal(ntr_encoder_error(r.encoder), "record 2: priv changes inside a cycle");
    b.priv = NTR_PRIV_M;
    b.scontext = 1;
    assert_int_equal(ntr_encoder_push(r.encoder, &b), NTR_E_INGRESS);
    assert_string_equal(ntr_encoder_error(r.encoder), "record 3: context changes inside a cycle");
    b.scontext = 0;
    b.itype = INT;
    assert_int_equal(ntr_encoder_push(r.encoder, &b), NTR_OK);
    b.iaddr = 0x800;
    b.itype = NONE;
    assert_int_equal(ntr_encoder_push(r.encoder, &b), NTR_E_INGRESS);
    assert_string_equal(ntr_encoder_error(r.encoder), "record 5: block after a trap in the same cycle");
    b.cycle = true;
    assert_int_equal(ntr_encoder_push(r.encoder, &b), NTR_OK);
    rig_close(&r);
}

/* With 3-bit itype a block of kind 0 may end in a direct jump. */
static void three_bit_itype(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "itype-width=3");
    rig_insn(&r, 0x100, 4, NONE);
    rig_insn(&r, 0x300, 4, IND);
    rig_insn(&r, 0x200, 4, NONE);
    rig_stop(&r, 0x204);
    rig_expect_messages(
        &r, START "; IndirectBranch BTYPE=0 ICNT=4 UADDR=0x180; ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=2 HIST=0x1");
    rig_close(&r);
}

/* ---- Ownership ------------------------------------------------------------------------------------------- */

/* NT-139 */
static void contexts_are_told_as_they_change(void **state) {
    (void)state;
    static const struct {
        const char *options, *messages;
    } ROWS[] = {
        {"context", START "; Ownership PROCESS=0xae; Ownership PROCESS=0x4; Ownership PROCESS=0xc6"},
        {"context=hcontext",
         START "; Ownership PROCESS=0x2f; Ownership PROCESS=0xae; Ownership PROCESS=0x4; Ownership PROCESS=0xc6; "
               "Ownership PROCESS=0x47; Ownership PROCESS=0xc6; Ownership PROCESS=0x67; Ownership PROCESS=0xe6; "
               "Ownership PROCESS=0xe6"},
        {"context=hcontext context-order=scontext",
         START "; Ownership PROCESS=0xae; Ownership PROCESS=0x2f; Ownership PROCESS=0x4; Ownership PROCESS=0xc6; "
               "Ownership PROCESS=0xc6; Ownership PROCESS=0x47; Ownership PROCESS=0xe6; Ownership PROCESS=0x67; "
               "Ownership PROCESS=0xe6"},
        {"", START},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        rig r;
        rig_open(&r, ROWS[i].options);
        r.block.scontext = 5;
        r.block.hcontext = 1;
        rig_insn(&r, 0x100, 4, NONE);
        r.block.priv = NTR_PRIV_S;
        rig_insn(&r, 0x104, 4, NONE); /* FORMAT 0 */
        r.block.scontext = 6;
        rig_insn(&r, 0x108, 4, NONE); /* not reported */
        r.block.ctype = NTR_CTYPE_IMPRECISE;
        rig_insn(&r, 0x10c, 4, NONE); /* FORMAT 2 */
        if (i == 0) {
            rig_expect_messages(&r, ROWS[i].messages);
            rig_close(&r);
            continue;
        }
        r.block.hcontext = 2;
        rig_insn(&r, 0x110, 4, NONE); /* FORMAT 3, then FORMAT 2 (NT-142) */
        r.block.scontext = 7;
        r.block.hcontext = 3;
        rig_insn(&r, 0x114, 4, NONE); /* both */
        rig_insn(&r, 0x118, 4, NONE); /* written, but the same */
        rig_expect_messages(&r, ROWS[i].messages);
        rig_close(&r);
    }
}

/* NT-141 */
static void process_example(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "context");
    r.block.priv = NTR_PRIV_VU;
    r.block.scontext = 0x1d;
    rig_insn(&r, 0x100, 4, EXC);
    r.block.priv = NTR_PRIV_M;
    rig_insn(&r, 0x800, 4, NONE);
    rig_expect(&r, "24 0D 00 0B, 08 C8 3B, 10 29 00 4B, 08 33"); /* section 15.2 */
    rig_close(&r);
}

/* ctype 2: the start of the new context is reported. ctype 3: as an interrupt. */
static void precise_and_asynchronous_contexts(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "context");
    rig_insn(&r, 0x100, 4, NT);
    r.block.ctype = NTR_CTYPE_PRECISE;
    r.block.scontext = 1;
    rig_insn(&r, 0x104, 4, NONE);
    rig_expect_messages(&r, START
                        "; Ownership PROCESS=0xe; IndirectBranchHistSync SYNC=6 BTYPE=0 ICNT=2 FADDR=0x82 HIST=0x2; "
                        "Ownership PROCESS=0x2e");
    r.block.ctype = NTR_CTYPE_ASYNC;
    r.block.scontext = 2;
    rig_insn(&r, 0x900, 4, JR);
    r.block.scontext = 3;
    rig_insn(&r, 0xa00, 4, NONE);
    rig_expect_messages(&r, "IndirectBranch BTYPE=3 ICNT=2 UADDR=0x402; Ownership PROCESS=0x4e; "
                            "IndirectBranch BTYPE=3 ICNT=2 UADDR=0x180; Ownership PROCESS=0x6e");
    rig_close(&r);
}

/* ---- filters --------------------------------------------------------------------------------------------- */

static void filter_text(void **state) {
    (void)state;
    ntr_filter f;
    size_t column;
    assert_int_equal(
        ntr_filter_parse("addr=0x100-0x1ff,priv=m+vu,scontext=5,hcontext=0x6,exception=2+13,interrupt,impdef=1/3", &f,
                         &column),
        NTR_OK);
    assert_true(f.match_address && f.first == 0x100 && f.last == 0x1ff);
    assert_true(f.match_priv && f.priv == (1 << NTR_PRIV_M | 1 << NTR_PRIV_VU));
    assert_true(f.match_scontext && f.scontext == 5 && f.match_hcontext && f.hcontext == 6);
    assert_true(f.match_exception && f.match_interrupt && f.causes == (1 << 2 | 1 << 13));
    assert_true(f.match_impdef && f.impdef == 1 && f.impdef_mask == 3);
    static const struct {
        const char *text;
        ntr_status status;
        size_t column;
    } BAD[] = {
        {"", NTR_E_NAME, 0},
        {"addr", NTR_E_NAME, 0},
        {"addr=1", NTR_E_SYNTAX, 6},
        {"addr=2-1", NTR_E_RANGE, 8},
        {"priv=x", NTR_E_NAME, 5},
        {"priv=m+", NTR_E_NAME, 7},
        {"exception=64", NTR_E_RANGE, 12},
        {"scontext=5x", NTR_E_SYNTAX, 10},
        {"interrupt,", NTR_E_NAME, 10},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        assert_int_equal(ntr_filter_parse(BAD[i].text, &f, &column), BAD[i].status);
        assert_int_equal(column, BAD[i].column);
    }
}

/* A filter lets windows of code pass: each ends with EVCODE 4, and the next one starts with SYNC 5 (TC-12). NT-206 */
static void address_window(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "start-sync=5 filter=addr=0x200-0x2ff,priv=m filter=addr=0x900-0x900");
    rig_insn(&r, 0x100, 4, CALL);
    rig_insn(&r, 0x200, 4, NT);
    rig_insn(&r, 0x204, 4, RET);
    rig_insn(&r, 0x104, 4, CALL);
    rig_insn(&r, 0x200, 4, NONE);
    r.block.priv = NTR_PRIV_U;
    rig_insn(&r, 0x204, 4, JR);
    rig_insn(&r, 0x900, 4, JR);
    rig_stop(&r, 0x904);
    rig_expect_messages(
        &r, "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x100; IndirectBranchHist BTYPE=0 ICNT=4 UADDR=0x182 HIST=0x2; "
            "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=0 HIST=0x1; ProgTraceSync SYNC=5 ICNT=0 FADDR=0x100; "
            "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=2 HIST=0x1; ProgTraceSync SYNC=5 ICNT=0 FADDR=0x480; "
            "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x2; ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=0 HIST=0x1");
    rig_close(&r);
}

/* From a listed trap to its return, traps inside counted. */
static void trap_window(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "start-sync=5 filter=exception=2");
    r.block.cause = 2;
    rig_insn(&r, 0x100, 4, INT); /* another kind */
    rig_insn(&r, 0x800, 4, MRET);
    rig_insn(&r, 0x104, 4, EXC); /* the window opens with this block */
    r.block.cause = 7;
    rig_insn(&r, 0x800, 4, INT);
    rig_insn(&r, 0x900, 4, MRET);
    rig_insn(&r, 0x804, 4, MRET);
    rig_insn(&r, 0x108, 4, NONE);
    rig_insn(&r, 0x10c, 4, EXC); /* not listed */
    rig_insn(&r, 0x800, 4, MRET);
    rig_expect_messages(
        &r, "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x82; IndirectBranch BTYPE=2 ICNT=2 UADDR=0x482; "
            "IndirectBranch BTYPE=3 ICNT=2 UADDR=0x80; IndirectBranch BTYPE=0 ICNT=2 UADDR=0x82; "
            "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x486; ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=0 HIST=0x1");
    rig_close(&r);
}

static unsigned qualify(void *user, const ntr_ingress *block) {
    ++*(unsigned *)user;
    return block->iaddr == 0x104  ? NTR_QUALIFY_TRACE | NTR_QUALIFY_NOTIFY
           : block->iaddr < 0x200 ? NTR_QUALIFY_TRACE
                                  : 0;
}

static void a_register_model_qualifies(void **state) {
    (void)state;
    rig r;
    unsigned asked = 0;
    rig_open(&r, "");
    rig_close(&r);
    r.config.qualify = qualify;
    r.config.qualify_user = &asked;
    ntr_encoder_new(&r.config, &r.encoder);
    rig_insn(&r, 0x100, 4, NONE);
    rig_insn(&r, 0x104, 4, NONE);
    rig_insn(&r, 0x108, 4, JR);
    rig_insn(&r, 0x200, 4, NONE);
    rig_expect_messages(
        &r, START "; IndirectBranchSync SYNC=6 BTYPE=0 ICNT=4 FADDR=0x84; IndirectBranch BTYPE=0 ICNT=2 UADDR=0x184; "
                  "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=0 HIST=0x1");
    assert_int_equal(asked, 4);
    rig_close(&r);
}

/* ---- text ------------------------------------------------------------------------------------------------ */

static void text_round_trip(void **state) {
    (void)state;
    ntr_ingress blocks[] = {
        {.iaddr = 0x80000000, .iretire = 7, .ilastsize = 1, .itype = 13, .priv = 3, .cycle = true},
        {.itype = 2, .no_iaddr = true, .cause = 7, .tval = 1, .halted = true, .reset = true},
        {.iaddr = UINT64_MAX - 1,
         .iretire = UINT32_MAX,
         .ilastsize = 3,
         .itype = 15,
         .priv = 6,
         .ctype = 3,
         .trigger = 7,
         .sijump = true,
         .cycle = true,
         .scontext = UINT64_MAX,
         .hcontext = 1,
         .time = UINT64_MAX,
         .cause = UINT64_MAX,
         .tval = UINT64_MAX,
         .impdef = UINT64_MAX},
    };
    ntr_ingress_reader reader;
    ntr_ingress_reader_init(&reader);
    ntr_ingress got;
    assert_int_equal(ntr_ingress_read(&reader, ntr_ingress_header(), strlen(ntr_ingress_header()), &got),
                     NTR_NEED_MORE);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        char line[NTR_INGRESS_TEXT_MAX], again[NTR_INGRESS_TEXT_MAX];
        int length = ntr_ingress_format(&blocks[i], line, sizeof line);
        assert_true(length > 0);
        assert_int_equal(ntr_ingress_read(&reader, line, (size_t)length, &got), NTR_OK);
        assert_true(ntr_ingress_format(&got, again, sizeof again) > 0);
        assert_string_equal(line, again);
        assert_int_equal(got.no_iaddr, blocks[i].no_iaddr);
    }
    assert_int_equal(reader.record, 3);
    char small[10];
    assert_int_equal(ntr_ingress_format(blocks, small, sizeof small), NTR_E_SPACE);
}

static ntr_status read(ntr_ingress_reader *reader, const char *line, ntr_ingress *block) {
    return ntr_ingress_read(reader, line, strlen(line), block);
}

static void text_by_hand(void **state) {
    (void)state;
    ntr_ingress_reader r;
    ntr_ingress b;
    ntr_ingress_reader_init(&r);
    assert_int_equal(read(&r, "# a comment", &b), NTR_NEED_MORE);
    assert_int_equal(read(&r, " iretire , iaddr\r", &b), NTR_NEED_MORE);
    assert_int_equal(read(&r, "  ", &b), NTR_NEED_MORE);
    assert_int_equal(read(&r, " 2 , 0x100\r", &b), NTR_OK);
    assert_true(b.iretire == 2 && b.iaddr == 0x100 && b.cycle && !b.no_iaddr);
    assert_int_equal(read(&r, "0,", &b), NTR_OK);
    assert_true(b.no_iaddr);
    static const struct {
        const char *line;
        ntr_status status;
        const char *error;
    } BAD[] = {
        {"1", NTR_E_SYNTAX, "fewer than the header's 2 columns"},
        {"1,2,3", NTR_E_SYNTAX, "more than the header's 2 columns"},
        {"x,0", NTR_E_SYNTAX, "column iretire: \"x\" is no number"},
        {"1,0x", NTR_E_SYNTAX, "column iaddr: \"0x\" is no number"},
        {"4294967296,0", NTR_E_RANGE, "column iretire: 4294967296 is more than 4294967295"},
        {"99999999999999999999,0", NTR_E_SYNTAX, "column iretire: \"99999999999999999999\" is no number"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        assert_int_equal(read(&r, BAD[i].line, &b), BAD[i].status);
        assert_string_equal(r.error, BAD[i].error);
    }
    ntr_ingress_reader_init(&r);
    assert_int_equal(read(&r, "iaddr,nonsense", &b), NTR_E_NAME);
    assert_string_equal(r.error, "there is no column \"nonsense\"");
    assert_int_equal(read(&r, "iaddr,iaddr", &b), NTR_E_SYNTAX);
    assert_string_equal(r.error, "column iaddr is there twice");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(inconsistent_records_are_refused),
        TEST(cycles_hang_together),
        TEST(three_bit_itype),
        TEST(contexts_are_told_as_they_change),
        TEST(process_example),
        TEST(precise_and_asynchronous_contexts),
        TEST(filter_text),
        TEST(address_window),
        TEST(trap_window),
        TEST(a_register_model_qualifies),
        TEST(text_round_trip),
        TEST(text_by_hand),
    };
    return cmocka_run_group_tests_name("ingress", tests, NULL, NULL);
}
