/* The walk with events: one span for each executed block that ends with a change of flow. */
#include "decoder/walk.h"

ntr_status ntr_walk_state_end(const ntr_decoder *d, const ntr_walk_state *walk) {
    if (!walk->block) return NTR_E_NO_IMAGE;
    if (walk->block->halfwords == 0) return ntr_block_status(walk->block);
    return d->request.goal == NTR_GOAL_HISTORY ? NTR_E_LOOP : NTR_END;
}

/* Fill the span that ends with block `b`. It starts where the linear code before `b` started. */
static inline void fill(ntr_event *e, const ntr_event *header, ntr_walk_state *walk, const ntr_block *b,
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
typedef struct linked_walk {
    ntr_decoder *d;
    ntr_source *source;
    bool only_history;  /* the request ends with the branch that takes the last outcome */
    bool infers_jumps;  /* direct jumps take no outcome */
    bool infers_returns;
    bool infers_sequential;
    ntr_block *block;
    ntr_history history;
    uint64_t left, runaway_limit;
} linked_walk;

/* Where the walk goes after a block. */
typedef struct step_taken {
    ntr_block *to;
    uint64_t target;
    uint8_t end, flags;
} step_taken;

static inline bool go_branch(linked_walk *w, ntr_block *b, step_taken *step) {
    if (!ntr_history_refill(&w->history)) return false;
    bool taken = ntr_history_take(&w->history);
    step->to = ntr_blocks_branch(w->d->blocks, b, taken);
    step->target = taken ? b->target : b->next;
    step->end = (uint8_t)(NTR_END_NOT_TAKEN + taken);
    step->flags = 0;
    return true;
}

static inline bool go_direct(linked_walk *w, ntr_block *b, step_taken *step) {
    if (!w->infers_jumps || b->flags & NTR_BLOCK_NO_TARGET) return false;
    if (b->flow == NTR_FLOW_DIRECT_CALL && ntr_step_push(w->d, w->source, b) != NTR_OK) return false;
    step->to = ntr_blocks_jump(w->d->blocks, b, b->target);
    step->target = b->target;
    step->end = b->flow == NTR_FLOW_DIRECT_CALL ? NTR_END_CALL : NTR_END_JUMP;
    step->flags = 0;
    return true;
}

static inline bool go_return(linked_walk *w, ntr_block *b, step_taken *step) {
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

static inline bool go_sequential(linked_walk *w, ntr_block *b, step_taken *step) {
    if (!w->infers_sequential || !(b->flags & NTR_BLOCK_SEQUENTIAL)) return false;
    if (b->flow == NTR_FLOW_INDIRECT_CALL && ntr_step_push(w->d, w->source, b) != NTR_OK) return false;
    step->to = ntr_blocks_jump(w->d->blocks, b, b->target);
    step->target = b->target;
    step->end = ntr_flow_ends[b->flow];
    step->flags = NTR_EVENT_IMPLICIT;
    return true;
}

/* Follows the instruction that ends the block. Returns false, with nothing changed, for what the general step does. */
static inline bool go(linked_walk *w, ntr_block *b, step_taken *step) {
    switch (b->flow) {
    case NTR_FLOW_BRANCH: return go_branch(w, b, step);
    case NTR_FLOW_DIRECT_JUMP:
    case NTR_FLOW_DIRECT_CALL: return go_direct(w, b, step);
    case NTR_FLOW_RETURN: return go_return(w, b, step);
    case NTR_FLOW_INDIRECT_JUMP:
    case NTR_FLOW_INDIRECT_CALL: return go_sequential(w, b, step);
    default: return false;
    }
}

/* Walks blocks whose successor is known from links, outcomes and the return stack: nearly all executed code. There is
 * no linear code before walk->block. *status is NTR_END when the last outcome of a walk on history alone was taken. */
static ntr_event *go_linked(ntr_decoder *d, ntr_walk_state *walk, const ntr_event *header, ntr_event *e,
                            const ntr_event *end, ntr_status *status) {
    const ntr_event blank = *header;
    ntr_event *const first = e;
    linked_walk w = {
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
    while (e < end) {
        ntr_block *b = w.block;
        step_taken step;
        if (b->halfwords >= w.left - w.runaway_limit || !go(&w, b, &step)) break;
        *e = blank;
        e->end = step.end;
        e->flags = (uint8_t)(e->flags | step.flags);
        e->address = b->key; /* equal to b->start, which is in another cache line */
        e->last = b->key + 2u * (unsigned)(b->halfwords - b->last_halfwords);
        e->target = step.target;
        e->instructions = b->instructions;
        e->halfwords = b->halfwords;
        e++;
        w.left -= b->halfwords;
        w.block = step.to;
        if (!w.only_history || b->flow != NTR_FLOW_BRANCH) continue;
        w.runaway_limit = w.left - NTR_OUTCOME_DISTANCE;
        if (!ntr_history_empty(&w.history)) continue;
        *status = NTR_END;
        break;
    }
    if (e != first) walk->pc = e[-1].target;
    walk->block = w.block;
    walk->history = w.history;
    walk->left = w.left;
    walk->runaway_limit = w.runaway_limit;
    return e;
}

/* The most frequent walk end: I-CNT ends with a register jump, to the address of the message. Does what ntr_walk_end
 * would do, without a copy of the event. Returns false when it is another case. */
static bool end_at_address(ntr_decoder *d, ntr_walk_state *walk, const ntr_event *header, ntr_event *e,
                           ntr_status *status) {
    ntr_walk_request *request = &d->request;
    ntr_block *b = walk->block;
    if (request->goal != NTR_GOAL_ADDRESS || walk->left != b->halfwords || !ntr_history_empty(&walk->history))
        return false;
    if (b->flow != NTR_FLOW_INDIRECT_JUMP && b->flow != NTR_FLOW_INDIRECT_CALL && b->flow != NTR_FLOW_RETURN)
        return false;
    ntr_return popped;
    ntr_status stack = ntr_step_stack(d, request->source, b, &popped);
    ntr_step step = {.target = request->address, .end = ntr_flow_ends[b->flow]};
    fill(e, header, walk, b, &step);
    walk->left = 0;
    walk->pc = request->address;
    walk->block = ntr_blocks_jump(d->blocks, b, request->address);
    request->ended = true;
    *status = stack == NTR_OK ? NTR_END : stack;
    return true;
}

ntr_status ntr_walk_events(ntr_decoder *d, ntr_event **at, const ntr_event *end) {
    ntr_event *e = *at;
    if (d->request.left == 0) return NTR_END;
    ntr_event header = d->header; /* its kind is NTR_EVENT_SPAN (0) */
    header.context = d->request.source->context;

    ntr_status status = NTR_OK;
    ntr_walk_state walk = ntr_walk_state_take(d);
    while (e < end) {
        if (walk.block && walk.block->halfwords && walk.run.halfwords == 0) {
            e = go_linked(d, &walk, &header, e, end, &status);
            if (e == end || status == NTR_END) break;
        }
        const ntr_block *b = walk.block;
        if (!b || b->halfwords == 0 || b->halfwords >= walk.left - walk.runaway_limit) {
            status = ntr_walk_state_end(d, &walk);
            if (status == NTR_END && end_at_address(d, &walk, &header, e, &status)) e++;
            break;
        }
        ntr_step step = {0};
        status = ntr_walk_state_step(d, &walk, &step);
        if (status < 0) break;
        if (step.end == NTR_END_CUT) {
            ntr_walk_state_run(&walk, b);
            continue;
        }
        fill(e++, &header, &walk, b, &step);
        if (status == NTR_END) break;
    }
    ntr_walk_state_put(d, &walk);
    *at = e;
    return status;
}
