/* Frame rules from prologues. The expected rules are those that a live GDB uses for the same instructions. */
#include "../decoder/scene.h"

#include "unwind/frame_rules.h"

enum { START = 0x1000 };

/* 32-bit instructions */
#define ADDI_SP(value) (0x00010113u | (uint32_t)(value) << 20)
#define SD(reg, offset)                                                                                                \
    (0x00013023u | (uint32_t)(reg) << 20 | ((uint32_t)(offset) & 31) << 7 | ((uint32_t)(offset) >> 5) << 25)
#define SW(reg, offset)   (SD(reg, offset) ^ 0x1000u)
#define ADDI_S0_SP(value) (0x00010413u | (uint32_t)(value) << 20)
#define LI_A5             0x00100793u
#define MUL               0x02c50533u
/* 16-bit instructions */
#define C_ADDI_SP_M32    0x1101u
#define C_ADDI16SP_M64   0x7139u
#define C_SDSP_RA_24     0xec06u
#define C_SDSP_S0_16     0xe822u
#define C_SDSP_RA_152    0xed06u
#define C_SWSP_RA_12     0xc606u
#define C_SWSP_S0_8      0xc422u
#define C_ADDI4SPN_S0_32 0x1000u
#define C_MV_A5_A0       0x87aau

static ntr_frame_rule rule_of(const uint32_t *instructions, unsigned bytes, unsigned xlen) {
    scene s;
    const ntr_image_options options = {.size = sizeof options, .isa = xlen == 32 ? NTR_ISA_RV32 : 0};
    scene_start(&s, NULL);
    add_code_for(&s, START, instructions, &options);
    ntr_frame_rule rule = ntr_prologue_rule(s.program, NULL, NTR_POSITION_ANY, START, START + bytes);
    scene_end(&s);
    return rule;
}

#define RULE(bytes, xlen, ...) rule_of((const uint32_t[]){__VA_ARGS__, CODE_END}, bytes, xlen)

static void is_by_sp(ntr_frame_rule rule, int64_t offset) {
    assert_false(rule.by_fp);
    assert_int_equal(rule.offset, offset);
}

static void is_saved(ntr_saved_register reg, int64_t offset) {
    assert_true(reg.saved);
    assert_int_equal(reg.offset, offset);
}

static void at_the_entry_nothing_is_saved(void **state) {
    (void)state;
    ntr_frame_rule rule = RULE(0, 64, ADDI_SP(-32), SD(1, 24));
    is_by_sp(rule, 0);
    assert_false(rule.ra.saved || rule.fp.saved);
}

static void each_instruction_counts_when_it_was_executed(void **state) {
    (void)state;
    ntr_frame_rule rule = RULE(4, 64, ADDI_SP(-32), SD(1, 24), SD(8, 16), ADDI_S0_SP(32));
    is_by_sp(rule, 32);
    assert_false(rule.ra.saved);
    rule = RULE(8, 64, ADDI_SP(-32), SD(1, 24), SD(8, 16), ADDI_S0_SP(32));
    is_saved(rule.ra, -8);
    assert_false(rule.fp.saved);
    rule = RULE(16, 64, ADDI_SP(-32), SD(1, 24), SD(8, 16), ADDI_S0_SP(32));
    is_saved(rule.ra, -8);
    is_saved(rule.fp, -16);
    assert_true(rule.by_fp);
    assert_int_equal(rule.offset, 0);
}

static void compressed_instructions(void **state) {
    (void)state;
    ntr_frame_rule rule = RULE(8, 64, C_ADDI_SP_M32, C_SDSP_RA_24, C_SDSP_S0_16, C_ADDI4SPN_S0_32);
    assert_true(rule.by_fp);
    is_saved(rule.ra, -8);
    is_saved(rule.fp, -16);
    is_by_sp(RULE(2, 64, C_ADDI16SP_M64), 64);
    is_saved(RULE(6, 64, ADDI_SP(-160), C_SDSP_RA_152).ra, -8);
}

static void rv32(void **state) {
    (void)state;
    ntr_frame_rule rule = RULE(12, 32, ADDI_SP(-16), SW(1, 12), SW(8, 8));
    is_by_sp(rule, 16);
    is_saved(rule.ra, -4);
    is_saved(rule.fp, -8);
    rule = RULE(8, 32, ADDI_SP(-16), C_SWSP_RA_12, C_SWSP_S0_8);
    is_saved(rule.ra, -4);
    is_saved(rule.fp, -8);
}

static void other_instructions_of_a_prologue_are_passed_over(void **state) {
    (void)state;
    ntr_frame_rule rule = RULE(14, 64, ADDI_SP(-32), LI_A5, C_MV_A5_A0, SD(1, 24));
    is_by_sp(rule, 32);
    is_saved(rule.ra, -8);
}

static void any_other_instruction_ends_the_prologue(void **state) {
    (void)state;
    assert_false(RULE(12, 64, ADDI_SP(-32), MUL, SD(1, 24)).ra.saved);
    assert_false(RULE(12, 64, ADDI_SP(-32), branch(8), SD(1, 24)).ra.saved);
    is_by_sp(RULE(8, 64, ADDI_SP(-32), ADDI_SP(32)), 32); /* an epilogue is none */
}

static void missing_code_ends_the_prologue(void **state) {
    (void)state;
    is_by_sp(RULE(400, 64, ADDI_SP(-32)), 32);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(at_the_entry_nothing_is_saved),
        TEST(each_instruction_counts_when_it_was_executed),
        TEST(compressed_instructions),
        TEST(rv32),
        TEST(other_instructions_of_a_prologue_are_passed_over),
        TEST(any_other_instruction_ends_the_prologue),
        TEST(missing_code_ends_the_prologue),
    };
    return cmocka_run_group_tests_name("prologue", tests, NULL, NULL);
}
