/* Instructions that may switch interrupts or preemption off and on. */
#ifndef NTR_ISA_SWITCHING_H
#define NTR_ISA_SWITCHING_H

#include <stdbool.h>
#include <stdint.h>

/* Returns whether the instruction writes sstatus or mstatus, or stores a word relative to tp, where Linux counts
 * preemption. Bits of `word` behind the end of the instruction are ignored: instructions of 16 bits do neither. */
static inline bool ntr_insn_may_switch(uint32_t word) {
    const uint32_t opcode = word & 0x7f, function = word >> 12 & 7, csr = word >> 20;
    if (opcode == 0x73) return function & 3 && (csr == 0x100 || csr == 0x300);
    return opcode == 0x23 && function == 2 && (word >> 15 & 31) == 4;
}

#endif
