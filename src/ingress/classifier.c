/* Classifier: turns executed code into ingress blocks. N-Trace 1.0 section 1.
 *
 * Idea. A code block is straight code up to an instruction that can change the flow. Its bytes say how it can end;
 * where execution continues says how it did end. The classifier therefore holds one block back until it knows the
 * next address, as the ingress port reports the itype of a block with the block:
 *   - next is the usual successor        not taken branch, jump, call or plain code
 *   - next is the target of the branch   taken branch
 *   - anything else                      a trap came between: an interrupt after the block, or an exception if the
 *                                        block ends in ECALL or EBREAK
 * Register jumps have no usual successor: every next address is accepted.
 *
 * Invariant. The records sent to the sink describe all code entered, in order, except the held block.
 *
 * Example. Block A at 0x1000 has 8 halfwords and ends in a branch to 0x2000. Entering block B at 0x2000 sends A with
 * itype 5 (taken) and holds B. Entering a block at 0x1010 instead sends A with itype 4. Entering a block at 0x8000
 * sends A with itype 4 and then a record with itype 2 (interrupt) and the address 0x1010, which the trap prevented
 * from executing. */
#include "ingress/classifier.h"

#include "ingress/code_block.h"
#include "ingress/hand_over.h"

/* ---- records ---------------------------------------------------------------------------------------- */

/* Returns the itype for the width of the port. With 3 bits all register jumps are one kind, and direct jumps are not
 * reported unless `all_jumps` is set. */
static uint8_t narrow(const ntr_classifier *c, uint8_t itype) {
    if (c->config.itype_width == 4 || itype < NTR_ITYPE_INDIRECT_CALL) return itype;
    bool direct = itype == NTR_ITYPE_DIRECT_CALL || itype == NTR_ITYPE_DIRECT_JUMP || itype == NTR_ITYPE_OTHER_DIRECT;
    if (!direct) return NTR_ITYPE_INDIRECT;
    return c->config.all_jumps ? NTR_ITYPE_TAKEN : NTR_ITYPE_NONE;
}

static ntr_status emit(ntr_classifier *c, uint64_t address, uint32_t halfwords, unsigned last_size, uint8_t itype) {
    ntr_ingress *r = &c->record;
    r->iaddr = address;
    r->iretire = halfwords;
    r->ilastsize = last_size >= 8 ? 2 : last_size >= 4; /* the port has no size for 48-bit instructions */
    r->itype = narrow(c, itype);
    if (halfwords) ntr_classifier_pass_time(c, halfwords);
    ntr_status status = c->config.sink(c->config.sink_user, r);
    r->ctype = NTR_CTYPE_UNREPORTED;
    r->sijump = false;
    return status;
}

static ntr_status emit_trap(ntr_classifier *c, uint8_t itype, uint64_t epc) {
    c->record.no_iaddr = epc == NTR_ADDRESS_UNKNOWN;
    if (c->record.no_iaddr) itype = NTR_ITYPE_INTERRUPT; /* an exception needs an address */
    ntr_status status = emit(c, c->record.no_iaddr ? 0 : epc, 0, 0, itype);
    c->record.no_iaddr = false;
    return status;
}

static bool is_register_jump(unsigned flow) {
    return flow == NTR_FLOW_INDIRECT_JUMP || flow == NTR_FLOW_INDIRECT_CALL || flow == NTR_FLOW_CO_SWAP;
}

/* Returns true if LUI or AUIPC wrote the register of the jump directly before it, in this block or at the end of the
 * previous block (section 11.1). */
static bool is_constant_jump(const ntr_classifier *c) {
    const ntr_code_block *b = &c->held;
    if (!is_register_jump(b->flow) || !b->jump_register) return false;
    return (b->instructions > 1 ? b->constant_register : c->constant) == b->jump_register;
}

/* Sends the held block with this itype. */
static ntr_status emit_held(ntr_classifier *c, uint8_t itype) {
    const ntr_code_block *b = &c->held;
    c->holds = false;
    c->record.sijump = is_constant_jump(c);
    c->constant = b->flow == NTR_FLOW_LINEAR ? b->constant_register : 0;
    if (!b->halfwords && itype != NTR_ITYPE_EXCEPTION && itype != NTR_ITYPE_INTERRUPT) return NTR_OK;
    return emit(c, b->start, b->halfwords, b->last_size, itype);
}

/* ---- end of the held block -------------------------------------------------------------------------- */

/* Returns the address after the block without a trap; of a branch, when it is not taken. NTR_ADDRESS_UNKNOWN for
 * register jumps. */
static uint64_t successor(const ntr_code_block *b) {
    switch (b->flow) {
    case NTR_FLOW_DIRECT_JUMP:
    case NTR_FLOW_DIRECT_CALL: return b->table_jump ? NTR_ADDRESS_UNKNOWN : b->target;
    case NTR_FLOW_LINEAR:
    case NTR_FLOW_BRANCH:
    case NTR_FLOW_TRAP: return ntr_code_block_end(b);
    default: return NTR_ADDRESS_UNKNOWN;
    }
}

/* Sends the held block. `next` is the address that follows it before any trap. *follows is set to false if the block
 * cannot lead there; a branch is then reported as not taken. */
static ntr_status emit_ended(ntr_classifier *c, uint64_t next, bool *follows) {
    const ntr_code_block *b = &c->held;
    uint64_t usual = successor(b);
    bool taken = b->flow == NTR_FLOW_BRANCH && next == b->target && next != usual;
    *follows = taken || next == usual || usual == NTR_ADDRESS_UNKNOWN;
    return emit_held(c, taken ? NTR_ITYPE_TAKEN : b->itype);
}

/* Returns true if the record of the block can report a trap after it. */
static bool includes_trap(const ntr_code_block *b) {
    return b->flow == NTR_FLOW_LINEAR || b->flow == NTR_FLOW_TRAP;
}

/* Execution goes on at `found`, where `expected` follows, and no trap was entered. */
static void note_discontinuity(ntr_classifier *c, uint64_t expected, uint64_t found) {
    if (c->discontinuities++) return;
    c->first = (ntr_discontinuity){.expected = expected, .found = found, .number = c->number};
}

/* Returns the itype of the trap that came before `expected`, so that the code at `found` was executed. A list without
 * the instructions that do not retire has no ECALL and EBREAK: they explain it. */
static uint8_t trap_between(ntr_classifier *c, uint64_t expected, uint64_t found) {
    const ntr_context context = {.scontext = c->record.scontext,
                                 .hcontext = c->record.hcontext,
                                 .prv = NTR_PRV_UNKNOWN,
                                 .has_scontext = true,
                                 .has_hcontext = true};
    ntr_insn insn;
    if (c->config.program &&
        ntr_program_insn(c->config.program, ntr_place_at(&context, 0, expected), &insn) == NTR_OK &&
        insn.flow == NTR_FLOW_TRAP)
        return NTR_ITYPE_EXCEPTION;
    note_discontinuity(c, expected, found);
    return NTR_ITYPE_INTERRUPT;
}

static ntr_status emit_before_block(ntr_classifier *c, uint64_t next) {
    const ntr_code_block *b = &c->held;
    uint64_t usual = successor(b);
    if (b->flow == NTR_FLOW_LINEAR && next != usual) return emit_held(c, trap_between(c, usual, next));
    if (b->flow == NTR_FLOW_TRAP) return emit_held(c, NTR_ITYPE_EXCEPTION);
    bool follows;
    ntr_status status = emit_ended(c, next, &follows);
    if (status != NTR_OK || follows) return status;
    return emit_trap(c, trap_between(c, usual, next), usual);
}

static void apply_state(ntr_classifier *c) {
    if (!c->state_changed) return;
    c->state_changed = false;
    ntr_ingress *r = &c->record;
    bool context = r->scontext != c->state.scontext || r->hcontext != c->state.hcontext;
    if (context) r->ctype = NTR_CTYPE_IMPRECISE;
    r->priv = c->state.priv;
    r->scontext = c->state.scontext;
    r->hcontext = c->state.hcontext;
    if (!c->state.time) return;
    r->time = c->state.time;
    c->timed = true;
}

ntr_status ntr_classifier_enter(ntr_classifier *c, const ntr_code_block *block) {
    if (ntr_classifier_enter_fast(c, block)) return NTR_OK;
    ntr_status status = c->holds ? emit_before_block(c, block->start) : NTR_OK;
    apply_state(c);
    c->held = *block;
    c->holds = true;
    return status;
}

ntr_status ntr_classifier_hand_over(ntr_classifier *c, uint64_t next) {
    ntr_status status = c->holds ? emit_before_block(c, next) : NTR_OK;
    c->holds = false;
    c->constant = 0;
    return status;
}

void ntr_classifier_state_reported(ntr_classifier *c, const ntr_hart_state *state) {
    const uint64_t time = c->state.time;
    c->state = *state;
    c->state.time = time;
    c->record.priv = state->priv;
    c->record.scontext = state->scontext;
    c->record.hcontext = state->hcontext;
}

ntr_status ntr_classifier_emit_trap(ntr_classifier *c, unsigned itype, uint64_t epc, uint64_t cause, uint64_t tval) {
    ntr_status status = NTR_OK;
    c->record.cause = cause;
    c->record.tval = tval;
    const bool known = c->holds && epc != NTR_ADDRESS_UNKNOWN;
    if (known && c->held.flow == NTR_FLOW_LINEAR && epc != ntr_code_block_end(&c->held))
        note_discontinuity(c, ntr_code_block_end(&c->held), epc);
    if (c->holds && includes_trap(&c->held)) {
        status = emit_held(c, (uint8_t)itype);
    } else {
        bool follows = true;
        uint64_t usual = c->holds ? successor(&c->held) : NTR_ADDRESS_UNKNOWN;
        if (c->holds) status = emit_ended(c, epc, &follows);
        if (known && !follows) note_discontinuity(c, usual, epc);
        apply_state(c);
        if (status == NTR_OK)
            status = emit_trap(c, (uint8_t)itype, epc == NTR_ADDRESS_UNKNOWN || !follows ? usual : epc);
    }
    c->record.cause = c->record.tval = 0;
    c->constant = 0;
    return status;
}

ntr_status ntr_classifier_end(ntr_classifier *c, bool send, uint64_t *next) {
    ntr_status status = NTR_OK;
    if (next) *next = c->holds ? successor(&c->held) : NTR_ADDRESS_UNKNOWN;
    if (send && c->holds) status = emit_held(c, c->held.flow == NTR_FLOW_TRAP ? NTR_ITYPE_NONE : c->held.itype);
    c->holds = false;
    c->constant = 0;
    return status;
}
