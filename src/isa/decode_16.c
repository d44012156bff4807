/* 16-bit instructions: C, Zcb (all linear), Zcmp, Zcmt. */
#include "isa/decode_16.h"

#include "isa/control_flow.h"

/* Quadrant (bits 1:0) and funct3 (bits 15:13) identify a group of instructions. */
#define GROUP(quadrant, funct3) ((quadrant) | (funct3) << 2)

static int32_t jump_offset(uint32_t word) {
    return ntr_decode_signed(ntr_decode_bits(word, 12, 12, 11) | ntr_decode_bits(word, 11, 11, 4) |
                                 ntr_decode_bits(word, 10, 9, 8) | ntr_decode_bits(word, 8, 8, 10) |
                                 ntr_decode_bits(word, 7, 7, 6) | ntr_decode_bits(word, 6, 6, 7) |
                                 ntr_decode_bits(word, 5, 3, 1) | ntr_decode_bits(word, 2, 2, 5),
                             12);
}

static int32_t branch_offset(uint32_t word) {
    return ntr_decode_signed(ntr_decode_bits(word, 12, 12, 8) | ntr_decode_bits(word, 11, 10, 3) |
                                 ntr_decode_bits(word, 6, 5, 6) | ntr_decode_bits(word, 4, 3, 1) |
                                 ntr_decode_bits(word, 2, 2, 5),
                             9);
}

/* C.LUI. With rd = x2 the instruction is C.ADDI16SP; an immediate of zero is reserved. */
static void decode_lui(uint32_t word, unsigned isa, ntr_insn *insn) {
    unsigned rd = word >> 7 & 31;
    int32_t upper = ntr_decode_signed(ntr_decode_bits(word, 12, 12, 17) | ntr_decode_bits(word, 6, 2, 12), 18);
    if (rd != 2 && upper != 0) ntr_decode_constant(insn, rd, ntr_decode_cut((uint64_t)upper, isa));
}

/* C.JR, C.JALR, C.EBREAK share a group with C.MV and C.ADD, which have rs2 != x0. */
static void decode_register_jump(uint32_t word, ntr_insn *insn) {
    unsigned rs1 = word >> 7 & 31;
    bool link = word >> 12 & 1;
    if (word >> 2 & 31) return;
    if (rs1)
        ntr_decode_jalr(insn, link ? 1 : 0, rs1, 0);
    else if (link)
        ntr_decode_trap(insn); /* C.EBREAK; reserved without the link bit */
}

/* CM.POPRETZ is 101 11100, CM.POPRET 101 11110; register lists below 4 are reserved. */
static bool is_popret(uint32_t word) {
    return (word >> 8 & 0x1d) == 0x1c && (word >> 4 & 15) >= 4;
}

/* CM.JT and CM.JALT are 101 000. Indices from 32 are CM.JALT. */
static void decode_table_jump(uint32_t word, ntr_insn *insn) {
    unsigned index = word >> 2 & 0xff;
    ntr_decode_jal(insn, index < 32 ? 0 : 1, 0);
    insn->table_jump = true;
    insn->immediate = (int32_t)index;
}

static void decode_zcm(uint32_t word, unsigned isa, ntr_insn *insn) {
    if (isa & NTR_ISA_ZCMP && is_popret(word)) ntr_decode_jalr(insn, 0, 1, 0);
    if (isa & NTR_ISA_ZCMT && (word >> 10 & 7) == 0) decode_table_jump(word, insn);
}

void ntr_decode_16(uint32_t word, uint64_t pc, unsigned isa, ntr_insn *insn) {
    switch (GROUP(word & 3, word >> 13)) {
    case GROUP(1, 1): /* C.ADDIW on RV64 */
        if (isa & NTR_ISA_RV32) ntr_decode_jal(insn, 1, ntr_decode_cut(pc + (uint64_t)jump_offset(word), isa));
        break;
    case GROUP(1, 3): decode_lui(word, isa, insn); break;
    case GROUP(1, 5): ntr_decode_jal(insn, 0, ntr_decode_cut(pc + (uint64_t)jump_offset(word), isa)); break;
    case GROUP(1, 6):
    case GROUP(1, 7): ntr_decode_branch(insn, ntr_decode_cut(pc + (uint64_t)branch_offset(word), isa)); break;
    case GROUP(2, 4): decode_register_jump(word, insn); break;
    case GROUP(2, 5): decode_zcm(word, isa, insn); break;
    default: break;
    }
}
