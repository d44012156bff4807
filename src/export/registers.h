/* Registers that an instruction reads and writes, for simulators that follow dependences. */
#ifndef NTR_EXPORT_REGISTERS_H
#define NTR_EXPORT_REGISTERS_H

#include <stdint.h>

/* Numbers of registers: x0 to x31, f0 to f31, v0 to v31. x0 is none. */
enum { NTR_REGISTER_F = 32, NTR_REGISTER_V = 64, NTR_REGISTER_SOURCES = 3 };

typedef struct ntr_insn_registers {
    uint8_t sources[NTR_REGISTER_SOURCES]; /* 0: none */
    uint8_t destination;
} ntr_insn_registers;

/* Returns the registers of an instruction of `size` bytes: of RV32 and RV64 with M, A, F, D, V, Zicsr and their
 * compressed forms. Others have none. */
ntr_insn_registers ntr_registers_of(uint64_t bits, unsigned size, unsigned xlen);

#endif
