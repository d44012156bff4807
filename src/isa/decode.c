#include "isa/decode.h"

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

/* [role of rd][rs1 is a link register]; the same link register twice is a call, see ntr_decode_jalr. */
static const uint8_t jalr_itype[ROLES][2] = {
    [ZERO] = {NTR_ITYPE_INDIRECT_JUMP, NTR_ITYPE_RETURN},
    [LINK] = {NTR_ITYPE_INDIRECT_CALL, NTR_ITYPE_CO_SWAP},
    [OTHER_REGISTER] = {NTR_ITYPE_OTHER_INDIRECT, NTR_ITYPE_RETURN},
};

static const uint8_t jump_flow[] = {
    [NTR_ITYPE_INDIRECT_CALL] = NTR_FLOW_INDIRECT_CALL,  [NTR_ITYPE_DIRECT_CALL] = NTR_FLOW_DIRECT_CALL,
    [NTR_ITYPE_INDIRECT_JUMP] = NTR_FLOW_INDIRECT_JUMP,  [NTR_ITYPE_DIRECT_JUMP] = NTR_FLOW_DIRECT_JUMP,
    [NTR_ITYPE_CO_SWAP] = NTR_FLOW_CO_SWAP,              [NTR_ITYPE_RETURN] = NTR_FLOW_RETURN,
    [NTR_ITYPE_OTHER_INDIRECT] = NTR_FLOW_INDIRECT_JUMP, [NTR_ITYPE_OTHER_DIRECT] = NTR_FLOW_DIRECT_JUMP,
};

static void set_jump(ntr_insn *insn, uint8_t itype, unsigned rd) {
    insn->itype = itype;
    insn->flow = jump_flow[itype];
    insn->rd = (uint8_t)rd;
}

void ntr_decode_jal(ntr_insn *insn, unsigned rd, uint64_t target) {
    set_jump(insn, jal_itype[role(rd)], rd);
    insn->target = target;
}

void ntr_decode_jalr(ntr_insn *insn, unsigned rd, unsigned rs1, int32_t offset) {
    bool from_link = role(rs1) == LINK && rd != rs1;
    set_jump(insn, jalr_itype[role(rd)][from_link], rd);
    insn->rs1 = (uint8_t)rs1;
    insn->immediate = offset;
}

void ntr_decode_branch(ntr_insn *insn, uint64_t target) {
    insn->itype = NTR_ITYPE_NOT_TAKEN;
    insn->flow = NTR_FLOW_BRANCH;
    insn->target = target;
}

void ntr_decode_trap(ntr_insn *insn) {
    insn->itype = NTR_ITYPE_EXCEPTION;
    insn->flow = NTR_FLOW_TRAP;
}

void ntr_decode_constant(ntr_insn *insn, unsigned rd, uint64_t value) {
    if (rd == 0) return; /* a HINT: no register is written */
    insn->rd = (uint8_t)rd;
    insn->sets_constant = true;
    insn->target = value;
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

static uint32_t little_endian(const uint8_t *bytes, size_t size) {
    uint32_t word = 0;
    for (size_t i = 0; i < size; i++) word |= (uint32_t)bytes[i] << (8 * i);
    return word;
}

ntr_status ntr_insn_decode(const uint8_t *bytes, size_t size, uint64_t pc, unsigned isa, ntr_insn *insn) {
    *insn = (ntr_insn){.size = 2};
    if (size < 2) return NTR_E_SPACE;
    insn->size = (uint8_t)ntr_insn_length((uint16_t)little_endian(bytes, 2));
    if (insn->size > size) return NTR_E_SPACE;
    if (insn->size == 2) ntr_decode_16(little_endian(bytes, 2), pc, isa, insn);
    if (insn->size == 4) ntr_decode_32(little_endian(bytes, 4), pc, isa, insn);
    return NTR_OK;
}
