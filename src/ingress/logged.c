#include "ingress/logged.h"

#include "base/bytes.h"
#include "ingress/classifier.h"
#include "ingress/code_block.h"

bool ntr_logged_width_take(ntr_logged_width *width, uint64_t pc) {
    const uint64_t upper = pc >> 31;
    width->low |= upper == 1;
    return !width->found || width->low || upper != (UINT64_C(1) << 33) - 1;
}

ntr_status ntr_logged_retire(ntr_classifier *classifier, unsigned xlen, uint64_t pc, uint64_t opcode, uint8_t *flow,
                             const char **why) {
    const ntr_program *program = classifier->config.program;
    const ntr_place place = ntr_place_at(NULL, NTR_POSITION_ANY, pc);
    const unsigned base = xlen == 32 ? NTR_ISA_RV32 : 0;
    uint8_t bytes[8];
    ntr_insn insn, known;
    ntr_code_block block;
    ntr_little_put(bytes, opcode, sizeof bytes);
    const unsigned isa = program && ntr_program_xlen(program) ? ntr_program_isa(program, place) : base;
    if (ntr_insn_decode(bytes, sizeof bytes, pc, isa, &insn) != NTR_OK) {
        *why = "opcode is longer than 64 bits";
        return NTR_E_SYNTAX;
    }
    if (insn.table_jump && program && ntr_program_insn(program, place, &known) == NTR_OK && known.table_jump &&
        known.immediate == insn.immediate) {
        insn.target = known.target;
    } else if (insn.table_jump) {
        *why = "the jump table of CM.JT and CM.JALT is not known; give the program with -e";
        return NTR_E_SYNTAX;
    }
    if (flow) *flow = insn.flow;
    ntr_code_block_begin(&block, pc);
    ntr_code_block_append(&block, &insn);
    return ntr_classifier_enter(classifier, &block);
}
