/* One block's own way on: where flow goes after it when no message has to tell. N-Trace 1.0 section 14, step 3. */
#ifndef NTR_DECODER_STEP_H
#define NTR_DECODER_STEP_H

#include "decoder/state.h"

typedef struct ntr_step {
    uint64_t target;
    ntr_block *from; /* the block that knows its way to `target`: */
    bool falls_through;      /*   `target` is behind its last instruction */
    uint8_t end;     /* ntr_end */
    uint8_t flags;   /* NTR_EVENT_IMPLICIT */
} ntr_step;

/* The block at the target; it has no halfwords when there is no code. */
static inline ntr_block *ntr_step_block(ntr_decoder *d, const ntr_step *step) {
    return step->falls_through ? ntr_blocks_fall(d->blocks, step->from)
                               : ntr_blocks_jump(d->blocks, step->from, step->target);
}

static inline ntr_status ntr_step_push(ntr_decoder *d, ntr_source *s, ntr_block *b) {
    if (!ntr_implicit_returns(d)) return NTR_OK;
    return ntr_return_stack_push(&s->stack, d->allocator, (ntr_return){b->next, b, s->stamp});
}

/* A branch was met and there is no history left. NTR_OK: it was not taken. Errors: NTR_E_HIST_SHORT. */
ntr_status ntr_step_no_outcome(const ntr_decoder *d, ntr_walk_request *request);

/* The outcome of a branch, or of a jump that is traced like one. Errors: NTR_E_HIST_SHORT. */
static inline ntr_status ntr_step_outcome(const ntr_decoder *d, ntr_walk_request *request, ntr_history *history,
                                          bool *taken) {
    *taken = false;
    if (!ntr_history_refill(history)) return ntr_step_no_outcome(d, request);
    *taken = ntr_history_take(history);
    return NTR_OK;
}

static inline bool ntr_jumps_have_outcomes(const ntr_decoder *d, const ntr_source *s) {
    return d->params.all_jumps && s->mode != NTR_MODE_BTM;
}

/* How a span ends that ends with an instruction of this ntr_flow; a branch: when not taken. */
extern const uint8_t ntr_flow_ends[];

/* Whether `b` ends in a register jump whose target the instruction before it made (section 11.1). */
static inline bool ntr_step_is_sequential(const ntr_decoder *d, const ntr_block *b) {
    return d->params.sequential_jump && (b->flags & NTR_BLOCK_SEQUENTIAL) && b->flow != NTR_FLOW_RETURN;
}

/* Whether `b`'s last instruction takes an address from the return stack. */
bool ntr_step_pops(const ntr_decoder *d, const ntr_block *b);

/* Whether the target of the register jump that ends `b` is known without a message. */
bool ntr_step_is_inferable(const ntr_decoder *d, const ntr_source *s, const ntr_block *b);

/* What the register jump that ends `b` does to the return stack. Errors: NTR_E_MEMORY. */
ntr_status ntr_step_stack(ntr_decoder *d, ntr_source *s, ntr_block *b, ntr_return *popped);

/* A register jump that no message tells of. Errors: NTR_E_UNEXPECTED_INDIRECT, NTR_E_RETURN_STACK, NTR_E_MEMORY. */
ntr_status ntr_step_indirect(ntr_decoder *d, ntr_source *s, ntr_block *b, ntr_step *step);

/* The way on after `b`. Errors: as ntr_step_indirect; NTR_E_NO_LANDING, NTR_E_HIST_LEFT, NTR_E_HIST_SHORT,
 * NTR_E_NO_IMAGE. */
static inline ntr_status ntr_step_infer(ntr_decoder *d, ntr_walk_request *request, ntr_history *history, ntr_block *b,
                                      ntr_step *step) {
    ntr_source *s = request->source;
    ntr_status status;
    bool taken;
    switch (b->flow) {
    case NTR_FLOW_BRANCH:
        status = ntr_step_outcome(d, request, history, &taken);
        if (taken) {
            *step = (ntr_step){b->target, b, false, NTR_END_TAKEN, 0};
        } else {
            *step = (ntr_step){b->next, b, true, NTR_END_NOT_TAKEN, 0};
        }
        return status;
    case NTR_FLOW_DIRECT_JUMP:
    case NTR_FLOW_DIRECT_CALL:
        if (b->flags & NTR_BLOCK_NO_TARGET) return NTR_E_NO_IMAGE;
        if (ntr_jumps_have_outcomes(d, s)) {
            status = ntr_step_outcome(d, request, history, &taken);
            if (status != NTR_OK) return status;
            if (!taken && !request->no_outcome) return NTR_E_HIST_LEFT;
        }
        *step = (ntr_step){b->target, b, false, NTR_END_JUMP, 0};
        if (b->flow == NTR_FLOW_DIRECT_JUMP) return NTR_OK;
        step->end = NTR_END_CALL;
        return ntr_step_push(d, s, b);
    case NTR_FLOW_LINEAR:
        *step = (ntr_step){b->next, b, true, NTR_END_CUT, 0};
        return NTR_OK;
    case NTR_FLOW_TRAP: return NTR_E_NO_LANDING;
    default: return ntr_step_indirect(d, s, b, step);
    }
}

#endif
