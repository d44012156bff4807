/* The walk with events: one span for each executed block that ends with a change of flow. */
#include "decoder/walk.h"

/* Walks blocks whose successor is known from links, outcomes and the return stack: nearly all executed code. There is
 * no linear code before walk->block. *status is NTR_END when the last outcome of a walk on history alone was taken. */
static ntr_event *go_linked(ntr_decoder *d, ntr_walk_state *walk, const ntr_event *header, ntr_event *e,
                            const ntr_event *end, ntr_status *status) {
    const ntr_event blank = *header;
    ntr_event *const first = e;
    ntr_linked_walk w = ntr_linked_begin(d, walk);
    while (e < end) {
        ntr_block *b = w.block;
        ntr_linked_step step;
        if (b->halfwords >= w.left - w.runaway_limit || !ntr_linked_go(&w, b, &step)) break;
        *e = blank;
        e->end = step.end;
        e->flags = (uint8_t)(e->flags | step.flags);
        e->address = b->key; /* equal to b->start, which is in another cache line */
        e->last = b->key + 2u * (unsigned)(b->halfwords - b->last_halfwords);
        e->target = step.target;
        e->instructions = b->instructions;
        e->halfwords = b->halfwords;
        e++;
        if (!ntr_linked_pass(&w, b, &step)) continue;
        *status = NTR_END;
        break;
    }
    if (e != first) walk->pc = e[-1].target;
    ntr_linked_end(&w, walk);
    return e;
}

ntr_status ntr_walk_events(ntr_decoder *d, ntr_event **at, const ntr_event *end) {
    ntr_event *e = *at;
    if (d->request.left == 0) return NTR_END;
    ntr_event header;
    ntr_walk_state walk = ntr_walk_state_take_with(d, &header);
    ntr_status status = NTR_OK;
    if (ntr_walk_is_watched(d, &walk)) {
        status = ntr_walk_watched(d, &walk, at, end, &header);
        ntr_walk_state_put(d, &walk);
        return status;
    }
    while (e < end) {
        if (walk.block && walk.block->halfwords && walk.run.halfwords == 0 && !d->predicts) {
            e = go_linked(d, &walk, &header, e, end, &status);
            if (e == end || status == NTR_END) break;
        }
        if (ntr_walk_state_stops(&walk)) {
            ntr_return popped;
            status = ntr_walk_state_end(d, &walk);
            if (status == NTR_END && ntr_walk_end_at_address(d, &walk, &header, e, &popped, &status)) e++;
            break;
        }
        const ntr_block *b = walk.block;
        ntr_step step = {0};
        status = ntr_walk_state_step(d, &walk, &step);
        if (status < 0) break;
        if (step.end == NTR_SPAN_CUT && !(b->flags & NTR_BLOCK_DIVIDED)) {
            ntr_walk_state_run(&walk, b);
            continue;
        }
        ntr_walk_fill(e++, &header, &walk, b, &step);
        if (status == NTR_END) break;
    }
    ntr_walk_state_put(d, &walk);
    *at = e;
    return status;
}
