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
#define NTR_OUTCOME_REACH (UINT64_C(1) << 20)

static inline ntr_walk_state ntr_walk_state_take(ntr_decoder *d) {
    const ntr_walk_request *o = &d->request;
    const ntr_source *s = o->source;
    ntr_walk_state p = {.block = s->block, .pc = s->pc, .left = o->left, .history = o->history, .run = s->run};
    if (o->goal == NTR_GOAL_HISTORY) p.runaway_limit = o->runaway_limit ? o->runaway_limit : p.left - NTR_OUTCOME_REACH;
    if (!p.block && s->pc_known) p.block = ntr_blocks_get(d->blocks, s->view, p.pc);
    return p;
}

static inline void ntr_walk_state_put(ntr_decoder *d, const ntr_walk_state *p) {
    ntr_walk_request *o = &d->request;
    ntr_source *s = o->source;
    if (ntr_request_runs_ahead(o)) s->halfwords_ahead += o->left - p->left;
    o->left = p->left;
    o->runaway_limit = p->runaway_limit;
    o->history = p->history;
    s->run = p->run;
    s->pc = p->pc;
    s->block = p->block && p->block->halfwords ? p->block : NULL;
}

/* Go one block further. NTR_END: that was the branch that a walk on history ends with.
 * Errors: as ntr_step_own. */
static inline ntr_status ntr_walk_state_step(ntr_decoder *d, ntr_walk_state *p, ntr_step *step) {
    ntr_walk_request *o = &d->request;
    ntr_block *b = p->block;
    const uint64_t outcomes = p->history.left, rounds = p->history.again;
    ntr_status status = ntr_step_own(d, o, &p->history, b, step);
    if (status != NTR_OK) return status;
    p->left -= b->halfwords;
    p->pc = step->target;
    p->block = ntr_step_block(d, step);
    if (o->goal != NTR_GOAL_HISTORY) return NTR_OK;
    bool took = p->history.left != outcomes || p->history.again != rounds;
    if (took) p->runaway_limit = p->left - NTR_OUTCOME_REACH;
    return ntr_history_empty(&p->history) ? NTR_END : NTR_OK;
}

/* Block `b` was straight code: what follows belongs to the same span. */
static inline void ntr_walk_state_run(ntr_walk_state *p, const ntr_block *b) {
    p->run.instructions += b->instructions;
    p->run.halfwords += b->halfwords;
    p->run.last = ntr_block_last(b);
}

/* Why a block of no halfwords is none, or why this one is the walk's last. */
ntr_status ntr_walk_state_end(const ntr_decoder *d, const ntr_walk_state *p);

#endif
