/* Decoding of 32-bit instructions. `insn` is initialized as a linear instruction; what differs is set. */
#ifndef NTR_ISA_DECODE_32_H
#define NTR_ISA_DECODE_32_H

#include <ntrace/isa.h>

void ntr_decode_32(uint32_t word, uint64_t pc, unsigned isa, ntr_insn *insn);

#endif
