#include "decision/constants.h"

#include "decision/expand.h"

enum { FOLLOWED_MAX = 48, KNOWN_WORDS_MAX = 8 };

/* A word of the stack frame with a known value. */
typedef struct known_word {
    uint8_t base, size;
    int32_t offset;
    uint64_t value;
} known_word;

typedef struct known_values {
    uint64_t value[32];
    uint32_t known; /* bit R: register R */
    known_word slots[KNOWN_WORDS_MAX];
    unsigned slot_count;
    unsigned xlen;
} known_values;

static bool is_known(const known_values *k, unsigned reg) {
    return reg == 0 || (k->known >> reg & 1);
}

static uint64_t value_of(const known_values *k, unsigned reg) {
    return reg ? k->value[reg] : 0;
}

static int64_t sign_extend(uint64_t value, unsigned width) {
    return (int64_t)(value << (64 - width)) >> (64 - width);
}

/* Values of RV32 are kept sign-extended, so that comparisons of both kinds are those of 64 bits. */
static void set(known_values *k, unsigned reg, bool known, uint64_t value) {
    if (reg == NTR_REGISTER_SP || reg == NTR_REGISTER_FP) k->slot_count = 0;
    k->known = known ? k->known | 1u << reg : k->known & ~(1u << reg);
    k->value[reg] = k->xlen == 32 ? (uint64_t)sign_extend(value, 32) : value;
}

/* ---- memory ------------------------------------------------------------------------------------ */

static void forget_overlapping(known_values *k, unsigned base, int32_t offset, unsigned size) {
    unsigned kept = 0;
    for (unsigned i = 0; i < k->slot_count; i++) {
        const known_word *s = &k->slots[i];
        bool apart = s->base == base && (offset + (int32_t)size <= s->offset || s->offset + s->size <= offset);
        if (apart) k->slots[kept++] = *s;
    }
    k->slot_count = kept;
}

static bool is_frame(unsigned base) {
    return base == NTR_REGISTER_SP || base == NTR_REGISTER_FP;
}

static void store(known_values *k, uint32_t insn) {
    unsigned base = insn >> 15 & 31, source = insn >> 20 & 31, size = 1u << (insn >> 12 & 3);
    int32_t offset = (int32_t)sign_extend((insn >> 7 & 31) | (insn >> 25) << 5, 12);
    if (!is_frame(base)) k->slot_count = 0;
    else forget_overlapping(k, base, offset, size);
    if (is_frame(base) && is_known(k, source) && k->slot_count < KNOWN_WORDS_MAX)
        k->slots[k->slot_count++] = (known_word){(uint8_t)base, (uint8_t)size, offset, value_of(k, source)};
}

static void load(known_values *k, uint32_t insn) {
    unsigned base = insn >> 15 & 31, size = 1u << (insn >> 12 & 3), width = 8 * size, rd = insn >> 7 & 31;
    int32_t offset = (int32_t)sign_extend(insn >> 20, 12);
    for (unsigned i = 0; i < k->slot_count; i++) {
        const known_word *s = &k->slots[i];
        if (s->base != base || s->offset != offset || s->size != size) continue;
        bool zeros = insn >> 14 & 1;
        uint64_t value = zeros && width < 64 ? s->value & ((UINT64_C(1) << width) - 1) : (uint64_t)sign_extend(s->value, width);
        set(k, rd, true, value);
        return;
    }
    set(k, rd, false, 0);
}

/* ---- arithmetic -------------------------------------------------------------------------------- */

/* Stores the result of an operation of the base set. Returns false for others. */
static bool operate(const known_values *k, unsigned funct3, bool alternative, uint64_t a, uint64_t b, uint64_t *result) {
    unsigned amount = (unsigned)b & (k->xlen - 1);
    switch (funct3) {
    case 0: *result = alternative ? a - b : a + b; return true;
    case 1: *result = a << amount; return true;
    case 2: *result = (int64_t)a < (int64_t)b; return true;
    case 3: *result = a < b; return true;
    case 4: *result = a ^ b; return true;
    case 5:
        if (alternative) *result = (uint64_t)((int64_t)a >> amount);
        else *result = (k->xlen == 32 ? a & UINT32_MAX : a) >> amount;
        return true;
    case 6: *result = a | b; return true;
    default: *result = a & b; return true;
    }
}

static void immediate(known_values *k, uint32_t insn) {
    unsigned funct3 = insn >> 12 & 7, rs1 = insn >> 15 & 31;
    bool shift = funct3 == 1 || funct3 == 5;
    uint64_t imm = shift ? insn >> 20 & 0x3f : (uint64_t)sign_extend(insn >> 20, 12), result = 0;
    unsigned above = insn >> 26; /* of a shift: other values are instructions of extensions */
    bool known = is_known(k, rs1) && (!shift || above == 0 || (above == 0x10 && funct3 == 5)) &&
                 operate(k, funct3, shift && above == 0x10, value_of(k, rs1), imm, &result);
    set(k, insn >> 7 & 31, known, result);
}

static void between_registers(known_values *k, uint32_t insn) {
    unsigned funct3 = insn >> 12 & 7, rs1 = insn >> 15 & 31, rs2 = insn >> 20 & 31, funct7 = insn >> 25;
    uint64_t result = 0;
    bool base = funct7 == 0 || (funct7 == 0x20 && (funct3 == 0 || funct3 == 5));
    bool known = base && is_known(k, rs1) && is_known(k, rs2) &&
                 operate(k, funct3, funct7 == 0x20, value_of(k, rs1), value_of(k, rs2), &result);
    set(k, insn >> 7 & 31, known, result);
}

/* ADDIW, ADDW and SUBW. */
static void word(known_values *k, uint32_t insn, bool with_register) {
    unsigned funct3 = insn >> 12 & 7, rs1 = insn >> 15 & 31, rs2 = insn >> 20 & 31, funct7 = insn >> 25;
    bool known = funct3 == 0 && is_known(k, rs1);
    uint64_t value = value_of(k, rs1);
    if (with_register) {
        known = known && is_known(k, rs2) && (funct7 == 0 || funct7 == 0x20);
        value = funct7 ? value - value_of(k, rs2) : value + value_of(k, rs2);
    } else {
        value += (uint64_t)sign_extend(insn >> 20, 12);
    }
    set(k, insn >> 7 & 31, known, (uint64_t)sign_extend(value, 32));
}

/* Executes an instruction that is not a jump. Returns false when its effect is not known. */
static bool execute(known_values *k, uint32_t insn) {
    switch (insn & 0x7f) {
    case NTR_OPCODE_LOAD: load(k, insn); return true;
    case NTR_OPCODE_STORE: store(k, insn); return true;
    case NTR_OPCODE_OP_IMM: immediate(k, insn); return true;
    case NTR_OPCODE_OP_IMM_32: word(k, insn, false); return true;
    case NTR_OPCODE_OP: between_registers(k, insn); return true;
    case NTR_OPCODE_OP_32: word(k, insn, true); return true;
    case NTR_OPCODE_LUI: set(k, insn >> 7 & 31, true, (uint64_t)sign_extend(insn & 0xfffff000u, 32)); return true;
    default: return false;
    }
}

/* ---- branches ---------------------------------------------------------------------------------- */

static bool is_taken(uint32_t insn, uint64_t a, uint64_t b) {
    bool inverted = insn >> 12 & 1;
    switch (insn >> 13 & 3) {
    case 0: return (a == b) != inverted;
    case 2: return ((int64_t)a < (int64_t)b) != inverted;
    default: return (a < b) != inverted;
    }
}

/* A register that is compared with zero is zero after one of the outcomes. */
static void know_operand(known_values *k, uint32_t insn, bool taken) {
    unsigned rs1 = insn >> 15 & 31, rs2 = insn >> 20 & 31, funct3 = insn >> 12 & 7;
    if ((insn & 0x7f) != NTR_OPCODE_BRANCH || funct3 > 1 || (rs1 && rs2)) return;
    if (taken == (funct3 == 0) && (rs1 | rs2)) set(k, rs1 | rs2, true, 0);
}

static uint32_t expanded(const ntr_graph *g, uint32_t at) {
    return ntr_expand(g->insns[at].bits, g->xlen);
}

/* Executes straight code. What follows an instruction with an unknown effect begins with no known values. */
static void execute_straight(const ntr_graph *g, known_values *k, uint32_t from, uint32_t to) {
    for (uint32_t at = from; at < to; at++) {
        uint32_t bits = g->insns[at].size <= 4 ? expanded(g, at) : 0;
        if (g->insns[at].flow != NTR_FLOW_LINEAR || !bits || !execute(k, bits)) *k = (known_values){.xlen = g->xlen};
    }
}

uint32_t ntr_constants_follow(const ntr_graph *g, uint32_t from, uint32_t branch, bool taken, ntr_passed *passed) {
    known_values k = {.xlen = g->xlen};
    uint32_t arrived = ntr_graph_after(g, branch, taken), at = arrived;
    passed->count = 0;
    execute_straight(g, &k, from, branch);
    know_operand(&k, expanded(g, branch), taken);
    for (unsigned i = 0; i < FOLLOWED_MAX && at < g->count; i++) {
        const ntr_graph_insn *insn = &g->insns[at];
        uint32_t bits = insn->size <= 4 ? expanded(g, at) : 0;
        if (insn->flow == NTR_FLOW_DIRECT_JUMP) {
            at = insn->target;
        } else if (insn->flow == NTR_FLOW_BRANCH) {
            unsigned rs1 = bits >> 15 & 31, rs2 = bits >> 20 & 31;
            if (!insn->joint || (bits & 0x7f) != NTR_OPCODE_BRANCH || (bits >> 13 & 3) == 1 || passed->count == NTR_PASSED_MAX) break;
            if (!is_known(&k, rs1) || !is_known(&k, rs2)) break;
            bool known = is_taken(bits, value_of(&k, rs1), value_of(&k, rs2));
            passed->at[passed->count] = at;
            passed->taken[passed->count++] = known;
            at = arrived = ntr_graph_after(g, at, known);
        } else if (insn->flow != NTR_FLOW_LINEAR || !bits || !execute(&k, bits)) {
            break;
        } else {
            at++;
        }
    }
    return arrived;
}
