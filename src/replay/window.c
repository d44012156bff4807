/* Windows: parts of the trace decoded to spans.
 *
 * A part is decoded from its point; it fills one window, or several one after the other if it has more spans than a
 * window holds. Only the window with the wanted position is kept; a window behind it is read from where that one ended
 * (ntr_part_rest). Where the windows of a part begin depends on the part alone, so that a position is always in the
 * same window.
 *
 * The frames of the call stacks that exist at the beginning of the part have numbers of ntr_replay.store, those entered
 * later numbers of the window. When a window is begun in the middle of a part, the frames that exist there move to it.
 */
#include "replay/state.h"

#include "analysis/callstack.h"
#include "base/allocator.h"
#include "base/macros.h"

#include <string.h>

/* ---- frames */

static uint32_t enter_frame(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool tail) {
    ntr_replay *r = user;
    (void)tail;
    uint32_t number = ntr_frame_store_add(&r->filling->frames, frame, moment->parent ? moment->parent->handle : 0);
    return number ? number | NTR_WINDOW_FRAME : 0;
}

static uint32_t move_frame(void *user, const ntr_stack_frame *frame, uint32_t below) {
    if (frame->handle && !((frame->handle | below) & NTR_WINDOW_FRAME)) return frame->handle;
    uint32_t number = ntr_frame_store_add(user, frame, below);
    return number ? number | NTR_WINDOW_FRAME : 0;
}

static ntr_status move_frames(ntr_replay *r, ntr_replay_window *w) {
    ntr_frame_store old = w->frames;
    w->frames = (ntr_frame_store){.allocator = r->allocator};
    ntr_status status = ntr_callstack_visit(r->stacks, move_frame, &w->frames);
    ntr_frame_store_release(&old);
    w->old_frames = w->frames.count;
    return status;
}

/* ---- beginning */

static ntr_status add_gap(ntr_replay *r, ntr_replay_window *w, const ntr_event *e) {
    if (ntr_reserve(r->allocator, (void **)&w->gaps, &w->gap_capacity, w->gap_count + 1, sizeof *w->gaps))
        return NTR_E_MEMORY;
    w->gaps[w->gap_count++] = (ntr_window_gap){(uint32_t)w->span_count, *e};
    return NTR_OK;
}

static ntr_status reserve_harts(ntr_replay *r, ntr_replay_window *w, size_t count) {
    if (ntr_reserve(r->allocator, (void **)&w->harts, &w->hart_capacity, count, sizeof *w->harts)) return NTR_E_MEMORY;
    for (; w->hart_count < count; w->hart_count++) w->harts[w->hart_count] = (ntr_window_hart){0};
    return NTR_OK;
}

static void empty(ntr_replay_window *w, uint64_t first) {
    w->first = w->end = first;
    w->span_count = w->origin_count = w->gap_count = 0;
    w->loop_first = w->loop_end = w->loop_spans = 0;
    for (size_t i = 0; i < w->hart_count; i++) w->harts[i].has_origin = false;
}

static ntr_status begin_part(ntr_replay *r, ntr_replay_window *w, size_t part) {
    const ntr_replay_point *point = &r->points[part];
    r->loop_count = 0;
    r->rest.part = part;
    r->rest.end = r->points[part + 1].offset;
    r->rest.to_end = r->complete && part + 2 == r->point_count;
    r->rest.status = NTR_NEED_MORE;
    r->rest.at = r->rest.count = r->rest.reads = 0;
    w->frames.allocator = r->allocator;
    w->frames.count = w->old_frames = 0;
    w->hart_count = 0;
    empty(w, point->first);
    ntr_status status = reserve_harts(r, w, point->hart_count);
    for (size_t i = 0; status == NTR_OK && i < point->hart_count; i++) {
        w->harts[i].executed = point->harts[i].executed;
        w->harts[i].address = point->harts[i].address;
        w->harts[i].address_known = point->harts[i].address_known;
    }
    if (status == NTR_OK && point->gap) status = add_gap(r, w, point->gap);
    if (status == NTR_OK) status = ntr_snapshot_restore(r->decoder, point->snapshot);
    if (status == NTR_OK) status = ntr_callstack_restore(r->stacks, &r->store, &point->stacks);
    return status == NTR_OK ? ntr_replay_stream_seek(r, &r->stream, point->offset) : status;
}

/* Window `w` begins behind a full one of the same part, which it may be itself. */
static ntr_status begin_behind(ntr_replay *r, const ntr_replay_window *full, ntr_replay_window *w) {
    const bool ends_with_gap = full->gap_count && full->gaps[full->gap_count - 1].span == full->span_count;
    const ntr_event gap = ends_with_gap ? full->gaps[full->gap_count - 1].event : (ntr_event){0};
    if (w != full) {
        w->hart_count = 0;
        TRY(reserve_harts(r, w, full->hart_count));
        if (w->hart_count) memcpy(w->harts, full->harts, w->hart_count * sizeof *w->harts);
    }
    for (size_t i = 0; i < full->span_count; i++)
        w->harts[r->hart_number[full->spans[i].src] - 1].executed += full->spans[i].instructions;
    empty(w, full->end);
    if (ends_with_gap) TRY(add_gap(r, w, &gap));
    return move_frames(r, w);
}

/* Returns whether the position is behind the window that was filled last, in the same part. */
static bool is_behind(const ntr_replay *r, size_t part, uint64_t position) {
    const ntr_replay_window *w = r->rest.window;
    return w && w->valid && r->rest.part == part && position >= w->end;
}

/* ---- events */

static bool same_origin(const ntr_span_origin *o, const ntr_event *e) {
    return o->message == e->message && o->offset == e->offset && ntr_context_equal(&o->context, &e->context);
}

static ntr_status add_origin(ntr_replay *r, ntr_replay_window *w, const ntr_event *e, uint32_t *number) {
    if (w->origin_count && same_origin(&w->origins[w->origin_count - 1], e)) {
        *number = (uint32_t)w->origin_count - 1;
        return NTR_OK;
    }
    if (ntr_reserve(r->allocator, (void **)&w->origins, &w->origin_capacity, w->origin_count + 1, sizeof *w->origins))
        return NTR_E_MEMORY;
    w->origins[w->origin_count] = (ntr_span_origin){
        .offset = e->offset,
        .message = e->message,
        .time = e->time,
        .context = e->context,
        .timed = e->flags & NTR_EVENT_TIME,
    };
    *number = (uint32_t)w->origin_count++;
    return NTR_OK;
}

static ntr_status add_span(ntr_replay *r, ntr_replay_window *w, const ntr_event *e, uint32_t frame) {
    uint32_t origin;
    if (ntr_reserve(r->allocator, (void **)&w->spans, &w->span_capacity, w->span_count + 1, sizeof *w->spans) ||
        add_origin(r, w, e, &origin) != NTR_OK)
        return NTR_E_MEMORY;
    w->spans[w->span_count++] = (ntr_window_span){
        .address = e->address,
        .first = (uint32_t)(w->end - w->first),
        .instructions = e->instructions,
        .halfwords = e->halfwords,
        .frame = frame,
        .origin = origin,
        .src = e->src,
    };
    w->end += e->instructions;
    return NTR_OK;
}

/* Follows the address of the hart, for its state at the end of the window. */
static void follow(ntr_window_hart *hart, const ntr_event *e, uint32_t origin) {
    switch ((ntr_event_kind)e->kind) {
    case NTR_EVENT_SPAN:
        hart->address = e->target;
        hart->address_known = !(e->flags & NTR_EVENT_TARGET_UNKNOWN);
        if (!e->instructions) break;
        hart->origin = origin;
        hart->has_origin = true;
        break;
    case NTR_EVENT_SYNC:
    case NTR_EVENT_STOP:
        if (e->flags & NTR_EVENT_ADDRESS_UNKNOWN) break;
        hart->address = e->address;
        hart->address_known = true;
        break;
    default: break;
    }
}

static ntr_status take(ntr_replay *r, ntr_replay_window *w, const ntr_event *e) {
    uint32_t frame = 0;
    ntr_status status =
        e->kind == NTR_EVENT_SPAN ? ntr_callstack_span(r->stacks, e, &frame) : ntr_callstack_feed(r->stacks, e);
    if (status == NTR_OK && e->kind == NTR_EVENT_SPAN && e->instructions) status = add_span(r, w, e, frame);
    if (status == NTR_OK && e->kind == NTR_EVENT_GAP) status = add_gap(r, w, e);
    if (e->src >= NTR_SOURCES_MAX || !r->hart_number[e->src]) return status; /* it executes nothing */
    size_t hart = r->hart_number[e->src] - 1u;
    if (status == NTR_OK && hart >= w->hart_count) status = reserve_harts(r, w, hart + 1);
    if (status != NTR_OK) return status;
    follow(&w->harts[hart], e, w->origin_count ? (uint32_t)w->origin_count - 1 : 0);
    return NTR_OK;
}

static bool is_full(const ntr_replay_window *w) {
    return w->span_count >= NTR_WINDOW_SPANS || w->gap_count >= NTR_WINDOW_GAPS || w->end - w->first > UINT32_MAX / 2;
}

/* The window is full: it is the wanted one (*done), or the next one of the part takes its place. */
static ntr_status close_window(ntr_replay *r, ntr_replay_window *w, uint64_t position, bool *done) {
    *done = w->end > position;
    return *done ? NTR_OK : begin_behind(r, w, w);
}

static ntr_status make_room(ntr_replay *r, ntr_replay_window *w, uint64_t position, bool *done) {
    return is_full(w) ? close_window(r, w, position, done) : NTR_OK;
}

static ntr_status take_passes(ntr_replay *r, ntr_replay_window *w, uint64_t count) {
    r->loop_passes -= count;
    for (; count; count--)
        for (size_t i = 0; i < r->loop_count; i++) TRY(take(r, w, &r->loop[i]));
    return NTR_OK;
}

/* Adds the windows that have nothing but the loop, up to the one with the position (*done). Those before it are passed
 * over. */
static ntr_status add_whole_windows(ntr_replay *r, ntr_replay_window *w, uint64_t position, bool *done) {
    const uint64_t filled = ntr_window_loop_passes(r);
    uint64_t instructions = 0;
    if (!filled) return NTR_OK;
    for (size_t i = 0; i < r->loop_count; i++) instructions += r->loop[i].instructions;
    if (!instructions) return NTR_OK;
    if (w->span_count && r->loop_passes > r->loop_repeats) TRY(close_window(r, w, position, done));
    while (!*done && !w->span_count && r->loop_passes >= filled) {
        if (!w->gap_count) ntr_window_pass_over(r, w, position, instructions);
        if (r->loop_passes < filled) break;
        TRY(take_passes(r, w, filled));
        TRY(close_window(r, w, position, done));
    }
    return NTR_OK;
}

/* The pass has been read: adds it to windows, as often as it was executed, up to the one with the position (*done).
 * Errors: NTR_E_MEMORY. */
static ntr_status add_loop(ntr_replay *r, ntr_replay_window *w, uint64_t position, bool *done) {
    TRY(add_whole_windows(r, w, position, done));
    while (r->loop_passes && !*done) {
        TRY(make_room(r, w, position, done));
        if (!*done) TRY(take_passes(r, w, 1));
    }
    if (!r->loop_passes) r->loop_count = 0;
    return NTR_OK;
}

/* Takes the events that were read, until the window with `position` is full (*done). */
static ntr_status take_events(ntr_replay *r, ntr_replay_window *w, uint64_t position, bool *done) {
    for (ntr_part_rest *rest = &r->rest; rest->at < rest->count; rest->at++) {
        const ntr_event *e = &rest->events[rest->at];
        if (r->loop_count && !ntr_window_is_in_loop(r, e)) TRY(add_loop(r, w, position, done));
        if (*done) break;
        if (e->kind == NTR_EVENT_SPAN && e->repeats) {
            TRY(ntr_window_keep_loop(r, e));
            continue;
        }
        TRY(make_room(r, w, position, done));
        if (*done) break;
        TRY(take(r, w, e));
    }
    return NTR_OK;
}

/* Gives the decoder more bytes of the part; at its end, rest.status is NTR_END. Returns NTR_END when interrupted. */
static ntr_status feed(ntr_replay *r) {
    ntr_part_rest *rest = &r->rest;
    const uint64_t left = rest->end - r->stream.offset;
    bool last;
    rest->status = left || rest->to_end ? NTR_OK : NTR_END;
    if (rest->status == NTR_END) return NTR_OK;
    if (!ntr_replay_proceed(r, &r->stream)) return NTR_END;
    ntr_bytes slice = ntr_replay_stream_take(
        r, &r->stream, rest->to_end || left > NTR_PART_SLICE ? NTR_PART_SLICE : (size_t)left, &last);
    return ntr_decoder_feed(r->decoder, slice.data, slice.size, last && rest->to_end);
}

/* Reads the next events of the part. Returns NTR_END when interrupted. */
static ntr_status read_events(ntr_replay *r) {
    ntr_part_rest *rest = &r->rest;
    rest->at = rest->count = 0;
    if (rest->status == NTR_NEED_MORE) TRY(feed(r));
    if (rest->status == NTR_END) return NTR_OK;
    if (++rest->reads % NTR_READS_POLLED == 0 && !ntr_replay_proceed(r, &r->stream)) return NTR_END;
    rest->status = ntr_decoder_read(r->decoder, rest->events, NTR_REPLAY_EVENTS, &rest->count);
    if (rest->status == NTR_E_STOPPED) return NTR_END;
    return rest->status < 0 ? rest->status : NTR_OK;
}

/* Fills the window with the position. Returns NTR_END when interrupted. */
static ntr_status fill(ntr_replay *r, ntr_replay_window *w, size_t part, uint64_t position) {
    const ntr_part_rest *rest = &r->rest;
    bool done = false;
    ntr_status status = is_behind(r, part, position) ? begin_behind(r, rest->window, w) : begin_part(r, w, part);
    w->valid = false;
    r->rest.window = NULL;
    while (status == NTR_OK && !done) {
        if (rest->at < rest->count)
            status = take_events(r, w, position, &done);
        else if (rest->status != NTR_END)
            status = read_events(r);
        else if (r->loop_count)
            status = add_loop(r, w, position, &done);
        else
            break;
    }
    for (size_t i = 0; i < w->hart_count; i++) w->harts[i].frame = ntr_callstack_top(r->stacks, r->harts[i]);
    if (status == NTR_OK && done) r->rest.window = w;
    return status;
}

/* ---- the windows kept */

static void release(ntr_replay *r, ntr_replay_window *w) {
    ntr_dealloc(r->allocator, w->spans);
    ntr_dealloc(r->allocator, w->origins);
    ntr_dealloc(r->allocator, w->gaps);
    ntr_dealloc(r->allocator, w->harts);
    ntr_frame_store_release(&w->frames);
}

void ntr_replay_windows_release(ntr_replay *r) {
    for (size_t i = 0; i < NTR_WINDOWS; i++) release(r, &r->windows[i]);
    ntr_decoder_free(r->decoder);
    ntr_callstack_free(r->stacks);
    ntr_stream_reader_free(r->stream.reader);
    ntr_instructions_free(r->instructions);
    ntr_dealloc(r->allocator, r->loop);
}

static bool proceed(void *user) {
    const ntr_replay *r = user;
    return ntr_replay_proceed(r, &r->stream);
}

static ntr_status prepare(ntr_replay *r) {
    const ntr_stack_listener listener = {.enter = enter_frame, .user = r};
    ntr_status status = NTR_OK;
    ntr_decoder_config config = r->decoder_config;
    if (r->config.proceed) config.proceed = proceed, config.proceed_user = r;
    if (!r->decoder) status = ntr_decoder_new(&config, &r->decoder);
    if (r->decoder) ntr_decoder_repeat_in_order(r->decoder);
    if (r->decoder) ntr_decoder_set_division(r->decoder, ntr_functions_same, r->config.functions);
    if (!r->stacks) ntr_callstack_new(r->config.functions, &listener, r->allocator, &r->stacks);
    if (!r->instructions) ntr_instructions_new(r->decoder_config.program, r->allocator, &r->instructions);
    return r->decoder && r->stacks && r->instructions ? NTR_OK : status ? status : NTR_E_MEMORY;
}

static ntr_replay_window *oldest(ntr_replay *r) {
    ntr_replay_window *found = &r->windows[0];
    for (size_t i = 1; i < NTR_WINDOWS; i++)
        if (r->windows[i].used < found->used) found = &r->windows[i];
    return found;
}

static bool contains(const ntr_replay_window *w, uint64_t position) {
    return w->valid && w->first <= position && position < w->end;
}

ntr_replay_window *ntr_replay_window_at(ntr_replay *r, uint64_t position, ntr_status *status) {
    for (size_t i = 0; i < NTR_WINDOWS; i++)
        if (contains(&r->windows[i], position)) {
            r->windows[i].used = ++r->clock;
            return &r->windows[i];
        }
    *status = ntr_replay_pass_to(r, position);
    size_t part = ntr_replay_part_of(r, position);
    if (*status == NTR_OK && part == ntr_replay_parts(r)) return NULL;
    if (*status == NTR_OK) *status = prepare(r);
    if (*status != NTR_OK) return NULL;
    ntr_replay_window *w = r->filling = oldest(r);
    *status = fill(r, w, part, position);
    if (*status == NTR_OK) *status = ntr_window_sort(r, w);
    if (*status != NTR_OK) return NULL;
    w->valid = true;
    w->used = ++r->clock;
    if (contains(w, position)) return w;
    *status = NTR_E_STATE; /* the pass and the window disagree: an error in this library */
    return NULL;
}

/* ---- inside a window */

size_t ntr_window_find(const ntr_replay_window *w, uint64_t position) {
    size_t low = 0, high = w->span_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->first + w->spans[middle].first + w->spans[middle].instructions <= position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void ntr_window_expand(ntr_replay *r, const ntr_replay_window *w, const ntr_window_span *span) {
    const ntr_span_origin *origin = &w->origins[span->origin];
    const ntr_event e = {
        .kind = NTR_EVENT_SPAN,
        .src = span->src,
        .offset = origin->offset,
        .context = origin->context,
        .address = span->address,
        .instructions = span->instructions,
        .halfwords = span->halfwords,
    };
    ntr_instructions_begin(r->instructions, &e);
}

uint64_t ntr_window_address(ntr_replay *r, const ntr_replay_window *w, const ntr_window_span *span, uint32_t index) {
    ntr_instruction instruction = {.address = span->address};
    ntr_window_expand(r, w, span);
    for (uint32_t i = 0; i <= index; i++)
        if (ntr_instructions_next(r->instructions, &instruction) != NTR_OK) break;
    return instruction.address;
}
