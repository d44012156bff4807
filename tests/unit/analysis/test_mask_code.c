#include "../test.h"

#include "analysis/code_marks.h"
#include "analysis/mask_code.h"
#include "isa/switching.h"

/* Encodings of the GNU assembler. */
enum {
    CSRCI_SSTATUS = 0x10017073,
    CSRRCI_A5 = 0x100177f3,
    CSRSI_SSTATUS = 0x10016073,
    CSRS_A5 = 0x1007a073,
    CSRC_A4 = 0x10073073,
    CSRR_A5 = 0x100027f3,
    CSRSI_MSTATUS = 0x30046073,
    ANDI_A5_2 = 0x0027f793,
    C_ANDI_A5_2 = 0x8b89,
    LI_A4_2 = 0x00200713,
    C_LI_A4_2 = 0x4709,
    C_LUI_A5_2 = 0x6789,
    LD_A5_SP = 0x00813783,
    LW_A5_TP = 0x00822783,
    ADDIW_A5_1 = 0x0017879b,
    C_ADDIW_A5_1 = 0x2785,
    SW_A5_8_TP = 0x00f22423,
    SW_A5_4_TP = 0x00f22223,
    SW_A5_16_TP = 0x00f22823,
    NOP = 0x13,
    J = 0x6f,
};
enum { NONE = -1 };
#define ADDIW_A5_M1 0xfff7879bu
#define CSRS_A4     (CSRS_A5 - (1u << 15))

/* The code in front of an instruction, the nearest first; 0 ends it. */
static const struct code_case {
    uint32_t word, before[4];
    int action, value;
    bool machine, narrow;
} cases[] = {
    {CSRCI_SSTATUS, {0}, NTR_CODE_OFF, 0, false, false},
    {CSRCI_SSTATUS, {0}, NONE, 0, true, false}, /* not the register of M-mode */
    {CSRRCI_A5, {0}, NTR_CODE_SAVE, 0, false, false},
    {CSRSI_SSTATUS, {0}, NTR_CODE_ON, 0, false, false},
    {CSRSI_MSTATUS, {0}, NTR_CODE_ON, 0, true, false},
    {CSRR_A5, {0}, NONE, 0, false, false}, /* only reads */
    {CSRS_A5, {ANDI_A5_2}, NTR_CODE_RESTORE, 0, false, false},
    {CSRS_A5, {NOP, C_ANDI_A5_2}, NTR_CODE_RESTORE, 0, false, false},
    {CSRS_A5, {LD_A5_SP}, NTR_CODE_RESTORE, 0, false, false},
    {CSRS_A5, {0}, NTR_CODE_RESTORE, 0, false, false},
    {CSRS_A5, {C_LUI_A5_2}, NONE, 0, false, false}, /* another bit */
    {CSRS_A4, {LI_A4_2}, NTR_CODE_ON, 0, false, false},
    {CSRC_A4, {C_LI_A4_2}, NTR_CODE_OFF, 0, false, false},
    {SW_A5_8_TP, {ADDIW_A5_1, LW_A5_TP}, NTR_CODE_COUNT, 1, false, false},
    {SW_A5_8_TP, {ADDIW_A5_M1, NOP, LW_A5_TP}, NTR_CODE_COUNT, -1, false, false},
    {SW_A5_8_TP, {C_ADDIW_A5_1, LW_A5_TP}, NTR_CODE_COUNT, 1, false, false},
    {SW_A5_8_TP, {ADDIW_A5_1, J, LW_A5_TP}, NONE, 0, false, false}, /* a jump is between them */
    {SW_A5_8_TP, {ADDIW_A5_1, LD_A5_SP}, NONE, 0, false, false},
    {SW_A5_8_TP, {LW_A5_TP}, NONE, 0, false, false},
    {SW_A5_16_TP, {ADDIW_A5_1, LW_A5_TP}, NONE, 0, false, false}, /* another counter of the thread */
    {SW_A5_8_TP, {ADDIW_A5_1, LW_A5_TP}, NONE, 0, false, true},
    {SW_A5_4_TP, {ADDIW_A5_1, LW_A5_TP - (4u << 20)}, NTR_CODE_COUNT, 1, false, true},
};

static void instructions_by_what_is_in_front(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct code_case *c = &cases[i];
        mask_code found = {0};
        size_t count = 0;
        while (count < 4 && c->before[count]) count++;
        const bool is =
            ntr_insn_may_switch(c->word) && ntr_mask_code(c->word, c->before, count, c->machine, c->narrow, &found);
        if (is != (c->action != NONE) || (is && (found.action != c->action || found.value != c->value)))
            fail_msg("case %zu: %s, action %u, value %d", i, is ? "found" : "not found", found.action, found.value);
    }
}

/* No word and no code in front of it leads outside of the arrays (sanitizers). */
static void random_words(void **state) {
    (void)state;
    uint32_t seed = 1, before[MASK_CODE_BEFORE];
    for (unsigned i = 0; i < 100000; i++) {
        mask_code found;
        for (size_t k = 0; k < MASK_CODE_BEFORE; k++) before[k] = seed = seed * 1664525 + 1013904223;
        const uint32_t word = i % 2 ? seed : (seed & ~0x7fu) | (i % 4 ? 0x73 : 0x23);
        if (ntr_mask_code(word, before, i % (MASK_CODE_BEFORE + 1), i % 3 == 0, i % 5 == 0, &found))
            assert_true(found.action <= NTR_CODE_COUNT);
    }
}

/* ---- code that changes */

static ntr_code_mark last_mark;

static void take_mark(void *user, const ntr_code_mark *mark) {
    ++*(unsigned *)user;
    last_mark = *mark;
}

static void expect_mark(ntr_code_marks *marks, uint64_t position, unsigned count, uint32_t instructions) {
    const ntr_event span = {
        .kind = NTR_EVENT_SPAN, .address = 0x1000, .halfwords = 6, .offset = position, .context = {.prv = 1}};
    unsigned found = 0;
    assert_true(ntr_code_marks_span(marks, &span, take_mark, &found));
    assert_int_equal(found, count);
    if (count) assert_int_equal(last_mark.instructions, instructions);
    ntr_event joined = span;
    joined.instructions = 100 + instructions; /* the code ends with the mark */
    assert_true(ntr_code_marks_span(marks, &joined, take_mark, &found));
    if (count) assert_int_equal(last_mark.instructions, 100 + instructions);
}

/* Linux patches the begin of its functions: four short NOPs become two long ones. Then a module is loaded there. */
static void code_that_changes(void **state) {
    (void)state;
    static const uint8_t first[] = {0x01, 0, 0x01, 0, 0x01, 0, 0x01, 0, 0x73, 0x70, 0x01, 0x10},
                         second[] = {0x13, 0, 0, 0, 0x13, 0, 0, 0, 0x73, 0x70, 0x01, 0x10},
                         module[] = {0x13, 0, 0, 0, 0x13, 0, 0, 0, 0x13, 0, 0, 0};
    const uint8_t *const codes[] = {first, second, module};
    static const struct {
        uint64_t position;
        unsigned count, instructions;
    } steps[] = {{100, 1, 5}, {150, 1, 5}, {200, 1, 3}, {310, 0, 0}, {320, 0, 0}, {250, 1, 3}, {199, 1, 5}};
    ntr_program *program;
    assert_int_equal(ntr_program_new(NULL, &program), NTR_OK);
    for (unsigned i = 0; i < 3; i++) {
        ntr_image_options options;
        ntr_image_options_init(&options);
        options.bias = 0x1000;
        options.from = 100 * (i + 1);
        options.until = 100 * (i + 2);
        assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){codes[i], 12}, &options), NTR_OK);
    }
    ntr_code_marks *marks = ntr_code_marks_new(program, NULL);
    assert_non_null(marks);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        expect_mark(marks, steps[i].position, steps[i].count, steps[i].instructions);
    ntr_code_marks_free(marks);
    ntr_program_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_by_what_is_in_front),
        cmocka_unit_test(random_words),
        cmocka_unit_test(code_that_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
