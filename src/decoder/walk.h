/* Where a walk stands, in registers rather than in the source and the order; both walkers share this. */
#ifndef NTR_DECODER_WALK_H
#define NTR_DECODER_WALK_H

#include "decoder/step.h"

typedef struct ntr_walk_state {
    ntr_block *block;
    uint64_t pc;
    uint64_t left;  /* halfwords to go */
    uint64_t runaway_limit; /* ... below which the walk has run away */
    ntr_history history;
    ntr_open_span run;
} ntr_walk_state;

/* How far apart two outcomes can be. I-CNT ends every other walk; one that only history ends would never leave a loop
 * that takes no outcome, be its jumps inferred or of no choice. */
#define NTR_OUTCOME_DISTANCE (UINT64_C(1) << 20)

static inline ntr_walk_state ntr_walk_state_take(ntr_decoder *d) {
    const ntr_walk_request *request = &d->request;
    const ntr_source *s = request->source;
    ntr_walk_state walk = {
        .block = s->block, .pc = s->pc, .left = request->left, .history = request->history, .run = s->run};
    if (request->goal == NTR_GOAL_HISTORY)
        walk.runaway_limit = request->runaway_limit ? request->runaway_limit : walk.left - NTR_OUTCOME_DISTANCE;
    if (!walk.block && s->pc_known) walk.block = ntr_blocks_get(d->blocks, s->view, walk.pc);
    return walk;
}

static inline void ntr_walk_state_put(ntr_decoder *d, const ntr_walk_state *walk) {
    ntr_walk_request *request = &d->request;
    ntr_source *s = request->source;
    if (ntr_request_runs_ahead(request)) s->halfwords_ahead += request->left - walk->left;
    request->left = walk->left;
    request->runaway_limit = walk->runaway_limit;
    request->history = walk->history;
    s->run = walk->run;
    s->pc = walk->pc;
    s->block = walk->block && walk->block->halfwords ? walk->block : NULL;
}

/* Go one block further. NTR_END: that was the branch that a walk on history ends with.
 * Errors: as ntr_step_infer. */
static inline ntr_status ntr_walk_state_step(ntr_decoder *d, ntr_walk_state *walk, ntr_step *step) {
    ntr_walk_request *request = &d->request;
    ntr_block *b = walk->block;
    const uint64_t outcomes = walk->history.left, repeats = walk->history.repeats;
    ntr_status status = ntr_step_infer(d, request, &walk->history, b, step);
    if (status != NTR_OK) return status;
    walk->left -= b->halfwords;
    walk->pc = step->target;
    walk->block = ntr_step_block(d, step);
    if (request->goal != NTR_GOAL_HISTORY) return NTR_OK;
    bool took = walk->history.left != outcomes || walk->history.repeats != repeats;
    if (took) walk->runaway_limit = walk->left - NTR_OUTCOME_DISTANCE;
    return ntr_history_empty(&walk->history) ? NTR_END : NTR_OK;
}

/* Block `b` was straight code: what follows belongs to the same span. */
static inline void ntr_walk_state_run(ntr_walk_state *walk, const ntr_block *b) {
    walk->run.instructions += b->instructions;
    walk->run.halfwords += b->halfwords;
    walk->run.last = ntr_block_last(b);
}

/* Why a block of no halfwords is none, or why this one is the walk's last. */
ntr_status ntr_walk_state_end(const ntr_decoder *d, const ntr_walk_state *walk);

#endif
