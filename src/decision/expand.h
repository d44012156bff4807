/* Compressed instructions as the 32-bit instructions that have the same effect. */
#ifndef NTR_DECISION_EXPAND_H
#define NTR_DECISION_EXPAND_H

#include <stdint.h>

/* Returns the instruction, or 0 for instructions that neither compute, load, store nor branch on general registers. */
uint32_t ntr_expand(uint32_t bits, unsigned xlen);

#endif
