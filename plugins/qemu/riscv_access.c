/* The address of a load or store, and the registers that an instruction may write. */
#include "riscv.h"

static uint32_t bits(uint32_t word, unsigned high, unsigned low) {
    return word >> low & ((2u << (high - low)) - 1);
}

/* c.lw, c.sw, c.ld, c.sd */
static struct riscv_access short_access(uint32_t i, bool wide) {
    uint32_t offset = bits(i, 12, 10) << 3 | (wide ? bits(i, 6, 5) << 6 : bits(i, 6, 6) << 2 | bits(i, 5, 5) << 6);
    return (struct riscv_access){.base = (uint8_t)(8 + bits(i, 9, 7)), .offset = (int32_t)offset};
}

/* c.lwsp, c.swsp, c.ldsp, c.sdsp */
static struct riscv_access stack_access(uint32_t i, bool wide, bool store) {
    uint32_t offset;

    if (store)
        offset = wide ? bits(i, 12, 10) << 3 | bits(i, 9, 7) << 6 : bits(i, 12, 9) << 2 | bits(i, 8, 7) << 6;
    else
        offset = bits(i, 12, 12) << 5 |
                 (wide ? bits(i, 6, 5) << 3 | bits(i, 4, 2) << 6 : bits(i, 6, 4) << 2 | bits(i, 3, 2) << 6);
    return (struct riscv_access){.base = 2, .offset = (int32_t)offset};
}

static struct riscv_access long_access(uint32_t i, bool store) {
    uint32_t offset = store ? bits(i, 31, 25) << 5 | bits(i, 11, 7) : bits(i, 31, 20);
    return (struct riscv_access){.base = (uint8_t)bits(i, 19, 15), .offset = (int32_t)(offset << 20) >> 20};
}

bool riscv_decode_access(uint32_t instruction, unsigned xlen, struct riscv_access *access) {
    unsigned function = bits(instruction, 15, 13), log = bits(instruction, 13, 12);
    bool store = riscv_is_store(instruction);

    if (!riscv_is_sure_access(instruction, xlen)) return false;
    if (riscv_is_short(instruction)) {
        bool wide = function & 1;
        log = wide ? 3 : 2;
        *access = (instruction & 3) == 0 ? short_access(instruction, wide) : stack_access(instruction, wide, store);
    } else {
        *access = long_access(instruction, store);
    }
    access->size = (uint8_t)(1u << log);
    access->store = store;
    return true;
}

/* A register that is not written may be in the set: those of floating point, ra. */
static uint32_t short_may_write(uint32_t i) {
    enum { ALU = 4, JUMP = 5 };
    unsigned function = bits(i, 15, 13);

    if ((i & 3) == 0) return 1u << (8 + bits(i, 4, 2));
    if ((i & 3) == 1 && function == ALU) return 1u << (8 + bits(i, 9, 7));
    if ((i & 3) == 1 && function == JUMP) return 0;
    return 1u << bits(i, 11, 7) | 1u << 1; /* c.jal, c.jalr */
}

uint32_t riscv_may_write(uint32_t instruction) {
    int64_t offset;
    uint32_t written = riscv_is_short(instruction) ? short_may_write(instruction) : 1u << bits(instruction, 11, 7);

    if (riscv_is_store(instruction) || riscv_is_branch(instruction, &offset)) written = 0;
    return written & ~1u;
}
