/* The parts of a walk with events that walk.c and walk_joined.c share: spans, and blocks whose successor is known from
 * links, outcomes and the return stack. */
#ifndef NTR_DECODER_WALK_LINKED_H
#define NTR_DECODER_WALK_LINKED_H

#include "decoder/walk.h"

/* Fill the span that ends with block `b`. It starts where the linear code before `b` started. */
static inline void ntr_walk_fill(ntr_event *e, const ntr_event *header, ntr_walk_state *walk, const ntr_block *b,
                        const ntr_step *step) {
    *e = *header;
    e->end = step->end;
    e->flags = (uint8_t)(e->flags | step->flags);
    e->address = b->start - 2 * (uint64_t)walk->run.halfwords;
    e->last = ntr_block_last(b);
    e->target = step->target;
    e->instructions = walk->run.instructions + b->instructions;
    e->halfwords = walk->run.halfwords + b->halfwords;
    walk->run.instructions = walk->run.halfwords = 0;
}

_Static_assert(NTR_END_TAKEN == NTR_END_NOT_TAKEN + 1, "an outcome is added");

/* The walk over linked blocks, in local variables. */
typedef struct ntr_linked_walk {
    ntr_decoder *d;
    ntr_source *source;
    bool only_history;  /* the request ends with the branch that takes the last outcome */
    bool infers_jumps;  /* direct jumps take no outcome */
    bool infers_returns;
    bool infers_sequential;
    ntr_block *block;
    ntr_history history;
    uint64_t left, runaway_limit;
} ntr_linked_walk;

/* Where the walk goes after a block. */
typedef struct ntr_linked_step {
    ntr_block *to;
    uint64_t target;
    uint8_t end, flags;
} ntr_linked_step;

static inline bool ntr_linked_branch(ntr_linked_walk *w, ntr_block *b, ntr_linked_step *step) {
    if (!ntr_history_refill(&w->history)) return false;
    bool taken = ntr_history_take(&w->history);
    step->to = ntr_blocks_branch(w->d->blocks, b, taken);
    step->target = taken ? b->target : b->next;
    step->end = (uint8_t)(NTR_END_NOT_TAKEN + taken);
    step->flags = 0;
    return true;
}

static inline bool ntr_linked_direct(ntr_linked_walk *w, ntr_block *b, ntr_linked_step *step) {
    if (!w->infers_jumps || b->flags & NTR_BLOCK_NO_TARGET) return false;
    if (b->flow == NTR_FLOW_DIRECT_CALL && ntr_step_push(w->d, w->source, b) != NTR_OK) return false;
    step->to = ntr_blocks_jump(w->d->blocks, b, b->target);
    step->target = b->target;
    step->end = b->flow == NTR_FLOW_DIRECT_CALL ? NTR_END_CALL : NTR_END_JUMP;
    step->flags = 0;
    return true;
}

static inline bool ntr_linked_return(ntr_linked_walk *w, ntr_block *b, ntr_linked_step *step) {
    ntr_return caller;
    if (!w->infers_returns || !ntr_return_stack_pop(&w->source->stack, &caller)) return false;
    bool known_call = caller.call && caller.stamp == w->source->stamp;
    step->to = known_call ? ntr_blocks_fall(w->d->blocks, caller.call)
                         : ntr_blocks_jump(w->d->blocks, b, caller.address);
    step->target = caller.address;
    step->end = NTR_END_RETURN;
    step->flags = NTR_EVENT_IMPLICIT;
    return true;
}

static inline bool ntr_linked_sequential(ntr_linked_walk *w, ntr_block *b, ntr_linked_step *step) {
    if (!w->infers_sequential || !(b->flags & NTR_BLOCK_SEQUENTIAL)) return false;
    if (b->flow == NTR_FLOW_INDIRECT_CALL && ntr_step_push(w->d, w->source, b) != NTR_OK) return false;
    step->to = ntr_blocks_jump(w->d->blocks, b, b->target);
    step->target = b->target;
    step->end = ntr_flow_ends[b->flow];
    step->flags = NTR_EVENT_IMPLICIT;
    return true;
}

/* Follows the instruction that ends the block. Returns false, with nothing changed, for what the general step does. */
static inline bool ntr_linked_go(ntr_linked_walk *w, ntr_block *b, ntr_linked_step *step) {
    switch (b->flow) {
    case NTR_FLOW_BRANCH: return ntr_linked_branch(w, b, step);
    case NTR_FLOW_DIRECT_JUMP:
    case NTR_FLOW_DIRECT_CALL: return ntr_linked_direct(w, b, step);
    case NTR_FLOW_RETURN: return ntr_linked_return(w, b, step);
    case NTR_FLOW_INDIRECT_JUMP:
    case NTR_FLOW_INDIRECT_CALL: return ntr_linked_sequential(w, b, step);
    default: return false;
    }
}

/* Begin such a walk. There is no linear code before walk->block. */
static inline ntr_linked_walk ntr_linked_begin(ntr_decoder *d, const ntr_walk_state *walk) {
    return (ntr_linked_walk){
        .d = d,
        .source = d->request.source,
        .only_history = d->request.goal == NTR_GOAL_HISTORY,
        .infers_jumps = !ntr_jumps_have_outcomes(d, d->request.source),
        .infers_returns = ntr_implicit_returns(d),
        .infers_sequential = d->params.sequential_jump,
        .block = walk->block,
        .history = walk->history,
        .left = walk->left,
        .runaway_limit = walk->runaway_limit,
    };
}

/* Pass block `b`. Returns whether its branch took the last outcome of a walk on history alone. */
static inline bool ntr_linked_pass(ntr_linked_walk *w, const ntr_block *b, const ntr_linked_step *step) {
    w->left -= b->halfwords;
    w->block = step->to;
    if (!w->only_history || b->flow != NTR_FLOW_BRANCH) return false;
    w->runaway_limit = w->left - NTR_OUTCOME_DISTANCE;
    return ntr_history_empty(&w->history);
}

static inline void ntr_linked_end(const ntr_linked_walk *w, ntr_walk_state *walk) {
    walk->block = w->block;
    walk->history = w->history;
    walk->left = w->left;
    walk->runaway_limit = w->runaway_limit;
}

/* The most frequent walk end: I-CNT ends with a register jump, to the address of the message. Does what ntr_walk_end
 * would do, without a copy of the event; *popped is the entry that a return took from the stack, or zeros. Returns false
 * when it is another case. */
static inline bool ntr_walk_end_at_address(ntr_decoder *d, ntr_walk_state *walk, const ntr_event *header, ntr_event *e,
                                           ntr_return *popped, ntr_status *status) {
    ntr_walk_request *request = &d->request;
    ntr_block *b = walk->block;
    if (request->goal != NTR_GOAL_ADDRESS || walk->left != b->halfwords || !ntr_history_empty(&walk->history))
        return false;
    if (b->flow != NTR_FLOW_INDIRECT_JUMP && b->flow != NTR_FLOW_INDIRECT_CALL && b->flow != NTR_FLOW_RETURN)
        return false;
    ntr_status stack = ntr_step_stack(d, request->source, b, popped);
    ntr_step step = {.target = request->address, .end = ntr_flow_ends[b->flow]};
    ntr_walk_fill(e, header, walk, b, &step);
    walk->left = 0;
    walk->pc = request->address;
    walk->block = ntr_blocks_jump(d->blocks, b, request->address);
    request->ended = true;
    *status = stack == NTR_OK ? NTR_END : stack;
    return true;
}

#endif
