#include "../test.h"

#include "analysis/constant_code.h"

#include <ntrace/isa.h>
#include <ntrace/program.h>

/* Encodings of the GNU assembler. */
enum {
    LI_A0_1 = 0x00100513,
    C_LI_A0_1 = 0x4505,
    C_MV_A0_A5 = 0x853e,
    C_LUI_A5 = 0x6789,
    C_SLLI_A0 = 0x0502,
    C_ADDI_A0 = 0x0505,
    C_ADDIW_A0 = 0x2505,
    LUI_A0 = 0x12345537,
    ADDIW_A0 = 0x6785051b,
    SLLI_A0 = 0x02051513,
    AUIPC_A5 = 0x00001797,
    FLD_FA0_A5 = 0x0107b507,
    C_RET = 0x8082,
    RET = 0x00008067,
    JR_A5 = 0x00078067,
    LW_A0_A5 = 0x0007a503,
    MV_A0_S1 = 0x00048513,
    C_ADDI_SP = 0x1101,
    CALL = 0x000080e7,
};
#define FMV_D_X 0xf2000553u
#define FMV_W_X 0xf0000553u

static const struct {
    uint32_t code[5]; /* 0 ends it */
    bool constant, rv32;
} cases[] = {
    {{RET}, true, false},
    {{C_RET}, true, false},
    {{LI_A0_1, RET}, true, false},
    {{C_LI_A0_1, C_RET}, true, true},
    {{LUI_A0, ADDIW_A0, SLLI_A0, RET}, true, false},
    {{C_LUI_A5, C_MV_A0_A5, C_RET}, true, false},
    {{C_LI_A0_1, C_SLLI_A0, C_ADDI_A0, C_ADDIW_A0, C_RET}, true, false},
    {{AUIPC_A5, FLD_FA0_A5, RET}, true, false},
    {{FMV_D_X, C_RET}, true, false},
    {{FMV_W_X, C_RET}, true, false},
    {{C_LI_A0_1, C_ADDIW_A0, C_RET}, false, true}, /* C.JAL */
    {{LI_A0_1}, false, false},
    {{RET, RET}, false, false},
    {{LI_A0_1, JR_A5}, false, false},
    {{LI_A0_1, CALL}, false, false},
    {{MV_A0_S1, RET}, false, false},
    {{C_ADDI_A0, RET}, false, false},
    {{AUIPC_A5, LW_A0_A5, RET}, false, false},
    {{FLD_FA0_A5, RET}, false, false},
    {{C_ADDI_SP, RET}, false, false},
    {{C_MV_A0_A5, C_RET}, false, false},
};

static void functions_that_return_a_constant(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t code[32];
        size_t size = 0;
        for (size_t k = 0; k < 5 && cases[i].code[k]; k++) {
            const uint32_t word = cases[i].code[k];
            const size_t length = (word & 3) == 3 ? 4 : 2;
            for (size_t byte = 0; byte < length; byte++) code[size++] = (uint8_t)(word >> 8 * byte);
        }
        ntr_program *program;
        const ntr_image_options at = {
            .size = sizeof at, .bias = 0x1000, .has_isa = true, .isa = cases[i].rv32 ? NTR_ISA_RV32 : 0};
        assert_int_equal(ntr_program_new(NULL, &program), NTR_OK);
        assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){code, size}, &at), NTR_OK);
        const ntr_place entry = ntr_program_image_place(program, 0, 0x1000);
        if (ntr_code_is_constant(program, entry, size) != cases[i].constant) fail_msg("case %zu", i);
        assert_false(ntr_code_is_constant(program, entry, 1));
        assert_false(ntr_code_is_constant(program, entry, UINT64_MAX));
        ntr_program_free(program);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(functions_that_return_a_constant)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
