/* How frames become slices and sums.
 *
 * A lane has the stack of its hart as the walk has reported it. When the frame of a span is another one, the frames
 * that are no more on the stack are left, and new ones entered. In a window, frames are compared by their numbers.
 * Between windows the numbers change; there frames are the same when they existed when the window began and have the
 * same node.
 *
 * A call is counted when a frame that was entered in the window is seen for the first time. For a walk that begins
 * inside of a window, the spans before it are looked at, too.
 *
 * All windows of a loop are alike (replay/loop.c). What the last pass of one adds is noted, and added as often as the
 * windows behind have passes, where it begins and ends in the same stack, and no slice in it is long enough to be
 * reported. */
#include "explore/walk.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <string.h>

void ntr_span_walk_begin(ntr_span_walk *walk, ntr_replay *replay, ntr_nodes *nodes, const ntr_span_walk_user *user,
                         uint64_t begin, uint64_t end) {
    *walk = (ntr_span_walk){.replay = replay,
                            .nodes = nodes,
                            .allocator = replay->allocator,
                            .user = *user,
                            .begin = begin,
                            .at = begin,
                            .end = end,
                            .section_end = UINT64_MAX};
}

void ntr_span_walk_release(ntr_span_walk *walk) {
    for (size_t i = 0; i < walk->lane_count; i++) ntr_dealloc(walk->allocator, walk->lanes[i].items);
    ntr_dealloc(walk->allocator, walk->lanes);
    ntr_dealloc(walk->allocator, walk->self);
    ntr_dealloc(walk->allocator, walk->calls);
    ntr_dealloc(walk->allocator, walk->touched);
    ntr_dealloc(walk->allocator, walk->memos);
    ntr_dealloc(walk->allocator, walk->store_memos);
    ntr_dealloc(walk->allocator, walk->chain);
    ntr_dealloc(walk->allocator, walk->pass.parts);
    *walk = (ntr_span_walk){0};
}

/* ---- sums */

/* The arrays have room for `node`, and are 0 behind what was used. */
static ntr_status reserve_sums(ntr_span_walk *walk, uint32_t node) {
    if (node < walk->sums) return NTR_OK;
    size_t count = 2 * walk->sums > node ? 2 * walk->sums : (size_t)node + 1024;
    uint64_t *self = ntr_realloc(walk->allocator, walk->self, count, sizeof *self);
    if (self) walk->self = self;
    uint64_t *calls = ntr_realloc(walk->allocator, walk->calls, count, sizeof *calls);
    if (calls) walk->calls = calls;
    if (!self || !calls) return NTR_E_MEMORY;
    memset(self + walk->sums, 0, (count - walk->sums) * sizeof *self);
    memset(calls + walk->sums, 0, (count - walk->sums) * sizeof *calls);
    walk->sums = count;
    return NTR_OK;
}

static ntr_status add(ntr_span_walk *walk, uint32_t node, uint64_t self, uint64_t calls) {
    if (node >= walk->sums) TRY(reserve_sums(walk, node));
    if (!walk->self[node] && !walk->calls[node]) {
        if (ntr_reserve(walk->allocator, (void **)&walk->touched, &walk->touched_capacity, walk->touched_count + 1,
                        sizeof *walk->touched))
            return NTR_E_MEMORY;
        walk->touched[walk->touched_count++] = node;
    }
    walk->self[node] += self;
    walk->calls[node] += calls;
    return NTR_OK;
}

static ntr_status end_section(ntr_span_walk *walk) {
    ntr_status status = NTR_OK;
    if (walk->user.section)
        status = walk->user.section(walk->user.user, walk, walk->section_end, &walk->section_end);
    else
        walk->section_end = UINT64_MAX;
    for (size_t i = 0; i < walk->touched_count; i++) walk->self[walk->touched[i]] = walk->calls[walk->touched[i]] = 0;
    walk->touched_count = 0;
    return status;
}

/* Adds the instructions up to `end` to the node, section after section. */
static ntr_status add_self(ntr_span_walk *walk, uint32_t node, uint64_t end) {
    while (walk->at < end) {
        const uint64_t part = (end < walk->section_end ? end : walk->section_end) - walk->at;
        TRY(add(walk, node, part, 0));
        walk->at += part;
        if (walk->at == walk->section_end) TRY(end_section(walk));
    }
    return NTR_OK;
}

/* ---- loops */

static ntr_lane *lane_of(ntr_span_walk *walk, uint16_t src);

/* Notes what is added in the pass. */
static ntr_status note(ntr_span_walk *walk, uint32_t node, uint64_t self, uint64_t calls) {
    ntr_walk_pass *pass = &walk->pass;
    if (!pass->begun) return NTR_OK;
    if (ntr_reserve(walk->allocator, (void **)&pass->parts, &pass->capacity, pass->count + 1, sizeof *pass->parts))
        return NTR_E_MEMORY;
    pass->parts[pass->count++] = (ntr_walk_part){node, self, calls};
    return NTR_OK;
}

/* Span `i` is the first one of the last pass of a window, with others of its loop behind it: what the pass adds is
 * noted from now on. */
static ntr_status begin_pass(ntr_span_walk *walk, const ntr_replay_window *w, size_t i) {
    ntr_walk_pass *pass = &walk->pass;
    ntr_lane *lane = lane_of(walk, w->spans[i].src);
    if (!lane) return NTR_E_MEMORY;
    pass->begun = walk->at == w->first + w->spans[i].first;
    pass->begin = walk->at;
    pass->lane = (size_t)(lane - walk->lanes);
    pass->depth = lane->count;
    pass->node = lane->count ? lane->items[lane->count - 1].node : lane->root;
    pass->longest = 0;
    pass->count = 0;
    return NTR_OK;
}

static bool is_level(const ntr_span_walk *walk) {
    const ntr_walk_pass *pass = &walk->pass;
    const ntr_lane *lane = &walk->lanes[pass->lane];
    const uint32_t node = lane->count ? lane->items[lane->count - 1].node : lane->root;
    if (walk->user.slice && pass->longest && pass->longest >= walk->least) return false;
    return lane->count == pass->depth && node == pass->node;
}

/* Adds one pass, part after part, for a section that ends in it. */
static ntr_status add_pass(ntr_span_walk *walk) {
    for (size_t i = 0; i < walk->pass.count; i++) {
        const ntr_walk_part *part = &walk->pass.parts[i];
        const uint64_t end = walk->at + part->self;
        if (part->calls) TRY(add(walk, part->node, 0, part->calls));
        TRY(add_self(walk, part->node, end));
    }
    return NTR_OK;
}

/* Adds the passes of the windows behind, as far as these are alike and whole. */
static ntr_status pass_over(ntr_span_walk *walk, const ntr_replay_window *w) {
    ntr_walk_pass *pass = &walk->pass;
    const uint64_t end = w->loop_end < walk->end ? w->loop_end : walk->end, size = w->end - w->first;
    const uint64_t to = w->end + (end - w->end) / size * size, length = w->end - pass->begin;
    pass->begun = false;
    if (!length || !is_level(walk)) return NTR_OK;
    const uint64_t before = walk->at;
    while (walk->at < to) {
        const uint64_t limit = to < walk->section_end ? to : walk->section_end, times = (limit - walk->at) / length;
        for (size_t i = 0; times && i < pass->count; i++)
            TRY(add(walk, pass->parts[i].node, times * pass->parts[i].self, times * pass->parts[i].calls));
        walk->at += times * length;
        if (walk->at == walk->section_end) TRY(end_section(walk));
        if (!times) TRY(add_pass(walk));
    }
    ntr_lane *lane = &walk->lanes[pass->lane]; /* frames that were entered in the last pass are now of a later one */
    for (size_t i = 0; i < lane->count; i++)
        if (lane->items[i].begin >= pass->begin) lane->items[i].begin += walk->at - before;
    return NTR_OK;
}

/* ---- frames */

/* Returns the memo of a frame, with room for it, or NULL when out of memory. */
static ntr_frame_memo *memo_of(ntr_span_walk *walk, uint32_t frame) {
    const bool in_window = frame & NTR_WINDOW_FRAME;
    const uint32_t number = frame & ~NTR_WINDOW_FRAME;
    ntr_frame_memo **memos = in_window ? &walk->memos : &walk->store_memos;
    size_t *capacity = in_window ? &walk->memo_capacity : &walk->store_memo_capacity, old = *capacity;
    if (number >= old) {
        if (ntr_reserve(walk->allocator, (void **)memos, capacity, (size_t)number + 1, sizeof **memos)) return NULL;
        memset(*memos + old, 0, (*capacity - old) * sizeof **memos);
    }
    return &(*memos)[number];
}

static const ntr_stored_frame *stored(const ntr_span_walk *walk, const ntr_replay_window *w, uint32_t frame) {
    const ntr_frame_store *store = frame & NTR_WINDOW_FRAME ? &w->frames : &walk->replay->store;
    const uint32_t number = frame & ~NTR_WINDOW_FRAME;
    return number && number < store->count ? &store->items[number] : NULL;
}

static bool is_known(const ntr_span_walk *walk, const ntr_frame_memo *memo, uint32_t frame, uint16_t src) {
    return memo->window == (frame & NTR_WINDOW_FRAME ? walk->window : 1) && memo->src == src;
}

/* Stores the frames from `frame` outward up to the first whose memo is known, at least `all` of them if set. */
static ntr_status collect(ntr_span_walk *walk, const ntr_replay_window *w, uint32_t frame, uint16_t src, bool all,
                          size_t *count) {
    *count = 0;
    while (stored(walk, w, frame)) {
        const ntr_frame_memo *memo = memo_of(walk, frame);
        if (!memo ||
            ntr_reserve(walk->allocator, (void **)&walk->chain, &walk->chain_capacity, *count + 1, sizeof *walk->chain))
            return NTR_E_MEMORY;
        if (!all && is_known(walk, memo, frame, src)) break;
        walk->chain[(*count)++] = frame;
        frame = stored(walk, w, frame)->below;
    }
    return NTR_OK;
}

/* Fills the memo of a frame and of those that called it. */
static ntr_status resolve(ntr_span_walk *walk, const ntr_replay_window *w, const ntr_lane *lane, uint32_t frame,
                          ntr_frame_memo *result) {
    size_t count;
    TRY(collect(walk, w, frame, lane->src, false, &count));
    for (size_t i = count; i > 0; i--) {
        const uint32_t number = walk->chain[i - 1];
        const ntr_stored_frame *item = stored(walk, w, number);
        const ntr_frame_memo *below = stored(walk, w, item->below) ? memo_of(walk, item->below) : NULL;
        const uint32_t parent = below ? below->node : lane->root;
        const uint32_t node = ntr_nodes_call(walk->nodes, parent, item->frame.function, item->frame.kind);
        if (node == NTR_NODE_NONE) return NTR_E_MEMORY;
        ntr_frame_memo *memo = memo_of(walk, number);
        const bool same = memo->window == (number & NTR_WINDOW_FRAME ? walk->window : 1);
        const bool old = !(number & NTR_WINDOW_FRAME) || (number & ~NTR_WINDOW_FRAME) < w->old_frames;
        *memo = (ntr_frame_memo){.node = node,
                                 .depth = below ? below->depth + 1 : 1,
                                 .window = number & NTR_WINDOW_FRAME ? walk->window : 1,
                                 .src = lane->src,
                                 .seen = (same && memo->seen) || old};
    }
    *result = *memo_of(walk, frame);
    return NTR_OK;
}

/* ---- lanes */

static ntr_status leave_to(ntr_span_walk *walk, ntr_lane *lane, size_t count, uint64_t position) {
    ntr_status status = NTR_OK;
    while (lane->count > count) {
        const ntr_lane_frame *item = &lane->items[--lane->count];
        if (position - item->begin > walk->pass.longest) walk->pass.longest = position - item->begin;
        if (status || !walk->user.slice || position - item->begin < walk->least || position == item->begin) continue;
        const ntr_stack_slice slice = {
            .begin = item->begin, .end = position, .node = item->node, .cut_begin = item->cut};
        status = walk->user.slice(walk->user.user, &slice);
    }
    return status;
}

static ntr_status push(ntr_span_walk *walk, const ntr_replay_window *w, ntr_lane *lane, uint32_t frame,
                       uint64_t position) {
    if (ntr_reserve(walk->allocator, (void **)&lane->items, &lane->capacity, lane->count + 1, sizeof *lane->items))
        return NTR_E_MEMORY;
    ntr_frame_memo *memo = memo_of(walk, frame);
    const bool call = !memo->seen && stored(walk, w, frame)->frame.kind != NTR_FRAME_ROOT;
    lane->items[lane->count++] = (ntr_lane_frame){.begin = position,
                                                  .frame = frame,
                                                  .node = memo->node,
                                                  .cut = memo->seen && position == walk->begin && position};
    memo->seen = true;
    if (!call) return NTR_OK;
    TRY(note(walk, memo->node, 0, 1));
    return add(walk, memo->node, 0, 1);
}

/* The stack is another one: finds the frames that stay. */
static ntr_status change_all(ntr_span_walk *walk, const ntr_replay_window *w, ntr_lane *lane, uint32_t frame,
                             uint64_t position) {
    size_t count, common = 0;
    TRY(collect(walk, w, frame, lane->src, true, &count));
    for (; common < count && common < lane->count; common++) {
        const uint32_t number = walk->chain[count - 1 - common];
        const ntr_frame_memo *memo = memo_of(walk, number);
        if (lane->stale ? !memo->seen || memo->node != lane->items[common].node : number != lane->items[common].frame)
            break;
        lane->items[common].frame = number;
    }
    lane->stale = false;
    TRY(leave_to(walk, lane, common, position));
    for (size_t i = common; i < count; i++) TRY(push(walk, w, lane, walk->chain[count - 1 - i], position));
    return NTR_OK;
}

static ntr_status change_stack(ntr_span_walk *walk, const ntr_replay_window *w, ntr_lane *lane, uint32_t frame,
                               uint64_t position) {
    ntr_frame_memo memo = {0};
    if (!stored(walk, w, frame)) {
        lane->stale = false;
        return leave_to(walk, lane, 0, position);
    }
    TRY(resolve(walk, w, lane, frame, &memo));
    const uint32_t below = stored(walk, w, frame)->below;
    if (!lane->stale && memo.depth <= lane->count && lane->items[memo.depth - 1].frame == frame)
        return leave_to(walk, lane, memo.depth, position);
    if (!lane->stale && memo.depth - 1 <= lane->count &&
        (memo.depth == 1 ? !stored(walk, w, below) : lane->items[memo.depth - 2].frame == below)) {
        TRY(leave_to(walk, lane, memo.depth - 1, position));
        return push(walk, w, lane, frame, position);
    }
    return change_all(walk, w, lane, frame, position);
}

static ntr_lane *lane_of(ntr_span_walk *walk, uint16_t src) {
    const size_t hart = walk->replay->hart_number[src] - 1u, old = walk->lane_count;
    if (hart >= old) {
        if (ntr_reserve(walk->allocator, (void **)&walk->lanes, &walk->lane_capacity, hart + 1, sizeof *walk->lanes))
            return NULL;
        memset(walk->lanes + old, 0, (hart + 1 - old) * sizeof *walk->lanes);
        walk->lane_count = hart + 1;
    }
    ntr_lane *lane = &walk->lanes[hart];
    if (lane->begun) return lane;
    lane->root = ntr_nodes_hart(walk->nodes, src);
    lane->src = src;
    lane->begun = true;
    lane->origin = UINT32_MAX;
    return lane->root == NTR_NODE_NONE ? NULL : lane;
}

/* ---- spans */

static ntr_status take_origin(ntr_span_walk *walk, const ntr_replay_window *w, ntr_lane *lane, uint32_t number,
                              uint64_t position) {
    const ntr_span_origin *origin = &w->origins[number];
    lane->origin = number;
    if (origin->timed && (!walk->timed || origin->time > walk->time)) {
        walk->time = origin->time;
        walk->timed = true;
    }
    if (lane->has_context && ntr_context_equal(&lane->context, &origin->context)) return NTR_OK;
    lane->has_context = true;
    lane->context = origin->context;
    return walk->user.context ? walk->user.context(walk->user.user, position, lane->src, &origin->context) : NTR_OK;
}

static ntr_status take_span(ntr_span_walk *walk, const ntr_replay_window *w, const ntr_window_span *span) {
    const uint64_t first = w->first + span->first, after = first + span->instructions;
    const uint64_t end = after < walk->end ? after : walk->end;
    const uint64_t at = first > walk->at ? first : walk->at;
    ntr_lane *lane = lane_of(walk, span->src);
    if (!lane) return NTR_E_MEMORY;
    if (lane->origin != span->origin) TRY(take_origin(walk, w, lane, span->origin, at));
    if (lane->stale || !lane->count || lane->items[lane->count - 1].frame != span->frame)
        TRY(change_stack(walk, w, lane, span->frame, at));
    const uint32_t node = lane->count ? lane->items[lane->count - 1].node : lane->root;
    if (end <= at) return NTR_OK;
    TRY(note(walk, node, end - at, 0));
    walk->at = at;
    return add_self(walk, node, end);
}

/* The frames in which spans before the walk were executed were entered before it. */
static ntr_status see_earlier(ntr_span_walk *walk, const ntr_replay_window *w, size_t spans) {
    for (size_t i = 0; i < spans; i++) {
        ntr_lane *lane = lane_of(walk, w->spans[i].src);
        ntr_frame_memo memo;
        if (!lane) return NTR_E_MEMORY;
        if (!stored(walk, w, w->spans[i].frame)) continue;
        TRY(resolve(walk, w, lane, w->spans[i].frame, &memo));
        for (uint32_t frame = w->spans[i].frame; stored(walk, w, frame); frame = stored(walk, w, frame)->below) {
            ntr_frame_memo *each = memo_of(walk, frame);
            if (each->seen) break;
            each->seen = true;
        }
    }
    return NTR_OK;
}

/* A span that the walk begins inside of was entered before it. */
static size_t spans_before(const ntr_span_walk *walk, const ntr_replay_window *w, size_t first) {
    if (walk->at != walk->begin || walk->begin == w->first) return 0;
    const bool inside = first < w->span_count && w->first + w->spans[first].first < walk->begin;
    return first + inside;
}

static ntr_status end_window(ntr_span_walk *walk, const ntr_replay_window *w) {
    for (size_t i = 0; i < walk->lane_count; i++) {
        ntr_lane *lane = &walk->lanes[i];
        if (lane->begun && !lane->stale && i < w->hart_count)
            TRY(change_stack(walk, w, lane, w->harts[i].frame, walk->at));
        lane->stale = true;
        lane->origin = UINT32_MAX;
    }
    return NTR_OK;
}

static ntr_status take_gap(ntr_span_walk *walk, const ntr_replay_window *w, size_t *gap, size_t span) {
    for (; *gap < w->gap_count && w->gaps[*gap].span <= span; ++*gap) {
        const uint64_t position = w->first + w->spans[span].first;
        if (w->gaps[*gap].span < span || position < walk->begin || !walk->user.gap) continue;
        TRY(walk->user.gap(walk->user.user, position, &w->gaps[*gap].event));
    }
    return NTR_OK;
}

static ntr_status take_window(ntr_span_walk *walk, const ntr_replay_window *w) {
    const size_t first = ntr_window_find(w, walk->at);
    size_t gap = 0;
    walk->window++;
    walk->pass.begun = false;
    TRY(see_earlier(walk, w, spans_before(walk, w, first)));
    for (size_t i = first; i < w->span_count && walk->at < walk->end; i++) {
        if (gap < w->gap_count) TRY(take_gap(walk, w, &gap, i));
        if (w->loop_end > w->end && i + w->loop_spans == w->span_count) TRY(begin_pass(walk, w, i));
        TRY(take_span(walk, w, &w->spans[i]));
    }
    if (walk->at < w->end) return NTR_OK;
    if (walk->pass.begun) TRY(pass_over(walk, w));
    return end_window(walk, w);
}

/* Reports what is open at the end, and the last section. */
static ntr_status finish(ntr_span_walk *walk) {
    ntr_status status = NTR_OK;
    for (size_t i = 0; i < walk->lane_count; i++)
        for (ntr_lane *lane = &walk->lanes[i]; lane->count && !status;) {
            const ntr_lane_frame *item = &lane->items[--lane->count];
            const ntr_stack_slice slice = {
                .begin = item->begin, .end = walk->at, .node = item->node, .cut_begin = item->cut, .cut_end = true};
            if (walk->user.slice && slice.end - slice.begin >= walk->least && slice.end > slice.begin)
                status = walk->user.slice(walk->user.user, &slice);
        }
    if (status == NTR_OK && walk->touched_count) {
        walk->section_end = walk->at;
        status = end_section(walk);
    }
    walk->end = walk->at;
    return status;
}

ntr_status ntr_span_walk_window(ntr_span_walk *walk) {
    ntr_status status = NTR_OK;
    if (walk->at >= walk->end) return finish(walk);
    const ntr_replay_window *w = ntr_replay_window_at(walk->replay, walk->at, &status);
    if (!w) return status ? status : finish(walk);
    TRY(take_window(walk, w));
    return walk->at >= walk->end ? finish(walk) : NTR_END;
}

ntr_status ntr_span_walk_all(ntr_span_walk *walk) {
    for (;;) {
        const uint64_t before = walk->at;
        const ntr_status status = ntr_span_walk_window(walk);
        if (status != NTR_END || walk->at == before) return status;
        if (!ntr_replay_proceed(walk->replay, &walk->replay->stream)) return NTR_END;
    }
}
