/* What the decoders of 16-bit and 32-bit instructions share: the control flow of jumps, branches and traps.
 * `insn` is initialized as a linear instruction; each function sets what differs. */
#ifndef NTR_ISA_CONTROL_FLOW_H
#define NTR_ISA_CONTROL_FLOW_H

#include <ntrace/isa.h>

/* JAL and JALR with all aliases: itype and flow follow from the operands (section 1.3). */
void ntr_decode_jal(ntr_insn *insn, unsigned rd, uint64_t target);
void ntr_decode_jalr(ntr_insn *insn, unsigned rd, unsigned rs1, int32_t offset);

void ntr_decode_branch(ntr_insn *insn, uint64_t target);
void ntr_decode_trap(ntr_insn *insn);

/* An instruction that writes a constant to `rd`. */
void ntr_decode_constant(ntr_insn *insn, unsigned rd, uint64_t value);

/* Truncates an address or register value to XLEN. */
static inline uint64_t ntr_decode_cut(uint64_t value, unsigned isa) {
    return isa & NTR_ISA_RV32 ? (uint32_t)value : value;
}

/* Returns the low `bits` bits of `value` as a two's complement number. */
static inline int32_t ntr_decode_signed(uint32_t value, unsigned bits) {
    return (int32_t)(value << (32 - bits)) >> (32 - bits);
}

/* Returns bits [high:low] of `word`, shifted to position `to`. Used for the immediates of the base formats. */
static inline uint32_t ntr_decode_bits(uint32_t word, unsigned high, unsigned low, unsigned to) {
    return (word >> low & ((2u << (high - low)) - 1)) << to;
}

#endif
