/* Making one block. */
#ifndef NTR_PROGRAM_BLOCK_H
#define NTR_PROGRAM_BLOCK_H

#include "program/blocks.h"

/* Fill `block` (zeroed) with what `context` sees at `address`; halfwords is 0 when there is nothing. */
void ntr_block_make(ntr_block *block, const ntr_program *program, const ntr_context *context, uint64_t position,
                    uint64_t address);

/* Does what this block knows depend on the bytes [first, last]? */
bool ntr_block_depends(const ntr_block *block, const ntr_program *program, uint64_t first, uint64_t last);

/* The furthest byte behind its start that a block can depend on. */
#define NTR_BLOCK_REACH (2 * NTR_BLOCK_HALFWORDS_MAX + NTR_INSN_BYTES_MAX)

#endif
