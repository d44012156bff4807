/* The state of a walk, in local variables instead of the source and the request. walk.c and count.c share it.
 *
 * Idea: a walk goes from basic block to basic block. Each step adds the halfwords of one block and takes at most one
 * outcome. It stops before the block that contains the end of I-CNT: that one belongs to walk_end.c.
 *
 * Invariant: the address `pc`, `run` and `history` always describe the same instruction boundary, so that a walk can be
 * suspended after any block (ntr_walk_state_put) and resumed later (ntr_walk_state_take). Example: the caller's event
 * array is full after the third of ten blocks; the next call of ntr_decoder_read continues with the fourth. */
#ifndef NTR_DECODER_WALK_H
#define NTR_DECODER_WALK_H

#include "decoder/step.h"

typedef struct ntr_walk_state {
    ntr_block *block;
    uint64_t pc;
    uint64_t left;          /* halfwords still to walk */
    uint64_t runaway_limit; /* value of `left` below which a walk on history alone is given up */
    ntr_history history;
    ntr_open_span run;
} ntr_walk_state;

/* Maximum number of halfwords between two outcomes of a walk that only its history ends. Without this limit a loop
 * without branches (direct or inferable jumps only) would never end; other walks are limited by I-CNT. */
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

/* Walk one block. Returns NTR_END after the branch that took the last outcome of a walk on history alone. Errors: as
 * ntr_step_infer. */
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

/* Block `b` was linear: the next span includes it. */
static inline void ntr_walk_state_run(ntr_walk_state *walk, const ntr_block *b) {
    walk->run.instructions += b->instructions;
    walk->run.halfwords += b->halfwords;
    walk->run.last = ntr_block_last(b);
}

/* Returns why the walk stops before walk->block: there is no code, I-CNT ends in the block (NTR_END), or the runaway
 * limit is reached (NTR_E_LOOP). */
ntr_status ntr_walk_state_end(const ntr_decoder *d, const ntr_walk_state *walk);

#endif
