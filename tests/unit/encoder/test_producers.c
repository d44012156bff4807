/* The dialects of other producers: docs/dialects.md sections 6 to 9 and 12. Bytes with a comment "hardware" are those
 * that the encoder hardware of tt-dfd sent in simulation for this execution; the others are typed from the layout. */
#include "rig.h"
#include <ntrace/encoder_hardware.h>

static void sends(const rig *r, const char *bytes) {
    if (!strstr(r->text, bytes)) fail_msg("%s: not in: %s", bytes, r->text);
}

static void trap(rig *r, uint64_t iaddr, unsigned halfwords, unsigned itype, uint64_t tval) {
    r->block.tval = tval;
    rig_block(r, iaddr, halfwords, halfwords ? 4 : 2, itype);
    r->block.tval = 0;
}

static void an_exception_has_a_context_and_a_value(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "dialect=tt-dfd");
    ntr_ingress b = r.block;
    b.iaddr = 0x80000000;
    b.itype = NTR_ITYPE_EXCEPTION;
    assert_int_equal(ntr_encoder_push(r.encoder, &b), NTR_OK);
    rig_insn(&r, 0x800004f6, 4, NTR_ITYPE_NONE);
    sends(&r, "24 40 01 00 00 00 00 00 07, 08 00 0F"); /* hardware */
    sends(&r, ", 70 81 EC 25 07, 08 00 0F, E0 00 03"); /* hardware: I-CNT 0 has no byte */
    rig_close(&r);
    rig_open(&r, "dialect=tt-dfd");
    r.block.scontext = 0x11;
    rig_insn(&r, 0x80000000, 4, NTR_ITYPE_NONE);
    trap(&r, 0x80000004, 2, NTR_ITYPE_EXCEPTION, 0x80001234);
    rig_insn(&r, 0x80000100, 4, NTR_ITYPE_TRAP_RETURN);
    rig_insn(&r, 0x80000008, 4, NTR_ITYPE_NONE);
    sends(&r, "08 00 2C 0B"); /* hardware: PROCESS 0x22c */
    /* TrapValue: VTYPE 0, TVAL 0x80001234; then the trap return and its Ownership, with two stray bytes */
    sends(&r, "08 00 2C 0B, E0 00 D0 20 04 00 00 0B, 70 00");
    assert_string_equal(r.text + r.length - 17, "08 00 2C 0B 03 03");
    rig_close(&r);
}

/* hardware: 89 jumps between two places, with a branch that is not taken before each */
static void repetitions_compare_fields(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "dialect=tt-dfd src-id=3");
    for (unsigned i = 0; i < 89; i++) {
        uint64_t place = i & 1 ? 0x80000040 : 0x80000080;
        rig_block(&r, place, 2, 4, NTR_ITYPE_NOT_TAKEN);
        rig_block(&r, place + 4, 1, 2, NTR_ITYPE_INDIRECT_JUMP);
    }
    rig_stop(&r, 0x80000040);
    sends(&r, "70 0C 0D 80 05 0B, 78 CC 0F, 78 CC 0F, 78 CC 0F, 78 CC 0F, 78 CC 0F, 78 4C 0F, 84");
    rig_close(&r);
}

static void stop_by_filter(const char *options, unsigned priv, uint64_t scontext, uint64_t iaddr,
                           const char *correlation) {
    rig r;
    rig_open(&r, options);
    r.block.priv = NTR_PRIV_M;
    r.block.scontext = 7;
    rig_insn(&r, 0x100, 4, NTR_ITYPE_NONE);
    r.block.priv = (uint8_t)priv;
    r.block.scontext = scontext;
    rig_insn(&r, iaddr, 4, NTR_ITYPE_NONE);
    sends(&r, correlation);
    rig_close(&r);
}

/* Andes: EVCODE 8, 5 and 15 (CDF 1, I-CNT 2, HIST 1) say why a filter ends trace; others stop with 4. */
static void a_stop_has_its_cause(void **state) {
    (void)state;
    stop_by_filter("dialect=andes filter=priv=m", NTR_PRIV_U, 7, 0x104, ", 84 60 09 07");
    stop_by_filter("dialect=andes filter=scontext=7", NTR_PRIV_M, 8, 0x104, ", 84 54 09 07");
    stop_by_filter("dialect=andes filter=addr=0x100-0x103", NTR_PRIV_M, 7, 0x104, ", 84 7C 09 07");
    stop_by_filter("dialect=xuantie filter=priv=m", NTR_PRIV_U, 7, 0x104, ", 84 50 09 07");
}

/* Without Ownership messages between them, equal messages of trap returns follow each other. */
static void trap_returns_are_not_repeated(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "dialect=tt-dfd context=off");
    for (unsigned i = 0; i < 4; i++) rig_insn(&r, i & 1 ? 0x140 : 0x100, 4, NTR_ITYPE_TRAP_RETURN);
    rig_insn(&r, 0x100, 4, NTR_ITYPE_NONE);
    sends(&r, "70 00 09 81 07, 70 00 09 81 07, 70 00 09 81 07, 70 00 09 81 07");
    rig_close(&r);
}

static void a_full_history_is_followed_by_a_stray_byte(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "dialect=tt-dfd");
    for (unsigned i = 0; i < 31; i++)
        rig_insn(&r, 0x80000000 + 4 * i, 4, i < 2 ? NTR_ITYPE_NOT_TAKEN : NTR_ITYPE_TAKEN);
    sends(&r, "6C 40 F0 FC FC FC FC 27 03"); /* hardware */
    rig_close(&r);
}

/* I-CNT is full at 0x800. With a history that is not full, it synchronizes; else it is a ResourceFull. */
static void a_full_counter_synchronizes_in_htm(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "dialect=tt-dfd");
    rig_insn(&r, 0x80000000, 4, NTR_ITYPE_NOT_TAKEN);
    rig_block(&r, 0x80000004, 0x801, 4, NTR_ITYPE_NONE);
    rig_insn(&r, 0x80001006, 4, NTR_ITYPE_NONE);
    sends(&r, "74 00 C4 00 21 0C 80 00 00 00 05 0B"); /* SYNC 4, I-CNT 0x803, F-ADDR 0x40000803, HIST 2 */
    rig_close(&r);
    rig_open(&r, "dialect=tt-dfd");
    rig_block(&r, 0x80000000, 0x803, 4, NTR_ITYPE_NONE);
    sends(&r, "6C 00 30 00 0B 03"); /* RCODE 0, I-CNT 0x803; a stray byte */
    rig_close(&r);
}

static void frames_are_filled(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "dialect=tt-dfd");
    for (unsigned i = 0; i < 12; i++) {
        trap(&r, 0x80000000 + 0x1000 * i, 2, NTR_ITYPE_EXCEPTION, 0xffffffff00000000 + i);
        rig_insn(&r, 0x40000000 + 0x100 * i, 4, NTR_ITYPE_TRAP_RETURN);
    }
    rig_stop(&r, 0x80000000);
    assert_int_equal(ntr_encoder_flush(r.encoder), NTR_OK);
    assert_true(r.size > 256);
    assert_int_equal(r.size % 64, 0);
    bool between = true;
    for (size_t i = 0; i < r.size; i++) {
        if (i % 64 == 0) assert_true(between);
        between = (r.stream[i] & 3) == 3;
    }
    rig_close(&r);
}

static void every_time_can_be_absolute(void **state) {
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        rig r;
        rig_open(&r, i == 0   ? "timestamps ts-rule=absolute"
                     : i == 1 ? "timestamps ts-rule=xor"
                              : "timestamps ts-rule=difference");
        r.block.time = 0x2a;
        rig_insn(&r, 0x100, 4, NTR_ITYPE_INDIRECT_JUMP);
        r.block.time = 0x2d;
        rig_insn(&r, 0x200, 4, NTR_ITYPE_INDIRECT_JUMP);
        r.block.time = 0x2e;
        rig_insn(&r, 0x300, 4, NTR_ITYPE_NONE);
        /* the jump at time 0x2d comes after one at 0x2a */
        sends(&r, i == 0 ? ", 10 21 00 09 B7" : i == 1 ? ", 10 21 00 09 1F" : ", 10 21 00 09 0F");
        rig_close(&r);
    }
}

static void times_can_have_a_fixed_width(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "dialect=xuantie timestamps ts-width=16 ts-fixed start-sync=1");
    r.block.time = 5;
    rig_insn(&r, 0x100, 4, NTR_ITYPE_NONE);
    sends(&r, "24 05 00 09 14 00 03");
    rig_close(&r);
}

static void addresses_can_be_full_or_cut(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "dialect=andes full-addr mode=btm");
    rig_insn(&r, 0x100, 4, NTR_ITYPE_INDIRECT_JUMP);
    rig_insn(&r, 0x140, 4, NTR_ITYPE_NONE);
    sends(&r, ", 10 21 80 0B"); /* U-ADDR 0xa0 */
    rig_close(&r);
    rig_open(&r, "dialect=andes addr-bits=39 mode=btm");
    rig_insn(&r, UINT64_C(0xffffffc000000100), 4, NTR_ITYPE_INDIRECT_JUMP);
    rig_insn(&r, 0x140, 4, NTR_ITYPE_NONE);
    sends(&r, "24 0D 00 08 00 00 00 00 0B, 10 21 80 00 00 00 00 00 0B"); /* 0x2000000080; XOR 0x20000000a0 ^ 0x80 */
    ntr_ingress b = r.block;
    b.iaddr = UINT64_C(0x8000000000000100); /* cannot be extended from bit 38 */
    b.iretire = 2;
    b.ilastsize = 1;
    assert_int_equal(ntr_encoder_push(r.encoder, &b), NTR_E_INGRESS);
    rig_close(&r);
}

static void widths_of_src_are_those_of_the_dialect(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "dialect=microblaze-v src-id=2 mode=btm");
    rig_insn(&r, 0x100, 4, NTR_ITYPE_NONE);
    sends(&r, "24 38 01 00 0B"); /* SRC 2, SYNC 3 */
    rig_close(&r);
}

static void predicted_branches_have_no_message(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "dialect=ctte branch-predictor=9 start-sync=5");
    /* counters: 1; taken, not as predicted; 2: taken, as predicted; 3: taken; not taken */
    rig_insn(&r, 0x100, 4, NTR_ITYPE_TAKEN);
    rig_insn(&r, 0x100, 4, NTR_ITYPE_TAKEN);
    rig_insn(&r, 0x100, 4, NTR_ITYPE_TAKEN);
    rig_insn(&r, 0x100, 4, NTR_ITYPE_NOT_TAKEN);
    rig_insn(&r, 0x104, 4, NTR_ITYPE_INDIRECT_JUMP);
    rig_insn(&r, 0x200, 4, NTR_ITYPE_NONE);
    sends(&r, "24 15 00 0B, E0 03, E0 0B, 70 A1 00 19 07"); /* BCNT 0, BCNT 2, then I-CNT 10 */
    rig_close(&r);
}

static void cached_targets_have_an_index(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "dialect=ctte jump-cache=6 start-sync=5");
    rig_insn(&r, 0x110, 4, NTR_ITYPE_INDIRECT_JUMP);
    rig_insn(&r, 0x118, 4, NTR_ITYPE_INDIRECT_JUMP);
    rig_insn(&r, 0x110, 4, NTR_ITYPE_INDIRECT_JUMP);
    rig_insn(&r, 0x118, 4, NTR_ITYPE_NONE);
    sends(&r, "70 21 11 07, 70 21 11 07, E4 21 1D 07"); /* 118, 110, and index 7 */
    rig_close(&r);
}

/* CFGVER 1; CAPS and ENAB 0xa00130 | 64 bits; no SRC; HTM; TsWidth 0 (64); 16 returns, 2^9 counters, 2^6 targets */
static void a_config_describes_the_encoder(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "dialect=ctte branch-predictor=9 jump-cache=6 start-sync=5");
    rig_insn(&r, 0x100, 4, NTR_ITYPE_NONE);
    sends(&r, "E8 04 30 04 00 29 C0 10 00 A1 01 18 81 09 58 08 07, ");
    rig_close(&r);
}

/* A branch to itself at 0x114, executed four times; bytes typed from docs/dialects.md section 12. */
static void a_branch_to_itself_is_counted(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "dialect=ctte repeat-instruction start-sync=5");
    for (unsigned i = 0; i < 4; i++) rig_insn(&r, 0x114, 4, i < 3 ? NTR_ITYPE_TAKEN : NTR_ITYPE_NOT_TAKEN);
    sends(&r, ", 7C 09 09 0F"); /* RCNT 2, I-CNT 2, HIST 3 */
    rig_close(&r);
    /* A synchronizing message in the loop: it leaves with the last execution, for the loop. */
    rig_open(&r, "dialect=ctte repeat-instruction start-sync=5");
    for (unsigned i = 0; i < 3; i++) rig_insn(&r, 0x114, 4, NTR_ITYPE_TAKEN);
    assert_int_equal(ntr_encoder_request_sync(r.encoder, NTR_SYNC_PERIODIC), NTR_OK);
    rig_insn(&r, 0x114, 4, NTR_ITYPE_TAKEN);
    sends(&r, ", 80 49 09 28 09 0F"); /* SYNC 2, RCNT 1, I-CNT 2, F-ADDR 0x8a, HIST 3 */
    rig_close(&r);
    /* A jump to itself, and the end of the trace in it; other privilege is no repetition. */
    rig_open(&r, "dialect=ctte repeat-instruction start-sync=5");
    for (unsigned i = 0; i < 2; i++) rig_insn(&r, 0x200, 4, NTR_ITYPE_DIRECT_JUMP);
    rig_stop(&r, 0x200);
    sends(&r, ", 7C 05 09 07, 84"); /* RCNT 1, I-CNT 2, HIST 1 */
    rig_close(&r);
    /* Without the option every execution is in HIST. */
    rig_open(&r, "dialect=ctte start-sync=5");
    for (unsigned i = 0; i < 4; i++) rig_insn(&r, 0x114, 4, i < 3 ? NTR_ITYPE_TAKEN : NTR_ITYPE_NOT_TAKEN);
    rig_stop(&r, 0x118);
    assert_null(strstr(r.text, ", 7C "));
    rig_close(&r);
}

static void a_device_has_an_id(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "dialect=ctte device-id=0x12345678 start-sync=5");
    rig_insn(&r, 0x100, 4, NTR_ITYPE_NONE);
    assert_memory_equal(r.text, "04 E0 64 14 34 4B, E8 ", 22);
    rig_close(&r);
}

/* As in the streams of the hardware: Ownership has no TSTAMP after ProgTraceSync and before TrapValue, else it has one.
 */
static void some_messages_have_no_time(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "dialect=tt-dfd timestamps src-id=9");
    r.block.time = 0x1005;
    r.block.scontext = 0x11;
    rig_insn(&r, 0x80000000, 4, NTR_ITYPE_NONE);
    sends(&r, "24 64 01 00 00 00 00 00 05 14 00 07, 08 24 2C 0B");
    trap(&r, 0x80000004, 2, NTR_ITYPE_EXCEPTION, 0);
    r.block.time = 0x1011;
    rig_insn(&r, 0x80000100, 4, NTR_ITYPE_TRAP_RETURN);
    sends(&r, ", 08 24 2C 0B, E0 24 01 44 00 07"); /* hardware: TrapValue at time 0x1011 */
    rig_insn(&r, 0x80000008, 4, NTR_ITYPE_NONE);
    sends(&r, ", 08 24 2C 09 44 00 07 03"); /* after the trap return, with a stray byte */
    rig_close(&r);
    rig_open(&r, "dialect=tt-dfd timestamps");
    rig_insn(&r, 0x80000000, 4, NTR_ITYPE_NONE);
    sends(&r, "24 40 01 00 00 00 00 00 07, 08 00 0F"); /* time 0 */
    rig_close(&r);
}

/* ProgTraceSync has 9 bytes and Ownership 3, so that the next message begins at byte 12 without closing, else at
 * byte 64. */
static void a_frame_can_be_closed_early(void **state) {
    (void)state;
    for (unsigned closes = 0; closes < 2; closes++) {
        rig r;
        rig_open(&r, closes ? "dialect=tt-dfd frame-closes" : "dialect=tt-dfd");
        for (unsigned i = 0; i < 5; i++) rig_insn(&r, 0x80000000 + 0x1000 * i, 4, NTR_ITYPE_INDIRECT_JUMP);
        rig_stop(&r, 0x80000000);
        assert_int_equal(ntr_encoder_flush(r.encoder), NTR_OK);
        assert_int_equal(r.size, closes ? 128 : 64);
        /* at least 32 bytes of a closed frame are idle */
        for (unsigned i = 33; closes && i < 64; i++) assert_int_equal(r.stream[i], 0xff);
        rig_close(&r);
    }
}

static void dialects_without_encoder_are_refused(void **state) {
    (void)state;
    ntr_encoder_config c;
    const char *why = NULL;
    ntr_encoder_config_init(&c);
    assert_int_equal(ntr_encoder_option_set(&c, "dialect", "p550"), NTR_E_SYNTAX);
    assert_int_equal(ntr_encoder_option_set(&c, "dialect", "nothing"), NTR_E_SYNTAX);
    c.params.dialect = ntr_dialect_find("p550");
    assert_int_equal(ntr_encoder_config_check(&c, &why), NTR_E_INVALID);
    assert_string_equal(why, "there is no encoder for this dialect");
    ntr_encoder_config_init(&c);
    c.params.jump_cache = 6;
    assert_int_equal(ntr_encoder_config_check(&c, &why), NTR_E_INVALID);
    assert_int_equal(ntr_encoder_option_set(&c, "dialect", "ctte"), NTR_OK);
    assert_int_equal(ntr_encoder_config_check(&c, &why), NTR_OK);
    assert_int_equal(ntr_encoder_option_set(&c, "mode", "btm"), NTR_OK);
    assert_int_equal(ntr_encoder_config_check(&c, &why), NTR_E_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(an_exception_has_a_context_and_a_value),
        TEST(a_stop_has_its_cause),
        TEST(repetitions_compare_fields),
        TEST(trap_returns_are_not_repeated),
        TEST(a_full_history_is_followed_by_a_stray_byte),
        TEST(a_full_counter_synchronizes_in_htm),
        TEST(frames_are_filled),
        TEST(every_time_can_be_absolute),
        TEST(times_can_have_a_fixed_width),
        TEST(addresses_can_be_full_or_cut),
        TEST(widths_of_src_are_those_of_the_dialect),
        TEST(predicted_branches_have_no_message),
        TEST(cached_targets_have_an_index),
        TEST(a_config_describes_the_encoder),
        TEST(a_branch_to_itself_is_counted),
        TEST(a_device_has_an_id),
        TEST(some_messages_have_no_time),
        TEST(a_frame_can_be_closed_early),
        TEST(dialects_without_encoder_are_refused),
    };
    return cmocka_run_group_tests_name("producers", tests, NULL, NULL);
}
