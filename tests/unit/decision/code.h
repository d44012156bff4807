/* The code of a decision, as instructions in an ELF file, and the state of its search. */
#ifndef NTR_TEST_DECISION_CODE_H
#define NTR_TEST_DECISION_CODE_H

#include "../program/elf_builder.h"
#include "../test.h"
#include "decision.h"
#include "decision/matcher.h"

enum { INSNS_MAX = 8, CODE_BEGIN = TEXT_ADDRESS };

/* ---- code: as the GNU assembler writes it. Branches and jumps: two instructions on. */

#define ADD_A5_MINUS_48 0xfd07879bu /* addiw */
#define ADD_A5_MINUS_49 0xfcf7879bu
enum {
    LBU_A5 = 0x00054783, /* lbu a5,0(a0) */
    LB_A5 = 0x00050783,
    LW_A5 = 0x00052783,
    LWU_A5 = 0x00056783,
    LI_A4_65 = 0x04100713,
    LI_A4_9 = 0x00900713,
    BNE_A5_A4 = 0x00e79463,
    BEQ_A5_A4 = 0x00e78463,
    BLT_A4_A5 = 0x00f74463,
    BLTU_A4_A5 = 0x00f76463,
    BGEU_A4_A5 = 0x00f77463,
    BYTE_A5 = 0x0ff7f793, /* andi a5,a5,255 */
    BNEZ_A5 = 0x00079463,
    BEQZ_A5 = 0x00078463,
    BNEZ_A0 = 0x00051463,
    LI_A0_1 = 0x00100513,
    LI_A0_0 = 0x00000513,
    MV_A0_A1 = 0x00058513,
    RETURN = 0x00008067,
    JUMP_ON = 0x0080006f,
    STORE_A1 = 0x00b53023, /* sd a1,0(a0) */
    NOP = 0x00000013,
};

typedef struct fixture {
    elf_builder elf;
    ntr_graph graph;
    ntr_program *program;
    ntr_match match;
    ntr_matcher matcher;
} fixture;

static fixture f;

/* Reads code of which the second half may be a function of its own, `abort`. Its only candidate is the branch. */
static void read_code(const uint32_t *code, uint32_t branch) {
    memset(&f, 0, sizeof f);
    elf_begin(&f.elf, true);
    elf_segment(&f.elf, 1, CODE_AT, TEXT_ADDRESS, CODE_MAX, CODE_MAX);
    elf_symbol(&f.elf, "function", 0x12, 1, CODE_BEGIN, 4 * INSNS_MAX);
    elf_symbol(&f.elf, "abort", 0x12, 1, CODE_BEGIN + 4 * INSNS_MAX, 4);
    elf_arch(&f.elf, "rv64g");
    for (unsigned i = 0; i < INSNS_MAX; i++) elf_put(&f.elf, CODE_AT + 4 * i, 4, code[i] ? code[i] : RETURN);
    ntr_program_new(NULL, &f.program);
    assert_int_equal(elf_write(&f.elf), 0);
    assert_int_equal(ntr_program_add_elf(f.program, f.elf.path, NULL), NTR_OK);
    assert_int_equal(ntr_graph_make(&f.graph, f.program, NULL, ntr_place_at(NULL, NTR_POSITION_ANY, CODE_BEGIN),
                                    CODE_BEGIN + 4 * INSNS_MAX),
                     NTR_OK);
    static ntr_candidate candidate;
    candidate = (ntr_candidate){.insn = branch};
    ntr_debug_info_new(f.program, NULL, &f.match.debug); /* without a line table: the candidates have the places */
    f.match.graph = &f.graph;
    f.match.record = &record;
    f.match.candidates = &candidate;
    f.match.count = 1;
    f.match.kind = (ntr_code_kind){.gnu = true, .debug = true};
    f.matcher.match = &f.match;
    f.matcher.after[0][false] = branch + 1;
    f.matcher.after[0][true] = f.graph.insns[branch].target;
}

static void release(void) {
    ntr_debug_info_free(f.match.debug);
    ntr_graph_release(&f.graph);
    ntr_program_free(f.program);
    elf_end(&f.elf);
}

#endif
