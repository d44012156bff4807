/* Walking without events: totals only, many outcomes at once, repeats multiplied. */
#include "decoder/history_memo.h"

static void count(const ntr_decoder *d, ntr_walk_state *p, const ntr_block *b, const ntr_step *step) {
    ntr_counts *counts = d->counts;
    uint64_t times = d->times;
    counts->spans += times;
    counts->instructions += times * (p->run.instructions + b->instructions);
    counts->halfwords += times * (p->run.halfwords + b->halfwords);
    if (step->end == NTR_END_TAKEN || step->end == NTR_END_NOT_TAKEN) counts->branches += times;
    if (step->end == NTR_END_TAKEN) counts->taken += times;
    if (step->end == NTR_END_CALL || step->end == NTR_END_INDIRECT_CALL) counts->calls += times;
    if (step->end == NTR_END_RETURN) counts->returns += times;
    p->run.instructions = p->run.halfwords = 0;
}

/* One block further. As ntr_walk_state_step. */
static ntr_status go_step(ntr_decoder *d, ntr_walk_state *p) {
    ntr_block *b = p->block;
    ntr_step step = {0};
    ntr_status status = ntr_walk_state_step(d, p, &step);
    if (status < 0) return status;
    if (step.end == NTR_END_CUT) {
        ntr_walk_state_run(p, b);
        return status;
    }
    if (d->count_callback) ntr_count_step(d, p, b, &step);
    count(d, p, b, &step);
    return status;
}

/* As many outcomes further as the stride has. NTR_END as ntr_walk_state_step. */
static ntr_status go_memo(ntr_decoder *d, ntr_walk_state *p, ntr_history_memo *memo) {
    ntr_counts *counts = d->counts;
    uint64_t times = d->times;
    counts->spans += times * memo->spans;
    counts->instructions += times * (p->run.instructions + memo->instructions);
    counts->halfwords += times * (p->run.halfwords + memo->halfwords);
    counts->branches += times * memo->used;
    counts->taken += times * memo->taken;
    counts->calls += times * memo->calls;
    if (d->count_callback) ntr_count_history_memo(d, memo);
    p->run.instructions = p->run.halfwords = 0;
    p->left -= memo->halfwords;
    p->block = memo->to;
    p->pc = p->block->start;
    p->history.bits <<= memo->used;
    p->history.left -= memo->used;
    if (d->request.goal != NTR_GOAL_HISTORY) return NTR_OK;
    p->runaway_limit = p->left - NTR_OUTCOME_REACH;
    return ntr_history_empty(&p->history) ? NTR_END : NTR_OK;
}

/* ---- repeated history */

/* A place that the walk may come back to with the pattern about to begin. From there on everything is as before:
 * then one round is walked for many. */
typedef struct circle {
    const ntr_block *block;
    uint64_t left;
    uint32_t depth;          /* of the return stack */
    uint64_t passes;         /* of the pattern, since then */
    uint64_t patience;       /* passes until the walk looks out for another place */
    uint64_t round, rounds;  /* walked for many: passes left in the round, rounds that it stands for */
    uint64_t halfwords;      /* of a round */
} circle;

/* The round is walked, or as much of it as there was. */
static void settle(ntr_decoder *d, ntr_walk_state *p, circle *c) {
    p->left -= (c->rounds - 1) * c->halfwords;
    p->runaway_limit = p->left - NTR_OUTCOME_REACH;
    d->times = c->rounds = 1;
}

static void look_out(const ntr_walk_state *p, circle *c, ntr_return_stack *stack) {
    c->block = p->run.halfwords ? NULL : p->block;
    c->left = p->left;
    c->depth = ntr_return_stack_mark(stack);
    c->passes = 0;
    c->patience = 2 * c->patience + 1;
}

static void walk_for_many(ntr_decoder *d, ntr_walk_state *p, circle *c) {
    c->halfwords = c->left - p->left;
    uint64_t room = p->left > NTR_OUTCOME_REACH ? (p->left - NTR_OUTCOME_REACH) / c->halfwords : 0;
    uint64_t rounds = p->history.again / c->passes;
    if (rounds > room) rounds = room;
    if (rounds < 2) return;
    c->round = c->passes;
    c->rounds = d->times = rounds;
    p->history.again -= (rounds - 1) * c->passes;
}

/* The pattern is about to begin again. */
static void repeat(ntr_decoder *d, ntr_walk_state *p, circle *c) {
    ntr_return_stack *stack = &d->request.source->stack;
    if (c->rounds > 1) {
        if (--c->round) return;
        settle(d, p, c);
        look_out(p, c, stack);
        return;
    }
    c->passes++;
    if (c->block == p->block && p->run.halfwords == 0 && ntr_return_stack_is_back(stack, c->depth))
        walk_for_many(d, p, c);
    else if (c->passes > c->patience)
        look_out(p, c, stack);
}

/* The stride to take next, if one can be taken whole. */
static ntr_history_memo *memo_at(ntr_decoder *d, const ntr_walk_state *p) {
    if (!p->history.left || (d->count_callback && p->run.halfwords))
        return NULL; /* what is told has the run in its first span */
    ntr_history_memo *memo = ntr_history_memo_get(d, p);
    return memo->used && memo->halfwords < p->left - p->runaway_limit ? memo : NULL;
}

ntr_status ntr_walk_counts(ntr_decoder *d) {
    if (d->request.left == 0) return NTR_END;
    if (ntr_history_memos_prepare(d) != NTR_OK) return NTR_E_MEMORY;
    ntr_walk_state p = ntr_walk_state_take(d);
    circle c = {.rounds = 1};
    ntr_status status = NTR_OK;
    while (status == NTR_OK) {
        const ntr_block *b = p.block;
        if (!b || b->halfwords == 0 || b->halfwords >= p.left - p.runaway_limit) {
            status = ntr_walk_state_end(d, &p);
            break;
        }
        if (!p.history.left && p.history.again) {
            repeat(d, &p, &c);
            ntr_history_refill(&p.history);
        }
        ntr_history_memo *memo = memo_at(d, &p);
        status = memo ? go_memo(d, &p, memo) : go_step(d, &p);
    }
    if (c.rounds > 1) settle(d, &p, &c);
    ntr_walk_state_put(d, &p);
    return status;
}
