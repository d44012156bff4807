#include "isa/control_flow.h"

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
