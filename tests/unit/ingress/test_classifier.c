/* From code executed to ingress: code blocks, program counters, Spike logs. */
#include "../test.h"

#include <ntrace/encoder.h>
#include <ntrace/ingress.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NONE, EXC, INT, MRET, NT, TK, IND, ICALL = 8, CALL = 9, JR = 10, J = 11, SWAP = 12, RET = 13 };

/* ---- a rig: records as "0x100+3 itype 4" -------------------------------------------------------------------- */

typedef struct rig {
    ntr_program *program;
    ntr_classifier *classifier;
    char text[4096];
    size_t length;
} rig;

static ntr_status note(void *user, const ntr_ingress *b) {
    rig *r = user;
    size_t room = sizeof r->text - r->length;
    char address[24] = "?";
    if (!b->no_iaddr) snprintf(address, sizeof address, "0x%llx", (unsigned long long)b->iaddr);
    int used = snprintf(r->text + r->length, room, "%s%s+%u:%u%s", r->length ? " " : "", address, b->iretire, b->itype,
                        b->sijump ? "s" : "");
    assert_in_range(used, 1, room - 1);
    r->length += (size_t)used;
    if (b->ctype) r->length += (size_t)snprintf(r->text + r->length, 30, "x%u", b->ctype);
    if (b->priv == NTR_PRIV_S)
        r->length += (size_t)snprintf(r->text + r->length, 30, "@%llu", (unsigned long long)b->time);
    if (b->itype == EXC || b->itype == INT) {
        if (b->cause) r->length += (size_t)snprintf(r->text + r->length, 30, "c%llu", (unsigned long long)b->cause);
    }
    return NTR_OK;
}

static void expect(rig *r, const char *text) {
    assert_string_equal(r->text, text);
    r->length = 0;
    r->text[0] = 0;
}

/* 0x100 add(4), 0x104 beq +12 (0x110), 0x108 c.nop, 0x10a jal x0 -10 (0x100), 0x10e c.nop,
 * 0x110 lui x5, 0x114 jr x6, 0x118 lui x6, 0x11c jr x6, 0x120 ecall, 0x124 c.ebreak, 0x126 ret (c.jr ra),
 * 0x128 jal ra +8 (0x130), 0x12c jalr x5,x1, 0x130 c.nop, 0x132 end. */
static const uint8_t CODE[] = {
    0x33, 0x05, 0xb5, 0x00, 0x63, 0x06, 0x00, 0x00, 0x01, 0x00, 0x6f, 0xf0, 0x7f, 0xff, 0x01, 0x00, 0xb7,
    0x02, 0x00, 0x00, 0x67, 0x00, 0x03, 0x00, 0x37, 0x03, 0x00, 0x00, 0x67, 0x00, 0x03, 0x00, 0x73, 0x00,
    0x00, 0x00, 0x02, 0x90, 0x82, 0x80, 0xef, 0x00, 0x80, 0x00, 0xe7, 0x82, 0x00, 0x00, 0x01, 0x00,
};

static void rig_open(rig *r, const ntr_classifier_config *wishes) {
    memset(r, 0, sizeof *r);
    ntr_program_new(NULL, &r->program);
    ntr_image_options where = {.size = sizeof where, .bias = 0x100};
    assert_int_equal(ntr_program_add_raw(r->program, (ntr_bytes){CODE, sizeof CODE}, &where), NTR_OK);
    ntr_classifier_config config;
    ntr_classifier_config_init(&config);
    if (wishes) config = *wishes;
    config.size = sizeof config;
    config.program = r->program;
    config.sink = note;
    config.sink_user = r;
    ntr_status status;
    status = ntr_classifier_new(&config, &r->classifier);
    assert_int_equal(status, NTR_OK);
}

static void rig_close(rig *r) {
    ntr_classifier_free(r->classifier);
    ntr_program_free(r->program);
}

static void run_pcs(rig *r, const uint64_t *pcs, size_t count) {
    ntr_status status = ntr_classifier_push_many(r->classifier, pcs, count);
    if (status != NTR_OK) fail_msg("%s: %s", ntr_status_name(status), ntr_classifier_error(r->classifier));
}

#define PCS(r, ...) run_pcs(r, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

static void finish(rig *r, uint64_t next) {
    uint64_t got;
    assert_int_equal(ntr_classifier_finish(r->classifier, &got), NTR_OK);
    assert_int_equal(got, next);
}

/* ---- program counters --------------------------------------------------------------------------------------- */

/* NT-013, NT-299, NT-302 */
static void how_blocks_end(void **state) {
    (void)state;
    rig r;
    rig_open(&r, NULL);
    PCS(&r, 0x100, 0x104, 0x108, 0x10a, 0x100, 0x104, 0x110, 0x114, 0x118, 0x11c, 0x126, 0x128, 0x130);
    finish(&r, 0x132);
    expect(&r, "0x100+4:4 0x108+3:11 0x100+4:5 0x110+4:10 0x118+4:10s 0x126+1:13 0x128+2:9 0x130+1:0");
    rig_close(&r);
}

static void the_same_one_by_one(void **state) {
    (void)state;
    static const uint64_t PCS[] = {0x100, 0x104, 0x108, 0x10a, 0x100, 0x104, 0x110,
                                   0x114, 0x118, 0x11c, 0x126, 0x128, 0x130};
    rig r;
    rig_open(&r, NULL);
    for (size_t i = 0; i < sizeof PCS / 8; i++) assert_int_equal(ntr_classifier_push(r.classifier, PCS[i]), NTR_OK);
    finish(&r, 0x132);
    expect(&r, "0x100+4:4 0x108+3:11 0x100+4:5 0x110+4:10 0x118+4:10s 0x126+1:13 0x128+2:9 0x130+1:0");
    rig_close(&r);
}

/* NT-015, NT-016, NT-049 */
static void three_bit_itype(void **state) {
    (void)state;
    for (int all = 0; all < 2; all++) {
        rig r;
        ntr_classifier_config wishes = {.itype_width = 3, .all_jumps = all};
        rig_open(&r, &wishes);
        PCS(&r, 0x108, 0x10a, 0x100, 0x104, 0x110, 0x114, 0x126, 0x128, 0x130);
        finish(&r, 0x132);
        expect(&r, all ? "0x108+3:5 0x100+4:5 0x110+4:6 0x126+1:6 0x128+2:5 0x130+1:0"
                       : "0x108+3:0 0x100+4:5 0x110+4:6 0x126+1:6 0x128+2:0 0x130+1:0");
        rig_close(&r);
    }
}

/* A program counter that cannot follow: a trap in between, wherever it strikes. */
static void traps_by_discontinuity(void **state) {
    (void)state;
    rig r;
    rig_open(&r, NULL);
    PCS(&r, 0x100, 0x126, 0x104, 0x126, 0x108, 0x126);
    finish(&r, NTR_ADDRESS_UNKNOWN);
    /* behind add; behind the branch (as if not taken); behind c.nop */
    expect(&r, "0x100+2:2 0x126+1:13 0x104+2:4 0x108+0:2 0x126+1:13 0x108+1:2 0x126+1:13");
    PCS(&r, 0x108, 0x10a, 0x126, 0x10e, 0x110, 0x126);
    finish(&r, NTR_ADDRESS_UNKNOWN);
    expect(&r, "0x108+3:11 0x100+0:2 0x126+1:13 0x10e+3:2 0x126+1:13");
    rig_close(&r);
}

/* NT-010 */
static void environment_calls_do_not_retire(void **state) {
    (void)state;
    rig r;
    rig_open(&r, NULL);
    PCS(&r, 0x11c, 0x120, 0x124, 0x126);
    finish(&r, NTR_ADDRESS_UNKNOWN);
    expect(&r, "0x11c+2:10 0x120+0:1 0x124+0:1 0x126+1:13");
    PCS(&r, 0x118, 0x11c, 0x120);
    finish(&r, 0x120); /* a last ECALL: execution stops there */
    expect(&r, "0x118+4:10s");
    rig_close(&r);
}

/* NT-009, NT-011 */
static void reported_traps(void **state) {
    (void)state;
    rig r;
    rig_open(&r, NULL);
    PCS(&r, 0x100);
    assert_int_equal(ntr_classifier_trap(r.classifier, EXC, 0x104, 2, 0), NTR_OK);
    PCS(&r, 0x100, 0x104);
    assert_int_equal(ntr_classifier_trap(r.classifier, INT, 0x110, 7, 0), NTR_OK); /* the branch was taken */
    PCS(&r, 0x126);
    assert_int_equal(ntr_classifier_trap(r.classifier, EXC, 0x200, 1, 0), NTR_OK); /* fault where the return went */
    assert_int_equal(ntr_classifier_trap(r.classifier, EXC, 0x300, 1, 0), NTR_OK); /* and in the handler */
    PCS(&r, 0x126);
    assert_int_equal(ntr_classifier_trap(r.classifier, INT, NTR_ADDRESS_UNKNOWN, 3, 0), NTR_OK);
    PCS(&r, 0x120);
    assert_int_equal(ntr_classifier_trap(r.classifier, EXC, 0x120, 8, 0), NTR_OK);
    PCS(&r, 0x130);
    finish(&r, 0x132);
    expect(
        &r,
        "0x100+2:1c2 0x100+4:5 0x110+0:2c7 0x126+1:13 0x200+0:1c1 0x300+0:1c1 0x126+1:13 ?+0:2c3 0x120+0:1c8 0x130+1:0");
    assert_int_equal(ntr_classifier_trap(r.classifier, NT, 0, 0, 0), NTR_E_INVALID);
    rig_close(&r);
}

static void short_blocks_and_cuts(void **state) {
    (void)state;
    rig r;
    ntr_classifier_config wishes = {.retires = 1};
    rig_open(&r, &wishes);
    PCS(&r, 0x118, 0x11c, 0x110, 0x114);
    finish(&r, NTR_ADDRESS_UNKNOWN);
    expect(&r, "0x118+2:0 0x11c+2:10s 0x110+2:0 0x114+2:10");
    rig_close(&r);
    uint64_t cuts[] = {0x110, 0x10a};
    wishes = (ntr_classifier_config){.cuts = cuts, .cut_count = 2};
    rig_open(&r, &wishes);
    PCS(&r, 0x108, 0x10a, 0x100, 0x104, 0x110, 0x114);
    finish(&r, NTR_ADDRESS_UNKNOWN);
    expect(&r, "0x108+1:0 0x10a+2:11 0x100+4:5 0x110+4:10");
    PCS(&r, 0x10e, 0x110, 0x114);
    finish(&r, NTR_ADDRESS_UNKNOWN);
    expect(&r, "0x10e+1:0 0x110+4:10");
    rig_close(&r);
}

static void no_image(void **state) {
    (void)state;
    rig r;
    rig_open(&r, NULL);
    assert_int_equal(ntr_classifier_push_many(r.classifier, (const uint64_t[]){0x100, 0x104, 0x5000}, 3),
                     NTR_E_NO_IMAGE);
    assert_string_equal(ntr_classifier_error(r.classifier), "pc 3: no program image at 0x5000");
    rig_close(&r);
}

/* Memory is bounded however many blocks there are, and what is forgotten is found again. */
static void many_blocks(void **state) {
    (void)state;
    enum { COUNT = 700000 };
    uint8_t *code = malloc(2 * COUNT);
    for (size_t i = 0; i < COUNT; i++) memcpy(code + 2 * i, (const uint8_t[]){0x82, 0x80}, 2); /* ret */
    rig r;
    rig_open(&r, NULL);
    ntr_image_options where = {.size = sizeof where, .bias = 0x100000};
    assert_int_equal(ntr_program_add_raw(r.program, (ntr_bytes){code, 2 * COUNT}, &where), NTR_OK);
    free(code);
    for (uint64_t i = 0; i < COUNT; i++) {
        r.length = 0;
        assert_int_equal(ntr_classifier_push(r.classifier, 0x100000 + 2 * i), NTR_OK);
    }
    r.length = 0;
    assert_int_equal(ntr_classifier_push(r.classifier, 0x100000), NTR_OK);
    expect(&r, "0x255cbe+1:13");
    rig_close(&r);
}

/* ---- code blocks ---------------------------------------------------------------------------------------------- */

static void scan(void **state) {
    (void)state;
    ntr_code_block b;
    assert_int_equal(ntr_code_block_scan(CODE, sizeof CODE, 0x100, 0, 0, &b), NTR_OK);
    assert_true(b.start == 0x100 && b.instructions == 2 && b.halfwords == 4 && b.target == 0x110 &&
                b.flow == NTR_FLOW_BRANCH);
    assert_int_equal(ntr_code_block_scan(CODE, sizeof CODE, 0x100, 0, 1, &b), NTR_OK);
    assert_true(b.instructions == 1 && b.halfwords == 2 && b.flow == NTR_FLOW_LINEAR);
    assert_int_equal(ntr_code_block_scan(CODE, 6, 0x100, 0, 0, &b), NTR_OK); /* the bytes end inside the branch */
    assert_true(b.instructions == 1 && b.flow == NTR_FLOW_LINEAR);
    assert_int_equal(ntr_code_block_scan(CODE + 0x20, 6, 0x120, 0, 0, &b), NTR_OK);
    assert_true(b.instructions == 0 && b.halfwords == 0 && b.flow == NTR_FLOW_TRAP);
    assert_int_equal(ntr_code_block_scan(CODE, 3, 0x100, 0, 0, &b), NTR_E_SPACE);
}

static void contexts_are_reported(void **state) {
    (void)state;
    rig r;
    rig_open(&r, NULL);
    ntr_hart_state hart = {.priv = NTR_PRIV_S, .scontext = 4, .time = 99};
    PCS(&r, 0x100);
    assert_int_equal(ntr_classifier_set_state(r.classifier, &hart), NTR_OK);
    PCS(&r, 0x104, 0x108, 0x10a);
    finish(&r, 0x100);
    expect(&r, "0x100+2:0 0x104+2:4x1@99 0x108+3:11@102");
    rig_close(&r);
}

static void a_trap_takes_no_time(void **state) {
    (void)state;
    rig r;
    rig_open(&r, NULL);
    ntr_hart_state hart = {.priv = NTR_PRIV_S, .time = 99};
    assert_int_equal(ntr_classifier_set_state(r.classifier, &hart), NTR_OK);
    PCS(&r, 0x104); /* a branch has a record of its own */
    assert_int_equal(ntr_classifier_trap(r.classifier, INT, 0x108, 0, 0), NTR_OK);
    finish(&r, NTR_ADDRESS_UNKNOWN);
    expect(&r, "0x104+2:4@99 0x108+0:2@99");
    rig_close(&r);
}

/* ---- Spike logs ------------------------------------------------------------------------------------------------ */

static void run_log(rig *r, const char *const *lines) {
    ntr_spike_log *log;
    ntr_spike_log_new(r->classifier, 0, 0, NULL, &log);
    for (; *lines; lines++) {
        ntr_status status = ntr_spike_log_line(log, *lines, strlen(*lines));
        if (status != NTR_OK) fail_msg("%s", ntr_spike_log_error(log));
    }
    assert_int_equal(ntr_spike_log_finish(log), NTR_OK);
    assert_int_equal(ntr_classifier_finish(r->classifier, NULL), NTR_OK);
    ntr_spike_log_free(log);
}

static void spike_instructions(void **state) {
    (void)state;
    static const char *const LOG[] = {
        "warning: something else",
        "core   0: 0x0000000080000000 (0x00b50533) add     a0, a0, a1",
        "core   0: >>>>  main",
        "core   0: trigger action 0",
        "core   0: 0x0000000080000004 (0x00000663) beqz    zero, pc + 12",
        "core   1: 0x0000000080000000 (0x00b50533) add     a0, a0, a1",
        "core   0: 0x0000000080000010 (0x0000a001) c.j     pc + 0",
        "core   0: exception interrupt #7, epc 0x0000000080000010",
        "core   0: >>>>  handler",
        "core   0: Executed 4 times",
        "core   0: 0x0000000080000100 (0x0000ffff) unknown",
        "core   0: exception trap_illegal_instruction, epc 0x0000000080000100",
        "core   0:           tval 0x000000000000ffff",
        "core   0: exception trap_instruction_access_fault, epc 0x0000000080000200",
        "core   0:           tval 0x0000000080000200",
        "core   0: 0x0000000080000300 (0x30200073) mret",
        "core   0: 0x0000000080000010 (0x00000073) ecall",
        "core   0: exception trap_machine_ecall, epc 0x0000000080000010",
        "core   0: 0x0000000080000100 (0x00000001) c.nop",
        NULL,
    };
    rig r;
    rig_open(&r, NULL);
    run_log(&r, LOG);
    expect(&r, "0x80000000+2:0 0x80000004+2:5 0x80000010+1:11 0x80000010+1:11 0x80000010+1:11 0x80000010+1:11 "
               "0x80000010+0:2c7 0x80000100+0:1c2 0x80000200+0:1c1 0x80000300+2:3 0x80000010+0:1c11 0x80000100+1:0");
    rig_close(&r);
}

static void spike_commits(void **state) {
    (void)state;
    static const char *const LOG[] = {
        "core   0: 3 0x80000000 (0x00b50533) x10 0x00000001",
        "core   0: 3 0x80000004 (0x30200073) c768_mstatus 0x00000080",
        "core   0: 0 0x00000100 (0x0001)",
        "core   0: 3 0x80000100 (0xa001)", /* a trap, recognized by its target */
        "core   0: 3 0x80000100 (0xa001)",
        NULL,
    };
    rig r;
    rig_open(&r, NULL);
    run_log(&r, LOG);
    expect(&r, "0x80000000+2:0 0x80000004+2:3 0x100+1:2 0x80000100+1:11 0x80000100+1:11");
    rig_close(&r);
}

/* Both: commit lines say what retired, exception lines what did not. */
static void spike_both(void **state) {
    (void)state;
    static const char *const LOG[] = {
        "core   0: 0x0000000080000000 (0x0000a001) c.j     pc + 0",
        "core   0: 3 0x0000000080000000 (0xa001)",
        "core   0: 3 0x0000000080000000 (0xa001)",
        "core   0: exception interrupt #3, epc 0x0000000080000000",
        "core   0: Executed 2 times",
        "core   0: 0x0000000080000100 (0x00000000) c.unimp",
        "core   0: exception trap_illegal_instruction, epc 0x0000000080000100",
        "core   0:           tval 0x0000000000000000",
        "core   0: 0x0000000080000200 (0x00000001) c.nop",
        "core   0: 3 0x0000000080000200 (0x0001)",
        NULL,
    };
    rig r;
    rig_open(&r, NULL);
    run_log(&r, LOG);
    expect(&r, "0x80000000+1:11 0x80000000+1:11 0x80000000+0:2c3 0x80000100+0:1c2 0x80000200+1:0");
    rig_close(&r);
}

static void spike_damage(void **state) {
    (void)state;
    static const struct {
        const char *line, *error;
    } BAD[] = {
        {"core   0: 0x80000000 0x1", "line 1: pc and opcode in parentheses expected"},
        {"core   0: 7 0x80000000 (0x1)", "line 1: privilege 0, 1 or 3 expected"},
        {"core   0: exception whatever", "line 1: kind of exception expected"},
        {"core   0: exception interrupt 7, epc 0x0", "line 1: interrupt number expected"},
        {"core   0: exception trap_x, pc 0x0", "line 1: epc expected"},
        {"core   0: Executed 0 times", "line 1: number of times expected"},
        {"core   0: Executed 99999999999 times", "line 1: number of times expected"},
        {"core   0: Executed0008 (0x13)", "line 1: number of times expected"},
        {"core   0: Executed 8 times more", "line 1: number of times expected"},
        {"core   0: tval x", "line 1: trap value expected"},
        {"core   0: 0x80000001 (0x1)", "line 1: pc is odd"},
    };
    rig r;
    rig_open(&r, NULL);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        ntr_spike_log *log;
        ntr_spike_log_new(r.classifier, 0, 0, NULL, &log);
        assert_int_equal(ntr_spike_log_line(log, BAD[i].line, strlen(BAD[i].line)), NTR_E_SYNTAX);
        assert_string_equal(ntr_spike_log_error(log), BAD[i].error);
        ntr_spike_log_free(log);
    }
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(how_blocks_end),
        TEST(the_same_one_by_one),
        TEST(three_bit_itype),
        TEST(traps_by_discontinuity),
        TEST(environment_calls_do_not_retire),
        TEST(reported_traps),
        TEST(short_blocks_and_cuts),
        TEST(no_image),
        TEST(many_blocks),
        TEST(scan),
        TEST(contexts_are_reported),
        TEST(a_trap_takes_no_time),
        TEST(spike_instructions),
        TEST(spike_commits),
        TEST(spike_both),
        TEST(spike_damage),
    };
    return cmocka_run_group_tests_name("classifier", tests, NULL, NULL);
}
