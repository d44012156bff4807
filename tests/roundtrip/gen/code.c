#include "code.h"

const unsigned char gen_itype[] = {
    [GEN_PLAIN] = 0,      [GEN_BRANCH] = 4,    [GEN_JUMP] = 11,       [GEN_CALL] = 9,
    [GEN_JUMP_LINK] = 15, [GEN_REG_JUMP] = 10, [GEN_REG_CALL] = 8,    [GEN_REG_LINK] = 14,
    [GEN_SWAP] = 12,      [GEN_RETURN] = 13,   [GEN_TRAP_RETURN] = 3, [GEN_ECALL] = 1,
    [GEN_EBREAK] = 1,     [GEN_SET] = 0,       [GEN_SCONTEXT] = 0,    [GEN_HCONTEXT] = 0,
};

/* Straight code: a0..a5 only, so that no jump register changes. */
static const uint32_t plain_words[] = {
    0x00150513, /* addi a0, a0, 1 */
    0x00b50533, /* add a0, a0, a1 */
    0x02b50633, /* mul a2, a0, a1 */
    0x00052583, /* lw a1, 0(a0) */
    0x00b52023, /* sw a1, 0(a0) */
    0x0ff0000f, /* fence */
    0xc0002573, /* rdcycle a0 */
    0x00b5252f, /* amoadd.w a0, a1, (a0) */
    0x00c5f553, /* fadd.s fa0, fa1, fa2 */
    0x00000513, /* li a0, 0 */
};
static const uint16_t plain_halfwords[] = {
    0x0001, /* c.nop */
    0x0505, /* c.addi a0, 1 */
    0x852e, /* c.mv a0, a1 */
    0x952e, /* c.add a0, a1 */
    0x4501, /* c.li a0, 0 */
    0x410c, /* c.lw a1, 0(a0) */
    0xc10c, /* c.sw a1, 0(a0) */
    0x4502, /* c.lwsp a0, 0(sp) */
};

static uint32_t bits(uint64_t value, unsigned from, unsigned count) {
    return (uint32_t)(value >> from) & ((1u << count) - 1);
}

static uint32_t jal(unsigned rd, uint64_t offset) {
    return bits(offset, 20, 1) << 31 | bits(offset, 1, 10) << 21 | bits(offset, 11, 1) << 20 |
           bits(offset, 12, 8) << 12 | rd << 7 | 0x6f;
}

static uint32_t branch(unsigned function, uint64_t offset) {
    return bits(offset, 12, 1) << 31 | bits(offset, 5, 6) << 25 | 11u << 20 | 10u << 15 | function << 12 |
           bits(offset, 1, 4) << 8 | bits(offset, 11, 1) << 7 | 0x63;
}

static uint32_t c_jump(unsigned function, uint64_t o) {
    return function << 13 | bits(o, 11, 1) << 12 | bits(o, 4, 1) << 11 | bits(o, 8, 2) << 9 | bits(o, 10, 1) << 8 |
           bits(o, 6, 1) << 7 | bits(o, 7, 1) << 6 | bits(o, 1, 3) << 3 | bits(o, 5, 1) << 2 | 1;
}

static uint32_t c_branch(unsigned function, uint64_t o) {
    return function << 13 | bits(o, 8, 1) << 12 | bits(o, 3, 2) << 10 | 2u << 7 | bits(o, 6, 2) << 5 |
           bits(o, 1, 2) << 3 | bits(o, 5, 1) << 2 | 1;
}

static int64_t distance(const gen_code *c) {
    uint64_t d = c->target - c->pc;
    return c->xlen == 32 ? (int32_t)(uint32_t)d : (int64_t)d;
}

static bool within(int64_t value, unsigned signed_bits) {
    int64_t limit = (int64_t)1 << (signed_bits - 1);
    return value >= -limit && value < limit;
}

/* The upper part of a constant whose low 12 bits an addi or jalr will add. */
static int64_t upper(const gen_code *c) {
    int64_t value = c->xlen == 32 ? (int32_t)(uint32_t)c->target : (int64_t)c->target;
    return (int64_t)((uint64_t)(c->pc_relative ? distance(c) : value) + 0x800) >> 12;
}

static uint32_t lower(const gen_code *c) {
    return c->low ? bits(c->target - (c->pc_relative ? c->set_pc : 0), 0, 12) : 0;
}

static bool compressed_fits(const gen_code *c) {
    switch (c->kind) {
    case GEN_PLAIN:
    case GEN_EBREAK: return true;
    case GEN_BRANCH: return within(distance(c), 9);
    case GEN_JUMP: return within(distance(c), 12);
    case GEN_CALL: return c->xlen == 32 && c->rd == 1 && within(distance(c), 12);
    case GEN_REG_JUMP: return lower(c) == 0;
    case GEN_RETURN: return c->rd == 0 && lower(c) == 0;
    case GEN_REG_CALL:
    case GEN_SWAP: return c->rd == 1 && lower(c) == 0;
    case GEN_SET: return !c->pc_relative && upper(c) != 0 && within(upper(c), 6) && c->rd != 2;
    default: return false;
    }
}

bool gen_code_fits(const gen_code *c) {
    if (c->compressed) return compressed_fits(c);
    switch (c->kind) {
    case GEN_BRANCH: return within(distance(c), 13);
    case GEN_JUMP:
    case GEN_CALL:
    case GEN_JUMP_LINK: return within(distance(c), 21);
    case GEN_SET: return c->xlen == 32 || within(upper(c), 20);
    default: return true;
    }
}

static uint32_t compressed_bits(const gen_code *c, prng *random) {
    switch (c->kind) {
    case GEN_BRANCH: return c_branch(prng_range(random, 6, 7), (uint64_t)distance(c));
    case GEN_JUMP: return c_jump(5, (uint64_t)distance(c));
    case GEN_CALL: return c_jump(1, (uint64_t)distance(c));
    case GEN_REG_JUMP:
    case GEN_RETURN: return 0x8002 | c->rs << 7;
    case GEN_REG_CALL:
    case GEN_SWAP: return 0x9002 | c->rs << 7;
    case GEN_EBREAK: return 0x9002;
    case GEN_SET:
        return 0x6001 | bits((uint64_t)upper(c), 5, 1) << 12 | c->rd << 7 | bits((uint64_t)upper(c), 0, 5) << 2;
    default: return PRNG_PICK(random, plain_halfwords);
    }
}

static uint32_t full_bits(const gen_code *c, prng *random) {
    static const unsigned branch_function[] = {0, 1, 4, 5, 6, 7};
    switch (c->kind) {
    case GEN_BRANCH: return branch(PRNG_PICK(random, branch_function), (uint64_t)distance(c));
    case GEN_JUMP:
    case GEN_CALL:
    case GEN_JUMP_LINK: return jal(c->rd, (uint64_t)distance(c));
    case GEN_REG_JUMP:
    case GEN_REG_CALL:
    case GEN_REG_LINK:
    case GEN_SWAP:
    case GEN_RETURN: return lower(c) << 20 | c->rs << 15 | c->rd << 7 | 0x67;
    case GEN_TRAP_RETURN: return prng_chance(random, 500) ? 0x30200073 : 0x10200073;
    case GEN_ECALL: return 0x00000073;
    case GEN_EBREAK: return 0x00100073;
    case GEN_SET: return bits((uint64_t)upper(c), 0, 20) << 12 | c->rd << 7 | (c->pc_relative ? 0x17u : 0x37u);
    case GEN_SCONTEXT: return 0x5a851073; /* csrw scontext, a0 */
    case GEN_HCONTEXT: return 0x6a851073; /* csrw hcontext, a0 */
    default: return PRNG_PICK(random, plain_words);
    }
}

unsigned gen_code_write(const gen_code *c, prng *random, uint8_t *out) {
    unsigned size = c->compressed ? 2 : 4;
    uint32_t word = c->compressed ? compressed_bits(c, random) : full_bits(c, random);
    for (unsigned i = 0; i < size; i++) out[i] = (uint8_t)(word >> (8 * i));
    return size;
}
