/* How a message of the flow becomes a walk request (state.h).
 *
 * A message with I-CNT requests a walk of I-CNT halfwords minus those that were walked before on the history of
 * ResourceFull messages. N-Trace 1.0 section 14.
 *
 * Example: ResourceFull with HIST 0b11 (one taken branch) walks a block of 4 halfwords and leaves halfwords_ahead = 4.
 * The next message has I-CNT 10, so that 6 halfwords remain to walk. */
#ifndef NTRACE_DECODER_WALK_REQUEST_H
#define NTRACE_DECODER_WALK_REQUEST_H

#include "decoder/state.h"
#include "message/values.h"

/* The message cannot be decoded for `reason`: open a gap. Errors: NTR_E_MEMORY. */
static inline ntr_status ntr_flow_fail(ntr_decoder *d, ntr_source *s, ntr_status reason) {
    if (reason == NTR_E_MEMORY) return reason;
    ntr_gap_open(d, s, reason);
    return NTR_OK;
}

static inline bool ntr_count_is_plausible(uint64_t count, uint64_t times) {
    uint64_t all;
    return !__builtin_mul_overflow(count, times, &all) && all <= NTR_MESSAGE_LIMIT;
}

/* Returns whether I-CNT leads at most NTR_MESSAGE_LIMIT halfwords beyond the code already walked, or NTR_LOOP_LIMIT
 * where the program is in a loop that it cannot leave without another message. */
static inline bool ntr_icnt_is_plausible(ntr_decoder *d, ntr_source *s, uint64_t icnt) {
    return icnt <= s->halfwords_ahead || ntr_count_is_plausible(icnt - s->halfwords_ahead, 1) ||
           (icnt <= NTR_LOOP_LIMIT && ntr_loop_is_endless(d, s));
}

/* Returns in *total the halfwords from the current address to the end of I-CNT. Errors: NTR_E_FIELD_VALUE,
 * NTR_E_HIST_LEFT. */
static inline ntr_status halfwords_to_walk(ntr_decoder *d, ntr_source *s, uint64_t icnt, uint64_t *total) {
    if (!ntr_icnt_is_plausible(d, s, icnt) || __builtin_add_overflow(s->icnt, icnt, total)) return NTR_E_FIELD_VALUE;
    if (*total < s->halfwords_ahead) return NTR_E_HIST_LEFT; /* the history led further than I-CNT */
    *total -= s->halfwords_ahead;
    s->icnt = s->halfwords_ahead = 0;
    return NTR_OK;
}

/* Fill d->request. The members are stored one by one, which is faster than copying a struct: the walk reads them at
 * once. */
static inline ntr_walk_request *ntr_request_walk(ntr_decoder *d, ntr_source *s, ntr_goal goal, uint64_t left,
                                                 ntr_history history) {
    ntr_walk_request *request = &d->request;
    request->source = s;
    request->goal = (uint8_t)goal;
    request->btype = 0;
    request->ended = request->no_outcome = request->predicted = request->self_loop = request->leaves_loop =
        request->watched = request->interrupted = false;
    request->left = left;
    request->runaway_limit = 0;
    request->history = history;
    request->address = 0;
    request->repeats = 0;
    d->loop.block = NULL;
    return request;
}

/* A repetition of the request begins: remember where. */
static inline void ntr_request_measure(const ntr_decoder *d, ntr_walk_request *request) {
    ntr_source *s = request->source;
    request->repeat_from = s->pc;
    request->repeat_events = d->other_events;
    request->repeat_depth = request->repeat_low = ntr_return_stack_mark(&s->stack);
    request->repeat_trail = ntr_trail_depth(s);
    request->repeat_spans = d->loop.spans;
}

/* Returns whether the flow messages of this source can be decoded. Opens a gap when it has not synchronized yet, unless
 * such messages are of the session before. */
static inline bool ntr_accepts_flow(ntr_decoder *d, ntr_source *s) {
    if (s->state == NTR_SOURCE_STOPPED && d->params.dialect->drops_stragglers) {
        ntr_source_await(d, s);
        return false;
    }
    if (s->state == NTR_SOURCE_STOPPED) ntr_gap_open(d, s, NTR_E_NOT_SYNCED);
    return s->state != NTR_SOURCE_LOST;
}

/* Request the walk of a message with I-CNT. */
static inline ntr_status ntr_request_walk_of_message(ntr_decoder *d, ntr_source *s, ntr_goal goal, uint64_t address) {
    const ntr_message *m = &d->message;
    uint64_t total = 0;
    ntr_status status = halfwords_to_walk(d, s, m->icnt, &total);
    ntr_history history = NTR_HAS(m, HIST) ? ntr_history_of(m->hist, 1) : (ntr_history){0};
    ntr_walk_request *request = ntr_request_walk(d, s, goal, total, history);
    request->btype = (uint8_t)m->btype;
    request->address = address;
    return status == NTR_OK ? NTR_OK : ntr_flow_fail(d, s, status);
}

#endif
