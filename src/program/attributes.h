/* Build attributes of a RISC-V ELF file (section .riscv.attributes). */
#ifndef NTR_PROGRAM_ATTRIBUTES_H
#define NTR_PROGRAM_ATTRIBUTES_H

#include <ntrace/bytes.h>

/* Returns the NTR_ISA_* extension flags (without XLEN) of Tag_RISCV_arch; 0 when the section is damaged. */
unsigned ntr_attributes_isa(ntr_bytes section);

#endif
