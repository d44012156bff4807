/* 32-bit instructions. Only six major opcodes affect the control flow. */
#include "isa/decode_32.h"

#include "isa/control_flow.h"

enum {
    OPCODE_AUIPC = 0x17,
    OPCODE_LUI = 0x37,
    OPCODE_BRANCH = 0x63,
    OPCODE_JALR = 0x67,
    OPCODE_JAL = 0x6f,
    OPCODE_SYSTEM = 0x73,
};

/* SYSTEM instructions that change the flow. They have no operands, so the whole word is compared. */
static const struct {
    uint32_t word;
    bool trap; /* otherwise a trap return */
} system_flow[] = {
    {0x00000073, true},  /* ECALL */
    {0x00100073, true},  /* EBREAK */
    {0x30200073, false}, /* MRET */
    {0x10200073, false}, /* SRET */
    {0x00200073, false}, /* URET */
    {0x70200073, false}, /* MNRET */
    {0x7b200073, false}, /* DRET */
};

static void decode_system(uint32_t word, ntr_insn *insn) {
    for (size_t i = 0; i < sizeof system_flow / sizeof system_flow[0]; i++) {
        if (system_flow[i].word != word) continue;
        if (system_flow[i].trap) {
            ntr_decode_trap(insn);
        } else {
            insn->itype = NTR_ITYPE_TRAP_RETURN;
            insn->flow = NTR_FLOW_TRAP_RETURN;
        }
    }
}

static int32_t branch_offset(uint32_t word) {
    return ntr_decode_signed(ntr_decode_bits(word, 31, 31, 12) | ntr_decode_bits(word, 7, 7, 11) |
                                 ntr_decode_bits(word, 30, 25, 5) | ntr_decode_bits(word, 11, 8, 1),
                             13);
}

static int32_t jal_offset(uint32_t word) {
    return ntr_decode_signed(ntr_decode_bits(word, 31, 31, 20) | ntr_decode_bits(word, 19, 12, 12) |
                                 ntr_decode_bits(word, 20, 20, 11) | ntr_decode_bits(word, 30, 21, 1),
                             21);
}

void ntr_decode_32(uint32_t word, uint64_t pc, unsigned isa, ntr_insn *insn) {
    unsigned rd = word >> 7 & 31;
    unsigned funct3 = word >> 12 & 7;
    unsigned rs1 = word >> 15 & 31;
    uint64_t upper = (uint64_t)(int64_t)(int32_t)(word & 0xfffff000);

    switch (word & 0x7f) {
    case OPCODE_BRANCH: /* 2 and 3 are reserved */
        if (funct3 != 2 && funct3 != 3)
            ntr_decode_branch(insn, ntr_decode_cut(pc + (uint64_t)branch_offset(word), isa));
        break;
    case OPCODE_JAL: ntr_decode_jal(insn, rd, ntr_decode_cut(pc + (uint64_t)jal_offset(word), isa)); break;
    case OPCODE_JALR:
        if (funct3 == 0) ntr_decode_jalr(insn, rd, rs1, (int32_t)word >> 20);
        break;
    case OPCODE_LUI: ntr_decode_constant(insn, rd, ntr_decode_cut(upper, isa)); break;
    case OPCODE_AUIPC: ntr_decode_constant(insn, rd, ntr_decode_cut(pc + upper, isa)); break;
    case OPCODE_SYSTEM: decode_system(word, insn); break;
    default: break;
    }
}
