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
 * returned up to the next jump. In modes that the consumer has excepted (ntr_decoder_set_join_except), spans of
 * NTR_BLOCK_KEPT are returned, each other block is returned when it is walked first, and a trap does not settle.
 *
 * Example: a loop of 100 passes over blocks of 4 instructions in function F, then a call. The call's span is returned
 * with the instructions of the loop added. */
#include "base/bytes.h"
#include "decoder/count_callback.h"
#include "decoder/walk_loop.h"
#include "isa/switching.h"

/* Maximum number of instructions that are added to one span. */
#define JOINED_MOST (UINT64_C(1) << 31)

/* Between two calls of ntr_decoder_spend: halfwords of a walk with I-CNT, and repetitions of a history. */
enum { LINKED_HALFWORDS = 1 << 20, LINKED_REPEATS = 1 << 10 };

static bool may_switch(const ntr_decoder *d, const ntr_block *b) {
    const ntr_context *context = &d->request.source->context;
    const ntr_program *program = d->config.program;
    for (unsigned at = 0; at < b->halfwords; at++) {
        uint8_t bytes[4] = {0};
        if (!(b->starts[at / 64] >> (at % 64) & 1)) continue;
        ntr_program_read(program, ntr_place_at(context, d->message.offset, b->start + 2 * (uint64_t)at), bytes, 4);
        if (ntr_insn_may_switch(ntr_little_32(bytes))) return true;
    }
    return false;
}

/* Ask the consumer whether the addresses of the block belong to one function. All its instructions do, because blocks
 * are divided; but the last one may be a jump that is not separated from the one before it. */
static __attribute__((noinline)) void classify(ntr_decoder *d, ntr_block *b) {
    bool jumps = b->flow == NTR_FLOW_BRANCH || b->flow == NTR_FLOW_DIRECT_JUMP;
    bool falls = b->flow != NTR_FLOW_DIRECT_JUMP;
    uint64_t addresses[4] = {b->start};
    size_t count = 1;
    if (b->flags & NTR_BLOCK_SEQUENTIAL) addresses[count++] = ntr_block_last(b);
    if (falls) addresses[count++] = b->next;
    if (jumps) addresses[count++] = b->target;
    b->flags |= NTR_BLOCK_CLASSIFIED;
    if (d->join(d->join_user, &d->request.source->context, d->message.offset, addresses, count))
        b->flags |= NTR_BLOCK_INSIDE;
    if (d->join_except && may_switch(d, b)) b->flags |= NTR_BLOCK_KEPT;
}

static bool is_joined_otherwise(ntr_decoder *d, ntr_block *b, bool excepts, bool *stays) {
    const bool first = !(b->flags & NTR_BLOCK_CLASSIFIED);
    if (first) classify(d, b);
    *stays = *stays && b->flags & NTR_BLOCK_INSIDE;
    return *stays && !(excepts && (first || b->flags & NTR_BLOCK_KEPT));
}

/* Returns whether the span may be left out, whatever its end. `stays`: the consumer has the function of the block. */
static inline bool is_joined(ntr_decoder *d, ntr_block *b, bool excepts, bool *stays) {
    enum { USUAL = NTR_BLOCK_CLASSIFIED | NTR_BLOCK_INSIDE };
    const unsigned asked = excepts ? USUAL | NTR_BLOCK_KEPT : USUAL;
    return (b->flags & asked) == USUAL ? *stays : is_joined_otherwise(d, b, excepts, stays);
}

unsigned ntr_join_settling(unsigned except) {
    enum {
        SETTLING_JUMPS = 1u << NTR_SPAN_TAKEN | 1u << NTR_SPAN_JUMP | 1u << NTR_SPAN_CALL |
                         1u << NTR_SPAN_INDIRECT_JUMP | 1u << NTR_SPAN_INDIRECT_CALL,
        SETTLING_TRAPS = 1u << NTR_SPAN_EXCEPTION | 1u << NTR_SPAN_INTERRUPT | 1u << NTR_SPAN_TRAP
    };
    return except ? SETTLING_JUMPS : SETTLING_JUMPS | SETTLING_TRAPS;
}

void ntr_join_settle(const ntr_decoder *d, ntr_source *s, unsigned end, unsigned flags) {
    s->settled = d->join_settling >> end & 1 && !(flags & NTR_EVENT_TARGET_UNKNOWN);
}

void ntr_join_add(ntr_source *s, ntr_event *e) {
    e->instructions += (uint32_t)s->joined;
    s->joined = 0;
}

/* Returns the entry that the next return takes. There must be one. */
static inline ntr_return *newest(const ntr_return_stack *stack) {
    return &stack->entries[(stack->top - 1) & stack->mask];
}

/* Returns whether the call that the next return ends was settled. */
static inline bool caller_is_settled(const ntr_return_stack *stack) {
    return stack->count && newest(stack)->settled;
}

/* A span of block `b` was returned that ended in this way. `stays`: the source was settled before it and the block is
 * inside; `returns_settled`: it returned to a call that was settled. */
static inline void settle_after(const ntr_decoder *d, ntr_source *s, const ntr_block *b, unsigned end, unsigned flags,
                                bool stays, bool returns_settled) {
    ntr_join_settle(d, s, end, flags);
    if (end == NTR_SPAN_NOT_TAKEN) s->settled = stays;
    if (end == NTR_SPAN_RETURN) s->settled = returns_settled;
    if (end != NTR_SPAN_CALL && end != NTR_SPAN_INDIRECT_CALL) return;
    if (s->stack.count && newest(&s->stack)->call == b) newest(&s->stack)->settled = stays;
}

/* The ends of spans that may be left out, one bit each. */
enum { JOINED_ENDS = 1u << NTR_SPAN_TAKEN | 1u << NTR_SPAN_NOT_TAKEN | 1u << NTR_SPAN_JUMP };

static inline void count_block(ntr_decoder *d, const ntr_walk_state *walk, ntr_block *b, const ntr_linked_step *step) {
    const ntr_step counted = {.target = step->target, .from = b, .end = step->end, .flags = step->flags};
    if (d->count_callback) ntr_count_step(d, walk, b, &counted);
}

/* Walks blocks whose successor is known, as go_linked of walk.c. */
static ntr_event *go_linked(ntr_decoder *d, ntr_walk_state *walk, const ntr_event *header, ntr_event *e,
                            const ntr_event *end, ntr_status *status) {
    ntr_source *s = d->request.source;
    ntr_linked_walk w = ntr_linked_begin(d, walk);
    const bool timed = header->flags & NTR_EVENT_TIME;
    const bool excepts = ntr_join_excepts(d);
    uint64_t joined = s->joined;
    if (!w.only_history && w.left > LINKED_HALFWORDS) w.runaway_limit = w.left - LINKED_HALFWORDS;
    while (e < end) {
        ntr_block *b = w.block;
        ntr_linked_step step;
        if (b->halfwords >= w.left - w.runaway_limit) break;
        const bool returns_settled = b->flow == NTR_FLOW_RETURN && caller_is_settled(&s->stack);
        if (!ntr_linked_go(&w, b, &step)) break;
        walk->pc = step.target;
        count_block(d, walk, b, &step);
        bool stays = s->settled && !timed;
        if (is_joined(d, b, excepts, &stays) && JOINED_ENDS >> step.end & 1 && joined < JOINED_MOST) {
            joined += b->instructions;
        } else {
            *e = *header;
            e->end = step.end;
            e->flags = (uint8_t)(e->flags | step.flags);
            e->address = b->key;
            e->last = b->key + 2u * (unsigned)(b->halfwords - b->last_halfwords);
            e->target = step.target;
            e->instructions = b->instructions + (uint32_t)joined;
            e->halfwords = b->halfwords;
            e++;
            joined = 0;
            settle_after(d, s, b, step.end, step.flags, stays, returns_settled);
        }
        if (!ntr_linked_pass(&w, b, &step)) continue;
        *status = NTR_END;
        break;
    }
    s->joined = joined;
    if (!w.only_history) w.runaway_limit = 0;
    ntr_decoder_spend(d, (walk->left - w.left) / 4);
    ntr_linked_end(&w, walk);
    return e;
}

/* Walk one block in the general way; without `joins`, its span is returned. Returns as ntr_walk_state_step. */
static ntr_status go_block(ntr_decoder *d, ntr_walk_state *walk, const ntr_event *header, ntr_event **e, bool joins) {
    ntr_source *s = d->request.source;
    ntr_block *b = walk->block;
    const bool excepts = ntr_join_excepts(d);
    bool stays = s->settled && !(header->flags & NTR_EVENT_TIME);
    const bool joined = is_joined(d, b, excepts, &stays) && !(excepts && walk->run.halfwords);
    const bool returns_settled = caller_is_settled(&s->stack) && ntr_step_pops(d, b);
    ntr_step step = {0};
    ntr_status status = ntr_walk_state_step(d, walk, &step);
    if (status < 0) return status;
    if (step.end == NTR_SPAN_CUT && !(b->flags & NTR_BLOCK_DIVIDED)) {
        ntr_walk_state_run(walk, b);
        s->settled = stays;
        return status;
    }
    if (d->count_callback) ntr_count_step(d, walk, b, &step);
    if (joins && joined && JOINED_ENDS >> step.end & 1 && s->joined < JOINED_MOST) {
        s->joined += walk->run.instructions + b->instructions;
        walk->run.instructions = walk->run.halfwords = 0;
        return status;
    }
    ntr_walk_fill(*e, header, walk, b, &step);
    ntr_join_add(s, (*e)++);
    settle_after(d, s, b, step.end, step.flags, stays, returns_settled);
    return status;
}

/* The walk ends. Returns as ntr_walk_events; adds a span if it does what ntr_walk_end would do. */
static inline __attribute__((always_inline)) ntr_status go_end(ntr_decoder *d, ntr_walk_state *walk,
                                                               const ntr_event *header, ntr_event **e) {
    ntr_source *s = d->request.source;
    const ntr_block *b = walk->block;
    ntr_return popped;
    ntr_status status = ntr_walk_state_end(d, walk);
    if (status != NTR_END || !ntr_walk_end_at_address(d, walk, header, *e, &popped, &status)) return status;
    ntr_event *span = (*e)++;
    if (d->count_callback) ntr_count_event(d, span);
    ntr_join_add(s, span);
    settle_after(d, s, b, span->end, span->flags, false, popped.settled && popped.address == span->target);
    return status;
}

/* Walks block by block, joins nothing, and looks for a loop at each block. */
static __attribute__((noinline)) ntr_status walk_watched(ntr_decoder *d, ntr_walk_state *walk, ntr_event **e,
                                                         const ntr_event *end, const ntr_event *header) {
    ntr_status status = NTR_OK;
    bool ends = false;
    while (*e < end && status == NTR_OK && d->failed == NTR_OK && !ends) {
        ntr_loop_visit(d, walk);
        ntr_event *span = *e;
        const ntr_block *b = walk->block;
        ends = ntr_walk_state_stops(walk);
        status = ends ? go_end(d, walk, header, e) : go_block(d, walk, header, e, false);
        const bool kept = b && b->flags & NTR_BLOCK_KEPT;
        d->loop.spans.kept += kept;
        if (*e == span) continue;
        ntr_loop_note_end(d, span->end);
        span->repeats = d->times - 1;
    }
    return status;
}

ntr_status ntr_walk_joined(ntr_decoder *d, ntr_event **at, const ntr_event *end) {
    ntr_event *e = *at;
    if (d->request.left == 0) return NTR_END;
    ntr_event header;
    ntr_walk_state walk = ntr_walk_state_take_with(d, &header);
    ntr_status status = NTR_OK;
    if (ntr_walk_is_watched(d, &walk)) {
        status = walk_watched(d, &walk, at, end, &header);
        if (status != NTR_OK) ntr_loop_leave(d, &walk);
        ntr_walk_state_put(d, &walk);
        return status;
    }
    while (e < end && status == NTR_OK && !ntr_decoder_spend(d, 1)) {
        if (walk.block && walk.block->halfwords && walk.run.halfwords == 0 && !d->predicts &&
            walk.history.repeats < LINKED_REPEATS) {
            e = go_linked(d, &walk, &header, e, end, &status);
            if (e == end || status != NTR_OK) break;
        }
        if (ntr_walk_state_stops(&walk)) {
            status = go_end(d, &walk, &header, &e);
            break;
        }
        status = go_block(d, &walk, &header, &e, true);
    }
    ntr_walk_state_put(d, &walk);
    *at = e;
    return status;
}
