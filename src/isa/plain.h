/* Quick tests of an instruction, true for most of the code: whether it is linear, and whether its class is known. False
 * says nothing; ntr_insn_decode and ntr_insn_is_known do. `word` has the first 32 bits of the instruction; those behind
 * its end are ignored. */
#ifndef NTR_ISA_PLAIN_H
#define NTR_ISA_PLAIN_H

#include "base/bytes.h"

#include <ntrace/isa.h>

/* Groups of 32-bit instructions, by major opcode and funct3, all of which are defined for both bases. */
static const uint8_t ntr_whole_groups[32] = {
    [0x03 >> 2] = 0x3f, [0x07 >> 2] = 0xff, [0x13 >> 2] = 0xdd, [0x17 >> 2] = 0xff,
    [0x23 >> 2] = 0x0f, [0x27 >> 2] = 0xff, [0x37 >> 2] = 0xff, [0x43 >> 2] = 0xff,
    [0x47 >> 2] = 0xff, [0x4b >> 2] = 0xff, [0x4f >> 2] = 0xff, [0x53 >> 2] = 0xff,
    [0x57 >> 2] = 0xff, [0x63 >> 2] = 0xf3, [0x67 >> 2] = 0x01, [0x6f >> 2] = 0xff,
};

/* Of 16 bits, by quadrant and funct3: defined for both bases if one of the bits of `any` is set, or none of those of
 * `none`. */
static const struct ntr_plain_group {
    uint16_t any, none;
} ntr_plain_groups[24] = {
    /* quadrant 0 */
    {0x1fe0, 0xffff},
    {0xffff, 0},
    {0xffff, 0},
    {0xffff, 0},
    {0, 0xffff}, /* Zcb */
    {0xffff, 0},
    {0xffff, 0},
    {0xffff, 0},
    /* 1 */
    {0xffff, 0},
    {0x0f80, 0xffff}, /* C.ADDIW */
    {0xffff, 0},
    {0x107c, 0xffff}, /* C.LUI, C.ADDI16SP */
    {0, 0x1000}, /* C.SRLI, C.SUB and others */
    {0xffff, 0},
    {0xffff, 0},
    {0xffff, 0},
    /* 2 */
    {0, 0x1000}, /* C.SLLI */
    {0xffff, 0},
    {0x0f80, 0xffff}, /* C.LWSP */
    {0x0f80, 0xffff},
    {0x1ffc, 0xffff}, /* C.MV, C.ADD */
    {0, 0xffff}, /* Zcmp, Zcmt */
    {0xffff, 0},
    {0xffff, 0},
};

/* Linear in every instruction set, whatever the operands: by major opcode, and of 16 bits by quadrant and funct3. Not
 * those that may set the target of a register jump. */
enum {
    NTR_LINEAR_32 = 1 << (0x03 >> 2) | 1 << (0x07 >> 2) | 1 << (0x0f >> 2) | 1 << (0x13 >> 2) | 1 << (0x1b >> 2) |
                    1 << (0x23 >> 2) | 1 << (0x27 >> 2) | 1 << (0x2f >> 2) | 1 << (0x33 >> 2) | 1 << (0x3b >> 2) |
                    1 << (0x43 >> 2) | 1 << (0x47 >> 2) | 1 << (0x4b >> 2) | 1 << (0x4f >> 2) | 1 << (0x53 >> 2) |
                    1 << (0x57 >> 2),
    NTR_LINEAR_16 = 0xef | 0x15 << 8 | 0xce << 16,
};

/* Returns whether decoding the instruction gives its size and nothing else. */
static inline bool ntr_insn_is_linear(uint32_t word) {
    if ((word & 3) != 3) return NTR_LINEAR_16 >> ((word & 3) << 3 | (word >> 13 & 7)) & 1;
    return NTR_LINEAR_32 >> (word >> 2 & 31) & 1;
}

/* Decodes an instruction of which four bytes are there, if it is such a one. */
static inline bool ntr_insn_take_linear(const uint8_t *bytes, ntr_insn *insn) {
    const uint32_t word = ntr_little_32(bytes);
    if (!ntr_insn_is_linear(word)) return false;
    *insn = (ntr_insn){.size = (word & 3) == 3 ? 4 : 2};
    return true;
}

static inline bool ntr_insn_is_plain(uint32_t word) {
    if ((word & 3) != 3) {
        const struct ntr_plain_group *group = &ntr_plain_groups[(word & 3) << 3 | (word >> 13 & 7)];
        return (word & group->any) != 0 || (word & group->none) == 0;
    }
    if ((word & 0x1c) == 0x1c) return false; /* longer ones */
    return (ntr_whole_groups[word >> 2 & 31] >> (word >> 12 & 7) & 1) || (word & 0xfc00007f) == 0x33; /* OP */
}

#endif
