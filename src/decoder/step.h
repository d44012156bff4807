/* One step of a walk: where flow continues after a block when no message is needed. N-Trace 1.0 section 14, step 3. */
#ifndef NTR_DECODER_STEP_H
#define NTR_DECODER_STEP_H

#include "decoder/state.h"

typedef struct ntr_step {
    uint64_t target;
    ntr_block *from;    /* the block that stores a link to the target block */
    bool falls_through; /* `target` directly follows the code of `from` */
    uint8_t end;        /* ntr_span_end */
    uint8_t flags;      /* NTR_EVENT_IMPLICIT, NTR_EVENT_RUNS_ON or 0 */
} ntr_step;

/* Returns the block at the target. It has 0 halfwords when there is no code. */
static inline ntr_block *ntr_step_block(ntr_decoder *d, const ntr_step *step) {
    return step->falls_through ? ntr_blocks_fall(d->blocks, step->from)
                               : ntr_blocks_jump(d->blocks, step->from, step->target);
}

/* Push the return address of the call that ends `b`, if return stacks are kept. Errors: NTR_E_MEMORY. */
static inline ntr_status ntr_step_push(ntr_decoder *d, ntr_source *s, ntr_block *b) {
    if (!ntr_keeps_returns(d)) return NTR_OK;
    ntr_trail_push(s->trail, b);
    const ntr_return entry = {.address = b->next, .call = b, .stamp = s->stamp};
    return ntr_return_stack_push(&s->stack, d->allocator, entry);
}

/* Handles a branch when the history is empty. NTR_OK: it was not taken. Errors: NTR_E_HIST_SHORT. */
ntr_status ntr_step_no_outcome(const ntr_decoder *d, ntr_walk_request *request);

/* Returns in *taken the outcome of the branch that ends `b`, when branches are predicted, and updates the predictor.
 * Errors: NTR_E_HIST_SHORT. */
ntr_status ntr_step_predicted(ntr_decoder *d, ntr_walk_request *request, ntr_history *history, const ntr_block *b,
                              bool *taken);

/* Returns in *taken the outcome of a branch, or of a jump that has a history bit. Errors: NTR_E_HIST_SHORT. */
static inline ntr_status ntr_step_outcome(const ntr_decoder *d, ntr_walk_request *request, ntr_history *history,
                                          bool *taken) {
    *taken = false;
    if (!ntr_history_refill(history)) return ntr_step_no_outcome(d, request);
    *taken = ntr_history_take(history);
    return NTR_OK;
}

/* Returns whether direct jumps have a bit in HIST (section 11.5). */
static inline bool ntr_jumps_have_outcomes(const ntr_decoder *d, const ntr_source *s) {
    return d->params.all_jumps && s->mode != NTR_MODE_BTM;
}

/* The ntr_span_end of a span whose last instruction has this ntr_flow; for a branch: not taken. */
extern const uint8_t ntr_flow_ends[];

/* Returns whether `b` ends with a sequential jump: a register jump whose target the instruction before it has computed
 * (section 11.1). */
static inline bool ntr_step_is_sequential(const ntr_decoder *d, const ntr_block *b) {
    return d->params.sequential_jump && (b->flags & NTR_BLOCK_SEQUENTIAL) && b->flow != NTR_FLOW_RETURN;
}

/* Returns whether the last instruction of `b` takes its target from the return stack. */
bool ntr_step_pops(const ntr_decoder *d, const ntr_block *b);

/* Returns whether the target of the register jump that ends `b` is known without a message. */
bool ntr_step_is_inferable(const ntr_decoder *d, const ntr_source *s, const ntr_block *b);

/* Applies the register jump that ends `b` to the return stack; *popped is the removed entry, or zeros. Errors:
 * NTR_E_MEMORY. */
ntr_status ntr_step_stack(ntr_decoder *d, ntr_source *s, ntr_block *b, ntr_return *popped);

/* The jump that ends `b` went to `target`, after ntr_step_stack: follows it in the call trail. A return that did not go
 * where the return stack says has an effect of its own, so that its message becomes no memo. */
void ntr_step_trail(ntr_decoder *d, ntr_source *s, const ntr_block *b, const ntr_return *popped, uint64_t target);

/* Step over a register jump without a message. Errors: NTR_E_UNEXPECTED_INDIRECT, NTR_E_RETURN_STACK, NTR_E_MEMORY. */
ntr_status ntr_step_indirect(ntr_decoder *d, ntr_source *s, ntr_block *b, ntr_step *step);

/* Step over block `b`: fills *step and takes the outcome from `history`. Errors: as ntr_step_indirect;
 * NTR_E_NO_LANDING, NTR_E_HIST_LEFT, NTR_E_HIST_SHORT, NTR_E_NO_IMAGE. */
static inline ntr_status ntr_step_infer(ntr_decoder *d, ntr_walk_request *request, ntr_history *history, ntr_block *b,
                                        ntr_step *step) {
    ntr_source *s = request->source;
    ntr_status status;
    bool taken;
    switch (b->flow) {
    case NTR_FLOW_BRANCH:
        status = d->predicts ? ntr_step_predicted(d, request, history, b, &taken)
                             : ntr_step_outcome(d, request, history, &taken);
        if (taken) {
            *step = (ntr_step){b->target, b, false, NTR_SPAN_TAKEN, 0};
        } else {
            *step = (ntr_step){b->next, b, true, NTR_SPAN_NOT_TAKEN, 0};
        }
        return status;
    case NTR_FLOW_DIRECT_JUMP:
    case NTR_FLOW_DIRECT_CALL:
        if (b->flags & NTR_BLOCK_NO_TARGET) return NTR_E_JUMP_TABLE;
        if (ntr_jumps_have_outcomes(d, s)) {
            status = ntr_step_outcome(d, request, history, &taken);
            if (status != NTR_OK) return status;
            if (!taken && !request->no_outcome) return NTR_E_HIST_LEFT;
        }
        *step = (ntr_step){b->target, b, false, NTR_SPAN_JUMP, 0};
        if (b->flow == NTR_FLOW_DIRECT_JUMP) return NTR_OK;
        step->end = NTR_SPAN_CALL;
        return ntr_step_push(d, s, b);
    case NTR_FLOW_LINEAR:
        *step = (ntr_step){b->next, b, true, NTR_SPAN_CUT, b->flags & NTR_BLOCK_DIVIDED ? NTR_EVENT_RUNS_ON : 0};
        return NTR_OK;
    case NTR_FLOW_TRAP: return NTR_E_NO_LANDING;
    default: return ntr_step_indirect(d, s, b, step);
    }
}

#endif
