#include "capture/executed.h"
#include "capture/blocks.h"
#include "capture/spaces.h"

/* Does a jump, branch or return come before the last instruction? QEMU ends a block there. A scan that ends otherwise
 * found an instruction of more than 32 bits. */
static bool is_odd(const struct ntr_capture_harts *harts, uint32_t number) {
    const ntr_code_block *code = &harts->blocks[number].code;
    return code->flow != NTR_FLOW_LINEAR && code->flow != NTR_FLOW_TRAP &&
           code->instructions < ntr_capture_shared(harts, number)->instructions;
}

/* Can the block have been executed, with `next` (0: not known) behind it? */
static bool fits(const struct ntr_capture_harts *harts, uint32_t number, uint64_t next) {
    const ntr_code_block *code = &harts->blocks[number].code;

    if (is_odd(harts, number)) return false;
    const bool goes_anywhere =
        ntr_capture_is_register_jump(code) || code->flow == NTR_FLOW_TRAP || code->flow == NTR_FLOW_TRAP_RETURN;
    return !next || goes_anywhere || ntr_capture_leads_to(code, next);
}

/* Have both the same address, mode, size and number of instructions, in the space of the hart? */
static bool is_version(struct ntr_capture_harts *harts, const struct ntr_capture_hart *hart, uint32_t number,
                       uint32_t of) {
    const struct channel_block *a = ntr_capture_shared(harts, number), *b = ntr_capture_shared(harts, of);

    return a->address == b->address && a->privilege == b->privilege && a->size == b->size &&
           a->instructions == b->instructions && harts->blocks[number].generation &&
           harts->blocks[number].space == (harts->keeps_spaces ? ntr_capture_machine_space(harts, hart, of) : 0);
}

uint32_t ntr_capture_executed(struct ntr_capture_harts *harts, const struct ntr_capture_hart *hart, uint64_t next) {
    const uint32_t told = hart->last;

    if (!ntr_capture_block_code(harts, told) || fits(harts, told, next)) return told;
    const uint32_t before = harts->blocks[told].executed;
    if (before && is_version(harts, hart, before, told) && fits(harts, before, next)) return before;
    for (uint32_t number = harts->block_capacity - 1; number; number--) {
        if (number == told || !is_version(harts, hart, number, told) || !fits(harts, number, next)) continue;
        return harts->blocks[told].executed = number;
    }
    return is_odd(harts, told) ? 0 : told;
}
