/* The walk with joined spans (ntr_decoder_set_join), for consumers that need the changes of function only.
 *
 * Idea: most spans end with a branch or a jump inside of a function. The consumer decides once for each block whether
 * all addresses that it leads to belong to one function (NTR_BLOCK_INSIDE). Spans of such blocks are not returned:
 * their instructions are added to the next span of the source. Calls, returns and jumps to other functions remain.
 *
 * Invariant: a consumer that follows calls, returns and jumps has the same functions on its stack as with all spans.
 * A span may therefore be left out only when the source is `settled`: the consumer has seen that the code belongs to
 * the function on top of its stack. A jump or a call settles. A return settles when the call was settled and its block
 * is inside: then the function that continues is the one that called. Everything else unsettles, and all spans are
 * returned up to the next jump.
 *
 * Example: a loop of 100 passes over blocks of 4 instructions in function F, then a call. The call's span is returned
 * with the instructions of the loop added. */
#include "decoder/walk.h"

#include "decoder/count_callback.h"

/* Maximum number of instructions that are added to one span. */
#define JOINED_MOST (UINT64_C(1) << 31)

/* Ask the consumer whether the addresses of the block belong to one function. */
static __attribute__((noinline)) void classify(ntr_decoder *d, ntr_block *b) {
    bool jumps = b->flow == NTR_FLOW_BRANCH || b->flow == NTR_FLOW_DIRECT_JUMP;
    bool falls = b->flow != NTR_FLOW_DIRECT_JUMP;
    uint64_t addresses[4] = {b->start, ntr_block_last(b)};
    size_t count = 2;
    if (falls) addresses[count++] = b->next;
    if (jumps) addresses[count++] = b->target;
    b->flags |= NTR_BLOCK_CLASSIFIED;
    if (d->join(d->join_user, &d->request.source->context, addresses, count)) b->flags |= NTR_BLOCK_INSIDE;
}

static inline bool is_inside(ntr_decoder *d, ntr_block *b) {
    if (!(b->flags & NTR_BLOCK_CLASSIFIED)) classify(d, b);
    return b->flags & NTR_BLOCK_INSIDE;
}

void ntr_join_settle(ntr_source *s, unsigned end, unsigned flags) {
    enum { SETTLING = 1u << NTR_END_TAKEN | 1u << NTR_END_JUMP | 1u << NTR_END_CALL | 1u << NTR_END_INDIRECT_JUMP |
                      1u << NTR_END_INDIRECT_CALL | 1u << NTR_END_EXCEPTION | 1u << NTR_END_INTERRUPT | 1u << NTR_END_TRAP };
    s->settled = SETTLING >> end & 1 && !(flags & NTR_EVENT_TARGET_UNKNOWN);
}

void ntr_join_add(ntr_source *s, ntr_event *e) {
    e->instructions += (uint32_t)s->joined;
    s->joined = 0;
}

/* Returns the entry that the next return takes, or NULL. */
static inline ntr_return *newest(const ntr_return_stack *stack) {
    return stack->count ? &stack->entries[(stack->top - 1) & stack->mask] : NULL;
}

/* A span was returned that ended in this way. `inside`, `settled`: of its block and before it; `returns_settled`: of the
 * call to which it returned. */
static inline void settle_after(ntr_source *s, const ntr_block *b, const ntr_step *step, bool inside, bool settled,
                                bool returns_settled) {
    ntr_join_settle(s, step->end, step->flags);
    if (step->end == NTR_END_NOT_TAKEN) s->settled = settled && inside;
    if (step->end == NTR_END_RETURN && step->from != b) s->settled = returns_settled;
    ntr_return *call = newest(&s->stack);
    if ((step->end == NTR_END_CALL || step->end == NTR_END_INDIRECT_CALL) && call && call->call == b)
        call->settled = settled && inside;
}

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

/* The block that the fast loop walked last, and whether it jumped. */
typedef struct joined_step {
    const ntr_block *block;
    bool jumped;
} joined_step;

/* Walk blocks that end with a branch or a direct jump inside of the function: nearly all executed code. The branch that
 * ends a walk on history alone is left to the general step. */
static inline void go_inside(ntr_decoder *d, ntr_walk_state *walk, ntr_source *s) {
    const bool only_history = d->request.goal == NTR_GOAL_HISTORY, counting = d->count_callback != NULL;
    const bool jumps = !ntr_jumps_have_outcomes(d, s);
    const uint64_t kept = only_history && !walk->history.repeats;
    const unsigned wanted = NTR_BLOCK_CLASSIFIED | NTR_BLOCK_INSIDE, checked = wanted | NTR_BLOCK_NO_TARGET;
    joined_step step = {0};
    ntr_block *b = walk->block;
    uint64_t bits = walk->history.bits, outcomes = walk->history.left, joined = s->joined;
    uint64_t left = walk->left, runaway_limit = walk->runaway_limit;
    while ((b->flags & checked) == wanted && b->halfwords < left - runaway_limit) {
        bool jumped = true;
        if (b->flow == NTR_FLOW_BRANCH) {
            if (outcomes <= kept) break;
            jumped = bits >> 63;
            bits <<= 1;
            outcomes--;
        } else if (b->flow != NTR_FLOW_DIRECT_JUMP || !jumps) {
            break;
        }
        left -= b->halfwords;
        if (only_history && b->flow == NTR_FLOW_BRANCH) runaway_limit = left - NTR_OUTCOME_DISTANCE;
        joined += b->instructions;
        b->executed += counting;
        b->jumped += counting && jumped && b->flow == NTR_FLOW_BRANCH;
        step = (joined_step){b, jumped};
        b = ntr_blocks_branch(d->blocks, b, jumped);
    }
    if (!step.block) return;
    walk->pc = step.jumped ? step.block->target : step.block->next;
    walk->block = b;
    walk->history.bits = bits;
    walk->history.left = outcomes;
    walk->left = left;
    walk->runaway_limit = runaway_limit;
    s->joined = joined;
}

/* Returns whether the span that the step ends is left out. */
static inline bool is_joined(unsigned end) {
    return end == NTR_END_TAKEN || end == NTR_END_NOT_TAKEN || end == NTR_END_JUMP;
}

/* Walk one block. Returns as ntr_walk_state_step. */
static ntr_status go_block(ntr_decoder *d, ntr_walk_state *walk, const ntr_event *header, ntr_event **e) {
    ntr_source *s = d->request.source;
    ntr_block *b = walk->block;
    const ntr_return *caller = newest(&s->stack);
    const bool inside = is_inside(d, b), settled = s->settled && !(header->flags & NTR_EVENT_TIME);
    const bool returns_settled = caller && caller->settled;
    ntr_step step = {0};
    ntr_status status = ntr_walk_state_step(d, walk, &step);
    if (status < 0) return status;
    if (step.end == NTR_END_CUT) {
        ntr_walk_state_run(walk, b);
        s->settled = settled && inside;
        return status;
    }
    if (d->count_callback) ntr_count_step(d, walk, b, &step);
    if (settled && inside && is_joined(step.end) && s->joined < JOINED_MOST) {
        s->joined += walk->run.instructions + b->instructions;
        walk->run.instructions = walk->run.halfwords = 0;
        return status;
    }
    fill(*e, header, walk, b, &step);
    ntr_join_add(s, (*e)++);
    settle_after(s, b, &step, inside, settled, returns_settled);
    return status;
}

ntr_status ntr_walk_joined(ntr_decoder *d, ntr_event **at, const ntr_event *end) {
    ntr_event *e = *at;
    if (d->request.left == 0) return NTR_END;
    ntr_source *s = d->request.source;
    ntr_event header = d->header; /* its kind is NTR_EVENT_SPAN (0) */
    header.context = s->context;

    ntr_status status = NTR_OK;
    ntr_walk_state walk = ntr_walk_state_take(d);
    while (e < end) {
        bool joins = s->settled && !(header.flags & NTR_EVENT_TIME) && s->joined < JOINED_MOST;
        if (walk.block && walk.run.halfwords == 0 && joins) go_inside(d, &walk, s);
        const ntr_block *b = walk.block;
        if (!b || b->halfwords == 0 || b->halfwords >= walk.left - walk.runaway_limit) {
            status = ntr_walk_state_end(d, &walk);
            break;
        }
        status = go_block(d, &walk, &header, &e);
        if (status != NTR_OK) break;
    }
    ntr_walk_state_put(d, &walk);
    *at = e;
    return status;
}
