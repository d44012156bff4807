#include "riscv.h"

static uint32_t bits(uint32_t word, unsigned high, unsigned low) {
    return word >> low & ((2u << (high - low)) - 1);
}

/* Sign of a value of `width` bits. */
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

/* FP arithmetic traps when its rounding mode is not valid: static 5 and 6; the dynamic one is taken on trust. */
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
    case JAL:
        return true;
    case MADD:
    case MSUB:
    case NMSUB:
    case NMADD:
    case OP_FP:
        return rounds_validly(instruction);
    default:
        return false;
    }
}

bool riscv_is_harmless(uint32_t instruction) {
    uint32_t function = bits(instruction, 15, 13);

    switch (instruction & 3) {
    case 0:
        return function == 0; /* c.addi4spn; else loads and stores */
    case 1:
        return true; /* arithmetic, jumps, branches */
    case 2:
        return function == 0 || (function == 4 && (instruction & 0xffff) != 0x9002); /* c.ebreak */
    default:
        return long_is_harmless(instruction);
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

/* li is addi a7, zero, N or c.li a7, N. Any other instruction with a7 in the place of rd is taken for one that
 * writes it; stores and branches have something else there, which errs on the safe side. */
bool riscv_sets_a7(uint32_t instruction, int64_t *number) {
    enum { A7 = 17 };

    if (bits(instruction, 11, 7) != A7) return false;
    *number = -1;
    if ((instruction & 0x7f) == OP_IMM && bits(instruction, 19, 12) == 0)
        *number = sign(bits(instruction, 31, 20), 12);
    else if ((instruction & 3) == 1 && bits(instruction, 15, 13) == 2)
        *number = sign(bits(instruction, 12, 12) << 5 | bits(instruction, 6, 2), 6);
    return true;
}
