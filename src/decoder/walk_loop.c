#include "decoder/walk_loop.h"

/* Events: passes that are worth it. Consumers that follow calls see a loop with calls as one pass of long functions;
 * with fewer passes, each call has its place. */
enum { PASSES_LEAST = 16, PASSES_LEAST_WITH_CALLS = 4096 };

bool ntr_loop_fits(ntr_decoder *d, uint64_t halfwords, uint64_t times) {
    uint64_t all;
    if (!__builtin_mul_overflow(halfwords, times, &all) && !__builtin_add_overflow(all, d->multiplied, &all) &&
        all <= INT64_MAX) {
        d->multiplied = all;
        return true;
    }
    if (d->failed == NTR_OK) d->failed = NTR_E_TOTAL;
    return false;
}

bool ntr_loop_is_level(const ntr_decoder *d, const ntr_loop_spans *before, uint64_t factor) {
    const ntr_loop_spans *now = &d->loop.spans;
    const uint64_t calls = now->calls - before->calls;
    if (now->kept != before->kept && ntr_join_excepts(d)) return false;
    return calls == now->returns - before->returns && factor >= (calls ? PASSES_LEAST_WITH_CALLS : PASSES_LEAST);
}

static void set_start(ntr_decoder *d, const ntr_walk_state *walk) {
    ntr_walk_loop *loop = &d->loop;
    ntr_source *s = d->request.source;
    if (!walk->block || walk->run.halfwords) return; /* at the next visit */
    loop->block = walk->block;
    loop->left = walk->left;
    loop->outcomes = walk->history.left;
    loop->repeats = walk->history.repeats;
    if (s->stack.low < d->request.repeat_low) d->request.repeat_low = s->stack.low;
    loop->depth = ntr_return_stack_mark(&s->stack);
    loop->trail = ntr_trail_depth(s);
    loop->learned_before = loop->learned;
    loop->before = loop->spans;
    loop->visits = 0;
}

/* Returns whether the walk does again what it has done since the starting point. */
static bool is_back(const ntr_decoder *d, const ntr_walk_state *walk) {
    const ntr_walk_loop *loop = &d->loop;
    const ntr_source *s = d->request.source;
    if (loop->block != walk->block || !walk->block || walk->run.halfwords) return false;
    return (loop->outcomes == walk->history.left || d->request.predicted) && loop->learned == loop->learned_before &&
           ntr_return_stack_is_unchanged(&s->stack, loop->depth) && ntr_trail_depth(s) == loop->trail;
}

/* Returns how many passes history and I-CNT allow. */
static uint64_t passes_left(const ntr_decoder *d, const ntr_walk_state *walk) {
    const ntr_walk_loop *loop = &d->loop;
    const uint64_t margin = walk->runaway_limit ? NTR_OUTCOME_DISTANCE : 1;
    const uint64_t passes = loop->repeats - walk->history.repeats, outcomes = loop->outcomes - walk->history.left;
    uint64_t most = walk->left > margin ? (walk->left - margin) / loop->halfwords : 0;
    /* the last outcome ends a walk on history alone, perhaps inside of a pass: it is not multiplied */
    if (passes && (walk->history.repeats - 1) / passes < most) most = (walk->history.repeats - 1) / passes;
    if (outcomes && (walk->history.left - 1) / outcomes < most) most = (walk->history.left - 1) / outcomes;
    return walk->runaway_limit && !passes && !outcomes ? 0 : most;
}

static void begin_multiply(ntr_decoder *d, ntr_walk_state *walk) {
    ntr_walk_loop *loop = &d->loop;
    loop->halfwords = loop->left - walk->left;
    if (loop->repeats && !walk->history.repeats) return;
    const uint64_t factor = passes_left(d, walk);
    if (factor < 2 || (d->in_order && (d->times > 1 || loop->halfwords > NTR_IN_ORDER_MOST))) return;
    if (!d->counts && !ntr_loop_is_level(d, &loop->before, factor)) return;
    /* loops inside of repeated messages are a part of what was added for these */
    if (d->times == 1 && !ntr_loop_fits(d, loop->halfwords, factor)) return;
    walk->history.repeats -= (factor - 1) * (loop->repeats - walk->history.repeats);
    walk->history.left -= (factor - 1) * (loop->outcomes - walk->history.left);
    loop->end = walk->left - loop->halfwords;
    loop->factor = factor;
    d->request.watched = true;
    loop->times = d->times;
    d->times *= factor;
}

void ntr_loop_end(ntr_decoder *d, ntr_walk_state *walk) {
    ntr_walk_loop *loop = &d->loop;
    const uint64_t others = (loop->factor - 1) * loop->halfwords;
    walk->left -= others;
    if (walk->runaway_limit) walk->runaway_limit -= others;
    loop->factor = 1;
    d->times = loop->times;
}

void ntr_loop_turn(ntr_decoder *d, ntr_walk_state *walk) {
    ntr_walk_loop *loop = &d->loop;
    if (loop->factor > 1) {
        if (walk->left != loop->end) return;
        ntr_loop_end(d, walk);
        set_start(d, walk);
        return;
    }
    loop->visits++;
    if (!loop->block) { /* the first one of the walk */
        loop->most_visits = 1;
        set_start(d, walk);
    } else if (is_back(d, walk)) {
        begin_multiply(d, walk);
    } else if (loop->visits > loop->most_visits) {
        loop->most_visits = 2 * loop->most_visits + 1;
        set_start(d, walk);
    }
}

/* ---- walks with events */

ntr_status ntr_walk_watched(ntr_decoder *d, ntr_walk_state *walk, ntr_event **at, const ntr_event *end,
                            const ntr_event *header) {
    ntr_status status = NTR_OK;
    while (*at < end && status == NTR_OK && d->failed == NTR_OK) {
        ntr_loop_visit(d, walk);
        if (ntr_walk_state_stops(walk)) {
            status = ntr_walk_state_end(d, walk); /* the walk end takes the rest */
            break;
        }
        const ntr_block *b = walk->block;
        ntr_step step = {0};
        status = ntr_walk_state_step(d, walk, &step);
        if (status < 0) break;
        if (step.end == NTR_SPAN_CUT && !(b->flags & NTR_BLOCK_DIVIDED)) {
            ntr_walk_state_run(walk, b);
            continue;
        }
        ntr_loop_note_end(d, step.end);
        d->loop.spans.kept++;
        ntr_walk_fill(*at, header, walk, b, &step);
        (*at)++->repeats = d->times - 1;
    }
    if (status != NTR_OK) ntr_loop_leave(d, walk);
    return status;
}

/* ---- loops without end */

/* A path that needs no message, with the calls on it that have not returned. */
typedef struct free_path {
    ntr_block *block;
    ntr_block *calls[32];
    unsigned depth, least; /* of the calls; the least one since the block that the path is compared with */
} free_path;

/* Goes over the block. Returns false where the next address depends on more than the path. */
static bool follow(ntr_decoder *d, const ntr_source *s, free_path *path) {
    ntr_block *b = path->block;
    const bool infers = !ntr_jumps_have_outcomes(d, s) && !(b->flags & NTR_BLOCK_NO_TARGET);
    if (b->halfwords == 0) return false;
    switch (b->flow) {
    case NTR_FLOW_BRANCH:
        if (s->mode != NTR_MODE_BTM) return false;
        path->block = ntr_blocks_fall(d->blocks, b);
        return true;
    case NTR_FLOW_LINEAR: path->block = ntr_blocks_fall(d->blocks, b); return true;
    case NTR_FLOW_DIRECT_CALL:
        if (path->depth == sizeof path->calls / sizeof *path->calls) return false;
        path->calls[path->depth++] = b; /* fall through: it is a jump */
        __attribute__((fallthrough));
    case NTR_FLOW_DIRECT_JUMP: path->block = ntr_blocks_jump(d->blocks, b, b->target); return infers;
    case NTR_FLOW_RETURN:
        if (!ntr_implicit_returns(d) || path->depth == 0) return false;
        path->block = ntr_blocks_fall(d->blocks, path->calls[--path->depth]);
        if (path->depth < path->least) path->least = path->depth;
        return true;
    default: return false;
    }
}

/* The block that the path is compared with is renewed after 1, 3, 7, ... blocks. */
bool ntr_loop_is_endless(ntr_decoder *d, ntr_source *s) {
    enum { BLOCKS_MOST = 1 << 14 };
    free_path path = {0};
    const ntr_block *mark = NULL;
    unsigned mark_depth = 0, next = 0;
    if (s->state != NTR_SOURCE_FOLLOWING || !s->pc_known) return false;
    ntr_source_update_view(d, s);
    path.block = ntr_blocks_get(d->blocks, s->view, s->pc);
    for (unsigned i = 0; i < BLOCKS_MOST; i++) {
        if (path.block == mark && path.depth == mark_depth && path.least == mark_depth) return true;
        if (i == next) {
            mark = path.block;
            path.least = mark_depth = path.depth;
            next = 2 * i + 1;
        }
        if (!follow(d, s, &path)) return false;
    }
    return false;
}
