#include "riscv.h"

static uint32_t bits(uint32_t word, unsigned high, unsigned low) {
    return word >> low & ((2u << (high - low)) - 1);
}

/* Sign-extend a value of `width` bits. */
static int64_t sign(uint32_t value, unsigned width) {
    return (int64_t)((uint64_t)value << (64 - width)) >> (64 - width);
}

enum { /* opcodes: bits 6:0 */
       LOAD = 0x03,
       LOAD_FP = 0x07,
       OP_IMM = 0x13,
       AUIPC = 0x17,
       OP_IMM_32 = 0x1b,
       STORE = 0x23,
       STORE_FP = 0x27,
       OP = 0x33,
       LUI = 0x37,
       OP_32 = 0x3b,
       MADD = 0x43,
       MSUB = 0x47,
       NMSUB = 0x4b,
       NMADD = 0x4f,
       OP_FP = 0x53,
       BRANCH = 0x63,
       JALR = 0x67,
       JAL = 0x6f,
};

/* FP arithmetic traps when its rounding mode is not valid: 5 and 6. The dynamic rounding mode is assumed to be valid.
 */
static bool rounds_validly(uint32_t instruction) {
    return bits(instruction, 14, 12) != 5 && bits(instruction, 14, 12) != 6;
}

static bool long_is_harmless(uint32_t instruction) {
    switch (instruction & 0x7f) {
    case OP_IMM:
    case AUIPC:
    case OP_IMM_32:
    case OP:
    case LUI:
    case OP_32:
    case BRANCH:
    case JALR:
    case JAL: return true;
    case MADD:
    case MSUB:
    case NMSUB:
    case NMADD:
    case OP_FP: return rounds_validly(instruction);
    default: return false;
    }
}

bool riscv_is_harmless(uint32_t instruction) {
    uint32_t function = bits(instruction, 15, 13);

    switch (instruction & 3) {
    case 0: return function == 0; /* c.addi4spn; else loads and stores */
    case 1: return true; /* arithmetic, jumps, branches */
    case 2: return function == 0 || (function == 4 && (instruction & 0xffff) != 0x9002); /* c.ebreak */
    default: return long_is_harmless(instruction);
    }
}

bool riscv_is_load(uint32_t instruction) {
    uint32_t function = bits(instruction, 15, 13);

    if (riscv_is_short(instruction)) return (instruction & 3) != 1 && function >= 1 && function <= 3;
    return (instruction & 0x7f) == LOAD ||
           ((instruction & 0x7f) == LOAD_FP && bits(instruction, 14, 12) <= 4 && bits(instruction, 14, 12) > 0);
}

bool riscv_is_store(uint32_t instruction) {
    uint32_t function = bits(instruction, 15, 13);

    if (riscv_is_short(instruction)) return (instruction & 3) != 1 && function >= 5;
    return (instruction & 0x7f) == STORE ||
           ((instruction & 0x7f) == STORE_FP && bits(instruction, 14, 12) <= 4 && bits(instruction, 14, 12) > 0);
}

bool riscv_is_sure_access(uint32_t instruction, unsigned xlen) {
    enum { C_LOAD = 1 << 2, C_STORE = 1 << 6, C_RV64 = 1 << 3 | 1 << 7 };
    static const uint32_t loads[] = {[0] = 0x37, [1] = 0x7f},
                          stores[] = {[0] = 0x07, [1] = 0x0f}; /* by funct3; RV32, RV64 */
    unsigned function = bits(instruction, riscv_is_short(instruction) ? 15 : 14, riscv_is_short(instruction) ? 13 : 12);
    unsigned rd = bits(instruction, 11, 7);

    switch (instruction & 3) {
    case 0: return (C_LOAD | C_STORE | (xlen == 64 ? C_RV64 : 0)) >> function & 1;
    case 2: /* a load to x0 is reserved */
        return (C_LOAD | C_STORE | (xlen == 64 ? C_RV64 : 0)) >> function & 1 && (function > 4 || rd);
    case 3:
        return ((instruction & 0x7f) == LOAD && loads[xlen == 64] >> function & 1) ||
               ((instruction & 0x7f) == STORE && stores[xlen == 64] >> function & 1);
    default: return false;
    }
}

static int64_t short_branch_offset(uint32_t i) {
    return sign(
        bits(i, 12, 12) << 8 | bits(i, 6, 5) << 6 | bits(i, 2, 2) << 5 | bits(i, 11, 10) << 3 | bits(i, 4, 3) << 1, 9);
}

static int64_t long_branch_offset(uint32_t i) {
    return sign(bits(i, 31, 31) << 12 | bits(i, 7, 7) << 11 | bits(i, 30, 25) << 5 | bits(i, 11, 8) << 1, 13);
}

bool riscv_is_branch(uint32_t instruction, int64_t *offset) {
    if (riscv_is_short(instruction)) {
        *offset = short_branch_offset(instruction);
        return (instruction & 3) == 1 && bits(instruction, 15, 13) >= 6;
    }
    *offset = long_branch_offset(instruction);
    return (instruction & 0x7f) == BRANCH;
}

static int64_t short_jump_offset(uint32_t i) {
    return sign(bits(i, 12, 12) << 11 | bits(i, 8, 8) << 10 | bits(i, 10, 9) << 8 | bits(i, 6, 6) << 7 |
                    bits(i, 7, 7) << 6 | bits(i, 2, 2) << 5 | bits(i, 11, 11) << 4 | bits(i, 5, 3) << 1,
                12);
}

static int64_t long_jump_offset(uint32_t i) {
    return sign(bits(i, 31, 31) << 20 | bits(i, 19, 12) << 12 | bits(i, 20, 20) << 11 | bits(i, 30, 21) << 1, 21);
}

bool riscv_is_direct_jump(uint32_t instruction, unsigned xlen, int64_t *offset) {
    unsigned function = bits(instruction, 15, 13);

    if (riscv_is_short(instruction)) {
        *offset = short_jump_offset(instruction);
        return (instruction & 3) == 1 && (function == 5 || (function == 1 && xlen == 32));
    }
    *offset = long_jump_offset(instruction);
    return (instruction & 0x7f) == JAL;
}

bool riscv_is_indirect(uint32_t instruction) {
    enum { RISCV_SRET = 0x10200073, RISCV_MRET = 0x30200073, RISCV_MNRET = 0x70200073 };
    unsigned function = bits(instruction, 15, 13);

    if ((instruction & 3) == 2) /* c.jr, c.jalr; cm.popret and the jump tables of Zcmt */
        return (function == 4 && bits(instruction, 11, 7) && !bits(instruction, 6, 2)) || function == 5;
    return (instruction & 0x7f) == JALR || instruction == RISCV_SRET || instruction == RISCV_MRET ||
           instruction == RISCV_MNRET;
}
