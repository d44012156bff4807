/* What a retired block adds: I-CNT, HIST, return stack and the pending branch.
 * N-Trace 1.0 sections 1.4, 7.2, 7.3, 11.1 and 11.2.
 *
 * Counters. I-CNT counts halfwords since the last message with I-CNT. A full I-CNT is sent as ResourceFull with
 * RCODE 0 and starts again at 0; in BTM it may be a synchronizing message with SYNC=4 instead. With full "before"
 * (the default) the message is sent before the block that does not fit, so that I-CNT ends between two blocks; with
 * "after" it includes that block. Invariant: the sum of all I-CNT values sent since a synchronizing message, plus
 * `icnt`, is the number of halfwords retired since. Example: a counter of 4 bits. "Before" it is full at 16: with
 * I-CNT 14 a block of 3 halfwords sends 14 and leaves 3. "After" it is full at 8: with I-CNT 6 the same block makes
 * 9, which is sent, and leaves 0. */
#include "encoder/state.h"

/* Branch prediction: docs/dialects.md section 12.1. A branch that goes as predicted is only counted, in `predicted`.
 * Any other one makes BranchPredict with this count. A message that ends the history makes the rest of the count
 * superfluous: the decoder predicts the branches of its I-CNT itself. */
static void predict(ntr_encoder *e, uint64_t branch, bool taken) {
    bool right = ntr_flow_predict(&e->tables, branch) == taken;
    ntr_flow_learn(&e->tables, branch, taken);
    e->predicted += right;
    if (right) return;
    ntr_message *m = ntr_enc_message(e, NTR_TCODE_BRANCH_PREDICT);
    NTR_SET(m, BCNT, bcnt, e->predicted);
    e->predicted = 0;
    ntr_enc_send(e, m, e->now);
}

enum {
    NOT_TAKEN = 1 << 0,
    TAKEN = 1 << 1,
    INDIRECT = 1 << 2,
    PUSH = 1 << 3,
    POP = 1 << 4,
    TRAP = 1 << 5,
    DIRECT = 1 << 6,   /* inferable jump: no action, or TAKEN with all-jumps */
    CONSTANT = 1 << 7, /* sijump is significant: the jump may be sequentially inferable (section 11.1) */
};

static const uint8_t ACTIONS[16] = {
    [NTR_ITYPE_EXCEPTION] = TRAP,
    [NTR_ITYPE_INTERRUPT] = TRAP,
    [NTR_ITYPE_TRAP_RETURN] = INDIRECT,
    [NTR_ITYPE_NOT_TAKEN] = NOT_TAKEN,
    [NTR_ITYPE_TAKEN] = TAKEN,
    [NTR_ITYPE_INDIRECT] = INDIRECT | CONSTANT,
    [NTR_ITYPE_INDIRECT_CALL] = INDIRECT | CONSTANT | PUSH,
    [NTR_ITYPE_DIRECT_CALL] = DIRECT | PUSH,
    [NTR_ITYPE_INDIRECT_JUMP] = INDIRECT | CONSTANT,
    [NTR_ITYPE_DIRECT_JUMP] = DIRECT,
    [NTR_ITYPE_CO_SWAP] = INDIRECT | CONSTANT | POP | PUSH,
    [NTR_ITYPE_RETURN] = INDIRECT | POP,
    [NTR_ITYPE_OTHER_INDIRECT] = INDIRECT | CONSTANT,
    [NTR_ITYPE_OTHER_DIRECT] = DIRECT,
};

unsigned ntr_enc_trap_btype(const ntr_encoder *e, unsigned itype) {
    if (!e->config.btype_detail) return NTR_BTYPE_TRAP;
    return itype == NTR_ITYPE_EXCEPTION ? NTR_BTYPE_EXCEPTION : NTR_BTYPE_INTERRUPT;
}

/* Sends the full I-CNT. Returns true if it was sent as a synchronizing message. */
static bool send_full_icnt(ntr_encoder *e, uint64_t next) {
    if (e->config.icnt_full_sync) {
        ntr_enc_icnt_sync(e, next);
        return true;
    }
    ntr_message *m = ntr_enc_message(e, NTR_TCODE_RESOURCE_FULL);
    NTR_SET(m, RCODE, rcode, NTR_RCODE_ICNT);
    NTR_SET(m, RDATA0, rdata0, e->icnt);
    ntr_enc_icnt_sent(e);
    ntr_enc_send(e, m, e->now);
    return false;
}

/* Adds the block to I-CNT. *inside: I-CNT already counts the instructions before the block. */
static void count_halfwords(ntr_encoder *e, const ntr_ingress *b, bool *inside) {
    if (!e->config.full_after && e->icnt && e->icnt + b->iretire >= e->icnt_full && send_full_icnt(e, b->iaddr))
        ntr_enc_ownership_sync(e, b);
    *inside = e->icnt != 0;
    e->icnt += b->iretire;
    if (!e->config.full_after || e->icnt < e->icnt_full) return;
    bool history = e->htm && e->hist != HIST_EMPTY; /* htm_count_sync: the history is not full either */
    if (e->config.icnt_full_sync || (e->dialect->htm_count_sync && history))
        e->sync_wanted |= 1u << NTR_SYNC_ICNT_FULL;
    else
        send_full_icnt(e, 0);
}

static void wait_for(ntr_encoder *e, pending_kind kind, unsigned btype, uint64_t expected) {
    e->pending = (pending_branch){.kind = (uint8_t)kind, .btype = (uint8_t)btype, .expected = expected, .time = e->now};
}

/* Returns true if LUI or AUIPC directly before the jump made its target (section 11.1). A decoder can infer the
 * target only if it walks both instructions with the same message. A co-routine swap uses the return stack when
 * there is one. */
static bool is_constant_jump(const ntr_encoder *e, const ntr_ingress *b, unsigned actions, bool inside) {
    if (!b->sijump || !e->params.sequential_jump || !(actions & CONSTANT)) return false;
    if (actions & POP && e->params.implicit_return != NTR_RETURN_OFF) return false;
    return b->iretire > 1u << b->ilastsize || inside;
}

static void jump(ntr_encoder *e, const ntr_ingress *b, unsigned actions, bool constant) {
    uint64_t expected = 0;
    bool infers = ntr_enc_stack_infers(&e->stack);
    bool called = actions & POP && ntr_enc_stack_pop(&e->stack, &expected) && infers;
    if (actions & PUSH) ntr_enc_stack_push(&e->stack, b->iaddr + 2 * (uint64_t)b->iretire);
    if (constant || !(actions & INDIRECT)) return;
    if (!called) wait_for(e, PENDING_INDIRECT, 0, 0);
    if (!called)
        e->pending.trap_return = b->itype == NTR_ITYPE_TRAP_RETURN;
    else if (e->params.implicit_return != NTR_RETURN_COUNT || e->config.check_returns)
        wait_for(e, PENDING_RETURN, 0, expected);
    else
        e->counted_return = expected;
}

/* Adds the outcome of the branch that ends the block to the history, or compares it with the prediction. */
static void add_outcome(ntr_encoder *e, const ntr_ingress *b, bool taken) {
    if (e->tables.counters)
        predict(e, b->iaddr + 2 * ((uint64_t)b->iretire - (1u << b->ilastsize)), taken);
    else
        ntr_enc_history_append(e, taken);
}

/* The address after the block, if the block does not end in a jump. With 3-bit itype, 0 may be a jump. */
static uint64_t address_after(const ntr_encoder *e, const ntr_ingress *b) {
    const bool goes_on = b->itype == NTR_ITYPE_NOT_TAKEN || (b->itype == NTR_ITYPE_NONE && e->config.itype_width == 4);
    const uint64_t after = b->iaddr + 2 * (uint64_t)b->iretire;
    return !goes_on ? NTR_ADDRESS_UNKNOWN : e->params.xlen == 32 ? after & UINT32_MAX : after;
}

void ntr_enc_count(ntr_encoder *e, const ntr_ingress *b) {
    unsigned actions = ACTIONS[b->itype];
    e->next = address_after(e, b);
    if (actions & DIRECT && e->params.all_jumps) actions |= TAKEN;
    bool branch = actions & (TAKEN | NOT_TAKEN), inside;
    if (branch && e->htm && e->config.hist_first) add_outcome(e, b, actions & TAKEN);
    count_halfwords(e, b, &inside);
    e->stats.halfwords += b->iretire;
    if (branch && e->htm && !e->config.hist_first) add_outcome(e, b, actions & TAKEN);
    if (actions & TAKEN && !e->htm) wait_for(e, PENDING_DIRECT, 0, 0);
    if (actions & TRAP) wait_for(e, PENDING_INDIRECT, ntr_enc_trap_btype(e, b->itype), 0);
    if (actions & TRAP) e->pending.tval = b->tval;
    if (actions & (INDIRECT | PUSH)) jump(e, b, actions, is_constant_jump(e, b, actions, inside));
    ntr_enc_sync_progress(e, NTR_SYNC_MODE_HALFWORDS, b->iretire);
}
