/* Functions that return a constant. */
#include "analysis/constant_code.h"

#include <ntrace/isa.h>

#define CONSTANT_CODE_MAX 40 /* bytes: the longest constants need eight instructions */

typedef struct constants {
    uint32_t known; /* registers with constants */
    bool rv32;
    bool returned;
} constants;

static bool has(const constants *c, unsigned reg) {
    return c->known >> reg & 1;
}

/* A register gets a constant if what it is computed from is one. ra and sp do not. */
static bool set(constants *c, unsigned reg, bool known) {
    if (!known || reg == 1 || reg == 2) return false;
    c->known |= 1u << reg;
    return true;
}

/* Each function returns whether the instruction is one of those that a constant is loaded with, or the return. */
static bool step_short(constants *c, unsigned bits) {
    const unsigned reg = bits >> 7 & 31, from = bits >> 2 & 31;
    switch ((bits & 3) << 3 | bits >> 13) {
    case 1 << 3 | 0: return set(c, reg, has(c, reg));             /* C.ADDI, C.NOP */
    case 1 << 3 | 1: return !c->rv32 && set(c, reg, has(c, reg)); /* C.ADDIW; C.JAL of RV32 */
    case 1 << 3 | 2:                                              /* C.LI */
    case 1 << 3 | 3: return set(c, reg, true);                    /* C.LUI; with sp C.ADDI16SP */
    case 2 << 3 | 0: return set(c, reg, has(c, reg));             /* C.SLLI */
    case 2 << 3 | 4:
        if (bits == 0x8082) return c->returned = true;
        return !(bits >> 12 & 1) && from && set(c, reg, has(c, from)); /* C.MV */
    default: return false;
    }
}

static bool step_long(constants *c, uint32_t bits) {
    const unsigned reg = bits >> 7 & 31, from = bits >> 15 & 31, kind = bits >> 12 & 7;
    switch (bits & 127) {
    case 0x37:                                                                      /* LUI */
    case 0x17: return set(c, reg, true);                                            /* AUIPC */
    case 0x13: return kind <= 1 && set(c, reg, has(c, from));                       /* ADDI, SLLI */
    case 0x1b: return kind == 0 && set(c, reg, has(c, from));                       /* ADDIW */
    case 0x07: return (kind == 2 || kind == 3) && has(c, from) && from;             /* FLW, FLD */
    case 0x53: return (bits >> 25 & 0x7e) == 0x78 && kind == 0 && has(c, from);     /* FMV.W.X, FMV.D.X */
    case 0x67: return c->returned = bits == 0x00008067;
    default: return false;
    }
}

bool ntr_code_is_constant(const ntr_program *program, ntr_place entry, uint64_t size) {
    uint8_t code[CONSTANT_CODE_MAX];
    constants c = {.known = 1, .rv32 = ntr_program_isa(program, entry) & NTR_ISA_RV32};
    if (size < 2 || size > sizeof code || ntr_program_read(program, entry, code, (size_t)size) < size) return false;
    for (size_t at = 0; at + 2 <= size;) {
        const unsigned first = code[at] | (unsigned)code[at + 1] << 8, length = ntr_insn_length((uint16_t)first);
        if (length > 4 || at + length > size) return false;
        const bool fits = length == 2
                              ? step_short(&c, first)
                              : step_long(&c, first | (uint32_t)code[at + 2] << 16 | (uint32_t)code[at + 3] << 24);
        at += length;
        if (!fits || c.returned) return fits && at == size;
    }
    return false;
}
