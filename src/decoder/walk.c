/* Walking with events: one span event a block. */
#include "decoder/walk.h"

ntr_status ntr_walk_state_end(const ntr_decoder *d, const ntr_walk_state *p) {
    if (!p->block) return NTR_E_NO_IMAGE;
    if (p->block->halfwords == 0) return ntr_block_status(p->block);
    return d->request.goal == NTR_GOAL_HISTORY ? NTR_E_LOOP : NTR_END;
}

/* The span that ends with block `b`; it starts where straight code before `b` did. */
static inline void fill(ntr_event *e, const ntr_event *header, ntr_walk_state *p, const ntr_block *b,
                        const ntr_step *step) {
    *e = *header;
    e->end = step->end;
    e->flags = (uint8_t)(e->flags | step->flags);
    e->address = b->start - 2 * (uint64_t)p->run.halfwords;
    e->last = ntr_block_last(b);
    e->target = step->target;
    e->instructions = p->run.instructions + b->instructions;
    e->halfwords = p->run.halfwords + b->halfwords;
    p->run.instructions = p->run.halfwords = 0;
}

_Static_assert(NTR_END_TAKEN == NTR_END_NOT_TAKEN + 1, "an outcome is added");

/* Branches whose outcomes are at hand: nearly all that runs. The one that ends a walk on history is left to others. */
static inline ntr_event *go_branches(ntr_decoder *d, ntr_walk_state *p, const ntr_event *header, ntr_event *e,
                                     const ntr_event *end) {
    const ntr_event blank = *header;
    const bool only_history = d->request.goal == NTR_GOAL_HISTORY;
    const uint64_t kept = only_history && !p->history.again;
    ntr_block *b = p->block;
    uint64_t bits = p->history.bits, outcomes = p->history.left, left = p->left, runaway_limit = p->runaway_limit;
    while (outcomes > kept && e < end && b->flow == NTR_FLOW_BRANCH && b->halfwords &&
           b->halfwords < left - runaway_limit) {
        bool taken = bits >> 63;
        bits <<= 1;
        outcomes--;
        left -= b->halfwords;
        if (only_history) runaway_limit = left - NTR_OUTCOME_REACH;
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
    if (p->left != left) p->pc = e[-1].target;
    p->block = b;
    p->history.bits = bits;
    p->history.left = outcomes;
    p->left = left;
    p->runaway_limit = runaway_limit;
    return e;
}

ntr_status ntr_walk_events(ntr_decoder *d, ntr_event **at, const ntr_event *end) {
    ntr_event *e = *at;
    if (d->request.left == 0) return NTR_END;
    ntr_event header = d->header; /* its kind is NTR_EVENT_SPAN */
    header.context = d->request.source->context;

    ntr_status status = NTR_OK;
    ntr_walk_state p = ntr_walk_state_take(d);
    while (e < end) {
        if (p.block && p.run.halfwords == 0) {
            e = go_branches(d, &p, &header, e, end);
            if (e == end) break;
        }
        const ntr_block *b = p.block;
        if (!b || b->halfwords == 0 || b->halfwords >= p.left - p.runaway_limit) {
            status = ntr_walk_state_end(d, &p);
            break;
        }
        ntr_step step = {0};
        status = ntr_walk_state_step(d, &p, &step);
        if (status < 0) break;
        if (step.end == NTR_END_CUT) {
            ntr_walk_state_run(&p, b);
            continue;
        }
        fill(e++, &header, &p, b, &step);
        if (status == NTR_END) break;
    }
    ntr_walk_state_put(d, &p);
    *at = e;
    return status;
}
