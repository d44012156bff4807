/* The pass over the trace that makes the index: points, call stacks, sets of executed blocks.
 *
 * Idea: a counting decode reports all executed blocks to a count callback, which is enough for the sets and for the
 * number of instructions; pass_calls.c has the call stacks. Where these need events, the decoder returns joined spans,
 * and reports the blocks, too. Both are fast, because the decoder does not make an event for each span.
 *
 * Invariant: between two points, the counts of the callback are exactly those of the spans that a decoder without
 * joined spans returns from the snapshot of the first point to that of the second. */
#include "replay/state.h"

#include "base/allocator.h"

#include <string.h>

/* ---- harts */

size_t ntr_replay_hart_index(ntr_replay *r, uint16_t src) {
    if (src >= NTR_SOURCES_MAX) return SIZE_MAX;
    if (r->hart_number[src]) return r->hart_number[src] - 1u;
    size_t count = r->hart_count + 1;
    if (ntr_reserve(r->allocator, (void **)&r->harts, &r->hart_capacity, count, sizeof *r->harts) ||
        ntr_reserve(r->allocator, (void **)&r->hart_executed, &r->hart_executed_capacity, count,
                    sizeof *r->hart_executed) ||
        ntr_reserve(r->allocator, (void **)&r->hart_places, &r->hart_places_capacity, count, sizeof *r->hart_places))
        return SIZE_MAX;
    r->hart_places[r->hart_count] = (ntr_trail_place){0};
    r->harts[r->hart_count] = src;
    r->hart_executed[r->hart_count] = 0;
    r->hart_number[src] = (uint16_t)count;
    return r->hart_count++;
}

void ntr_replay_forget_harts(ntr_replay *r) {
    for (size_t i = 0; i < r->hart_count; i++) r->hart_number[r->harts[i]] = 0;
    r->hart_count = 0;
}

/* ---- what the decoder reports */

static ntr_status count_span(void *user, const ntr_event *e, uint64_t times) {
    ntr_replay *r = user;
    ntr_pass_check(r, e);
    if (e->kind == NTR_EVENT_GAP) r->points[r->point_count - 1].gaps = true;
    if (e->kind != NTR_EVENT_SPAN || !e->instructions || !times) return NTR_OK;
    size_t hart = ntr_replay_hart_index(r, e->src);
    if (hart == SIZE_MAX) return NTR_E_MEMORY;
    r->executed += times * e->instructions;
    r->hart_executed[hart] += times * e->instructions;
    return ntr_span_table_add(&r->blocks, e->address, e->halfwords);
}

/* Parts with gaps are read with events, so that a gap at the end of a part is seen here. */
static void follow_gap(ntr_pass_part *part, const ntr_event *e) {
    if (e->kind == NTR_EVENT_SPAN && e->instructions) part->ends_with_gap = false;
    if (e->kind != NTR_EVENT_GAP) return;
    part->ends_with_gap = true;
    part->gap = *e;
}

static ntr_status take_events(ntr_replay *r, const ntr_event *events, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const ntr_event *e = &events[i];
        if (e->kind == NTR_EVENT_SPAN) r->part.instructions += e->instructions * (1 + e->repeats);
        if (e->kind == NTR_EVENT_SPAN && e->instructions && ntr_replay_hart_index(r, e->src) == SIZE_MAX)
            return NTR_E_MEMORY;
        if (e->kind == NTR_EVENT_GAP) r->points[r->point_count - 1].gaps = true;
        follow_gap(&r->part, e);
        if (ntr_callstack_feed(r->pass_stacks, e) != NTR_OK) return NTR_E_MEMORY;
    }
    return NTR_OK;
}

/* ---- points */

static ntr_status fill_harts(ntr_replay *r, ntr_replay_point *point) {
    point->harts = ntr_alloc(r->allocator, r->hart_count + 1, sizeof *point->harts);
    if (!point->harts) return NTR_E_MEMORY;
    point->hart_count = r->hart_count;
    for (size_t i = 0; i < r->hart_count; i++) point->harts[i].executed = r->hart_executed[i];
    uint16_t src;
    uint64_t address;
    bool known;
    for (size_t i = 0; point->snapshot && ntr_snapshot_source(point->snapshot, i, &src, &address, &known); i++) {
        if (src >= NTR_SOURCES_MAX || !r->hart_number[src]) continue;
        ntr_point_hart *hart = &point->harts[r->hart_number[src] - 1];
        hart->address = address;
        hart->address_known = known;
    }
    return NTR_OK;
}

static ntr_status fill_gap(const ntr_replay *r, ntr_replay_point *point) {
    if (!r->part.ends_with_gap) return NTR_OK;
    point->gap = ntr_alloc(r->allocator, 1, sizeof *point->gap);
    if (!point->gap) return NTR_E_MEMORY;
    *point->gap = r->part.gap;
    point->gaps = true;
    return NTR_OK;
}

/* Adds a point at the place that the pass has reached. */
static ntr_status add_point(ntr_replay *r) {
    if (ntr_reserve(r->allocator, (void **)&r->points, &r->point_capacity, r->point_count + 1, sizeof *r->points))
        return NTR_E_MEMORY;
    ntr_replay_point *point = &r->points[r->point_count];
    *point = (ntr_replay_point){.offset = r->pass_stream.offset, .first = r->executed};
    r->point_count++;
    point->snapshot = ntr_snapshot_take(r->pass_decoder);
    if (!point->snapshot) return NTR_E_MEMORY;
    ntr_snapshot_forget_joined(point->snapshot);
    point->message = ntr_snapshot_number(point->snapshot);
    point->time = ntr_snapshot_time(point->snapshot);
    ntr_status status = ntr_callstack_save(r->pass_stacks, &r->store, &point->stacks);
    if (status == NTR_OK) status = fill_gap(r, point);
    return status ? status : fill_harts(r, point);
}

/* ---- the pass */

static uint32_t no_handle(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool tail) {
    (void)user, (void)moment, (void)frame, (void)tail;
    return 0;
}

static bool proceed(void *user) {
    const ntr_replay *r = user;
    return ntr_replay_proceed(r, &r->pass_stream);
}

ntr_status ntr_replay_pass_begin(ntr_replay *r) {
    static const ntr_stack_listener listener = {.enter = no_handle};
    ntr_status status = NTR_OK;
    r->store.allocator = r->blocks.allocator = r->allocator;
    r->part.most_bytes = NTR_PART_BYTES;
    r->part.most_instructions = NTR_PART_INSTRUCTIONS;
    ntr_decoder_config config = r->decoder_config;
    if (r->config.proceed) config.proceed = proceed, config.proceed_user = r;
    status = ntr_decoder_new(&config, &r->pass_decoder);
    if (!r->pass_decoder) return status;
    ntr_callstack_new(r->config.functions, &listener, r->allocator, &r->pass_stacks);
    if (!r->pass_stacks) return NTR_E_MEMORY;
    ntr_decoder_set_join(r->pass_decoder, ntr_functions_same, r->config.functions);
    ntr_decoder_set_repeats(r->pass_decoder, true);
    ntr_decoder_set_count_callback(r->pass_decoder, count_span, r);
    ntr_pass_follow_calls(r);
    status = ntr_replay_stream_seek(r, &r->pass_stream, 0);
    if (status != NTR_OK) return status;
    status = ntr_decoder_feed(r->pass_decoder, NULL, 0, false); /* a snapshot needs a decoder that wants bytes */
    ntr_event none;
    size_t count;
    if (status == NTR_OK) status = ntr_decoder_read(r->pass_decoder, &none, 1, &count);
    if (status < 0) return status;
    ntr_span_table_begin(&r->blocks);
    return add_point(r);
}

/* Gives the decoder the next bytes. */
static ntr_status feed_slice(ntr_replay *r) {
    bool last;
    const size_t size = r->part.most_bytes < NTR_PART_SLICE ? (size_t)r->part.most_bytes : NTR_PART_SLICE;
    ntr_bytes slice = ntr_replay_stream_take(r, &r->pass_stream, size, &last);
    ntr_status status = r->part.mode == NTR_PASS_COUNTS ? ntr_pass_keep(r, slice, last) : NTR_OK;
    return status == NTR_OK ? ntr_decoder_feed(r->pass_decoder, slice.data, slice.size, last) : status;
}

/* Counts all of what was fed. Returns NTR_OK when interrupted: as read_slice. */
static ntr_status count_slice(ntr_replay *r) {
    ntr_counts counts = {0};
    const uint64_t before = ntr_decoder_without_memo(r->pass_decoder);
    ntr_status status = ntr_decoder_count(r->pass_decoder, &counts);
    r->part.instructions += counts.instructions;
    r->part.messages += counts.messages;
    r->part.without_memo += ntr_decoder_without_memo(r->pass_decoder) - before;
    return status == NTR_E_STOPPED ? NTR_OK : status;
}

/* Takes all events of what was fed. One message can stand for any number of instructions, so that this may be
 * interrupted, too: returns NTR_OK, and continues when it is called again. */
static ntr_status read_slice(ntr_replay *r) {
    ntr_event events[NTR_REPLAY_EVENTS];
    ntr_status status = NTR_OK;
    for (unsigned reads = 1; status == NTR_OK; reads++) {
        size_t count;
        if (reads % NTR_READS_POLLED == 0 && !ntr_replay_proceed(r, &r->pass_stream)) return NTR_OK;
        status = ntr_decoder_read(r->pass_decoder, events, NTR_REPLAY_EVENTS, &count);
        ntr_status taken = status < 0 && status != NTR_E_STOPPED ? status : take_events(r, events, count);
        if (taken < 0) return taken;
    }
    return status == NTR_E_STOPPED ? NTR_OK : status;
}

/* Reads the next bytes of the part, or continues to. Returns NTR_END when interrupted. */
static ntr_status go_on(ntr_replay *r) {
    ntr_status status = r->pass_inside ? NTR_OK : feed_slice(r);
    r->pass_inside = true;
    if (status == NTR_OK) status = r->part.mode == NTR_PASS_COUNTS ? count_slice(r) : read_slice(r);
    if (status == NTR_OK) return NTR_END;
    r->pass_inside = false;
    r->complete = status == NTR_END;
    return status < 0 ? status : NTR_OK;
}

static void begin_part(ntr_replay *r) {
    r->part.mode = ntr_pass_choose(r);
    r->part.instructions = r->part.messages = r->part.without_memo = r->part.size = 0;
    r->part.irregular = r->part.ends_with_gap = false;
    if (r->part.mode == NTR_PASS_EVENTS && r->part.pause && r->part.pause != UINT32_MAX) r->part.pause--;
}

static ntr_status count_nothing(void *user, const ntr_event *e, uint64_t times) {
    (void)user, (void)e, (void)times;
    return NTR_OK;
}

/* Takes the call stacks of a part that was read by counting from its events. Returns NTR_END when interrupted. */
static ntr_status read_again(ntr_replay *r) {
    ntr_decoder_set_count_callback(r->pass_decoder, count_nothing, NULL); /* all of it has been counted */
    ntr_status status = read_slice(r);
    if (status >= 0 && ntr_decoder_flush_counts(r->pass_decoder) < 0) status = NTR_E_MEMORY;
    ntr_decoder_set_count_callback(r->pass_decoder, count_span, r);
    return status == NTR_OK ? NTR_END : status < 0 ? status : NTR_OK;
}

static ntr_status end_part(ntr_replay *r) {
    ntr_status status = NTR_OK;
    if (r->part.mode != NTR_PASS_AGAIN) status = ntr_decoder_flush_counts(r->pass_decoder);
    if (status == NTR_OK && r->part.mode == NTR_PASS_COUNTS) {
        status = ntr_pass_end_counts(r);
        if (status == NTR_END) r->part.mode = NTR_PASS_AGAIN;
    }
    if (status >= 0 && r->part.mode == NTR_PASS_AGAIN) status = read_again(r);
    if (status != NTR_OK) return status;
    if (r->part.mode != NTR_PASS_COUNTS) ntr_pass_end_events(r);
    r->part.mode = NTR_PASS_BETWEEN;
    status = ntr_span_table_take(&r->blocks, &r->points[r->point_count - 1].blocks);
    if (status < 0) return status;
    ntr_span_table_begin(&r->blocks);
    return add_point(r);
}

static bool is_full(const ntr_replay *r) {
    const uint64_t begin = r->points[r->point_count - 1].offset;
    return r->pass_stream.offset - begin >= r->part.most_bytes || r->part.instructions >= r->part.most_instructions;
}

ntr_status ntr_replay_pass(ntr_replay *r) {
    if (r->part.mode == NTR_PASS_BETWEEN) begin_part(r);
    while (r->part.mode != NTR_PASS_AGAIN && !r->complete && !is_full(r)) {
        if (!ntr_replay_proceed(r, &r->pass_stream)) return NTR_END;
        ntr_status status = go_on(r);
        if (status != NTR_OK) return status;
    }
    return end_part(r);
}

ntr_status ntr_replay_pass_to(ntr_replay *r, uint64_t position) {
    ntr_status status = NTR_OK;
    while (status == NTR_OK && !r->complete && position >= r->points[r->point_count - 1].first)
        status = ntr_replay_pass(r);
    return status;
}

size_t ntr_replay_part_of(const ntr_replay *r, uint64_t position) {
    size_t low = 0, high = ntr_replay_parts(r);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->points[middle + 1].first <= position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void ntr_replay_pass_end(ntr_replay *r) {
    for (size_t i = 0; i < r->point_count; i++) {
        ntr_replay_point *point = &r->points[i];
        ntr_snapshot_free(point->snapshot, r->allocator);
        ntr_saved_stacks_release(&point->stacks, r->allocator);
        ntr_dealloc(r->allocator, point->harts);
        ntr_dealloc(r->allocator, point->gap);
        ntr_dealloc(r->allocator, point->blocks.bytes);
    }
    ntr_dealloc(r->allocator, r->points);
    ntr_dealloc(r->allocator, r->harts);
    ntr_dealloc(r->allocator, r->hart_executed);
    ntr_dealloc(r->allocator, r->hart_places);
    ntr_dealloc(r->allocator, r->part.bytes);
    ntr_frame_store_release(&r->store);
    ntr_span_table_release(&r->blocks);
    ntr_callstack_free(r->pass_stacks);
    ntr_decoder_free(r->pass_decoder);
    ntr_stream_reader_free(r->pass_stream.reader);
}
