/* Decoding of each message: it becomes an event, a change of state, or a walk request (state.h).
 *
 * One handler for each role of a message (NTR_ROLE_*), selected by the table at the end. Messages with I-CNT request a
 * walk of I-CNT halfwords minus those that were walked before on the history of ResourceFull messages. N-Trace 1.0
 * section 14.
 *
 * Example: ResourceFull with HIST 0b11 (one taken branch) walks a block of 4 halfwords and leaves halfwords_ahead = 4.
 * The next message has I-CNT 10, so that 6 halfwords remain to walk. */
#include "decoder/state.h"
#include "decoder/data_messages.h"
#include "decoder/message_source.h"
#include "message/sets.h"
#include "message/table.h"
#include "message/values.h"
#include "trace/ownership.h"

typedef ntr_status (*message_handler)(ntr_decoder *d, ntr_source *s);

/* ---- walk requests */

/* The message cannot be decoded for `reason`: open a gap. Errors: NTR_E_MEMORY. */
static ntr_status fail(ntr_decoder *d, ntr_source *s, ntr_status reason) {
    if (reason == NTR_E_MEMORY) return reason;
    ntr_gap_open(d, s, reason);
    return NTR_OK;
}

/* Maximum number of halfwords or outcomes that one message may stand for. The counters of the specification end at 22
 * bits and some encoders have no limit; larger values come from damaged messages and would take hours to walk. */
#define MESSAGE_LIMIT (UINT64_C(1) << 28)

static bool is_plausible(uint64_t count, uint64_t times) {
    uint64_t all;
    return !__builtin_mul_overflow(count, times, &all) && all <= MESSAGE_LIMIT;
}

/* Returns whether I-CNT leads at most MESSAGE_LIMIT halfwords beyond the code already walked. */
static bool icnt_is_plausible(const ntr_source *s, uint64_t icnt) {
    return icnt <= s->halfwords_ahead || is_plausible(icnt - s->halfwords_ahead, 1);
}

/* Returns in *total the halfwords from the current address to the end of I-CNT. Errors: NTR_E_FIELD_VALUE,
 * NTR_E_HIST_LEFT. */
static ntr_status halfwords_to_walk(ntr_source *s, uint64_t icnt, uint64_t *total) {
    if (!icnt_is_plausible(s, icnt) || __builtin_add_overflow(s->icnt, icnt, total)) return NTR_E_FIELD_VALUE;
    if (*total < s->halfwords_ahead) return NTR_E_HIST_LEFT; /* the history led further than I-CNT */
    *total -= s->halfwords_ahead;
    s->icnt = s->halfwords_ahead = 0;
    return NTR_OK;
}

/* Fill d->request. The members are stored one by one, which is faster than copying a struct: the walk reads them at
 * once. */
static inline ntr_walk_request *set_request(ntr_decoder *d, ntr_source *s, ntr_goal goal, uint64_t left,
                                            ntr_history history) {
    ntr_walk_request *request = &d->request;
    request->source = s;
    request->goal = (uint8_t)goal;
    request->btype = 0;
    request->ended = request->no_outcome = request->predicted = request->self_loop = request->leaves_loop = false;
    request->left = left;
    request->runaway_limit = 0;
    request->history = history;
    request->address = 0;
    request->repeats = 0;
    return request;
}

/* Returns whether the flow messages of this source can be decoded. Opens a gap when it has not synchronized yet, unless such
 * messages are of the session before. */
static bool accepts_flow(ntr_decoder *d, ntr_source *s) {
    if (s->state == NTR_SOURCE_STOPPED && d->params.dialect->drops_stragglers) return false;
    if (s->state == NTR_SOURCE_STOPPED) ntr_gap_open(d, s, NTR_E_NOT_SYNCED);
    return s->state != NTR_SOURCE_LOST;
}

/* Request the walk of a message with I-CNT. */
static ntr_status request_walk(ntr_decoder *d, ntr_source *s, ntr_goal goal, uint64_t address) {
    const ntr_message *m = &d->message;
    uint64_t total = 0;
    ntr_status status = halfwords_to_walk(s, m->icnt, &total);
    ntr_history history = NTR_HAS(m, HIST) ? ntr_history_of(m->hist, 1) : (ntr_history){0};
    ntr_walk_request *request = set_request(d, s, goal, total, history);
    request->btype = (uint8_t)m->btype;
    request->address = address;
    return status == NTR_OK ? NTR_OK : fail(d, s, status);
}

/* ---- branches */

static ntr_goal goal_of(const ntr_message *m) {
    if (ntr_tcode_in(ntr_tcodes_with(NTR_IS_DIRECT), m->tcode)) return NTR_GOAL_TAKEN;
    return m->btype ? NTR_GOAL_TRAP : NTR_GOAL_ADDRESS;
}

static ntr_repeatable repeatable(const ntr_message *m) {
    uint64_t btype = NTR_HAS(m, BTYPE) ? m->btype : 0;
    return (ntr_repeatable){true, (uint8_t)goal_of(m), (uint8_t)btype, m->icnt, NTR_HAS(m, HIST) ? m->hist : 0,
                            NTR_HAS(m, UADDR) ? m->uaddr : 0};
}

/* The last message was handled by a message memo: decode its bytes to find `last_branch`. */
static void decode_last_branch(const ntr_decoder *d, ntr_source *s) {
    ntr_message m = {0};
    ntr_words_decode(&d->params, &s->last_memo, &m);
    s->last_memo = (ntr_message_words){0};
    if (ntr_has_role(m.tcode, NTR_ROLE_BRANCH)) s->last_branch = repeatable(&m);
}

static ntr_status on_branch(ntr_decoder *d, ntr_source *s) {
    if (!accepts_flow(d, s)) return NTR_OK;
    if (!NTR_HAS(&d->message, UADDR)) return request_walk(d, s, goal_of(&d->message), 0);
    uint64_t address = ntr_message_address(&d->params, &d->message, NTR_FIELD_UADDR);
    s->ref = d->params.no_addr_diff ? address : s->ref ^ address;
    if (s->tables.targets && ntr_tcode_in(ntr_tcodes_with(NTR_IS_CACHED), d->message.tcode) && !d->message.btype)
        ntr_flow_cache_put(&s->tables, s->ref);
    return request_walk(d, s, goal_of(&d->message), s->ref);
}

/* A branch message with an index of the jump target cache. */
static ntr_status on_cached_branch(ntr_decoder *d, ntr_source *s) {
    if (!accepts_flow(d, s)) return NTR_OK;
    if (!ntr_flow_cache_get(&s->tables, d->message.jidx, &s->ref)) return fail(d, s, NTR_E_FIELD_VALUE);
    return request_walk(d, s, goal_of(&d->message), s->ref);
}

/* Branches that went as predicted, and one that did not. */
static ntr_status on_prediction(ntr_decoder *d, ntr_source *s) {
    uint64_t branches = d->message.bcnt + 1;
    if (!accepts_flow(d, s)) return NTR_OK;
    if (!s->tables.counters || !branches || !is_plausible(branches, 1)) return fail(d, s, NTR_E_FIELD_VALUE);
    s->mode = NTR_MODE_HTM;
    set_request(d, s, NTR_GOAL_HISTORY, NTR_NO_ICNT, (ntr_history){.left = branches})->predicted = true;
    return NTR_OK;
}

/* Returns what each repetition changes in the address: nothing, as all have the same target (OQ-1), or U-ADDR in
 * dialects in which the fields of the messages are compared, not the targets. */
static uint64_t repeated_xor(const ntr_decoder *d, const ntr_repeatable *last) {
    if (!d->params.dialect->repeat_xors || d->params.no_addr_diff || last->uaddr == 0) return 0;
    ntr_message m = {.present = 1u << NTR_FIELD_UADDR, .uaddr = last->uaddr};
    return ntr_message_address(&d->params, &m, NTR_FIELD_UADDR);
}

static ntr_status on_repeat(ntr_decoder *d, ntr_source *s) {
    const ntr_repeatable *last = &s->last_branch;
    if (s->last_memo.word[0]) decode_last_branch(d, s);
    if (!accepts_flow(d, s)) return NTR_OK;
    if (!last->valid) return fail(d, s, NTR_E_REPEAT);
    if (d->message.bcnt == 0) { /* no repetition: harmless (OQ-2) */
        ntr_event_note(d, s, NTR_E_FIELD_VALUE);
        return NTR_OK;
    }
    if (!is_plausible(d->message.bcnt, last->icnt ? last->icnt : 1)) return fail(d, s, NTR_E_FIELD_VALUE);
    ntr_history history = last->hist ? ntr_history_of(last->hist, 1) : (ntr_history){0};
    ntr_walk_request *request = set_request(d, s, last->goal, last->icnt, history);
    request->btype = last->btype;
    request->repeat_xor = repeated_xor(d, last);
    request->address = request->repeat_xor ? s->ref ^= request->repeat_xor : s->pc;
    request->repeats = d->message.bcnt - 1;
    request->repeat_halfwords = last->icnt;
    request->repeat_history = history;
    request->repeat_from = s->pc;
    request->repeat_events = d->other_events;
    request->repeat_depth = ntr_return_stack_mark(&s->stack);
    request->repeat_trail = ntr_trail_depth(s);
    return NTR_OK;
}

/* ---- synchronization */

static void sync_reached(ntr_decoder *d, ntr_source *s) {
    uint64_t address = d->request.address;
    bool restarts = ntr_sync_flags(&d->message) & NTR_VALUE_RESTARTS;
    if (s->state == NTR_SOURCE_FOLLOWING && s->pc_known && s->pc != address && !restarts)
        ntr_gap_open(d, s, NTR_E_ADDRESS_MISMATCH);
    ntr_source_goto(s, address);
    if (s->state != NTR_SOURCE_NO_CODE) {
        ntr_gap_close(d, s, &address);
        s->state = NTR_SOURCE_FOLLOWING;
    }
    ntr_source_begin(d, s);
    ntr_return_stack_clear(&s->stack);
    s->stack_incomplete = s->stack_doubtful = false;
    s->icnt = s->halfwords_ahead = 0;
    if (restarts) ntr_flow_tables_reset(&s->tables);

    ntr_event e = ntr_event_make(d, s, NTR_EVENT_SYNC);
    e.address = address;
    e.code = (uint8_t)d->message.sync;
    ntr_event_emit(d, &e);
}

/* Take F-ADDR. Returns whether there is code to walk before it; if not, requests to go on at F-ADDR. */
static bool walks_to_sync(ntr_decoder *d, ntr_source *s) {
    const ntr_message *m = &d->message;
    s->ref = ntr_message_address(&d->params, m, NTR_FIELD_FADDR);
    bool flowing = s->state == NTR_SOURCE_FOLLOWING || s->state == NTR_SOURCE_NO_CODE;
    if (flowing && ntr_sync_flags(m) & NTR_VALUE_AFTER_LOSS) { /* the Error message itself was lost */
        ntr_gap_open(d, s, NTR_E_OVERFLOW);
        flowing = false;
    }
    if (!flowing) set_request(d, s, NTR_GOAL_NOTIFY, 0, (ntr_history){0})->address = s->ref;
    return flowing;
}

/* A branch to itself that was executed RCNT more times than I-CNT says; with F-ADDR, once more, and it went on there. */
static ntr_status on_self_loop(ntr_decoder *d, ntr_source *s) {
    const ntr_message *m = &d->message;
    bool leaves = NTR_HAS(m, FADDR);
    if (leaves ? !walks_to_sync(d, s) : !accepts_flow(d, s)) return NTR_OK;
    if (!is_plausible(m->rcnt, 2)) return fail(d, s, NTR_E_FIELD_VALUE);
    ntr_status status = request_walk(d, s, NTR_GOAL_SELF, leaves ? s->ref : 0);
    d->request.repeats = m->rcnt + leaves;
    d->request.repeat_xor = 0;
    d->request.self_loop = true;
    d->request.leaves_loop = leaves;
    return status;
}

static ntr_status on_sync(ntr_decoder *d, ntr_source *s) {
    const ntr_message *m = &d->message;
    if (!walks_to_sync(d, s)) return NTR_OK;
    ntr_goal goal = !NTR_HAS(m, BTYPE) ? NTR_GOAL_NOTIFY : m->btype ? NTR_GOAL_TRAP : NTR_GOAL_SYNC;
    return request_walk(d, s, goal, s->ref);
}

/* Returns whether nothing ran before a ProgTraceCorrelation. */
static bool is_bare(const ntr_message *m) { return m->icnt == 0 && (!NTR_HAS(m, HIST) || m->hist == 1); }

static void stop_reached(ntr_decoder *d, ntr_source *s) {
    /* if stopped before, untraced code may have been executed since */
    bool known = s->state == NTR_SOURCE_FOLLOWING && s->pc_known;
    /* The message is valid itself, unless an earlier gap is still open. */
    bool intact = s->state != NTR_SOURCE_LOST || s->gap.message == d->message.number;
    if (intact) {
        ntr_gap_close(d, s, NULL);
        s->state = NTR_SOURCE_STOPPED;
    }
    s->mode = NTR_MODE_UNKNOWN;
    ntr_flow_tables_reset(&s->tables);
    if (s->target_hidden && is_bare(&d->message)) known = false;
    ntr_event e = ntr_event_make(d, s, NTR_EVENT_STOP);
    e.code = (uint8_t)d->message.evcode;
    e.address = known ? s->pc : 0;
    if (!known) e.flags |= NTR_EVENT_ADDRESS_UNKNOWN;
    ntr_event_emit(d, &e);
}

static ntr_status on_stop(ntr_decoder *d, ntr_source *s) {
    if (s->state == NTR_SOURCE_FOLLOWING || s->state == NTR_SOURCE_NO_CODE) return request_walk(d, s, NTR_GOAL_STOP, 0);
    stop_reached(d, s);
    return NTR_OK;
}

static ntr_status on_error(ntr_decoder *d, ntr_source *s) {
    bool flow = !ntr_only_data_was_lost(d->params.dialect, &d->message);
    s->data.known = false;
    if (flow) ntr_gap_flush(d, s); /* report what was executed before the loss */
    ntr_event e = ntr_event_make(d, s, NTR_EVENT_OVERFLOW);
    e.code = (uint8_t)d->message.etype;
    e.data = d->message.ecode;
    ntr_event_emit(d, &e);
    if (!flow) return NTR_OK;
    ntr_gap_open(d, s, NTR_E_OVERFLOW);
    ntr_clock_lose(&s->clock);
    ntr_flow_tables_reset(&s->tables);
    return NTR_OK;
}

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
        return is_plausible(history->length, m->rdata1);
    case NTR_RCODE_NOT_TAKEN:
        *history = ntr_history_run(false, m->rdata0);
        return has_counts && is_plausible(m->rdata0, 1);
    case NTR_RCODE_TAKEN:
        *history = ntr_history_run(true, m->rdata0);
        return has_counts && is_plausible(m->rdata0, 1);
    default: return false;
    }
}

static ntr_status on_resource(ntr_decoder *d, ntr_source *s) {
    if (!accepts_flow(d, s)) return NTR_OK;
    if (d->message.rcode == NTR_RCODE_ICNT) {
        uint64_t icnt = d->message.rdata0;
        if (!icnt_is_plausible(s, icnt) || __builtin_add_overflow(s->icnt, icnt, &s->icnt))
            return fail(d, s, NTR_E_FIELD_VALUE);
        if (s->icnt > s->halfwords_ahead)
            set_request(d, s, NTR_GOAL_COUNT, s->icnt - s->halfwords_ahead, (ntr_history){0});
        return NTR_OK;
    }
    ntr_history history;
    /* the lost outcomes cannot be counted (OQ-33) */
    if (!resource_history(d, &history)) return fail(d, s, NTR_E_FIELD_VALUE);
    if (ntr_history_empty(&history)) { /* a ResourceFull without a branch: harmless (OQ-5) */
        ntr_event_note(d, s, NTR_E_FIELD_VALUE);
        return NTR_OK;
    }
    set_request(d, s, NTR_GOAL_HISTORY, NTR_NO_ICNT, history);
    return NTR_OK;
}

/* ---- context */

static ntr_status on_ownership(ntr_decoder *d, ntr_source *s) {
    ntr_context after = s->context;
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
    [NTR_ROLE_SYNC] = on_sync,
    [NTR_ROLE_BRANCH] = on_branch,
    [NTR_ROLE_REPEAT] = on_repeat,
    [NTR_ROLE_RESOURCE] = on_resource,
    [NTR_ROLE_STOP] = on_stop,
    [NTR_ROLE_LOSS] = on_error,
    [NTR_ROLE_CONTEXT] = on_ownership,
    [NTR_ROLE_DATA] = ntr_take_data,
    [NTR_ROLE_EVENT] = ntr_ict_take,
    [NTR_ROLE_ACCESS] = ntr_take_access,
    [NTR_ROLE_WATCHPOINT] = ntr_take_watchpoint,
    [NTR_ROLE_TRAP_VALUE] = ntr_take_trap_value,
    [NTR_ROLE_ACQUISITION] = ntr_take_acquisition,
    [NTR_ROLE_SELF_LOOP] = on_self_loop,
    [NTR_ROLE_PREDICTION] = on_prediction,
    [NTR_ROLE_CACHED_BRANCH] = on_cached_branch,
};

static message_handler handler_of(const ntr_decoder *d, unsigned tcode) { return handlers[d->roles[tcode]]; }

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
    if (s->last_memo.word[0]) decode_last_branch(d, s);
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
    s->target_hidden = d->params.dialect->stop_hides_target && ntr_has_role(m->tcode, NTR_ROLE_STOP) &&
                       ends_at_own_target(d, s);
    if (!repeat) ntr_source_forget_branch(s);
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
    case NTR_ROLE_SYNC: sync_reached(d, s); break;
    case NTR_ROLE_STOP: stop_reached(d, s); break;
    case NTR_ROLE_SELF_LOOP:
        if (NTR_HAS(m, FADDR)) sync_reached(d, s);
        break;
    case NTR_ROLE_BRANCH:
    case NTR_ROLE_CACHED_BRANCH:
        s->last_branch = repeatable(m);
        s->last_branch.valid = s->state == NTR_SOURCE_FOLLOWING;
        break;
    default: break;
    }
}
