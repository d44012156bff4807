#include "export/registers.h"

#include "decision/graph.h"

/* Opcodes that `ntr_expand` has no use for. */
enum { OPCODE_FMADD = 0x43, OPCODE_FNMADD = 0x4f, OPCODE_OP_FP = 0x53, OPCODE_OP_V = 0x57 };

static ntr_insn_registers make(unsigned rd, unsigned rs1, unsigned rs2, unsigned rs3) {
    return (ntr_insn_registers){.sources = {(uint8_t)rs1, (uint8_t)rs2, (uint8_t)rs3}, .destination = (uint8_t)rd};
}

static unsigned f(unsigned number) {
    return NTR_REGISTER_F + number;
}

static unsigned v(unsigned number) {
    return NTR_REGISTER_V + number;
}

/* By the five highest bits of OP-FP. */
static ntr_insn_registers of_float(uint32_t i, unsigned rd, unsigned rs1, unsigned rs2) {
    enum {
        CONVERT_FORMAT = 0x08,
        SQRT = 0x0b,
        COMPARE = 0x14,
        TO_INT = 0x18,
        FROM_INT = 0x1a,
        MOVE_TO_X = 0x1c,
        MOVE_FROM_X = 0x1e
    };
    switch (i >> 27) {
    case SQRT:
    case CONVERT_FORMAT: return make(f(rd), f(rs1), 0, 0);
    case COMPARE: return make(rd, f(rs1), f(rs2), 0);
    case MOVE_TO_X:
    case TO_INT: return make(rd, f(rs1), 0, 0);
    case MOVE_FROM_X:
    case FROM_INT: return make(f(rd), rs1, 0, 0);
    default: return make(f(rd), f(rs1), f(rs2), 0);
    }
}

/* vset*, and the forms with operands that are vectors, integers, numbers of floating point, or constants. */
static ntr_insn_registers of_vector(uint32_t i, unsigned rd, unsigned rs1, unsigned rs2) {
    enum { VV, FVV, MVV, VI, VX, VF, MVX, SET, TO_SCALAR = 0x10 };
    const unsigned form = i >> 12 & 7;
    const bool scalar = i >> 26 == TO_SCALAR;
    switch (form) {
    case SET: return make(rd, i >> 30 == 3 ? 0 : rs1, i >> 30 == 2 ? rs2 : 0, 0);
    case VI: return make(v(rd), v(rs2), 0, 0);
    case VX:
    case MVX: return make(v(rd), v(rs2), rs1, 0);
    case VF: return make(v(rd), v(rs2), f(rs1), 0);
    case MVV: return scalar ? make(rd, v(rs2), 0, 0) : make(v(rd), v(rs2), v(rs1), 0);
    case FVV: return scalar ? make(f(rd), v(rs2), 0, 0) : make(v(rd), v(rs2), v(rs1), 0);
    default: return make(v(rd), v(rs2), v(rs1), 0);
    }
}

/* Loads and stores of opcodes LOAD-FP and STORE-FP: of f registers by funct3 1 to 4, otherwise of vectors. */
static unsigned float_or_vector(uint32_t i, unsigned number) {
    const unsigned width = i >> 12 & 7;
    return width >= 1 && width <= 4 ? f(number) : v(number);
}

static ntr_insn_registers of_32(uint32_t i) {
    const unsigned opcode = i & 0x7f, rd = i >> 7 & 31, rs1 = i >> 15 & 31, rs2 = i >> 20 & 31, funct3 = i >> 12 & 7;
    switch (opcode) {
    case NTR_OPCODE_LOAD:
    case NTR_OPCODE_OP_IMM:
    case NTR_OPCODE_OP_IMM_32:
    case NTR_OPCODE_JALR: return make(rd, rs1, 0, 0);
    case NTR_OPCODE_LOAD_FP: return make(float_or_vector(i, rd), rs1, 0, 0);
    case NTR_OPCODE_STORE:
    case NTR_OPCODE_BRANCH: return make(0, rs1, rs2, 0);
    case NTR_OPCODE_STORE_FP: return make(0, rs1, float_or_vector(i, funct3 >= 1 && funct3 <= 4 ? rs2 : rd), 0);
    case NTR_OPCODE_AMO:
    case NTR_OPCODE_OP:
    case NTR_OPCODE_OP_32: return make(rd, rs1, rs2, 0);
    case NTR_OPCODE_LUI:
    case NTR_OPCODE_AUIPC:
    case NTR_OPCODE_JAL: return make(rd, 0, 0, 0);
    case NTR_OPCODE_SYSTEM: return funct3 == 0 ? make(0, 0, 0, 0) : make(rd, funct3 & 4 ? 0 : rs1, 0, 0);
    case OPCODE_OP_FP: return of_float(i, rd, rs1, rs2);
    case OPCODE_OP_V: return of_vector(i, rd, rs1, rs2);
    default: break;
    }
    if (opcode >= OPCODE_FMADD && opcode <= OPCODE_FNMADD && (opcode & 3) == 3)
        return make(f(rd), f(rs1), f(rs2), f(i >> 27));
    return make(0, 0, 0, 0);
}

/* C.FLD, C.FSD, C.FLDSP, C.FSDSP; of RV32 also C.FLW, C.FSW, C.FLWSP, C.FSWSP. */
static ntr_insn_registers of_compressed_float(uint32_t c, unsigned xlen) {
    const unsigned which = c >> 13 & 7, low = 8 + (c >> 2 & 7), high = 8 + (c >> 7 & 7);
    const bool load = which == 1 || (xlen == 32 && which == 3), store = which == 5 || (xlen == 32 && which == 7);
    if ((c & 3) == 0 && load) return make(f(low), high, 0, 0);
    if ((c & 3) == 0 && store) return make(0, high, f(low), 0);
    if ((c & 3) == 2 && load) return make(f(c >> 7 & 31), NTR_REGISTER_SP, 0, 0);
    if ((c & 3) == 2 && store) return make(0, NTR_REGISTER_SP, f(c >> 2 & 31), 0);
    return make(0, 0, 0, 0);
}

ntr_insn_registers ntr_registers_of(uint64_t bits, unsigned size, unsigned xlen) {
    if (size > 4) return make(0, 0, 0, 0);
    const uint32_t expanded = size == 2 ? ntr_expand((uint32_t)bits & 0xffff, xlen) : (uint32_t)bits;
    return expanded ? of_32(expanded) : of_compressed_float((uint32_t)bits & 0xffff, xlen);
}
