/* The build attributes of a RISC-V ELF (section .riscv.attributes). */
#ifndef NTR_PROGRAM_ATTRIBUTES_H
#define NTR_PROGRAM_ATTRIBUTES_H

#include <ntrace/bytes.h>

/* The NTR_ISA_* extension flags (not XLEN) that Tag_RISCV_arch tells; 0 also when the section is damaged. */
unsigned ntr_attributes_isa(ntr_bytes section);

#endif
