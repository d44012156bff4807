/* Making code blocks one instruction at a time. */
#ifndef NTR_INGRESS_CODE_BLOCK_H
#define NTR_INGRESS_CODE_BLOCK_H

#include <ntrace/ingress.h>

/* Begin an empty block. */
void ntr_code_block_begin(ntr_code_block *block, uint64_t start);

/* Append the instruction that lies behind the block. True: it can change the flow, the block ends here. */
bool ntr_code_block_append(ntr_code_block *block, const ntr_insn *insn);

/* The address behind the block's instructions; of the ECALL or EBREAK that ends it, if one does. */
static inline uint64_t ntr_code_block_end(const ntr_code_block *block) {
    return block->start + 2 * (uint64_t)block->halfwords;
}

#endif
