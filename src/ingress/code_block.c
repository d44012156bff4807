#include "ingress/code_block.h"

#include <string.h>

/* Largest block; below the limit of the encoder for iretire (encoder/check.c). */
enum { HALFWORDS_MAX = 1 << 19 };

void ntr_code_block_begin(ntr_code_block *block, uint64_t start) {
    memset(block, 0, sizeof *block);
    block->start = start;
}

bool ntr_code_block_append(ntr_code_block *block, const ntr_insn *insn) {
    block->flow = insn->flow;
    if (insn->flow == NTR_FLOW_TRAP) {
        block->itype = NTR_ITYPE_EXCEPTION;
        return true;
    }
    block->instructions++;
    block->halfwords += insn->size / 2;
    block->last_size = insn->size;
    block->itype = insn->itype;
    block->target = insn->target;
    block->table_jump = insn->table_jump && !insn->target;
    if (insn->flow == NTR_FLOW_LINEAR) {
        block->constant_register = insn->sets_constant ? insn->rd : 0;
        return block->halfwords >= HALFWORDS_MAX;
    }
    block->jump_register = insn->rs1;
    return true;
}

ntr_status ntr_code_block_scan(const uint8_t *bytes, size_t size, uint64_t address, unsigned isa, uint32_t instructions,
                               ntr_code_block *block) {
    ntr_code_block_begin(block, address);
    ntr_insn insn;
    size_t at = 0;
    bool ended = false;
    while (!ended && (!instructions || block->instructions < instructions) &&
           ntr_insn_decode(bytes + at, size - at, address + at, isa, &insn) == NTR_OK) {
        ended = ntr_code_block_append(block, &insn);
        at += insn.size;
    }
    return at ? NTR_OK : NTR_E_SPACE;
}
