#include "capture/hart.h"
#include "capture/block_chain.h"
#include "capture/blocks.h"
#include "capture/run.h"
#include "capture/spaces.h"
#include "capture/state.h"
#include "ingress/hand_over.h"

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

/* The number of the block that the hart has executed as its last one; `next` (0: not known) is the address that it went
 * to without a trap. 0: no version of it is known that can have been executed. */
static uint32_t ntr_capture_executed(struct ntr_capture_harts *harts, const struct ntr_capture_hart *hart,
                                     uint64_t next) {
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

/* `now` is when the block has retired. */
static void pass_time(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, const ntr_code_block *code) {
    const uint64_t now = harts->system ? ntr_capture_system_now(harts->system) + code->instructions
                                       : ntr_capture_now(harts, hart, code->instructions);

    if (harts->channel->head.machine)
        ntr_capture_machine_set_state(harts, hart, now);
    else if (harts->config->params.timestamps == NTR_TIMESTAMPS_ON)
        ntr_classifier_set_state(hart->classifier, &(ntr_hart_state){.priv = NTR_PRIV_U, .time = now});
    if (harts->system) ntr_capture_note(harts, ntr_capture_system_step(harts->system, code->instructions));
    hart->time += code->instructions;
}

/* The block goes to the encoder through the classifier, outside of any run. */
static void enter(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, const ntr_code_block *code) {
    ntr_capture_run_flush(harts, hart);
    pass_time(harts, hart, code);
    ntr_capture_note(harts, ntr_classifier_enter(hart->classifier, code));
}

/* The block leads to `next`: a call or return changes the return stack. Returns whether the encoder needs no message
 * for it. */
static bool step_silently(const struct ntr_capture_harts *harts, struct ntr_capture_hart *hart,
                          const ntr_code_block *code, uint64_t next) {
    const bool stack = harts->config->params.implicit_return != NTR_RETURN_OFF;
    if (code->flow == NTR_FLOW_RETURN && stack) return ntr_enc_extend_by_return(hart->encoder, next);
    if (ntr_capture_is_register_jump(code) ? ntr_capture_needs_target(harts, code) : !ntr_capture_leads_to(code, next))
        return false;
    bool calls = code->itype == NTR_ITYPE_DIRECT_CALL || code->itype == NTR_ITYPE_INDIRECT_CALL;
    if (calls) ntr_enc_extend_by_call(hart->encoder, code->start + 2u * code->halfwords);
    return !ntr_capture_is_taken(code, next) || harts->config->mode == NTR_INST_MODE_HTM;
}

/* The last block becomes part of the run; block `number` follows. */
static void extend_run(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart,
                       const struct ntr_capture_block *block, uint32_t number) {
    const ntr_code_block *code = &block->code;
    uint64_t next = ntr_capture_shared(harts, number)->address;
    ntr_enc_run *run = &hart->run;

    if (!ntr_capture_run_room(hart) || run->iretire > NTR_CAPTURE_RUN_HALFWORDS) ntr_capture_run_flush(harts, hart);
    if (!run->iretire) ntr_capture_run_begin(harts, hart, code->start, code->instructions);
    bool taken = ntr_capture_is_taken(code, next), silent = step_silently(harts, hart, code, next);
    run->iretire += code->halfwords;
    hart->time += code->instructions;
    if (!hart->tail) ntr_capture_chain_learn(harts, hart->last, block, silent ? number : 0, taken);
    if (!silent) {
        ntr_capture_run_push(harts, hart, code, taken ? NTR_ITYPE_TAKEN : code->itype);
        return;
    }
    if (code->flow == NTR_FLOW_BRANCH) {
        run->outcomes = run->outcomes << 1 | taken;
        run->branches++;
    }
}

/* The privilege mode or the context is another one: the encoder learns it with this block, and runs follow. */
static void enter_with_state(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, const ntr_code_block *code,
                             uint32_t number) {
    enter(harts, hart, code);
    ntr_capture_note(harts, ntr_classifier_hand_over(hart->classifier, ntr_capture_shared(harts, number)->address));
    hart->branches = (uint8_t)ntr_enc_run_branches(hart->encoder);
}

/* Of the last block, only the instructions from hart->tail on are traced, up to the first `instructions` (0: all). */
static void enter_tail(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, unsigned instructions) {
    ntr_code_block part;

    if (ntr_capture_block_tail(harts, hart->last, hart->tail, instructions, &part)) enter(harts, hart, &part);
    hart->tail = 0;
}

/* The last block, which is held, does not lead to `next`: the trace has an interrupt there. */
static void break_off(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, const ntr_code_block *code,
                      uint64_t next) {
    if (!harts->discontinuities++) {
        harts->expected = ntr_capture_successor(code);
        harts->found = next;
    }
    if (!harts->in_runs) return;
    ntr_capture_note(harts, ntr_classifier_hand_over(hart->classifier, next));
    hart->branches = (uint8_t)ntr_enc_run_branches(hart->encoder);
}

void ntr_capture_hart_complete(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t number) {
    struct ntr_capture_block *block = ntr_capture_block_at(harts, hart, hart->last), part;

    if (!block) return;
    if (hart->tail) {
        part = *block;
        block = ntr_capture_block_tail(harts, hart->last, hart->tail, 0, &part.code) ? &part : NULL;
        if (!block) hart->tail = 0;
        if (!block) return;
    }
    bool goes_on = number && (ntr_capture_is_register_jump(&block->code) ||
                              ntr_capture_leads_to(&block->code, ntr_capture_shared(harts, number)->address));
    if (harts->in_runs && goes_on && !block->is_ecall && block->code.halfwords) {
        if (ntr_capture_machine_is_reported(harts, hart))
            extend_run(harts, hart, block, number);
        else
            enter_with_state(harts, hart, &block->code, number);
        hart->tail = 0;
        return;
    }
    enter(harts, hart, &block->code);
    hart->tail = 0;
    /* The kernel is not part of a U-mode trace: tracing stops at ECALL and starts again with the next block. */
    if (block->is_ecall)
        ntr_capture_run_stop(harts, hart, NTR_ADDRESS_UNKNOWN);
    else if (number && !goes_on && block->code.flow != NTR_FLOW_TRAP && block->code.flow != NTR_FLOW_TRAP_RETURN)
        break_off(harts, hart, &block->code, ntr_capture_shared(harts, number)->address);
    else if (harts->machine)
        ntr_capture_hart_hand_over(harts, hart);
}

void ntr_capture_hart_hand_over(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart) {
    if (!harts->in_runs) return;
    ntr_capture_note(harts, ntr_classifier_finish(hart->classifier, NULL));
    hart->branches = (uint8_t)ntr_enc_run_branches(hart->encoder);
}

void ntr_capture_hart_reach(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart) {
    const struct channel_block *block = ntr_capture_shared(harts, hart->last);

    ntr_capture_run_flush(harts, hart);
    ntr_capture_note(harts, ntr_classifier_hand_over(hart->classifier, block->address));
    const bool reported = ntr_capture_machine_is_reported(harts, hart);
    const unsigned priv = harts->machine ? ntr_capture_machine_priv(harts, hart) : NTR_PRIV_U;
    ntr_capture_note(harts,
                     ntr_enc_reach(hart->encoder, block->address, ntr_capture_now(harts, hart, block->instructions),
                                   priv, hart->context, hart->hcontext));
    if (!reported && ntr_capture_machine_is_reported(harts, hart)) ntr_capture_machine_reported(hart, (uint8_t)priv);
    if (harts->in_runs) hart->branches = (uint8_t)ntr_enc_run_branches(hart->encoder);
}

void ntr_capture_hart_insert(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart,
                             const ntr_code_block *code) {
    enter(harts, hart, code);
    ntr_capture_note(harts, ntr_classifier_hand_over(hart->classifier, ntr_capture_successor(code)));
}

uint64_t ntr_capture_hart_complete_part(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart,
                                        unsigned retired) {
    uint64_t address = ntr_capture_shared(harts, hart->last)->address;
    ntr_code_block part;

    if (!ntr_capture_block_at(harts, hart, hart->last)) return NTR_ADDRESS_UNKNOWN;
    if (!retired) return address;
    ntr_capture_block_part(harts, hart->last, retired, &part);
    if (hart->tail)
        enter_tail(harts, hart, retired);
    else
        enter(harts, hart, &part);
    return address + 2u * part.halfwords;
}

/* ---- signals: the trace shows the handler as if the hart had trapped straight to it -------------------------------
 */

/* Block `number` is the first one of a signal handler. The last block was interrupted, raised the signal itself, or
 * called the handler like any function. */
static void complete_before_handler(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t number) {
    struct ntr_capture_block *block = ntr_capture_block_at(harts, hart, hart->last);
    bool is_fault = hart->entry & CHANNEL_ENTRY_FAULT;
    unsigned retired = hart->entry & CHANNEL_ALL;
    const uint64_t pc = hart->entry & CHANNEL_ENTRY_PC ? hart->entry_pc : NTR_ADDRESS_UNKNOWN;

    if (!block) return;
    if (retired == CHANNEL_ALL && is_fault && block->last_traps && !block->is_ecall)
        retired = ntr_capture_shared(harts, hart->last)->instructions - 1u;
    if (retired == CHANNEL_ALL &&
        (block->is_ecall || ntr_capture_leads_to(&block->code, ntr_capture_shared(harts, number)->address))) {
        ntr_capture_hart_complete(harts, hart, number);
        return;
    }
    /* A trap of the last block stopped one of its instructions. A handler may serve faults and signals from outside. */
    const unsigned itype = retired != CHANNEL_ALL ? NTR_ITYPE_EXCEPTION : NTR_ITYPE_INTERRUPT;
    /* The outcome of a branch at the end shows where the signal arrived. If that is not known, the branch is left out.
     */
    if (retired == CHANNEL_ALL && block->code.flow == NTR_FLOW_BRANCH && !ntr_capture_leads_to(&block->code, pc))
        retired = ntr_capture_shared(harts, hart->last)->instructions - 1u;
    uint64_t epc = retired != CHANNEL_ALL      ? ntr_capture_hart_complete_part(harts, hart, retired)
                   : pc == NTR_ADDRESS_UNKNOWN ? ntr_capture_successor(&block->code)
                                               : pc;
    if (retired == CHANNEL_ALL && hart->tail)
        enter_tail(harts, hart, 0);
    else if (retired == CHANNEL_ALL)
        enter(harts, hart, &block->code);
    ntr_capture_run_flush(harts, hart); /* needed when no instruction of the last block retired */
    ntr_capture_note(harts, ntr_classifier_trap(hart->classifier, itype, epc, 0, 0));
}

/* No version of the last block is known that can have been executed. */
static void drop_last(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart) {
    ntr_capture_run_stop(harts, hart, ntr_capture_shared(harts, hart->last)->address);
    hart->last = hart->tail = 0;
    harts->unknown = true;
}

void ntr_capture_hart_settle(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint64_t next) {
    const uint32_t executed = ntr_capture_executed(harts, hart, next);

    if (executed)
        hart->last = executed;
    else
        drop_last(harts, hart);
}

static bool overlap(const struct ntr_capture_harts *harts, uint32_t one, uint32_t other) {
    const struct channel_block *a = ntr_capture_shared(harts, one), *b = ntr_capture_shared(harts, other);
    return a->address < b->address + b->size && b->address < a->address + a->size;
}

void ntr_capture_hart_begin(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t number) {
    if (harts->machine && hart->last) ntr_capture_hart_settle(harts, hart, ntr_capture_shared(harts, number)->address);
    /* If its code is another version, that begins before the jump to it: the target of the jump is the new code. */
    if (!harts->machine && hart->last && !overlap(harts, hart->last, number)) ntr_capture_block_at(harts, hart, number);
    if (hart->last && hart->entry)
        complete_before_handler(harts, hart, number);
    else if (hart->last)
        ntr_capture_hart_complete(harts, hart, number);
    if (hart->moves) ntr_capture_machine_move(harts, hart);
    hart->entry = 0;
    hart->last = number;
}

void ntr_capture_hart_repeat(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t number,
                             uint64_t count) {
    ntr_capture_hart_begin(harts, hart, number);
    for (count--; count && harts->failure == NTR_OK;) {
        uint64_t n = ntr_capture_chain_repeat(harts, hart, number, count);
        if (!n) ntr_capture_hart_complete(harts, hart, number);
        count -= n ? n : 1;
    }
}
