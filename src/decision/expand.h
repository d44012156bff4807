/* Compressed instructions as the 32-bit instructions that have the same effect. */
#ifndef NTR_DECISION_EXPAND_H
#define NTR_DECISION_EXPAND_H

#include <stdint.h>

/* Opcodes of 32-bit instructions. */
enum {
    NTR_OPCODE_LOAD = 0x03,
    NTR_OPCODE_OP_IMM = 0x13,
    NTR_OPCODE_OP_IMM_32 = 0x1b,
    NTR_OPCODE_STORE = 0x23,
    NTR_OPCODE_OP = 0x33,
    NTR_OPCODE_LUI = 0x37,
    NTR_OPCODE_OP_32 = 0x3b,
    NTR_OPCODE_BRANCH = 0x63,
};

enum { NTR_REGISTER_SP = 2, NTR_REGISTER_FP = 8 };

/* Returns the instruction, or 0 for instructions that neither compute, load, store nor branch on general registers. */
uint32_t ntr_expand(uint32_t bits, unsigned xlen);

#endif
