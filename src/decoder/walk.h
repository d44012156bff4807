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

/* The same for a walk with events; *header is what all its spans have. */
static inline ntr_walk_state ntr_walk_state_take_with(ntr_decoder *d, ntr_event *header) {
    *header = d->header; /* its kind is NTR_EVENT_SPAN (0) */
    header->context = d->request.source->context;
    return ntr_walk_state_take(d);
}

/* Returns whether the walk stops before walk->block; ntr_walk_state_end says why. */
static inline bool ntr_walk_state_stops(const ntr_walk_state *walk) {
    const ntr_block *b = walk->block;
    return !b || b->halfwords == 0 || b->halfwords >= walk->left - walk->runaway_limit;
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
static inline ntr_status ntr_walk_state_end(const ntr_decoder *d, const ntr_walk_state *walk) {
    if (!walk->block) return NTR_E_NO_IMAGE;
    if (walk->block->halfwords == 0) return ntr_block_status(walk->block);
    return d->request.goal == NTR_GOAL_HISTORY ? NTR_E_LOOP : NTR_END;
}

/* ---- watched walks: walk_loop.h */

/* Watched walks have more halfwords than this for each outcome. Code without loops rarely has so many. */
enum { NTR_WATCH_SHIFT = 9 };

/* With events, so are walks whose history is repeated so often. */
enum { NTR_WATCH_REPEATS = 1 << 12 };

/* Returns whether the walk is watched in a counting decode, which looks at repeated histories in any case. */
static inline bool ntr_walk_is_long(const ntr_decoder *d, const ntr_walk_state *walk) {
    if (walk->runaway_limit) return d->request.predicted && walk->history.left >> NTR_WATCH_SHIFT;
    return walk->left >> NTR_WATCH_SHIFT > walk->history.left;
}

/* Returns whether a walk with events is watched. */
static inline bool ntr_walk_is_watched(const ntr_decoder *d, const ntr_walk_state *walk) {
    return d->repeats &&
           (d->request.watched || walk->history.repeats >= NTR_WATCH_REPEATS || ntr_walk_is_long(d, walk));
}

/* Walks block by block, and looks for a loop at each of them. Returns as ntr_walk_events; NTR_OK also when the decoder
 * has failed. */
ntr_status ntr_walk_watched(ntr_decoder *d, ntr_walk_state *walk, ntr_event **at, const ntr_event *end,
                            const ntr_event *header);

/* ---- walks with events: spans, and blocks whose successor is known from links, outcomes and the return stack */

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

_Static_assert(NTR_SPAN_TAKEN == NTR_SPAN_NOT_TAKEN + 1, "an outcome is added");

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
    step->end = (uint8_t)(NTR_SPAN_NOT_TAKEN + taken);
    step->flags = 0;
    return true;
}

static inline bool ntr_linked_direct(ntr_linked_walk *w, ntr_block *b, ntr_linked_step *step) {
    if (!w->infers_jumps || b->flags & NTR_BLOCK_NO_TARGET) return false;
    if (b->flow == NTR_FLOW_DIRECT_CALL && ntr_step_push(w->d, w->source, b) != NTR_OK) return false;
    step->to = ntr_blocks_jump(w->d->blocks, b, b->target);
    step->target = b->target;
    step->end = b->flow == NTR_FLOW_DIRECT_CALL ? NTR_SPAN_CALL : NTR_SPAN_JUMP;
    step->flags = 0;
    return true;
}

static inline bool ntr_linked_return(ntr_linked_walk *w, ntr_block *b, ntr_linked_step *step) {
    ntr_return caller;
    if (!w->infers_returns || !ntr_return_stack_pop(&w->source->stack, &caller)) return false;
    bool known_call = caller.call && caller.stamp == w->source->stamp;
    step->to =
        known_call ? ntr_blocks_fall(w->d->blocks, caller.call) : ntr_blocks_jump(w->d->blocks, b, caller.address);
    step->target = caller.address;
    step->end = NTR_SPAN_RETURN;
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
 * would do, without a copy of the event; *popped is the entry that a return took from the stack, or zeros. Returns
 * false when it is another case. */
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
