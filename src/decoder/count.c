/* Counting decode: the walk without events, for totals only.
 *
 * Idea: three shortcuts make it faster than the walk with events. A history memo (history_memo.h) walks many outcomes
 * at once, unless the message comes for the first time. A repeated history (HREPEAT) is walked only until the walk is
 * at an earlier point again; the following passes are then counted by multiplication (walk_loop.h), and so are loops in
 * walks that are long for their outcomes. A message memo (message_memo.h) counts a whole message.
 *
 * Invariant: the totals are the same as those of the events of ntr_decoder_read.
 *
 * Example: the pattern "taken, not taken" with 1000 passes, from block B. Two passes are walked; then the walk is at B
 * again, with the same return stack and with the pattern about to start, as one pass before. So the third pass is
 * walked with times = 998. */
#include "decoder/count_callback.h"
#include "decoder/walk_loop.h"

static void count(const ntr_decoder *d, ntr_walk_state *walk, const ntr_block *b, const ntr_step *step) {
    ntr_counts *counts = d->counts;
    uint64_t times = d->times;
    counts->spans += times;
    counts->instructions += times * (walk->run.instructions + b->instructions);
    counts->halfwords += times * (walk->run.halfwords + b->halfwords);
    if (step->end == NTR_SPAN_TAKEN || step->end == NTR_SPAN_NOT_TAKEN) counts->branches += times;
    if (step->end == NTR_SPAN_TAKEN) counts->taken += times;
    if (step->end == NTR_SPAN_CALL || step->end == NTR_SPAN_INDIRECT_CALL) counts->calls += times;
    if (step->end == NTR_SPAN_RETURN) counts->returns += times;
    walk->run.instructions = walk->run.halfwords = 0;
}

/* Walk one block. Returns as ntr_walk_state_step. */
static ntr_status walk_step(ntr_decoder *d, ntr_walk_state *walk) {
    ntr_block *b = walk->block;
    ntr_step step = {0};
    ntr_status status = ntr_walk_state_step(d, walk, &step);
    if (status < 0) return status;
    if (step.end == NTR_SPAN_CUT && !(b->flags & NTR_BLOCK_DIVIDED)) {
        ntr_walk_state_run(walk, b);
        return status;
    }
    if (d->count_callback) ntr_count_step(d, walk, b, &step);
    count(d, walk, b, &step);
    return status;
}

/* Walk all outcomes of the memo. Returns NTR_END as ntr_walk_state_step. */
static ntr_status walk_memo(ntr_decoder *d, ntr_walk_state *walk, ntr_history_memo *memo) {
    ntr_counts *counts = d->counts;
    uint64_t times = d->times;
    counts->spans += times * memo->spans;
    counts->instructions += times * (walk->run.instructions + memo->instructions);
    counts->halfwords += times * (walk->run.halfwords + memo->halfwords);
    counts->branches += times * memo->used;
    counts->taken += times * memo->taken;
    counts->calls += times * memo->calls;
    if (d->count_callback) ntr_count_history_memo(d, memo);
    walk->run.instructions = walk->run.halfwords = 0;
    walk->left -= memo->halfwords;
    walk->block = memo->to;
    walk->pc = walk->block->start;
    walk->history.bits <<= memo->used;
    walk->history.left -= memo->used;
    if (d->request.goal != NTR_GOAL_HISTORY) return NTR_OK;
    walk->runaway_limit = walk->left - NTR_OUTCOME_DISTANCE;
    return ntr_history_empty(&walk->history) ? NTR_END : NTR_OK;
}

/* Walk blocks whose successor is known from links, outcomes and the return stack. There is no linear code before
 * walk->block, and no repeated history. Returns NTR_END when the last outcome of a walk on history alone was taken. */
static ntr_status walk_linked(ntr_decoder *d, ntr_walk_state *walk) {
    const ntr_history all = walk->history;
    ntr_linked_walk w = ntr_linked_begin(d, walk);
    ntr_linked_step step = {.target = walk->pc};
    uint64_t spans = 0, instructions = 0, calls = 0, returns = 0;
    bool ended = false;
    while (!ended) {
        ntr_block *b = w.block;
        if (b->halfwords >= w.left - w.runaway_limit || !ntr_linked_go(&w, b, &step)) break;
        spans++;
        instructions += b->instructions;
        calls += step.end == NTR_SPAN_CALL || step.end == NTR_SPAN_INDIRECT_CALL;
        returns += step.end == NTR_SPAN_RETURN;
        ended = ntr_linked_pass(&w, b, &step);
    }
    const uint64_t branches = all.left - w.history.left, times = d->times;
    ntr_counts *counts = d->counts;
    counts->spans += times * spans;
    counts->instructions += times * instructions;
    counts->halfwords += times * (walk->left - w.left);
    counts->branches += times * branches;
    if (branches) counts->taken += times * (unsigned)__builtin_popcountll(all.bits >> (64 - branches));
    counts->calls += times * calls;
    counts->returns += times * returns;
    walk->pc = step.target;
    ntr_linked_end(&w, walk);
    return ended ? NTR_END : NTR_OK;
}

/* Returns whether walk_linked is faster than history memos: the message comes for the first time, as far as the message
 * memos know, so that few of its paths have a memo. In BTM, branches have no outcome. */
static bool is_linked(const ntr_decoder *d, const ntr_walk_state *walk) {
    const bool linked = d->first && !d->predicts && !d->count_callback && d->request.source->mode != NTR_MODE_BTM;
    return linked && !walk->history.repeats && walk->run.halfwords == 0 && walk->block && walk->block->halfwords;
}

/* Returns the memo to walk next; NULL when the request ends inside it, or it cannot be used here. */
static ntr_history_memo *memo_at(ntr_decoder *d, const ntr_walk_state *walk) {
    if (!walk->history.left || (d->count_callback && walk->run.halfwords))
        return NULL; /* the first reported span would have to include the linear code */
    unsigned missing;
    ntr_history_memo *memo = ntr_history_memo_find(d, walk, &missing);
    if (missing) {
        ntr_count_flush_memo(d, memo);
        ntr_history_memo_learn(d, memo, walk->block, walk->history.bits, missing);
    }
    return memo->used && memo->halfwords < walk->left - walk->runaway_limit ? memo : NULL;
}

/* Walks block by block, and looks for a loop at each of them. Returns NTR_OK when the decoder has failed or must stop;
 * then a multiplied pass goes on at the next call. */
static __attribute__((noinline)) ntr_status walk_watched(ntr_decoder *d) {
    ntr_walk_state walk = ntr_walk_state_take(d);
    ntr_status status = NTR_OK;
    while (status == NTR_OK && d->failed == NTR_OK && !ntr_decoder_spend(d, 1)) {
        ntr_loop_visit(d, &walk);
        if (ntr_walk_state_stops(&walk)) {
            status = ntr_walk_state_end(d, &walk);
            break;
        }
        status = walk_step(d, &walk);
    }
    d->request.interrupted = status == NTR_OK;
    if (status != NTR_OK) ntr_loop_leave(d, &walk);
    ntr_walk_state_put(d, &walk);
    return status;
}

ntr_status ntr_walk_counts(ntr_decoder *d) {
    if (d->request.left == 0) return NTR_END;
    if (ntr_history_memos_prepare(d) != NTR_OK) return NTR_E_MEMORY;
    ntr_walk_state walk = ntr_walk_state_take(d);
    if (d->request.interrupted || ntr_walk_is_long(d, &walk)) return walk_watched(d);
    ntr_status status = NTR_OK;
    while (status == NTR_OK) {
        if (is_linked(d, &walk) && (status = walk_linked(d, &walk)) != NTR_OK) break;
        if (ntr_walk_state_stops(&walk)) {
            status = ntr_walk_state_end(d, &walk);
            break;
        }
        if (d->predicts) {
            if (ntr_decoder_spend(d, 1)) break;
            status = walk_step(d, &walk);
            continue;
        }
        if (!walk.history.left && walk.history.repeats) {
            if (ntr_decoder_spend(d, walk.history.length)) break;
            if (walk.history.repeats > 2 || d->loop.factor > 1) ntr_loop_visit(d, &walk);
            ntr_history_refill(&walk.history);
        }
        ntr_history_memo *memo = memo_at(d, &walk);
        status = memo ? walk_memo(d, &walk, memo) : walk_step(d, &walk);
    }
    if (status != NTR_OK) ntr_loop_leave(d, &walk);
    ntr_walk_state_put(d, &walk);
    return status;
}
