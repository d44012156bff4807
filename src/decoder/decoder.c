/* The public functions of the decoder: bytes in, events or totals out. */
#include "base/config.h"
#include "decoder/message_memo.h"
#include "decoder/history_memo.h"
#include "decoder/walk_loop.h"
#include "decoder/walk_request.h"

#include "base/allocator.h"
#include "message/table.h"

static ntr_status check(const ntr_decoder_config *config) {
    if (!config->program) return NTR_E_INVALID;
    ntr_status status = ntr_params_check(&config->params);
    if (status != NTR_OK) return status;
    return config->one_source && config->source >> config->params.src_bits ? NTR_E_RANGE : NTR_OK;
}

static ntr_status set_up(ntr_decoder *d, const ntr_decoder_config *config) {
    d->config = *config;
    d->params = config->params;
    d->allocator = config->allocator;
    if (!d->params.dialect) d->params.dialect = ntr_dialect_at(0);
    d->times = 1;
    d->patience = NTR_PATIENCE;
    ntr_tcode_roles(d->params.dialect, d->roles);
    if (!d->params.xlen) d->params.xlen = (uint8_t)ntr_program_xlen(config->program);
    ntr_status status = ntr_reader_init(&d->reader, &d->params);
    if (status != NTR_OK) return status;
    if (config->mid_stream) ntr_reader_seek_start(&d->reader);
    d->predicts = d->params.branch_predictor != 0;
    d->has_tables = ntr_flow_tables_exist(&d->params);
    d->source_capacity = 1u << d->params.src_bits;
    d->sources = ntr_alloc(d->allocator, d->source_capacity, sizeof *d->sources);
    d->blocks = ntr_blocks_new(config->program, d->allocator, 0);
    return d->sources && d->blocks ? NTR_OK : NTR_E_MEMORY;
}

ntr_status ntr_decoder_new(const ntr_decoder_config *given, ntr_decoder **out) {
    *out = NULL;
    ntr_decoder_config config;
    ntr_status status = ntr_config_load(&config, sizeof config, given);
    if (status == NTR_OK) status = check(&config);
    if (status != NTR_OK) return status;
    ntr_decoder *d = ntr_alloc(config.allocator, 1, sizeof *d);
    status = d ? set_up(d, &config) : NTR_E_MEMORY;
    if (status == NTR_OK)
        *out = d;
    else
        ntr_decoder_free(d);
    return status;
}

void ntr_decoder_free(ntr_decoder *d) {
    if (!d) return;
    ntr_history_memos_release(&d->history_memos, d->allocator);
    ntr_message_memos_release(&d->message_memos, d->allocator);
    ntr_sources_release(d);
    ntr_blocks_free(d->blocks);
    ntr_dealloc(d->allocator, d->queue);
    ntr_dealloc(d->allocator, d);
}

ntr_status ntr_decoder_begin(ntr_decoder *d, const ntr_point *points, size_t count) {
    if (!count || d->reader.number || ntr_reader_offset(&d->reader)) return NTR_E_INVALID;
    const ntr_point *start = points;
    for (size_t i = 0; i < count; i++) {
        const ntr_point *point = &points[i];
        if (point->src >= d->source_capacity || point->mode > NTR_MODE_HTM || !point->message) return NTR_E_INVALID;
        if (point->offset < start->offset) start = point;
        ntr_source *s = ntr_source_get(d, point->src);
        if (!s) return NTR_E_MEMORY;
        s->first = point->message;
        s->clock = point->clock;
        s->context = point->context;
        s->mode = point->mode;
        ntr_source_forget_view(s);
        if (point->kind == NTR_POINT_STOPPED) ntr_source_begin(d, s);
    }
    ntr_reader_begin(&d->reader, start->offset, start->message);
    return NTR_OK;
}

ntr_status ntr_decoder_feed(ntr_decoder *d, const uint8_t *data, size_t size, bool last) {
    return ntr_reader_feed(&d->reader, data, size, last);
}

/* ---- events */

enum { MESSAGE_WORK = 16 }; /* of a message, as that of so many blocks */

typedef struct output {
    ntr_event *at, *end;
} output;

/* Move queued events to the output. Returns true when the queue is empty. */
static bool drain(ntr_decoder *d, output *out) {
    while (d->queue_at < d->queue_count) {
        if (out->at == out->end) return false;
        *out->at++ = d->queue[d->queue_at++];
    }
    d->queue_at = d->queue_count = 0;
    return true;
}

/* The end of the stream: report the gaps that are still open, one for each call. */
static ntr_status emit_open_gaps(ntr_decoder *d) {
    d->message.offset = ntr_reader_offset(&d->reader);
    d->message.number = d->reader.number + 1;
    if (d->early_gap.open) { /* no source was ever seen: report the gap for the first one */
        if (!ntr_source_get(d, d->config.one_source ? d->config.source : 0)) return NTR_E_MEMORY;
    }
    ntr_gap_end_unsynced(d);
    for (; d->closing < d->source_capacity; d->closing++) {
        ntr_source *s = d->sources[d->closing];
        if (!s) continue;
        d->header = (ntr_event){.offset = d->message.offset,
                                .message = d->message.number,
                                .time = s->clock.time,
                                .flags = s->clock.known ? NTR_EVENT_TIME : 0};
        ntr_gap_flush(d, s);
        ntr_gap_close(d, s, NULL);
        ntr_join_flush(d, s);
        if (d->queue_count == 0) continue;
        d->closing++;
        return NTR_OK;
    }
    return NTR_END;
}

/* The walk cannot continue. If it failed inside the request, the instructions before the next jump were executed; if
 * I-CNT ends inside an instruction, the whole instructions before that one (OQ-30). */
static void give_up(ntr_decoder *d, ntr_status reason) {
    ntr_walk_request *request = &d->request;
    ntr_source *s = request->source;
    bool inside = s->block && (request->left > s->block->halfwords || reason == NTR_E_ICNT_SPLITS);
    uint64_t flushed = ntr_walk_end_flush(d, s, inside ? request->left : 0);
    if (ntr_request_runs_ahead(request))
        s->halfwords_ahead += flushed;
    else
        request->left -= flushed;
    ntr_gap_open(d, s, reason);
}

/* The next repetition is of the branch to itself at the current address. Errors: NTR_E_NO_LANDING (there is none). */
static ntr_status repeat_instruction(ntr_decoder *d, ntr_walk_request *request) {
    ntr_source *s = request->source;
    if (!s->pc_known) return NTR_E_NO_ADDRESS;
    const ntr_block *b = ntr_blocks_get(d->blocks, s->view, s->pc);
    bool jumps = b->flow == NTR_FLOW_BRANCH || b->flow == NTR_FLOW_DIRECT_JUMP;
    if (!jumps || b->instructions != 1 || b->target != s->pc) return NTR_E_NO_LANDING;
    request->repeat_halfwords = b->halfwords;
    request->repeat_history = (ntr_history){0};
    return NTR_OK;
}

/* Returns whether the last repetition ended where it began. */
static bool is_back(const ntr_walk_request *request) {
    const ntr_source *s = request->source;
    return s->pc_known && s->pc == request->repeat_from && s->run.halfwords == 0;
}

/* Returns whether the repetitions to come may be walked. More code than one message stands for must be a loop. */
static bool is_plausible(const ntr_walk_request *request) {
    uint64_t all;
    if (request->self_loop || is_back(request)) return true;
    return !__builtin_mul_overflow(request->repeats, request->repeat_halfwords, &all) && all <= NTR_MESSAGE_LIMIT;
}

/* Returns whether all `times` repetitions do what the last one did: it ended where it began, and had no event but
 * spans. */
static bool is_alike(const ntr_decoder *d, const ntr_walk_request *request, uint64_t times) {
    const ntr_source *s = request->source;
    if (d->predicts || !(d->counts || d->repeats)) return false;
    if (d->in_order && request->repeat_halfwords > NTR_IN_ORDER_MOST) return false;
    bool back = is_back(request) && ntr_return_stack_is_unchanged(&s->stack, request->repeat_depth) &&
                request->repeat_low >= request->repeat_depth && ntr_trail_depth(s) == request->repeat_trail &&
                d->other_events == request->repeat_events;
    return back && (d->counts || ntr_loop_is_level(d, &request->repeat_spans, times));
}

/* Start the next repetition of RepeatBranch or RepeatInstruction: one walk stands for all that are alike, unless each
 * span is wanted. Errors: as repeat_instruction. */
static ntr_status begin_repetition(ntr_decoder *d, ntr_walk_request *request) {
    ntr_source *s = request->source;
    ntr_status status = request->self_loop ? repeat_instruction(d, request) : NTR_OK;
    if (status == NTR_OK && !is_plausible(request)) status = NTR_E_FIELD_VALUE;
    if (status != NTR_OK) return status;
    uint64_t alike = request->repeats - request->leaves_loop;
    if (!alike) request->goal = NTR_GOAL_NOTIFY; /* to F-ADDR */
    d->times = alike && is_alike(d, request, alike) ? alike : 1;
    if (d->times > 1 && !ntr_loop_fits(d, request->repeat_halfwords, d->times)) return NTR_OK;
    if (d->times > 1 && d->join) ntr_join_flush(d, s);
    request->repeats -= d->times;
    request->ended = false;
    request->left = request->repeat_halfwords;
    request->history = request->repeat_history;
    d->loop.block = NULL;
    request->watched |= d->times > 1;
    if (request->repeat_xor) request->address = s->ref ^= request->repeat_xor;
    ntr_request_measure(d, request);
    return NTR_OK;
}

/* The request was walked, or failed with `status`. */
static ntr_status end_request(ntr_decoder *d, ntr_status status) {
    ntr_walk_request *request = &d->request;
    ntr_source *s = request->source;
    if (status == NTR_E_MEMORY) return status;
    if (status == NTR_OK && request->repeats && s->state == NTR_SOURCE_FOLLOWING) {
        status = begin_repetition(d, request);
        if (status == NTR_OK) return NTR_OK;
    }
    d->times = 1;
    /* continues when the history arrives */
    if (request->goal == NTR_GOAL_COUNT && status == NTR_E_HIST_SHORT) status = NTR_OK;
    if (status != NTR_OK) give_up(d, status);
    if (s->state == NTR_SOURCE_NO_CODE && !ntr_request_runs_ahead(request)) ntr_gap_no_code(d);
    ntr_message_finish(d);
    request->source = NULL;
    return NTR_OK;
}

static ntr_status process_request(ntr_decoder *d, output *out) {
    ntr_source_update_view(d, d->request.source);
    if (d->request.source->state != NTR_SOURCE_FOLLOWING) return end_request(d, NTR_OK);
    ntr_status status = d->counts ? ntr_walk_counts(d)
                        : d->join ? ntr_walk_joined(d, &out->at, out->end)
                                  : ntr_walk_events(d, &out->at, out->end);
    if (status == NTR_OK) return NTR_OK; /* the output is full */
    if (status != NTR_END) return end_request(d, status);
    return end_request(d, d->request.ended ? NTR_OK : ntr_walk_end(d));
}

/* Memos are short: this is not stopped in between. */
static ntr_status recount(ntr_decoder *d) {
    output none = {NULL, NULL};
    const int64_t patience = d->patience;
    d->patience = INT64_MAX;
    d->request.source = NULL;
    ntr_status status = ntr_message_take(d);
    while (status == NTR_OK && d->request.source) status = process_request(d, &none);
    d->patience = patience;
    return status;
}

static ntr_status next_message(ntr_decoder *d) {
    ntr_status status = ntr_reader_next(&d->reader, &d->message);
    if (status == NTR_END) return emit_open_gaps(d);
    if (status != NTR_OK) return status;
    if (d->counts) d->counts->messages++;
    if (ntr_blocks_full(d->blocks)) {
        ntr_count_flush(d);
        ntr_blocks_flush(d->blocks);
    }
    return ntr_message_take(d);
}

/* A call begins: it does some work before it asks. */
static void begin_call(ntr_decoder *d) {
    if (d->stopped) d->patience = NTR_PATIENCE;
    d->stopped = false;
}

static ntr_status step(ntr_decoder *d, output *out) {
    if (d->failed != NTR_OK) return d->failed;
    ntr_status status = d->request.source ? process_request(d, out) : next_message(d);
    if (status < 0) d->failed = status;
    return status;
}

ntr_status ntr_decoder_read(ntr_decoder *d, ntr_event *events, size_t capacity, size_t *count) {
    output out = {events, events + capacity};
    ntr_status status = NTR_OK;
    begin_call(d);
    while (drain(d, &out) && out.at < out.end && status == NTR_OK && !ntr_decoder_spend(d, MESSAGE_WORK))
        status = step(d, &out);
    if (status == NTR_END && d->join) {
        ntr_count_flush(d);
        status = d->failed ? d->failed : status;
    }
    *count = (size_t)(out.at - events);
    if (d->queue_at < d->queue_count) return NTR_OK;
    return status == NTR_OK && d->stopped ? NTR_E_STOPPED : status;
}

ntr_status ntr_decoder_count(ntr_decoder *d, ntr_counts *counts) {
    output none = {NULL, NULL};
    uint64_t before = ntr_reader_offset(&d->reader);
    ntr_status status = NTR_OK;
    d->counts = counts;
    begin_call(d);
    while (status == NTR_OK && !ntr_decoder_spend(d, MESSAGE_WORK)) {
        ntr_memo_candidate candidate;
        const bool learn = !d->request.source && !d->has_tables && ntr_message_memos_follow(d, &candidate);
        d->first = learn;
        d->without_memo++;
        do status = step(d, &none);
        while (status == NTR_OK && d->request.source && !ntr_decoder_spend(d, 1));
        if (learn && status == NTR_OK && !d->request.source) ntr_message_memo_learn(d, &candidate);
    }
    if (status == NTR_END) ntr_count_flush(d);
    d->counts = NULL;
    if (status == NTR_OK) status = NTR_E_STOPPED;
    if (d->failed != NTR_OK) status = d->failed;
    counts->bytes += ntr_reader_offset(&d->reader) - before;
    return status;
}

void ntr_decoder_set_count_callback(ntr_decoder *d, ntr_count_callback *count_callback, void *user) {
    d->count_callback = count_callback;
    d->recount = recount;
    d->count_user = user;
}

void ntr_decoder_set_join(ntr_decoder *d, ntr_same_function *same, void *user) {
    d->join = same;
    d->join_user = user;
    d->join_settling = ntr_join_settling(d->join_except);
    ntr_decoder_set_division(d, same, user);
}

void ntr_decoder_set_division(ntr_decoder *d, ntr_same_function *same, void *user) {
    ntr_blocks_divide(d->blocks, same, user);
}

void ntr_decoder_set_repeats(ntr_decoder *d, bool repeats) {
    d->repeats = repeats;
}

void ntr_decoder_repeat_in_order(ntr_decoder *d) {
    d->repeats = d->in_order = true;
}

void ntr_decoder_set_join_except(ntr_decoder *d, unsigned modes) {
    d->join_except = modes;
    d->join_settling = ntr_join_settling(modes);
}

uint64_t ntr_decoder_without_memo(const ntr_decoder *d) {
    return d->without_memo;
}

ntr_status ntr_decoder_flush_counts(ntr_decoder *d) {
    ntr_count_flush(d);
    return d->failed;
}
