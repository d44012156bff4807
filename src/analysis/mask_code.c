#include "analysis/mask_code.h"

enum { MASK_STORE = 0x23, MASK_ADD = 0x13, MASK_ADD_32 = 0x1b, MASK_LUI = 0x37, MASK_LOAD = 0x03, MASK_BRANCH = 0x63 };
enum { TP = 4, SSTATUS = 0x100, MSTATUS = 0x300 };

static uint32_t field(uint32_t word, unsigned high, unsigned low) {
    return word >> low & ((2u << (high - low)) - 1);
}

static int32_t extend(uint32_t value, unsigned bits) {
    const uint32_t sign = 1u << (bits - 1);
    return (int32_t)((value ^ sign) - sign);
}

static int32_t immediate(uint32_t word) {
    return extend(field(word, 31, 20), 12);
}

/* ---- what an instruction writes */

typedef struct written {
    enum { WRITES_NOTHING, WRITES_VALUE, WRITES_SUM, WRITES_AND, WRITES_OTHER } kind;
    unsigned reg, from; /* WRITES_SUM, WRITES_AND: `from` and `value` */
    int32_t value;
} written;

/* Instructions of quadrant 1. */
static written written_by_short_1(uint32_t word) {
    const unsigned reg = field(word, 11, 7), small = 8 + field(word, 9, 7);
    const int32_t value = extend(field(word, 12, 12) << 5 | field(word, 6, 2), 6);
    switch (field(word, 15, 13)) {
    case 0: return (written){WRITES_SUM, reg, reg, value};
    case 1:
        return (written){WRITES_SUM, reg, reg, value}; /* C.ADDIW; RV32: C.JAL, which is no part of these sequences */
    case 2: return (written){WRITES_VALUE, reg, 0, value};
    case 3: return (written){reg == 2 ? WRITES_OTHER : WRITES_VALUE, reg, 0, value * 4096};
    case 4:
        return field(word, 11, 10) == 2 ? (written){WRITES_AND, small, small, value}
                                        : (written){WRITES_OTHER, small, 0, 0};
    case 5: return (written){WRITES_OTHER, UINT32_MAX, 0, 0}; /* C.J: code in front of it leads elsewhere */
    default: return (written){WRITES_NOTHING, 0, 0, 0};
    }
}

static written written_by_short(uint32_t word) {
    const unsigned reg = field(word, 11, 7), small = 8 + field(word, 4, 2), function = field(word, 15, 13);
    if ((word & 3) == 1) return written_by_short_1(word);
    if ((word & 3) == 0)
        return function < 4 ? (written){WRITES_OTHER, small, 0, 0} : (written){WRITES_NOTHING, 0, 0, 0};
    if (function == 4 && field(word, 6, 2) == 0) return (written){WRITES_OTHER, UINT32_MAX, 0, 0}; /* C.JR, C.JALR */
    return function < 5 ? (written){WRITES_OTHER, reg, 0, 0} : (written){WRITES_NOTHING, 0, 0, 0};
}

static written written_by(uint32_t word) {
    const unsigned reg = field(word, 11, 7), opcode = word & 0x7f, function = field(word, 14, 12),
                   from = field(word, 19, 15);
    if (mask_code_is_short(word)) return written_by_short(word);
    if (opcode == MASK_STORE || opcode == MASK_BRANCH) return (written){WRITES_NOTHING, 0, 0, 0};
    if (opcode == MASK_LUI) return (written){WRITES_VALUE, reg, 0, (int32_t)(word & 0xfffff000)};
    if ((opcode == MASK_ADD || opcode == MASK_ADD_32) && function == 0)
        return from ? (written){WRITES_SUM, reg, from, immediate(word)}
                    : (written){WRITES_VALUE, reg, 0, immediate(word)};
    if (opcode == MASK_ADD && function == 7) return (written){WRITES_AND, reg, from, immediate(word)};
    if (opcode == 0x6f || opcode == 0x67) return (written){WRITES_OTHER, UINT32_MAX, 0, 0};
    return (written){WRITES_OTHER, reg, 0, 0};
}

/* Returns the number of the instruction that wrote the register last; `count`: it is not known. */
static size_t writer_of(unsigned reg, const uint32_t *before, size_t first, size_t count, written *what) {
    for (size_t i = first; i < count; i++) {
        *what = written_by(before[i]);
        if (what->kind == WRITES_NOTHING) continue;
        if (what->reg == UINT32_MAX) return count;
        if (what->reg == reg) return i;
    }
    return count;
}

/* ---- interrupts */

/* Finds the bits of the mask in a register: `andi` leaves no others, a constant is known. What comes from elsewhere may
 * be a state that was kept: constants are loaded in front of their use. */
static bool value_of(unsigned reg, const uint32_t *before, size_t count, int32_t bit, bool *is_state, bool *is_set) {
    written what, base;
    const size_t at = writer_of(reg, before, 0, count, &what);
    *is_state = *is_set = false;
    if (at == count || what.kind == WRITES_AND || what.kind == WRITES_OTHER) {
        *is_state = at == count || what.kind == WRITES_OTHER || what.value & bit;
        return *is_state;
    }
    int32_t value = what.value;
    if (what.kind == WRITES_SUM) { /* MASK_LUI and ADDI */
        if (writer_of(what.from, before, at + 1, count, &base) == count || base.kind != WRITES_VALUE) return false;
        value = (int32_t)((uint32_t)base.value + (uint32_t)what.value);
    }
    *is_set = (value & bit) != 0;
    return *is_set;
}

static bool csr_code(uint32_t word, const uint32_t *before, size_t count, bool machine, mask_code *found) {
    const unsigned function = field(word, 14, 12), reg = field(word, 11, 7), source = field(word, 19, 15);
    const int32_t bit = machine ? 8 : 2;
    bool is_state = false, is_set = (source & (unsigned)bit) != 0; /* the forms with an immediate */
    if (field(word, 31, 20) != (machine ? MSTATUS : SSTATUS)) return false;
    if (function < 4 && (!source || !value_of(source, before, count, bit, &is_state, &is_set))) return false;
    found->value = 0;
    switch (function & 3) {
    case 2: found->action = is_state ? NTR_CODE_RESTORE : NTR_CODE_ON; return is_state || is_set;
    case 3: found->action = reg ? NTR_CODE_SAVE : NTR_CODE_OFF; return is_set;
    default: return false;
    }
}

/* ---- preemption */

static bool is_load_of_count(uint32_t word, unsigned reg, int32_t at) {
    return (word & 0x7f) == MASK_LOAD && field(word, 14, 12) == 2 && field(word, 11, 7) == reg &&
           field(word, 19, 15) == TP && immediate(word) == at;
}

/* The lowest 8 bits count preemption; the others are those of interrupts. */
static bool count_code(uint32_t word, const uint32_t *before, size_t count, bool narrow, mask_code *found) {
    enum { COUNT_BITS = 8 };
    const int32_t at = narrow ? 4 : 8;
    written sum, loaded;
    if (extend(field(word, 31, 25) << 5 | field(word, 11, 7), 12) != at) return false;
    const size_t adds = writer_of(field(word, 24, 20), before, 0, count, &sum);
    if (adds == count || sum.kind != WRITES_SUM || sum.value <= -(1 << COUNT_BITS) || sum.value >= 1 << COUNT_BITS)
        return false;
    const size_t loads = writer_of(sum.from, before, adds + 1, count, &loaded);
    if (loads == count || !is_load_of_count(before[loads], sum.from, at)) return false;
    *found = (mask_code){NTR_CODE_COUNT, (int16_t)sum.value};
    return true;
}

static bool is_store_by_tp(uint32_t word) {
    return (word & 0x7f) == MASK_STORE && field(word, 14, 12) == 2 && field(word, 19, 15) == TP;
}

bool ntr_mask_code(uint32_t word, const uint32_t *before, size_t count, bool machine, bool narrow, mask_code *found) {
    return is_store_by_tp(word) ? count_code(word, before, count, narrow, found)
                                : csr_code(word, before, count, machine, found);
}
