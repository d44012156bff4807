/* Compressed instructions as the 32-bit instructions that have the same effect. */
#ifndef NTR_DECISION_EXPAND_H
#define NTR_DECISION_EXPAND_H

#include <stdbool.h>
#include <stdint.h>

/* Opcodes of 32-bit instructions. */
enum {
    NTR_OPCODE_LOAD = 0x03,
    NTR_OPCODE_LOAD_FP = 0x07,
    NTR_OPCODE_OP_IMM = 0x13,
    NTR_OPCODE_AUIPC = 0x17,
    NTR_OPCODE_OP_IMM_32 = 0x1b,
    NTR_OPCODE_STORE = 0x23,
    NTR_OPCODE_STORE_FP = 0x27,
    NTR_OPCODE_AMO = 0x2f,
    NTR_OPCODE_OP = 0x33,
    NTR_OPCODE_LUI = 0x37,
    NTR_OPCODE_OP_32 = 0x3b,
    NTR_OPCODE_BRANCH = 0x63,
    NTR_OPCODE_JALR = 0x67,
    NTR_OPCODE_JAL = 0x6f,
    NTR_OPCODE_SYSTEM = 0x73,
};

enum { NTR_REGISTER_SP = 2, NTR_REGISTER_FP = 8 };

/* Returns the instruction, or 0 for instructions that neither compute, load, store nor branch on general registers. */
uint32_t ntr_expand(uint32_t bits, unsigned xlen);

/* Returns whether an instruction copies a register, and stores which. */
static inline bool ntr_is_move(uint32_t insn, unsigned *source) {
    const unsigned rs1 = insn >> 15 & 31, rs2 = insn >> 20 & 31;
    const bool immediate = (insn & 0x7f) == NTR_OPCODE_OP_IMM;
    *source = immediate ? rs1 : rs2;
    if ((insn >> 12 & 7) != 0) return false;
    return immediate ? insn >> 20 == 0 : (insn & 0x7f) == NTR_OPCODE_OP && insn >> 25 == 0 && rs1 == 0;
}

#endif
