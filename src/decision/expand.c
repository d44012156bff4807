#include "decision/expand.h"

#include <stdbool.h>

static uint32_t field(uint32_t bits, unsigned from, unsigned width, unsigned to) {
    return (bits >> from & ((1u << width) - 1)) << to;
}

static uint32_t sign_extend(uint32_t value, unsigned width) {
    return (value ^ 1u << (width - 1)) - (1u << (width - 1));
}

static uint32_t i_type(unsigned opcode, unsigned funct3, unsigned rd, unsigned rs1, uint32_t imm) {
    return opcode | rd << 7 | funct3 << 12 | rs1 << 15 | (imm & 0xfff) << 20;
}

static uint32_t r_type(unsigned opcode, unsigned funct3, unsigned funct7, unsigned rd, unsigned rs1, unsigned rs2) {
    return opcode | rd << 7 | funct3 << 12 | rs1 << 15 | rs2 << 20 | funct7 << 25;
}

static uint32_t s_type(unsigned funct3, unsigned rs1, unsigned rs2, uint32_t imm) {
    return NTR_OPCODE_STORE | (imm & 0x1f) << 7 | funct3 << 12 | rs1 << 15 | rs2 << 20 | (imm >> 5 & 0x7f) << 25;
}

static uint32_t imm6(uint32_t c) {
    return field(c, 2, 5, 0) | field(c, 12, 1, 5);
}

static uint32_t word_offset(uint32_t c) {
    return field(c, 6, 1, 2) | field(c, 10, 3, 3) | field(c, 5, 1, 6);
}

static uint32_t double_offset(uint32_t c) {
    return field(c, 10, 3, 3) | field(c, 5, 2, 6);
}

static uint32_t quadrant_0(uint32_t c, unsigned xlen) {
    unsigned low = 8 + (c >> 2 & 7), high = 8 + (c >> 7 & 7);
    uint32_t stack = field(c, 6, 1, 2) | field(c, 5, 1, 3) | field(c, 11, 2, 4) | field(c, 7, 4, 6);
    switch (c >> 13 & 7) {
    case 0: return stack ? i_type(NTR_OPCODE_OP_IMM, 0, low, NTR_REGISTER_SP, stack) : 0;
    case 2: return i_type(NTR_OPCODE_LOAD, 2, low, high, word_offset(c));
    case 3: return xlen == 64 ? i_type(NTR_OPCODE_LOAD, 3, low, high, double_offset(c)) : 0;
    case 6: return s_type(2, high, low, word_offset(c));
    case 7: return xlen == 64 ? s_type(3, high, low, double_offset(c)) : 0;
    default: return 0;
    }
}

static uint32_t arithmetic(uint32_t c, unsigned xlen) {
    unsigned rs2 = 8 + (c >> 2 & 7), rd = 8 + (c >> 7 & 7), which = c >> 5 & 3;
    static const uint8_t funct3[] = {0, 4, 6, 7}; /* SUB, XOR, OR, AND */
    switch (c >> 10 & 3) {
    case 0: return i_type(NTR_OPCODE_OP_IMM, 5, rd, rd, imm6(c));
    case 1: return i_type(NTR_OPCODE_OP_IMM, 5, rd, rd, imm6(c) | 0x400);
    case 2: return i_type(NTR_OPCODE_OP_IMM, 7, rd, rd, sign_extend(imm6(c), 6));
    default: break;
    }
    if (!(c & 0x1000)) return r_type(NTR_OPCODE_OP, funct3[which], which == 0 ? 0x20 : 0, rd, rd, rs2);
    return xlen == 64 && which < 2 ? r_type(NTR_OPCODE_OP_32, 0, which == 0 ? 0x20 : 0, rd, rd, rs2) : 0;
}

static uint32_t quadrant_1(uint32_t c, unsigned xlen) {
    unsigned rd = c >> 7 & 31;
    uint32_t imm = sign_extend(imm6(c), 6);
    uint32_t stack = field(c, 6, 1, 4) | field(c, 2, 1, 5) | field(c, 5, 1, 6) | field(c, 3, 2, 7) | field(c, 12, 1, 9);
    switch (c >> 13 & 7) {
    case 0: return i_type(NTR_OPCODE_OP_IMM, 0, rd, rd, imm);
    case 1: return xlen == 64 ? i_type(NTR_OPCODE_OP_IMM_32, 0, rd, rd, imm) : 0;
    case 2: return i_type(NTR_OPCODE_OP_IMM, 0, rd, 0, imm);
    case 3:
        return rd == NTR_REGISTER_SP
                   ? i_type(NTR_OPCODE_OP_IMM, 0, NTR_REGISTER_SP, NTR_REGISTER_SP, sign_extend(stack, 10))
                   : NTR_OPCODE_LUI | rd << 7 | imm << 12;
    case 4: return arithmetic(c, xlen);
    case 6: return NTR_OPCODE_BRANCH | 0u << 12 | (8 + (c >> 7 & 7)) << 15; /* the target is known from elsewhere */
    case 7: return NTR_OPCODE_BRANCH | 1u << 12 | (8 + (c >> 7 & 7)) << 15;
    default: return 0;
    }
}

static uint32_t quadrant_2(uint32_t c, unsigned xlen) {
    unsigned rd = c >> 7 & 31, rs2 = c >> 2 & 31;
    uint32_t word = field(c, 4, 3, 2) | field(c, 12, 1, 5) | field(c, 2, 2, 6);
    uint32_t twice = field(c, 5, 2, 3) | field(c, 12, 1, 5) | field(c, 2, 3, 6);
    switch (c >> 13 & 7) {
    case 0: return i_type(NTR_OPCODE_OP_IMM, 1, rd, rd, imm6(c));
    case 2: return i_type(NTR_OPCODE_LOAD, 2, rd, NTR_REGISTER_SP, word);
    case 3: return xlen == 64 ? i_type(NTR_OPCODE_LOAD, 3, rd, NTR_REGISTER_SP, twice) : 0;
    case 4: return rs2 ? r_type(NTR_OPCODE_OP, 0, 0, rd, c & 0x1000 ? rd : 0, rs2) : 0;
    case 6: return s_type(2, NTR_REGISTER_SP, rs2, field(c, 9, 4, 2) | field(c, 7, 2, 6));
    case 7: return xlen == 64 ? s_type(3, NTR_REGISTER_SP, rs2, field(c, 10, 3, 3) | field(c, 7, 3, 6)) : 0;
    default: return 0;
    }
}

uint32_t ntr_expand(uint32_t bits, unsigned xlen) {
    uint32_t c = bits & 0xffff;
    switch (bits & 3) {
    case 0: return quadrant_0(c, xlen);
    case 1: return quadrant_1(c, xlen);
    case 2: return quadrant_2(c, xlen);
    default: return bits;
    }
}
