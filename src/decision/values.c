#include "decision/values.h"

#include <stdbool.h>
#include <string.h>

static int64_t sign_extend(uint64_t value, unsigned width) {
    return (int64_t)(value << (64 - width)) >> (64 - width);
}

static bool is_frame(unsigned base) {
    return base == NTR_REGISTER_SP || base == NTR_REGISTER_FP;
}

void ntr_values_set(ntr_values *k, unsigned reg, bool known, uint64_t value) {
    if (is_frame(reg)) {
        k->slot_count = 0;
        for (unsigned i = 0; i < 32; i++)
            if (k->frame[i] == reg) k->frame[i] = 0;
    }
    k->frame[reg] = 0;
    k->known = known ? k->known | 1u << reg : k->known & ~(1u << reg);
    k->value[reg] = k->xlen == 32 ? (uint64_t)sign_extend(value, 32) : value;
}

/* ---- memory ------------------------------------------------------------------------------------ */

static void forget_overlapping(ntr_values *k, unsigned base, int32_t offset, unsigned size) {
    unsigned kept = 0;
    for (unsigned i = 0; i < k->slot_count; i++) {
        const ntr_value_word *s = &k->slots[i];
        bool apart = s->base == base && (offset + (int32_t)size <= s->offset || s->offset + s->size <= offset);
        if (apart) k->slots[kept++] = *s;
    }
    k->slot_count = kept;
}

/* Stores the register of the frame to which an address is relative, and the offset. */
static bool in_frame(const ntr_values *k, unsigned reg, int64_t offset, uint8_t *base, int32_t *at) {
    const int64_t limit = INT64_C(1) << 30, sum = (k->frame[reg] ? (int64_t)k->value[reg] : 0) + offset;
    *base = k->frame[reg] ? k->frame[reg] : is_frame(reg) ? (uint8_t)reg : 0;
    *at = (int32_t)sum;
    return *base && sum > -limit && sum < limit;
}

static void store(ntr_values *k, uint32_t insn) {
    unsigned source = insn >> 20 & 31, size = 1u << (insn >> 12 & 3);
    uint8_t base;
    int32_t offset;
    const bool frame =
        in_frame(k, insn >> 15 & 31, sign_extend((insn >> 7 & 31) | (insn >> 25) << 5, 12), &base, &offset);
    if (!frame)
        k->slot_count = 0;
    else
        forget_overlapping(k, base, offset, size);
    if (frame && ntr_values_is_known(k, source) && k->slot_count < NTR_VALUE_WORDS_MAX)
        k->slots[k->slot_count++] = (ntr_value_word){base, (uint8_t)size, offset, ntr_values_get(k, source)};
}

static void load(ntr_values *k, uint32_t insn) {
    unsigned size = 1u << (insn >> 12 & 3), width = 8 * size, rd = insn >> 7 & 31;
    uint8_t base;
    int32_t offset;
    const bool frame = in_frame(k, insn >> 15 & 31, sign_extend(insn >> 20, 12), &base, &offset);
    for (unsigned i = 0; i < k->slot_count && frame; i++) {
        const ntr_value_word *s = &k->slots[i];
        if (s->base != base || s->offset != offset || s->size != size) continue;
        bool zeros = insn >> 14 & 1;
        uint64_t value =
            zeros && width < 64 ? s->value & ((UINT64_C(1) << width) - 1) : (uint64_t)sign_extend(s->value, width);
        ntr_values_set(k, rd, true, value);
        return;
    }
    ntr_values_set(k, rd, false, 0);
}

/* ---- arithmetic -------------------------------------------------------------------------------- */

/* Stores the result of an operation of the base set. Returns false for others. */
static bool operate(const ntr_values *k, unsigned funct3, bool alternative, uint64_t a, uint64_t b, uint64_t *result) {
    unsigned amount = (unsigned)b & (k->xlen - 1);
    switch (funct3) {
    case 0: *result = alternative ? a - b : a + b; return true;
    case 1: *result = a << amount; return true;
    case 2: *result = (int64_t)a < (int64_t)b; return true;
    case 3: *result = a < b; return true;
    case 4: *result = a ^ b; return true;
    case 5:
        if (alternative)
            *result = (uint64_t)((int64_t)a >> amount);
        else
            *result = (k->xlen == 32 ? a & UINT32_MAX : a) >> amount;
        return true;
    case 6: *result = a | b; return true;
    default: *result = a & b; return true;
    }
}

/* Sets an address that is relative to a register of the frame. Returns false when it is not known. */
static bool set_address(ntr_values *k, unsigned rd, unsigned reg, int64_t offset) {
    uint8_t base;
    int32_t at;
    if (is_frame(rd) || !in_frame(k, reg, offset, &base, &at)) return false;
    ntr_values_set(k, rd, false, 0);
    if (rd) k->frame[rd] = base, k->value[rd] = (uint64_t)(int64_t)at;
    return true;
}

static void immediate(ntr_values *k, uint32_t insn) {
    unsigned funct3 = insn >> 12 & 7, rs1 = insn >> 15 & 31;
    bool shift = funct3 == 1 || funct3 == 5;
    uint64_t imm = shift ? insn >> 20 & 0x3f : (uint64_t)sign_extend(insn >> 20, 12), result = 0;
    unsigned above = insn >> 26; /* of a shift: other values are instructions of extensions */
    bool known = ntr_values_is_known(k, rs1) && (!shift || above == 0 || (above == 0x10 && funct3 == 5)) &&
                 operate(k, funct3, shift && above == 0x10, ntr_values_get(k, rs1), imm, &result);
    if (!known && funct3 == 0 && set_address(k, insn >> 7 & 31, rs1, (int64_t)imm)) return;
    ntr_values_set(k, insn >> 7 & 31, known, result);
}

static void between_registers(ntr_values *k, uint32_t insn) {
    unsigned funct3 = insn >> 12 & 7, rs1 = insn >> 15 & 31, rs2 = insn >> 20 & 31, funct7 = insn >> 25;
    uint64_t result = 0;
    bool base = funct7 == 0 || (funct7 == 0x20 && (funct3 == 0 || funct3 == 5));
    bool known = base && ntr_values_is_known(k, rs1) && ntr_values_is_known(k, rs2) &&
                 operate(k, funct3, funct7 == 0x20, ntr_values_get(k, rs1), ntr_values_get(k, rs2), &result);
    if (base && !known && funct3 == 0 && ntr_values_is_known(k, rs2)) {
        const uint64_t b = ntr_values_get(k, rs2);
        if (set_address(k, insn >> 7 & 31, rs1, (int64_t)(funct7 ? 0 - b : b))) return;
    }
    ntr_values_set(k, insn >> 7 & 31, known, result);
}

/* Stores the result of ADDW, SUBW, SLLW, SRLW, SRAW or MULW. Returns false for others. */
static bool operate_word(unsigned funct3, unsigned funct7, uint64_t a, uint64_t b, uint64_t *result) {
    const unsigned amount = (unsigned)b & 31;
    if (funct3 == 0 && funct7 == 0)
        *result = a + b;
    else if (funct3 == 0 && funct7 == 0x20)
        *result = a - b;
    else if (funct3 == 0 && funct7 == 1)
        *result = a * b;
    else if (funct3 == 1 && funct7 == 0)
        *result = a << amount;
    else if (funct3 == 5 && funct7 == 0)
        *result = (a & UINT32_MAX) >> amount;
    else if (funct3 == 5 && funct7 == 0x20)
        *result = (uint64_t)((int64_t)(int32_t)(uint32_t)a >> amount);
    else
        return false;
    return true;
}

static void word(ntr_values *k, uint32_t insn, bool with_register) {
    const unsigned funct3 = insn >> 12 & 7, rs1 = insn >> 15 & 31, rs2 = insn >> 20 & 31;
    const bool add = !with_register && funct3 == 0; /* ADDIW: the immediate is in the place of funct7, too */
    const uint64_t b = with_register ? ntr_values_get(k, rs2)
                       : funct3 == 0 ? (uint64_t)sign_extend(insn >> 20, 12)
                                     : rs2;
    uint64_t result = 0;
    const bool operands = ntr_values_is_known(k, rs1) && (!with_register || ntr_values_is_known(k, rs2));
    const bool known = operate_word(funct3, add ? 0 : insn >> 25, ntr_values_get(k, rs1), b, &result) && operands;
    ntr_values_set(k, insn >> 7 & 31, known, (uint64_t)sign_extend(result, 32));
}

bool ntr_values_execute(ntr_values *k, uint32_t insn) {
    switch (insn & 0x7f) {
    case NTR_OPCODE_LOAD: load(k, insn); return true;
    case NTR_OPCODE_STORE: store(k, insn); return true;
    case NTR_OPCODE_OP_IMM: immediate(k, insn); return true;
    case NTR_OPCODE_OP_IMM_32: word(k, insn, false); return true;
    case NTR_OPCODE_OP: between_registers(k, insn); return true;
    case NTR_OPCODE_OP_32: word(k, insn, true); return true;
    case NTR_OPCODE_LUI:
        ntr_values_set(k, insn >> 7 & 31, true, (uint64_t)sign_extend(insn & 0xfffff000u, 32));
        return true;
    default: return false;
    }
}

bool ntr_values_taken(uint32_t insn, uint64_t a, uint64_t b) {
    bool inverted = insn >> 12 & 1;
    switch (insn >> 13 & 3) {
    case 0: return (a == b) != inverted;
    case 2: return ((int64_t)a < (int64_t)b) != inverted;
    default: return (a < b) != inverted;
    }
}

enum { FOLLOWED_MAX = 256 };

/* Returns the register that an instruction sets, 0 for none. */
static unsigned set_by(const ntr_graph_insn *insn, uint32_t bits) {
    const uint32_t opcode = bits & 0x7f;
    return insn->flow == NTR_FLOW_BRANCH || !bits || opcode == NTR_OPCODE_STORE ? 0 : bits >> 7 & 31;
}

/* A register that is compared with zero is zero after one of the outcomes. */
static void know_operand(ntr_values *k, uint32_t insn, bool taken) {
    unsigned rs1 = insn >> 15 & 31, rs2 = insn >> 20 & 31, funct3 = insn >> 12 & 7;
    if ((insn & 0x7f) != NTR_OPCODE_BRANCH || funct3 > 1 || (rs1 && rs2)) return;
    if (taken == (funct3 == 0) && (rs1 | rs2)) ntr_values_set(k, rs1 | rs2, true, 0);
}

static uint32_t expanded(const ntr_graph *g, uint32_t at) {
    return ntr_expand(g->insns[at].bits, g->xlen);
}

static bool is_call(const ntr_graph *g, uint32_t at) {
    return g->insns[at].flow == NTR_FLOW_DIRECT_CALL || g->insns[at].flow == NTR_FLOW_INDIRECT_CALL;
}

/* Returns whether an instruction changes one register at most, of general purpose or of floating point, and no memory:
 * AUIPC, loads and operations of floating point. */
static bool sets_one_register(const ntr_graph_insn *insn) {
    enum { OP_FLOAT = 0x53, FMADD = 0x43, FNMADD = 0x4f };
    const uint32_t opcode = insn->bits & 0x7f;
    if (insn->flow != NTR_FLOW_LINEAR) return false;
    if (insn->size == 2) return (insn->bits & 0xe001) == 0x2000; /* C.FLD, C.FLDSP */
    return opcode == NTR_OPCODE_AUIPC || opcode == NTR_OPCODE_LOAD_FP || opcode == OP_FLOAT ||
           (opcode >= FMADD && opcode <= FNMADD && (opcode & 3) == 3);
}

/* Executes straight code, with branches that are not taken. What follows an instruction with an unknown effect begins
 * with no known values. */
static void execute_straight(const ntr_graph *g, ntr_values *k, uint32_t from, uint32_t to, uint32_t *set) {
    for (uint32_t at = from; at < to; at++) {
        uint32_t bits = g->insns[at].size <= 4 ? expanded(g, at) : 0;
        *set |= UINT32_C(1) << set_by(&g->insns[at], bits);
        if (g->insns[at].flow == NTR_FLOW_BRANCH)
            know_operand(k, bits, false);
        else if (is_call(g, at))
            k->known = 0, memset(k->frame, 0, sizeof k->frame); /* the stack frame keeps its words */
        else if (sets_one_register(&g->insns[at]))
            ntr_values_set(k, g->insns[at].bits >> 7 & 31, false, 0);
        else if (g->insns[at].flow != NTR_FLOW_LINEAR || !bits || !ntr_values_execute(k, bits))
            *k = (ntr_values){.xlen = g->xlen};
    }
}

/* Executes the load of a result that stands for a branch (match_stored.c): its outcome is the lowest bit of the value.
 * Returns whether it is known. */
static bool load_result(ntr_values *k, uint32_t bits, ntr_passed *passed, uint32_t at) {
    const unsigned rd = bits >> 7 & 31;
    load(k, bits);
    if (!ntr_values_is_known(k, rd) || passed->count == NTR_PASSED_MAX) return false;
    passed->at[passed->count] = at;
    passed->taken[passed->count++] = ntr_values_get(k, rd) & 1;
    return true;
}

uint32_t ntr_constants_follow(const ntr_graph *g, uint32_t from, uint32_t branch, bool taken, ntr_passed *passed) {
    ntr_values k = {.xlen = g->xlen};
    uint32_t arrived = ntr_graph_after(g, branch, taken), at = arrived;
    uint32_t set = 0; /* registers */
    passed->count = 0;
    passed->unset = NTR_GRAPH_OUTSIDE;
    execute_straight(g, &k, from, branch, &set);
    know_operand(&k, expanded(g, branch), taken);
    for (unsigned i = 0; i < FOLLOWED_MAX && at < g->count; i++) {
        const ntr_graph_insn *insn = &g->insns[at];
        uint32_t bits = insn->size <= 4 ? expanded(g, at) : 0;
        if (insn->flow == NTR_FLOW_DIRECT_JUMP) {
            at = insn->target;
        } else if (insn->flow == NTR_FLOW_BRANCH && (bits & 0x7f) == NTR_OPCODE_LOAD) {
            if (!load_result(&k, bits, passed, at)) break;
            arrived = ++at;
        } else if (insn->flow == NTR_FLOW_BRANCH) {
            unsigned rs1 = bits >> 15 & 31, rs2 = bits >> 20 & 31;
            if (!insn->joint || (bits & 0x7f) != NTR_OPCODE_BRANCH || (bits >> 13 & 3) == 1 ||
                passed->count == NTR_PASSED_MAX)
                break;
            if (!ntr_values_is_known(&k, rs1) || !ntr_values_is_known(&k, rs2)) {
                if (!(set & ~UINT32_C(1) & (UINT32_C(1) << rs1 | UINT32_C(1) << rs2))) passed->unset = at;
                break;
            }
            bool known = ntr_values_taken(bits, ntr_values_get(&k, rs1), ntr_values_get(&k, rs2));
            passed->at[passed->count] = at;
            passed->taken[passed->count++] = known;
            at = arrived = ntr_graph_after(g, at, known);
        } else if (insn->flow != NTR_FLOW_LINEAR || !bits || !ntr_values_execute(&k, bits)) {
            break;
        } else {
            set |= UINT32_C(1) << set_by(insn, bits);
            at++;
        }
    }
    return arrived;
}
