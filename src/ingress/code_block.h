/* Building code blocks, one instruction at a time. */
#ifndef NTR_INGRESS_CODE_BLOCK_H
#define NTR_INGRESS_CODE_BLOCK_H

#include <ntrace/ingress.h>

/* Begins an empty block at `start`. */
void ntr_code_block_begin(ntr_code_block *block, uint64_t start);

/* Appends the instruction after the block. Returns true if the block ends with it: it can change the flow, or the
 * block has reached its largest size. */
bool ntr_code_block_append(ntr_code_block *block, const ntr_insn *insn);

/* Returns the address after the retired instructions of the block. If ECALL or EBREAK ends the block, it is their
 * address. */
static inline uint64_t ntr_code_block_end(const ntr_code_block *block) {
    return block->start + 2 * (uint64_t)block->halfwords;
}

#endif
