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

/* Walk branches that have an outcome in `history`: nearly all executed code. The branch that ends a walk on history
 * alone is left to the general loop. */
static inline ntr_event *go_branches(ntr_decoder *d, ntr_walk_state *walk, const ntr_event *header, ntr_event *e,
                                     const ntr_event *end) {
    const ntr_event blank = *header;
    const bool only_history = d->request.goal == NTR_GOAL_HISTORY;
    const uint64_t kept = only_history && !walk->history.repeats;
    ntr_block *b = walk->block;
    uint64_t bits = walk->history.bits, outcomes = walk->history.left;
    uint64_t left = walk->left, runaway_limit = walk->runaway_limit;
    while (outcomes > kept && e < end && b->flow == NTR_FLOW_BRANCH && b->halfwords &&
           b->halfwords < left - runaway_limit) {
        bool taken = bits >> 63;
        bits <<= 1;
        outcomes--;
        left -= b->halfwords;
        if (only_history) runaway_limit = left - NTR_OUTCOME_DISTANCE;
        *e = blank;
        e->end = (uint8_t)(NTR_END_NOT_TAKEN + taken);
        e->address = b->start;
        e->last = ntr_block_last(b);
        e->target = taken ? b->target : b->next;
        e->instructions = b->instructions;
        e->halfwords = b->halfwords;
        e++;
        b = ntr_blocks_branch(d->blocks, b, taken);
    }
    if (walk->left != left) walk->pc = e[-1].target;
    walk->block = b;
    walk->history.bits = bits;
    walk->history.left = outcomes;
    walk->left = left;
    walk->runaway_limit = runaway_limit;
    return e;
}

ntr_status ntr_walk_events(ntr_decoder *d, ntr_event **at, const ntr_event *end) {
    ntr_event *e = *at;
    if (d->request.left == 0) return NTR_END;
    ntr_event header = d->header; /* its kind is NTR_EVENT_SPAN (0) */
    header.context = d->request.source->context;

    ntr_status status = NTR_OK;
    ntr_walk_state walk = ntr_walk_state_take(d);
    while (e < end) {
        if (walk.block && walk.run.halfwords == 0) {
            e = go_branches(d, &walk, &header, e, end);
            if (e == end) break;
        }
        const ntr_block *b = walk.block;
        if (!b || b->halfwords == 0 || b->halfwords >= walk.left - walk.runaway_limit) {
            status = ntr_walk_state_end(d, &walk);
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
