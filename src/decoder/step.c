/* Steps over branches without outcome and over register jumps. */
#include "decoder/step.h"

const uint8_t ntr_flow_ends[] = {
    [NTR_FLOW_LINEAR] = NTR_SPAN_CUT,
    [NTR_FLOW_BRANCH] = NTR_SPAN_NOT_TAKEN,
    [NTR_FLOW_DIRECT_JUMP] = NTR_SPAN_JUMP,
    [NTR_FLOW_DIRECT_CALL] = NTR_SPAN_CALL,
    [NTR_FLOW_INDIRECT_JUMP] = NTR_SPAN_INDIRECT_JUMP,
    [NTR_FLOW_INDIRECT_CALL] = NTR_SPAN_INDIRECT_CALL,
    [NTR_FLOW_CO_SWAP] = NTR_SPAN_CO_SWAP,
    [NTR_FLOW_RETURN] = NTR_SPAN_RETURN,
    [NTR_FLOW_TRAP_RETURN] = NTR_SPAN_TRAP_RETURN,
    [NTR_FLOW_TRAP] = NTR_SPAN_CUT,
};

static const ntr_dialect *dialect_of(const ntr_decoder *d) {
    return d->params.dialect;
}

ntr_status ntr_step_no_outcome(const ntr_decoder *d, ntr_walk_request *request) {
    unsigned mode = request->source->mode;
    if (mode == NTR_MODE_BTM) return NTR_OK; /* a taken branch would have produced a message */
    if (request->goal == NTR_GOAL_COUNT) return NTR_E_HIST_SHORT;
    if (mode == NTR_MODE_HTM && dialect_of(d)->history_whole) return NTR_E_HIST_SHORT;
    request->no_outcome = true; /* the branch is assumed to be not taken (OQ-9) */
    return NTR_OK;
}

ntr_status ntr_step_predicted(ntr_decoder *d, ntr_walk_request *request, ntr_history *history, const ntr_block *b,
                              bool *taken) {
    const ntr_flow_tables *tables = &request->source->tables;
    uint64_t branch = ntr_block_last(b);
    bool as_predicted =
        request->predicted || (request->goal != NTR_GOAL_COUNT && request->source->mode != NTR_MODE_BTM);
    bool has_outcome = ntr_history_refill(history), outcome = has_outcome && ntr_history_take(history);
    *taken = outcome;
    if (!has_outcome && !as_predicted) return ntr_step_no_outcome(d, request);
    if (!has_outcome || request->predicted) {
        if (!tables->known) return NTR_E_HIST_SHORT;
        *taken = ntr_flow_predict(tables, branch) ^ (request->predicted && history->left == 0);
    }
    d->loop.learned += ntr_flow_learn(tables, branch, *taken);
    return NTR_OK;
}

bool ntr_step_pops(const ntr_decoder *d, const ntr_block *b) {
    return b->flow == NTR_FLOW_RETURN || (b->flow == NTR_FLOW_CO_SWAP && !dialect_of(d)->swap_is_call);
}

static bool pushes(const ntr_block *b) {
    return b->flow == NTR_FLOW_INDIRECT_CALL || b->flow == NTR_FLOW_CO_SWAP;
}

bool ntr_step_is_inferable(const ntr_decoder *d, const ntr_source *s, const ntr_block *b) {
    if (ntr_step_is_sequential(d, b)) return true;
    return ntr_implicit_returns(d) && ntr_step_pops(d, b) && s->stack.count != 0;
}

ntr_status ntr_step_stack(ntr_decoder *d, ntr_source *s, ntr_block *b, ntr_return *popped) {
    *popped = (ntr_return){0};
    if (!ntr_keeps_returns(d)) return NTR_OK;
    if (ntr_step_pops(d, b)) ntr_return_stack_pop(&s->stack, popped);
    return pushes(b) ? ntr_step_push(d, s, b) : NTR_OK;
}

void ntr_step_trail(ntr_decoder *d, ntr_source *s, const ntr_block *b, const ntr_return *popped, uint64_t target) {
    if (!s->trail || !ntr_step_pops(d, b)) return;
    if (popped->address && popped->address != target) d->other_events++;
    ntr_trail_pop(s->trail, target);
}

ntr_status ntr_step_indirect(ntr_decoder *d, ntr_source *s, ntr_block *b, ntr_step *step) {
    bool by_stack = ntr_implicit_returns(d) && ntr_step_pops(d, b) && !ntr_step_is_sequential(d, b);
    /* In BTM, this dialect produces no message for a jump to the next instruction. */
    bool silent = dialect_of(d)->jalr_to_next_silent && s->mode != NTR_MODE_HTM && b->flow != NTR_FLOW_TRAP_RETURN;
    bool inferable = ntr_step_is_inferable(d, s, b);
    if (!inferable && !silent) return by_stack ? NTR_E_RETURN_STACK : NTR_E_UNEXPECTED_INDIRECT;

    ntr_return popped;
    ntr_status status = ntr_step_stack(d, s, b, &popped);
    *step = (ntr_step){.end = ntr_flow_ends[b->flow], .flags = NTR_EVENT_IMPLICIT};
    step->target = !inferable ? b->next : by_stack ? popped.address : b->target;
    /* A return leads to the block after its call. The calling block has a link to it, which is valid for every return
     * to this call. */
    bool known_call = by_stack && popped.call && popped.stamp == s->stamp;
    step->from = known_call ? popped.call : b;
    step->falls_through = known_call || !inferable;
    ntr_step_trail(d, s, b, &popped, step->target);
    return status;
}
