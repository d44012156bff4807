/* Decoding of each message: it becomes an event, a change of state, or a walk request (state.h). One handler for each
 * role of a message (NTR_ROLE_*), selected by the table below. */
#include "decoder/message_handlers.h"
#include "decoder/message_source.h"
#include "decoder/walk_request.h"
#include "trace/flow_messages.h"
#include "trace/ownership.h"

typedef ntr_status (*message_handler)(ntr_decoder *d, ntr_source *s);

/* ---- resources */

/* Returns in *history the outcomes that ResourceFull stands for. False: RCODE has no meaning, or the count is too
 * large. */
static bool resource_history(const ntr_decoder *d, ntr_history *history) {
    const ntr_message *m = &d->message;
    bool has_counts = d->params.dialect->rcode_counts;
    switch (m->rcode) {
    case NTR_RCODE_HIST: *history = ntr_history_of(m->rdata0, 1); return true;
    case NTR_RCODE_HIST_REPEATED:
        *history = ntr_history_of(m->rdata0, m->rdata1);
        return ntr_count_is_plausible(history->length, m->rdata1);
    case NTR_RCODE_NOT_TAKEN:
        *history = ntr_history_run(false, m->rdata0);
        return has_counts && ntr_count_is_plausible(m->rdata0, 1);
    case NTR_RCODE_TAKEN:
        *history = ntr_history_run(true, m->rdata0);
        return has_counts && ntr_count_is_plausible(m->rdata0, 1);
    default: return false;
    }
}

static ntr_status on_resource(ntr_decoder *d, ntr_source *s) {
    if (!ntr_accepts_flow(d, s)) return NTR_OK;
    if (d->message.rcode == NTR_RCODE_ICNT) {
        uint64_t icnt = d->message.rdata0;
        if (!ntr_icnt_is_plausible(d, s, icnt) || __builtin_add_overflow(s->icnt, icnt, &s->icnt))
            return ntr_flow_fail(d, s, NTR_E_FIELD_VALUE);
        if (s->icnt > s->halfwords_ahead)
            ntr_request_walk(d, s, NTR_GOAL_COUNT, s->icnt - s->halfwords_ahead, (ntr_history){0});
        return NTR_OK;
    }
    ntr_history history;
    /* the lost outcomes cannot be counted (OQ-33) */
    if (!resource_history(d, &history)) return ntr_flow_fail(d, s, NTR_E_FIELD_VALUE);
    if (ntr_history_empty(&history)) { /* a ResourceFull without a branch: harmless (OQ-5) */
        ntr_event_note(d, s, NTR_E_FIELD_VALUE);
        return NTR_OK;
    }
    ntr_request_walk(d, s, NTR_GOAL_HISTORY, NTR_NO_ICNT, history)->watched = history.repeats >= NTR_WATCHED_REPEATS;
    return NTR_OK;
}

/* ---- context */

static ntr_status on_ownership(ntr_decoder *d, ntr_source *s) {
    ntr_context after = s->context;
    ntr_source_await(d, s);
    if (!ntr_ownership_follow(&d->params, &after, d->message.process)) {
        ntr_event_note(d, s, NTR_E_FIELD_VALUE);
        return NTR_OK;
    }
    ntr_walk_end_flush(d, s, 0);
    bool other_task = s->context.scontext != after.scontext || s->context.hcontext != after.hcontext;
    s->stack_doubtful |= other_task && d->params.implicit_return == NTR_RETURN_COUNT;
    ntr_join_flush(d, s);
    s->context = after;
    ntr_source_forget_view(s);

    ntr_event e = ntr_event_make(d, s, NTR_EVENT_CONTEXT);
    e.code = (uint8_t)ntr_ownership_format(d->message.process);
    ntr_event_emit(d, &e);
    return NTR_OK;
}

/* ---- the table */

static const message_handler handlers[NTR_ROLE_COUNT] = {
    [NTR_ROLE_FIELDS] = ntr_take_other,
    [NTR_ROLE_SYNC] = ntr_take_sync,
    [NTR_ROLE_BRANCH] = ntr_take_branch,
    [NTR_ROLE_REPEAT] = ntr_take_repeat,
    [NTR_ROLE_RESOURCE] = on_resource,
    [NTR_ROLE_STOP] = ntr_take_stop,
    [NTR_ROLE_LOSS] = ntr_take_error,
    [NTR_ROLE_CONTEXT] = on_ownership,
    [NTR_ROLE_DATA] = ntr_take_data,
    [NTR_ROLE_EVENT] = ntr_ict_take,
    [NTR_ROLE_ACCESS] = ntr_take_access,
    [NTR_ROLE_WATCHPOINT] = ntr_take_watchpoint,
    [NTR_ROLE_TRAP_VALUE] = ntr_take_trap_value,
    [NTR_ROLE_ACQUISITION] = ntr_take_acquisition,
    [NTR_ROLE_SELF_LOOP] = ntr_take_self_loop,
    [NTR_ROLE_PREDICTION] = ntr_take_prediction,
    [NTR_ROLE_CACHED_BRANCH] = ntr_take_cached_branch,
};

static message_handler handler_of(const ntr_decoder *d, unsigned tcode) {
    return handlers[d->roles[tcode]];
}

static ntr_status on_defect(ntr_decoder *d) {
    const ntr_message *m = &d->message;
    uint16_t src = ntr_message_source(&d->params, m);
    if (!ntr_message_source_is_known(&d->params, m)) {
        ntr_gap_open_all(d, m->defect);
        return NTR_OK;
    }
    if (d->config.one_source && src != d->config.source) return NTR_OK;
    ntr_source *s = ntr_source_get(d, src);
    if (!s) return NTR_E_MEMORY;
    if (m->number < s->first) return NTR_OK;
    ntr_gap_open(d, s, m->defect);
    ntr_clock_lose(&s->clock);
    s->data.known = false;
    return NTR_OK;
}

/* Returns whether the last message of the source was one of a jump with U-ADDR 0. */
static bool ends_at_own_target(const ntr_decoder *d, ntr_source *s) {
    if (s->last_memo.word[0]) ntr_decode_last_branch(d, s);
    return s->last_branch.valid && s->last_branch.goal == NTR_GOAL_ADDRESS && s->last_branch.uaddr == 0;
}

static void stamp_header(ntr_decoder *d, const ntr_source *s) {
    d->header.src = s->id;
    d->header.time = s->clock.time;
    d->header.flags = s->clock.known ? NTR_EVENT_TIME : 0;
}

ntr_status ntr_message_take(ntr_decoder *d) {
    const ntr_message *m = &d->message;
    if (m->defect != NTR_OK && m->defect != NTR_E_FIELD_EXTRA) {
        d->header = (ntr_event){.offset = m->offset, .message = m->number};
        return on_defect(d);
    }
    d->header.offset = m->offset; /* the other members are set by stamp_header, or always 0 */
    d->header.message = m->number;

    uint16_t id = ntr_message_source(&d->params, m);
    if (d->config.one_source && id != d->config.source) return NTR_OK;
    ntr_source *s = ntr_source_get(d, id);
    if (!s) return NTR_E_MEMORY;
    if (m->number < s->first) return NTR_OK;

    /* Repetitions happened before the time that RepeatBranch carries: the new time applies after them (OQ-23). */
    bool repeat = ntr_has_role(m->tcode, NTR_ROLE_REPEAT);
    if (repeat) stamp_header(d, s);
    bool absolute = ntr_clock_follow(&s->clock, &d->params, m);
    if (absolute) ntr_source_activate(d, s);
    if (!repeat) stamp_header(d, s);
    s->target_hidden =
        d->params.dialect->stop_hides_target && ntr_has_role(m->tcode, NTR_ROLE_STOP) && ends_at_own_target(d, s);
    if (!repeat && !ntr_leaves_flow_alone(d->params.dialect, m, d->roles[m->tcode])) ntr_source_forget_branch(s);
    s->mode = ntr_mode_follow(s->mode, m);

    if (absolute && !NTR_HAS(m, TSTAMP) && d->params.timestamps == NTR_TIMESTAMPS_ON)
        ntr_event_note(d, s, NTR_E_FIELD_MISSING);
    if (m->defect == NTR_E_FIELD_EXTRA) ntr_event_note(d, s, NTR_E_FIELD_EXTRA); /* harmless (OQ-22) */
    return handler_of(d, m->tcode)(d, s);
}

void ntr_message_finish(ntr_decoder *d) {
    const ntr_message *m = &d->message;
    ntr_source *s = d->request.source;
    if (d->request.no_outcome && s->mode == NTR_MODE_HTM) ntr_event_note(d, s, NTR_E_HIST_SHORT);
    switch (d->roles[m->tcode]) {
    case NTR_ROLE_SYNC: ntr_sync_reached(d, s); break;
    case NTR_ROLE_STOP: ntr_stop_reached(d, s); break;
    case NTR_ROLE_SELF_LOOP:
        if (NTR_HAS(m, FADDR)) ntr_sync_reached(d, s);
        break;
    case NTR_ROLE_BRANCH:
    case NTR_ROLE_CACHED_BRANCH:
        s->last_branch = ntr_repeatable_of(m);
        s->last_branch.valid = s->state == NTR_SOURCE_FOLLOWING;
        break;
    default: break;
    }
}
