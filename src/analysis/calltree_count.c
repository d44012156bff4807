/* Instructions and time are counted in the nodes of a call tree. */
#include "analysis/calltree_state.h"

#include "base/allocator.h"

#include <string.h>

void ntr_calltree_take_ticks(void *user, uint32_t node, uint64_t ticks) {
    ntr_calltree *t = user;
    t->nodes[node].ticks += ticks;
}

/* Returns the state of the source, or NULL when out of memory. */
static struct calltree_source *source_of(ntr_calltree *t, uint16_t src) {
    if (src < t->source_count) return &t->sources[src];
    size_t need = (size_t)src + 1;
    if (ntr_reserve(t->allocator, (void **)&t->sources, &t->source_capacity, need, sizeof *t->sources)) return NULL;
    memset(t->sources + t->source_count, 0, (need - t->source_count) * sizeof *t->sources);
    t->source_count = need;
    return &t->sources[src];
}

ntr_time_attribution *ntr_calltree_time(ntr_calltree *t, uint16_t src) {
    struct calltree_source *s = source_of(t, src);
    return s ? &s->time : NULL;
}

void ntr_calltree_forget_times(ntr_calltree *t) {
    const ntr_time_attribution unknown = {0};
    for (size_t i = 0; i < t->source_count; i++) ntr_calltree_set_time(t, (uint16_t)i, &unknown);
}

void ntr_calltree_set_time(ntr_calltree *t, uint16_t src, const ntr_time_attribution *time) {
    struct calltree_source *s = source_of(t, src);
    if (!s) t->failed = NTR_E_MEMORY;
    if (!s) return;
    ntr_time_attribution_flush(&s->time, ntr_calltree_take_ticks, t);
    s->time.message = time->message;
    s->time.time = time->time;
    s->time.ticks = time->ticks;
    s->time.timed = time->timed;
}

static bool stays(const struct calltree_source *s, const ntr_event *event) {
    enum {
        INSIDE_ENDS = 1u << NTR_SPAN_CUT | 1u << NTR_SPAN_NOT_TAKEN | 1u << NTR_SPAN_TAKEN | 1u << NTR_SPAN_JUMP |
                      1u << NTR_SPAN_INDIRECT_JUMP
    };
    unsigned end = 1u << event->end;
    if (!s->stays || event->kind != NTR_EVENT_SPAN || event->flags & NTR_EVENT_TARGET_UNKNOWN) return false;
    return end & INSIDE_ENDS && ntr_function_range_holds(&s->code, event->target, event->offset);
}

/* Returns whether the next spans are likely to stay in the function. After a call or a return this is not looked up:
 * joined spans (ntr_decoder_set_join) are mostly calls and returns. */
static bool may_stay(const ntr_event *event) {
    return event->end <= NTR_SPAN_JUMP || event->end == NTR_SPAN_INDIRECT_JUMP;
}

static ntr_status count_span(ntr_calltree *t, struct calltree_source *s, uint32_t node, uint64_t instructions) {
    t->nodes[node].instructions += instructions;
    return s->time.timed ? ntr_time_attribution_add(&s->time, node, instructions, t->allocator) : NTR_OK;
}

/* An event of a part of a trace that changes frames which are not known: it is logged. */
static ntr_status take_unknown(ntr_calltree *t, const ntr_event *event) {
    return ntr_open_log_event(t->log, t->stacks, NTR_OPEN_EVENT, event, t->count);
}

static ntr_status take_open_span(ntr_calltree *t, struct calltree_source *s, const ntr_event *event, bool *taken) {
    const ntr_stack_frame *frame = ntr_callstack_frame(t->stacks, event);
    if (!frame) return NTR_E_MEMORY;
    const uint32_t node = ntr_calltree_node_of(t, frame->handle);
    *taken = ntr_open_log_touches(t->log, t->stacks, event);
    if (!*taken) return NTR_OK;
    s->stays = false;
    ntr_status status = take_unknown(t, event);
    return status ? status : count_span(t, s, node, ntr_event_executed(event));
}

static ntr_status take_span(ntr_calltree *t, struct calltree_source *s, const ntr_event *event) {
    uint32_t node = NTR_CALLTREE_ROOT, handle;
    ntr_status status;
    if (t->kept) { /* the handle may be that of another frame afterwards */
        const ntr_stack_frame *frame = ntr_callstack_frame(t->stacks, event);
        if (!frame) return NTR_E_MEMORY;
        node = ntr_calltree_node_of(t, frame->handle);
    }
    if (!t->log || !ntr_open_log_passes(t->stacks, event, &handle, &status)) {
        bool taken = false;
        ntr_status logged = t->log ? take_open_span(t, s, event, &taken) : NTR_OK;
        if (logged || taken) return logged;
        status = ntr_callstack_span(t->stacks, event, &handle);
    }
    if (!t->kept) node = handle;
    s->stays = !status && may_stay(event) && ntr_callstack_stays(t->stacks, event, &s->code, &s->node);
    if (s->stays) s->node = ntr_calltree_node_of(t, s->node);
    return status ? status : count_span(t, s, node, ntr_event_executed(event));
}

static void attribute_time(ntr_calltree *t, struct calltree_source *s, const ntr_event *event) {
    if (s->time.timed || event->flags & NTR_EVENT_TIME)
        ntr_time_attribution_event(&s->time, event, ntr_calltree_take_ticks, t);
}

static ntr_status take(ntr_calltree *t, const ntr_event *event) {
    struct calltree_source *s = source_of(t, event->src);
    if (!s) return NTR_E_MEMORY;
    attribute_time(t, s, event);
    if (t->kept) ntr_chunk_frames_event(t->kept, event);
    if (stays(s, event)) return count_span(t, s, s->node, ntr_event_executed(event));
    if (event->kind == NTR_EVENT_SPAN) return take_span(t, s, event);
    s->stays = false;
    if (t->log && ntr_open_log_touches(t->log, t->stacks, event)) return take_unknown(t, event);
    return ntr_callstack_feed(t->stacks, event);
}

/* Changes the stacks by an event for which the current function does not stay. */
static ntr_status change_stacks(ntr_calltree *t, struct calltree_source *s, const ntr_event *event) {
    const bool span = event->kind == NTR_EVENT_SPAN;
    ntr_status status = NTR_OK;
    if (span) {
        const ntr_stack_frame *frame = ntr_callstack_frame(t->stacks, event);
        if (!frame) return NTR_E_MEMORY;
        status = count_span(t, s, ntr_calltree_node_of(t, frame->handle), ntr_event_executed(event));
    }
    ntr_followers_executed(&t->followers, event);
    if (!status) status = ntr_callstack_feed(t->stacks, event);
    s->stays = span && !status && may_stay(event) && ntr_callstack_stays(t->stacks, event, &s->code, &s->node);
    if (s->stays) s->node = ntr_calltree_node_of(t, s->node);
    return status;
}

/* Takes the event, and passes it to the followers. */
static ntr_status take_followed(ntr_calltree *t, const ntr_event *event) {
    struct calltree_source *s = source_of(t, event->src);
    ntr_status status;
    if (!s) return NTR_E_MEMORY;
    attribute_time(t, s, event);
    ntr_followers_before(&t->followers, event);
    if (stays(s, event)) {
        status = count_span(t, s, s->node, ntr_event_executed(event));
        ntr_followers_executed(&t->followers, event);
    } else {
        status = change_stacks(t, s, event);
    }
    const ntr_status ended = ntr_followers_after(&t->followers, event);
    return status ? status : ended;
}

/* Counts the leading spans that stay in the current function. Returns their number. */
static size_t count_leading_spans(ntr_calltree *t, const ntr_event *events, size_t count) {
    size_t taken = 0;
    uint64_t instructions = 0;
    if (count == 0 || events->src >= t->source_count) return 0;
    const struct calltree_source s = t->sources[events->src];
    if (!s.stays || s.time.timed) return 0;
    for (; taken < count && events[taken].src == events->src && stays(&s, &events[taken]); taken++) {
        if (events[taken].flags & NTR_EVENT_TIME) break;
        instructions += ntr_event_executed(&events[taken]);
    }
    t->nodes[s.node].instructions += instructions;
    if (t->kept) t->kept->now += instructions;
    return taken;
}

/* Returns the number of events that are kept in the head of the chunk. */
static size_t take_head(ntr_calltree *t, const ntr_event *events, size_t count) {
    const bool open = t->head->open;
    const size_t taken = ntr_chunk_head_take(t->head, events, count);
    if (t->head->failed) t->failed = NTR_E_MEMORY;
    if (open && !t->head->open) ntr_calltree_follow_time(t, t->head->events, t->head->count);
    return taken;
}

ntr_status ntr_calltree_feed(ntr_calltree *t, const ntr_event *events, size_t count) {
    ntr_status status = NTR_OK;
    const size_t kept = t->head ? take_head(t, events, count) : 0;
    events += kept;
    count -= kept;
    t->fed |= count != 0;
    if (t->followed && count) t->last = events[count - 1];
    for (size_t i = 0; t->followed && i < count && !status; i++) status = take_followed(t, &events[i]);
    for (size_t i = 0; !t->followed && i < count && !status; i++) {
        i += count_leading_spans(t, events + i, count - i);
        if (i < count) status = take(t, &events[i]);
    }
    return status ? status : t->failed;
}

void ntr_calltree_follow_time(ntr_calltree *t, const ntr_event *events, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct calltree_source *s = source_of(t, events[i].src);
        if (!s) continue;
        ntr_time_attribution_event(&s->time, &events[i], ntr_calltree_take_ticks, t);
        if (events[i].kind == NTR_EVENT_SPAN) s->time.ticks = 0; /* belongs to a span before the part */
    }
}
