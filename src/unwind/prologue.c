/* The analysis follows registers that hold an entry value plus a constant, or a constant. It ends at the first
 * instruction that is not part of a usual prologue. Only what it finds out about sp and s0 is used: the CFA is s0 plus
 * an offset when s0 is set from sp, otherwise sp plus an offset. A stored register is the one that holds its entry
 * value.
 *
 * Example: "addi sp,sp,-32; sd ra,24(sp); sd s0,16(sp); addi s0,sp,32" gives CFA = s0 + 0, ra at CFA - 8, s0 at CFA -
 * 16; between the third and the fourth instruction it gives CFA = sp + 32. */
#include "base/bytes.h"
#include "unwind/frame_rules.h"

enum { FOLLOWED_REGISTERS = 32, SLOTS_MAX = 32, GP = 3 };

/* A value: that of register `base` at the entry plus `offset`; base 0: a constant; -1: not known. */
typedef struct value {
    int base;
    int64_t offset;
} value;

typedef struct scan {
    value registers[FOLLOWED_REGISTERS];
    struct saved_slot {
        int64_t offset; /* from sp at the entry */
        int reg;        /* whose entry value is stored there */
        bool unsure;
    } slots[SLOTS_MAX];
    unsigned slot_count;
    bool loaded; /* there was a load, at which the analysis of GDB 13 ends */
} scan;

typedef enum operation { DO_OTHER, DO_ADD_CONSTANT, DO_ADD, DO_STORE, DO_LOAD, DO_SET_CONSTANT, DO_NOTHING } operation;

typedef struct prologue_insn {
    operation operation;
    unsigned rd, rs1, rs2;
    int64_t immediate;
} prologue_insn;

/* ---- instructions */

static int64_t bits_of(uint32_t insn, unsigned at, unsigned count) {
    return insn >> at & ((1u << count) - 1);
}

static int64_t sign(int64_t value_, unsigned bits) {
    return (int64_t)((uint64_t)value_ << (64 - bits)) >> (64 - bits);
}

static prologue_insn full(uint32_t i) {
    const unsigned funct3 = i >> 12 & 7;
    prologue_insn c = {.rd = i >> 7 & 31, .rs1 = i >> 15 & 31, .rs2 = i >> 20 & 31};
    switch (i & 0x7f) {
    case 0x13: /* ADDI */
    case 0x1b: /* ADDIW */
        c.operation = funct3 == 0 ? DO_ADD_CONSTANT : DO_OTHER;
        c.immediate = sign(bits_of(i, 20, 12), 12);
        break;
    case 0x17: /* AUIPC */
    case 0x37: c.operation = DO_SET_CONSTANT; break;
    case 0x33: /* ADD */
    case 0x3b: c.operation = funct3 == 0 && i >> 25 == 0 ? DO_ADD : DO_OTHER; break;
    case 0x03: c.operation = funct3 == 2 || funct3 == 3 ? DO_LOAD : DO_OTHER; break;
    case 0x23:
        c.operation = funct3 == 2 || funct3 == 3 ? DO_STORE : DO_OTHER;
        c.immediate = sign(bits_of(i, 25, 7) << 5 | bits_of(i, 7, 5), 12);
        break;
    default: break;
    }
    return c;
}

/* Quadrant 1: C.ADDI, C.LI, C.ADDIW, C.LUI, C.ADDI16SP. */
static prologue_insn quadrant_1(uint32_t i, bool rv32) {
    const unsigned funct3 = i >> 13 & 7, rd = i >> 7 & 31;
    const int64_t immediate = sign(bits_of(i, 12, 1) << 5 | bits_of(i, 2, 5), 6);
    prologue_insn c = {.rd = rd, .rs1 = rd, .immediate = immediate};
    if (funct3 == 0 || (funct3 == 1 && !rv32)) c.operation = rd ? DO_ADD_CONSTANT : DO_NOTHING;
    if (funct3 == 2 || (funct3 == 3 && rd != NTR_REG_SP)) c.operation = DO_SET_CONSTANT;
    if (funct3 == 3 && rd == NTR_REG_SP) {
        c.operation = DO_ADD_CONSTANT;
        c.immediate = sign(bits_of(i, 12, 1) << 9 | bits_of(i, 3, 2) << 7 | bits_of(i, 5, 1) << 6 |
                               bits_of(i, 2, 1) << 5 | bits_of(i, 6, 1) << 4,
                           10);
    }
    return c;
}

/* Quadrant 2: C.LWSP, C.LDSP, C.MV, C.ADD, C.SWSP, C.SDSP. */
static prologue_insn quadrant_2(uint32_t i, bool rv32) {
    const unsigned funct3 = i >> 13 & 7, rd = i >> 7 & 31, rs2 = i >> 2 & 31;
    prologue_insn c = {.rd = rd, .rs1 = NTR_REG_SP, .rs2 = rs2};
    if (funct3 == 2 || (funct3 == 3 && !rv32)) c.operation = DO_LOAD;
    if (funct3 == 4 && rs2) { /* C.MV: ADD rd, x0, rs2; C.ADD: ADD rd, rd, rs2 */
        c.operation = DO_ADD;
        c.rs1 = i >> 12 & 1 ? rd : 0;
    }
    if (funct3 == 6 || (funct3 == 7 && !rv32)) c.operation = DO_STORE;
    if (funct3 == 6) c.immediate = bits_of(i, 7, 2) << 6 | bits_of(i, 9, 4) << 2;
    if (funct3 == 7) c.immediate = bits_of(i, 7, 3) << 6 | bits_of(i, 10, 3) << 3;
    return c;
}

/* Quadrant 0: C.ADDI4SPN, C.LW, C.LD, C.SW, C.SD. */
static prologue_insn quadrant_0(uint32_t i, bool rv32) {
    const unsigned funct3 = i >> 13 & 7;
    prologue_insn c = {.rd = 8 + (i >> 2 & 7), .rs1 = 8 + (i >> 7 & 7), .rs2 = 8 + (i >> 2 & 7)};
    if (funct3 == 0 && i >> 5 & 0xff) {
        c.operation = DO_ADD_CONSTANT;
        c.rs1 = NTR_REG_SP;
        c.immediate = bits_of(i, 7, 4) << 6 | bits_of(i, 11, 2) << 4 | bits_of(i, 5, 1) << 3 | bits_of(i, 6, 1) << 2;
    }
    if (funct3 == 2 || (funct3 == 3 && !rv32)) c.operation = DO_LOAD;
    if (funct3 == 6 || (funct3 == 7 && !rv32)) c.operation = DO_STORE;
    if (funct3 == 6) c.immediate = bits_of(i, 5, 1) << 6 | bits_of(i, 10, 3) << 3 | bits_of(i, 6, 1) << 2;
    if (funct3 == 7) c.immediate = bits_of(i, 5, 2) << 6 | bits_of(i, 10, 3) << 3;
    return c;
}

static prologue_insn decode(uint32_t insn, bool rv32) {
    switch (insn & 3) {
    case 0: return quadrant_0(insn, rv32);
    case 1: return quadrant_1(insn, rv32);
    case 2: return quadrant_2(insn, rv32);
    default: return full(insn);
    }
}

/* ---- the analysis */

static value add(value a, value b) {
    if (a.base < 0 || b.base < 0 || (a.base && b.base)) return (value){.base = -1};
    return (value){.base = a.base + b.base, .offset = a.offset + b.offset};
}

static bool store(scan *s, const prologue_insn *c) {
    value address = add(s->registers[c->rs1], (value){.offset = c->immediate});
    value stored = s->registers[c->rs2];
    if (c->rs1 != NTR_REG_SP && c->rs1 != NTR_REG_FP) return false;
    if (address.base != NTR_REG_SP) return false;
    if (stored.base > 0 && stored.offset == 0 && s->slot_count < SLOTS_MAX)
        s->slots[s->slot_count++] = (struct saved_slot){address.offset, stored.base, s->loaded};
    return true;
}

/* Applies one instruction. Returns false when it ends the prologue. */
static bool apply(scan *s, const prologue_insn *c) {
    switch (c->operation) {
    case DO_STORE: return store(s, c);
    case DO_NOTHING: return true;
    case DO_LOAD:
    case DO_SET_CONSTANT:
        if (c->rd == NTR_REG_SP || c->rd == NTR_REG_FP || c->rd == NTR_REG_RA) return false;
        s->loaded |= c->operation == DO_LOAD;
        if (c->rd) s->registers[c->rd] = (value){.base = -1};
        return true;
    case DO_ADD_CONSTANT:
        if (c->rd == NTR_REG_SP && (c->rs1 != NTR_REG_SP || c->immediate >= 0)) return false;
        if (c->rd) s->registers[c->rd] = add(s->registers[c->rs1], (value){.offset = c->immediate});
        return true;
    case DO_ADD:
        if (c->rd == NTR_REG_SP) return false;
        if (c->rd) s->registers[c->rd] = add(s->registers[c->rs1], s->registers[c->rs2]);
        return true;
    case DO_OTHER: break;
    }
    return false;
}

static ntr_saved_register saved_register(const scan *s, int reg) {
    for (unsigned i = 0; i < s->slot_count; i++)
        if (s->slots[i].reg == reg)
            return (ntr_saved_register){.saved = true, .unsure = s->slots[i].unsure, .offset = s->slots[i].offset};
    return (ntr_saved_register){0};
}

ntr_frame_rule ntr_prologue_rule(const ntr_program *program, const ntr_context *context, uint64_t position,
                                 uint64_t start, uint64_t end) {
    const bool rv32 = ntr_program_isa(program, ntr_place_at(context, position, start)) & NTR_ISA_RV32;
    scan s = {0};
    for (int i = 0; i < FOLLOWED_REGISTERS; i++) s.registers[i] = (value){.base = i};
    for (uint64_t pc = start; pc < end;) {
        uint8_t bytes[4] = {0};
        size_t size = ntr_program_read(program, ntr_place_at(context, position, pc), bytes, sizeof bytes);
        uint32_t insn = ntr_little_32(bytes);
        unsigned length = (insn & 3) == 3 ? 4 : 2;
        if (size < length) break;
        prologue_insn c = decode(length == 2 ? insn & 0xffff : insn, rv32);
        if (!apply(&s, &c)) break;
        pc += length;
    }
    const value sp = s.registers[NTR_REG_SP], fp = s.registers[NTR_REG_FP];
    ntr_frame_rule rule = {.ra = saved_register(&s, NTR_REG_RA), .fp = saved_register(&s, NTR_REG_FP)};
    rule.by_fp = fp.base == NTR_REG_SP;
    rule.offset = rule.by_fp ? -fp.offset : -sp.offset;
    return rule;
}
