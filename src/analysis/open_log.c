#include "analysis/open_log.h"

#include "analysis/callstack_state.h"
#include "base/allocator.h"

#include <string.h>

enum { OPEN_DEPTH_MAX = 1 << 15 }; /* the callstack drops frames at twice that depth */
enum { OPEN_ECALL_BYTES = 4 };

void ntr_open_log_release(ntr_open_log *log) {
    ntr_dealloc(log->allocator, log->entries);
    ntr_dealloc(log->allocator, log->frames);
    if (log->kept) ntr_chunk_frames_release(log->kept);
    ntr_dealloc(log->allocator, log->kept);
    *log = (ntr_open_log){.allocator = log->allocator};
}

void ntr_open_log_restart(ntr_open_log *log, ntr_callstack *cs) {
    log->count = log->frame_count = 0;
    log->bases = 0;
    log->dependent = false;
    if (log->kept) ntr_chunk_frames_restart(log->kept);
    ntr_coroutine_forget(cs);
    cs->swapped = false;
    for (size_t i = 0; i < cs->stack_count; i++) cs->stacks[i].depth = 0;
}

static hart *hart_with(ntr_callstack *cs, uint16_t src) {
    for (size_t i = 0; i < cs->hart_count; i++)
        if (cs->harts[i].src == src) return &cs->harts[i];
    return NULL;
}

/* Selects the stack of the event's context, as the event will. */
static ntr_status select_context(ntr_callstack *cs, const ntr_event *event) {
    ntr_event note = {.kind = NTR_EVENT_NOTE, .src = event->src, .context = event->context, .offset = event->offset};
    return ntr_callstack_feed(cs, &note);
}

/* ---- which events touch unknown frames */

static uint32_t function_of(ntr_callstack *cs, const ntr_event *event, uint64_t address) {
    return ntr_callstack_range(cs, event, address).number;
}

static bool is_entry(ntr_callstack *cs, const ntr_event *event, uint64_t address) {
    const ntr_function_range range = ntr_callstack_range(cs, event, address);
    return ntr_function_range_begins(&range, address);
}

/* Returns whether a call above the base returns to the address. */
static bool is_known_return(const stack *s, uint64_t address, size_t searched) {
    for (size_t depth = s->depth; depth > 1 && searched--; depth--)
        if (s->frames[depth - 1].kind == NTR_FRAME_CALL && s->frames[depth - 1].return_to == address) return true;
    return false;
}

/* Returns whether the trap handler is left for the function below it, both above the base. */
static bool is_known_trap_return(ntr_callstack *cs, const stack *s, const ntr_event *e) {
    size_t depth = s->depth;
    while (depth > 1 && s->frames[depth - 1].kind < NTR_FRAME_EXCEPTION) depth--;
    return depth > 1 && s->frames[depth - 2].function == function_of(cs, e, e->target);
}

/* A jump to another function replaces the top frame, which is not known if it is the base. */
static bool replaces_base(ntr_callstack *cs, const stack *s, const ntr_event *e) {
    return s->depth <= 1 && s->frames[0].function != function_of(cs, e, e->target);
}

/* Returns whether a jump to another function ends a trap, or may do so. *unknown: that trap may be the base or below.
 */
static bool ends_trap(ntr_callstack *cs, const stack *s, const ntr_event *e, bool *unknown) {
    *unknown = false;
    return s->frames[s->depth - 1].function != function_of(cs, e, e->target) &&
           (ntr_stack_left_trap(s, e->target, unknown) || *unknown);
}

static bool span_touches(ntr_open_log *log, ntr_callstack *cs, const hart *h, const stack *s, const ntr_event *e) {
    enum { SEARCHED_BY_JUMPS = 256 };
    bool unknown;
    if (e->flags & NTR_EVENT_TARGET_UNKNOWN) return e->end != NTR_SPAN_CUT && e->end != NTR_SPAN_NOT_TAKEN;
    const change c = {.cs = cs, .hart = (hart *)h, .stack = (stack *)s, .event = e};
    if (ntr_coroutine_may_leave(&c)) return true;
    switch ((ntr_span_end)e->end) {
    case NTR_SPAN_RETURN:
    case NTR_SPAN_CO_SWAP: {
        if (is_known_return(s, e->target, 1)) return false; /* most returns */
        log->dependent |= ntr_threads_leaves(&c);
        if (is_known_return(s, e->target, SIZE_MAX)) return false;
        if (!is_entry(cs, e, e->target)) return true;
        return e->end == NTR_SPAN_RETURN && replaces_base(cs, s, e); /* a call, or a tail call */
    }
    case NTR_SPAN_TRAP_RETURN: return !is_known_trap_return(cs, s, e);
    case NTR_SPAN_INDIRECT_JUMP:
        if (ends_trap(cs, s, e, &unknown)) return unknown;
        if (is_entry(cs, e, e->target) || s->frames[s->depth - 1].function == function_of(cs, e, e->target))
            return replaces_base(cs, s, e);
        return !is_known_return(s, e->target, SEARCHED_BY_JUMPS);
    case NTR_SPAN_JUMP:
    case NTR_SPAN_TAKEN:
    case NTR_SPAN_NOT_TAKEN: return replaces_base(cs, s, e);
    case NTR_SPAN_CUT: return e->flags & NTR_EVENT_RUNS_ON && replaces_base(cs, s, e);
    case NTR_SPAN_EXCEPTION:
    case NTR_SPAN_TRAP:
    case NTR_SPAN_INTERRUPT: return log->kept;
    default: return false;
    }
}

static bool sync_touches(ntr_callstack *cs, const hart *h, const stack *s, const ntr_event *e) {
    if (s->depth == 0) return true;
    if (h->stopped == HART_STOPPED && e->address != h->stopped_at && e->address != h->stopped_at + OPEN_ECALL_BYTES)
        return true;
    return s->frames[s->depth - 1].function != function_of(cs, e, e->address);
}

bool ntr_open_log_touches(ntr_open_log *log, ntr_callstack *cs, const ntr_event *event) {
    if (event->kind != NTR_EVENT_SPAN && select_context(cs, event) != NTR_OK) return false;
    const hart *h = hart_with(cs, event->src);
    if (!h) return false;
    const stack *s = &cs->stacks[h->current];
    log->dependent |= s->depth >= OPEN_DEPTH_MAX || h->threaded || cs->swapped;
    if (event->kind == NTR_EVENT_SPAN) return s->depth && span_touches(log, cs, h, s, event);
    if (event->kind == NTR_EVENT_SYNC) return sync_touches(cs, h, s, event);
    return event->kind == NTR_EVENT_GAP || (log->kept && event->kind == NTR_EVENT_CONTEXT);
}

bool ntr_open_log_passes(ntr_callstack *cs, const ntr_event *event, uint32_t *handle, ntr_status *status) {
    return ntr_callstack_shallow_span(cs, event, OPEN_DEPTH_MAX, handle, status);
}

bool ntr_callstack_threaded(const ntr_callstack *cs) {
    for (size_t i = 0; i < cs->hart_count; i++)
        if (cs->harts[i].threaded) return true;
    return false;
}

/* ---- logging */

/* An event that is applied later enters fewer frames than that. */
static void note_position(ntr_chunk_frames *kept, ntr_open_entry *entry, const ntr_event *event) {
    enum { ENTERED_LATER = 16 };
    entry->now = kept->now - (event->kind == NTR_EVENT_SPAN ? ntr_event_executed(event) : 0);
    entry->entered = kept->entered;
    entry->left = kept->count;
    kept->entered += ENTERED_LATER;
}

static ntr_open_entry *add_entry(ntr_open_log *log, ntr_open_kind kind, const ntr_event *event, size_t nodes) {
    if (ntr_reserve(log->allocator, (void **)&log->entries, &log->capacity, log->count + 1, sizeof *log->entries))
        return NULL;
    ntr_open_entry *entry = &log->entries[log->count++];
    *entry = (ntr_open_entry){
        .kind = (uint8_t)kind, .event = *event, .nodes = (uint32_t)nodes, .first_frame = log->frame_count};
    if (log->kept) note_position(log->kept, entry, event);
    return entry;
}

/* Looks up the function that the event goes to: functions are numbered in the order of the look-ups, which the stacks
 * of the whole make at this event. No span may follow in it: a gap can. */
static void look_up(ntr_callstack *cs, const ntr_event *event) {
    const bool goes = event->kind == NTR_EVENT_SPAN && !(event->flags & NTR_EVENT_TARGET_UNKNOWN);
    if (goes || event->kind == NTR_EVENT_SYNC) function_of(cs, event, goes ? event->target : event->address);
}

/* Returns the logged form of a frame that is forgotten. */
static ntr_open_frame frame_of(ntr_open_log *log, const ntr_stack_frame *frame) {
    if (!log->kept) return (ntr_open_frame){.node = frame->handle, .return_to = frame->return_to};
    const ntr_chunk_record record = ntr_chunk_frames_forget(log->kept, frame->handle);
    return (ntr_open_frame){
        .node = record.node, .return_to = frame->return_to, .begin = record.begin, .order = record.order};
}

ntr_status ntr_open_log_event(ntr_open_log *log, ntr_callstack *cs, ntr_open_kind kind, const ntr_event *event,
                              size_t nodes) {
    hart *h = hart_with(cs, event->src);
    ntr_open_entry *entry = add_entry(log, kind, event, nodes);
    if (!h || !entry) return NTR_E_MEMORY;
    stack *s = &cs->stacks[h->current];
    entry->stopped = h->stopped;
    entry->stopped_at = h->stopped == HART_STOPPED ? h->stopped_at : 0;
    entry->frame_count = s->depth ? s->depth - 1 : 0;
    if (kind == NTR_OPEN_EVENT) look_up(cs, event);
    if (ntr_reserve(log->allocator, (void **)&log->frames, &log->frame_capacity, log->frame_count + entry->frame_count,
                    sizeof *log->frames))
        return NTR_E_MEMORY;
    for (size_t i = 0; i < s->depth; i++) {
        const ntr_open_frame frame = frame_of(log, &s->frames[i]);
        if (i) log->frames[log->frame_count++] = frame;
    }
    s->depth = 0;
    if (event->kind == NTR_EVENT_SPAN) h->stopped = HART_RUNS;
    return NTR_OK;
}

uint64_t ntr_open_log_base(ntr_open_log *log, const ntr_stack_moment *moment, size_t nodes) {
    ntr_event event = *moment->event;
    event.context = *moment->context;
    ntr_open_entry *entry = add_entry(log, NTR_OPEN_BASE, &event, nodes);
    if (!entry) return 0;
    entry->node = (uint32_t)nodes;
    return ++log->bases;
}

/* A hart ends in its own context: its stack is the last one. */
ntr_status ntr_open_log_finish(ntr_open_log *log, ntr_callstack *cs, size_t nodes) {
    log->dependent |= ntr_callstack_threaded(cs) || cs->swapped;
    for (size_t i = 0; i < cs->stack_count; i++) log->dependent |= cs->stacks[i].depth >= OPEN_DEPTH_MAX;
    for (size_t i = 0; i < cs->stack_count; i++) {
        const ntr_event end = {.kind = NTR_EVENT_NOTE, .src = cs->stacks[i].src, .context = cs->stacks[i].context};
        hart *h = hart_with(cs, end.src);
        if (!h || h->current == i) continue;
        const size_t current = h->current;
        h->current = i;
        ntr_status status = ntr_open_log_event(log, cs, NTR_OPEN_END, &end, nodes);
        h->current = current;
        if (status) return status;
    }
    for (size_t i = 0; i < cs->hart_count; i++) {
        const ntr_event end = {.kind = NTR_EVENT_NOTE, .src = cs->harts[i].src, .context = cs->harts[i].context};
        ntr_status status = ntr_open_log_event(log, cs, NTR_OPEN_END, &end, nodes);
        if (status) return status;
    }
    return NTR_OK;
}

/* ---- applying */

ntr_status ntr_open_log_push(ntr_callstack *cs, const ntr_open_entry *entry, const ntr_stack_frame *frames,
                             size_t count) {
    ntr_status status = select_context(cs, &entry->event);
    hart *h = hart_with(cs, entry->event.src);
    if (status || !h) return NTR_E_MEMORY;
    stack *s = &cs->stacks[h->current];
    if (s->depth + count >= OPEN_DEPTH_MAX) return NTR_E_LIMIT;
    if (ntr_reserve(cs->allocator, (void **)&s->frames, &s->capacity, s->depth + count + 1, sizeof *s->frames))
        return NTR_E_MEMORY;
    for (size_t i = 0; i < count; i++) s->frames[s->depth++] = frames[i];
    if (entry->stopped == HART_STOP_UNKNOWN) return NTR_OK;
    h->stopped = entry->stopped;
    h->stopped_at = entry->stopped_at;
    return NTR_OK;
}
