/* Length, control flow and direct target of instructions. Only C, Zcb, Zcmp, Zcmt, six major opcodes of 32 bits and the
 * extensions of vendors in a table change the control flow. `insn` is initialized as a linear instruction; each
 * function sets what differs. */
#include "base/bytes.h"

#include <ntrace/isa.h>

/* Truncates an address or register value to XLEN. */
static inline uint64_t decode_cut(uint64_t value, unsigned isa) {
    return isa & NTR_ISA_RV32 ? (uint32_t)value : value;
}

/* Returns the low `bits` bits of `value` as a two's complement number. */
static inline int32_t decode_signed(uint32_t value, unsigned bits) {
    return (int32_t)(value << (32 - bits)) >> (32 - bits);
}

/* Returns bits [high:low] of `word`, shifted to position `to`. Used for the immediates of the base formats. */
static inline uint32_t decode_bits(uint32_t word, unsigned high, unsigned low, unsigned to) {
    return (word >> low & ((2u << (high - low)) - 1)) << to;
}

/* The three classes of registers in section 1.3. */
enum { ZERO, LINK, OTHER_REGISTER, ROLES };

static unsigned role(unsigned reg) {
    return reg == 0 ? ZERO : reg == 1 || reg == 5 ? LINK : OTHER_REGISTER;
}

static const uint8_t jal_itype[ROLES] = {
    [ZERO] = NTR_ITYPE_DIRECT_JUMP,
    [LINK] = NTR_ITYPE_DIRECT_CALL,
    [OTHER_REGISTER] = NTR_ITYPE_OTHER_DIRECT,
};

/* [role of rd][rs1 is a link register]; the same link register twice is a call, see decode_jalr. */
static const uint8_t jalr_itype[ROLES][2] = {
    [ZERO] = {NTR_ITYPE_INDIRECT_JUMP, NTR_ITYPE_RETURN},
    [LINK] = {NTR_ITYPE_INDIRECT_CALL, NTR_ITYPE_CO_SWAP},
    [OTHER_REGISTER] = {NTR_ITYPE_OTHER_INDIRECT, NTR_ITYPE_RETURN},
};

static const uint8_t jump_flow[] = {
    [NTR_ITYPE_INDIRECT_CALL] = NTR_FLOW_INDIRECT_CALL,
    [NTR_ITYPE_DIRECT_CALL] = NTR_FLOW_DIRECT_CALL,
    [NTR_ITYPE_INDIRECT_JUMP] = NTR_FLOW_INDIRECT_JUMP,
    [NTR_ITYPE_DIRECT_JUMP] = NTR_FLOW_DIRECT_JUMP,
    [NTR_ITYPE_CO_SWAP] = NTR_FLOW_CO_SWAP,
    [NTR_ITYPE_RETURN] = NTR_FLOW_RETURN,
    [NTR_ITYPE_OTHER_INDIRECT] = NTR_FLOW_INDIRECT_JUMP,
    [NTR_ITYPE_OTHER_DIRECT] = NTR_FLOW_DIRECT_JUMP,
};

static void set_jump(ntr_insn *insn, uint8_t itype, unsigned rd) {
    insn->itype = itype;
    insn->flow = jump_flow[itype];
    insn->rd = (uint8_t)rd;
}

/* JAL and JALR with all aliases: itype and flow follow from the operands (section 1.3). */
static void decode_jal(ntr_insn *insn, unsigned rd, uint64_t target) {
    set_jump(insn, jal_itype[role(rd)], rd);
    insn->target = target;
}

static void decode_jalr(ntr_insn *insn, unsigned rd, unsigned rs1, int32_t offset) {
    bool from_link = role(rs1) == LINK && rd != rs1;
    set_jump(insn, jalr_itype[role(rd)][from_link], rd);
    insn->rs1 = (uint8_t)rs1;
    insn->immediate = offset;
}

static void decode_branch(ntr_insn *insn, uint64_t target) {
    insn->itype = NTR_ITYPE_NOT_TAKEN;
    insn->flow = NTR_FLOW_BRANCH;
    insn->target = target;
}

static void decode_trap(ntr_insn *insn) {
    insn->itype = NTR_ITYPE_EXCEPTION;
    insn->flow = NTR_FLOW_TRAP;
}

/* An instruction that writes a constant to `rd`. */
static void decode_constant(ntr_insn *insn, unsigned rd, uint64_t value) {
    if (rd == 0) return; /* a HINT: no register is written */
    insn->rd = (uint8_t)rd;
    insn->sets_constant = true;
    insn->target = value;
}

/* ---- 16-bit instructions: C, Zcb (all linear), Zcmp, Zcmt. */

/* Quadrant (bits 1:0) and funct3 (bits 15:13) identify a group of instructions. */
#define GROUP(quadrant, funct3) ((quadrant) | (funct3) << 2)

static int32_t jump_offset(uint32_t word) {
    return decode_signed(decode_bits(word, 12, 12, 11) | decode_bits(word, 11, 11, 4) | decode_bits(word, 10, 9, 8) |
                             decode_bits(word, 8, 8, 10) | decode_bits(word, 7, 7, 6) | decode_bits(word, 6, 6, 7) |
                             decode_bits(word, 5, 3, 1) | decode_bits(word, 2, 2, 5),
                         12);
}

static int32_t compressed_branch_offset(uint32_t word) {
    return decode_signed(decode_bits(word, 12, 12, 8) | decode_bits(word, 11, 10, 3) | decode_bits(word, 6, 5, 6) |
                             decode_bits(word, 4, 3, 1) | decode_bits(word, 2, 2, 5),
                         9);
}

/* C.LUI. With rd = x2 the instruction is C.ADDI16SP; an immediate of zero is reserved. */
static void decode_lui(uint32_t word, unsigned isa, ntr_insn *insn) {
    unsigned rd = word >> 7 & 31;
    int32_t upper = decode_signed(decode_bits(word, 12, 12, 17) | decode_bits(word, 6, 2, 12), 18);
    if (rd != 2 && upper != 0) decode_constant(insn, rd, decode_cut((uint64_t)upper, isa));
}

/* C.JR, C.JALR, C.EBREAK share a group with C.MV and C.ADD, which have rs2 != x0. */
static void decode_register_jump(uint32_t word, ntr_insn *insn) {
    unsigned rs1 = word >> 7 & 31;
    bool link = word >> 12 & 1;
    if (word >> 2 & 31) return;
    if (rs1)
        decode_jalr(insn, link ? 1 : 0, rs1, 0);
    else if (link)
        decode_trap(insn); /* C.EBREAK; reserved without the link bit */
}

/* CM.POPRETZ is 101 11100, CM.POPRET 101 11110; register lists below 4 are reserved. */
static bool is_popret(uint32_t word) {
    return (word >> 8 & 0x1d) == 0x1c && (word >> 4 & 15) >= 4;
}

/* CM.JT and CM.JALT are 101 000. Indices from 32 are CM.JALT. */
static void decode_table_jump(uint32_t word, ntr_insn *insn) {
    unsigned index = word >> 2 & 0xff;
    decode_jal(insn, index < 32 ? 0 : 1, 0);
    insn->table_jump = true;
    insn->immediate = (int32_t)index;
}

static void decode_zcm(uint32_t word, unsigned isa, ntr_insn *insn) {
    if (isa & NTR_ISA_ZCMP && is_popret(word)) decode_jalr(insn, 0, 1, 0);
    if (isa & NTR_ISA_ZCMT && (word >> 10 & 7) == 0) decode_table_jump(word, insn);
}

/* EXEC.IT: 100, with bit 7 and the two lowest bits zero; the offset has 12 bits. */
static bool decode_exec(uint32_t word, ntr_insn *insn) {
    if ((word & 0xe083) != 0x8000) return false;
    insn->table_jump = true;
    insn->immediate = (int32_t)(decode_bits(word, 4, 4, 2) | decode_bits(word, 11, 10, 3) | decode_bits(word, 2, 2, 5) |
                                decode_bits(word, 6, 5, 6) | decode_bits(word, 9, 9, 8) | decode_bits(word, 3, 3, 9) |
                                decode_bits(word, 12, 12, 10) | decode_bits(word, 8, 8, 11));
    return true;
}

static void decode_trap_return(ntr_insn *insn) {
    insn->itype = NTR_ITYPE_TRAP_RETURN;
    insn->flow = NTR_FLOW_TRAP_RETURN;
}

/* QC.C.MRET, QC.C.MNRET and QC.C.MILEAVERET; of RV64 they are shifts. */
static bool is_qualcomm_return(uint32_t word) {
    return word == 0x1912 || word == 0x1992 || word == 0x1a12;
}

static void decode_16(uint32_t word, uint64_t pc, unsigned isa, ntr_insn *insn) {
    switch (GROUP(word & 3, word >> 13)) {
    case GROUP(0, 4):
        if (isa & NTR_ISA_XANDESCODENSE) decode_exec(word, insn);
        break;
    case GROUP(1, 1): /* C.ADDIW on RV64 */
        if (isa & NTR_ISA_RV32) decode_jal(insn, 1, decode_cut(pc + (uint64_t)jump_offset(word), isa));
        break;
    case GROUP(1, 3): decode_lui(word, isa, insn); break;
    case GROUP(1, 5): decode_jal(insn, 0, decode_cut(pc + (uint64_t)jump_offset(word), isa)); break;
    case GROUP(1, 6):
    case GROUP(1, 7): decode_branch(insn, decode_cut(pc + (uint64_t)compressed_branch_offset(word), isa)); break;
    case GROUP(2, 0):
        if (isa & NTR_ISA_XQCIINT && isa & NTR_ISA_RV32 && is_qualcomm_return(word)) decode_trap_return(insn);
        break;
    case GROUP(2, 4): decode_register_jump(word, insn); break;
    case GROUP(2, 5): decode_zcm(word, isa, insn); break;
    default: break;
    }
}

/* ---- 32-bit instructions. Only six major opcodes affect the control flow. */

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
    {0x00000073, true}, /* ECALL */
    {0x00100073, true}, /* EBREAK */
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
            decode_trap(insn);
        } else {
            decode_trap_return(insn);
        }
    }
}

static int32_t branch_offset(uint32_t word) {
    return decode_signed(decode_bits(word, 31, 31, 12) | decode_bits(word, 7, 7, 11) | decode_bits(word, 30, 25, 5) |
                             decode_bits(word, 11, 8, 1),
                         13);
}

static int32_t jal_offset(uint32_t word) {
    return decode_signed(decode_bits(word, 31, 31, 20) | decode_bits(word, 19, 12, 12) | decode_bits(word, 20, 20, 11) |
                             decode_bits(word, 30, 21, 1),
                         21);
}

/* Andes, custom-2: the offset has 11 bits. */
static int32_t andes_offset(uint32_t word) {
    return decode_signed(decode_bits(word, 31, 31, 10) | decode_bits(word, 29, 25, 5) | decode_bits(word, 11, 8, 1),
                         11);
}

/* Branches and trap returns of vendors: opcode, which values of funct3, and the offset. */
static const struct {
    unsigned isa;
    uint8_t opcode, functs; /* bit i: funct3 i */
    int32_t (*offset)(uint32_t word);
} vendor_branches[] = {
    {NTR_ISA_XANDESPERF, 0x5b, 0xe0, andes_offset}, /* NDS.BEQC, NDS.BNEC, NDS.BBC and NDS.BBS */
    {NTR_ISA_XCVBI, 0x0b, 0xc0, branch_offset}, /* CV.BEQIMM, CV.BNEIMM */
    {NTR_ISA_XQCIBI, 0x7b, 0xf3, branch_offset}, /* QC.BEQI, BNEI, BLTI, BGEI, BLTUI, BGEUI */
};
enum {
    VENDORS_32 =
        NTR_ISA_XANDESPERF | NTR_ISA_XCVBI | NTR_ISA_XQCIBI | NTR_ISA_XTHEADINT | NTR_ISA_XCVHWLP | NTR_ISA_XESPLOOP,
    TH_IPOP = 0x0050000b,
    CUSTOM_1 = 0x2b,
};

/* Instructions that set the count of a hardware loop: CV.COUNTI, COUNT, SETUPI, SETUP; ESP.LP.COUNT, COUNTI, SETUP,
 * SETUPI. Those that only set where it begins or ends do not begin it. */
static bool begins_loop(uint32_t word, unsigned funct3, unsigned isa) {
    if ((word & 0x7f) != CUSTOM_1) return false;
    return (isa & NTR_ISA_XCVHWLP && funct3 == 4 && (word >> 10 & 3) == 1) ||
           (isa & NTR_ISA_XESPLOOP && funct3 >= 2 && funct3 <= 5);
}

static void decode_vendor(uint32_t word, unsigned funct3, uint64_t pc, unsigned isa, ntr_insn *insn) {
    for (size_t i = 0; i < sizeof vendor_branches / sizeof vendor_branches[0]; i++)
        if (isa & vendor_branches[i].isa && (word & 0x7f) == vendor_branches[i].opcode &&
            vendor_branches[i].functs >> funct3 & 1)
            decode_branch(insn, decode_cut(pc + (uint64_t)(int64_t)vendor_branches[i].offset(word), isa));
    if (isa & NTR_ISA_XTHEADINT && word == TH_IPOP) decode_trap_return(insn);
    insn->loop = begins_loop(word, funct3, isa);
}

static void decode_32(uint32_t word, uint64_t pc, unsigned isa, ntr_insn *insn) {
    unsigned rd = word >> 7 & 31;
    unsigned funct3 = word >> 12 & 7;
    unsigned rs1 = word >> 15 & 31;
    uint64_t upper = (uint64_t)(int64_t)(int32_t)(word & 0xfffff000);

    switch (word & 0x7f) {
    case OPCODE_BRANCH: /* 2 and 3 are BEQI and BNEI (Zibi) */
        decode_branch(insn, decode_cut(pc + (uint64_t)branch_offset(word), isa));
        break;
    case OPCODE_JAL: decode_jal(insn, rd, decode_cut(pc + (uint64_t)jal_offset(word), isa)); break;
    case OPCODE_JALR:
        if (funct3 == 0) decode_jalr(insn, rd, rs1, (int32_t)word >> 20);
        break;
    case OPCODE_LUI: decode_constant(insn, rd, decode_cut(upper, isa)); break;
    case OPCODE_AUIPC: decode_constant(insn, rd, decode_cut(pc + upper, isa)); break;
    case OPCODE_SYSTEM: decode_system(word, insn); break;
    default:
        if (isa & VENDORS_32) decode_vendor(word, funct3, pc, isa, insn);
        break;
    }
}

/* ---- 48-bit instructions: Xqcibi, Xqcilb. */

enum { OPCODE_48 = 0x1f };

/* The branches have the offset of the base instruction set in their first 32 bits. */
static void decode_48(uint32_t word, uint32_t upper, uint64_t pc, unsigned isa, ntr_insn *insn) {
    const uint32_t kind = word >> 20 & 31;
    if ((word & 0x7f) != OPCODE_48 || (word >> 12 & 7) != 4) return;
    if (isa & NTR_ISA_XQCIBI && kind >= 0x18 && kind != 0x1a && kind != 0x1b)
        decode_branch(insn, decode_cut(pc + (uint64_t)branch_offset(word), isa));
    if (isa & NTR_ISA_XQCILB && kind == 0 && (word >> 15 & 3) < 2) {
        const uint32_t offset = upper << 16 | decode_bits(word, 19, 17, 13) | decode_bits(word, 31, 31, 12) |
                                decode_bits(word, 7, 7, 11) | decode_bits(word, 30, 25, 5) |
                                decode_bits(word, 11, 8, 1);
        decode_jal(insn, word >> 15 & 1, decode_cut(pc + (uint64_t)(int32_t)offset, isa));
    }
}

/* Base instruction-length encoding. */
unsigned ntr_insn_length(uint16_t first) {
    if ((first & 0x03) != 0x03) return 2;
    if ((first & 0x1c) != 0x1c) return 4;
    if ((first & 0x20) == 0) return 6;
    if ((first & 0x40) == 0) return 8;
    unsigned extra = first >> 12 & 7;
    return extra == 7 ? 2 : 10 + 2 * extra;
}

ntr_status ntr_insn_decode(const uint8_t *bytes, size_t size, uint64_t pc, unsigned isa, ntr_insn *insn) {
    *insn = (ntr_insn){.size = 2};
    if (size < 2) return NTR_E_SPACE;
    insn->size = (uint8_t)ntr_insn_length((uint16_t)ntr_little(bytes, 2));
    if (insn->size > size) return NTR_E_SPACE;
    if (insn->size == 2) decode_16((uint32_t)ntr_little(bytes, 2), pc, isa, insn);
    if (insn->size == 4) decode_32((uint32_t)ntr_little(bytes, 4), pc, isa, insn);
    if (insn->size == 6 && isa & (NTR_ISA_XQCIBI | NTR_ISA_XQCILB))
        decode_48((uint32_t)ntr_little(bytes, 4), (uint32_t)ntr_little(bytes + 4, 2), pc, isa, insn);
    return NTR_OK;
}
