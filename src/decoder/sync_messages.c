/* Messages where the flow begins, is synchronized, stops, or is lost. */
#include "decoder/message_handlers.h"
#include "decoder/walk_request.h"
#include "message/sets.h"
#include "trace/flow_messages.h"

void ntr_sync_reached(ntr_decoder *d, ntr_source *s) {
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
    if (!flowing) ntr_request_walk(d, s, NTR_GOAL_NOTIFY, 0, (ntr_history){0})->address = s->ref;
    return flowing;
}

/* A branch to itself that was executed RCNT more times than I-CNT says; with F-ADDR, once more, and it went on there.
 */
ntr_status ntr_take_self_loop(ntr_decoder *d, ntr_source *s) {
    const ntr_message *m = &d->message;
    bool leaves = NTR_HAS(m, FADDR);
    if (leaves ? !walks_to_sync(d, s) : !ntr_accepts_flow(d, s)) return NTR_OK;
    if (m->rcnt > NTR_LOOP_LIMIT / 2) return ntr_flow_fail(d, s, NTR_E_FIELD_VALUE);
    ntr_status status = ntr_request_walk_of_message(d, s, NTR_GOAL_SELF, leaves ? s->ref : 0);
    d->request.repeats = m->rcnt + leaves;
    d->request.watched = d->request.repeats >= NTR_WATCHED_REPEATS;
    d->request.repeat_xor = 0;
    d->request.self_loop = true;
    d->request.leaves_loop = leaves;
    return status;
}

ntr_status ntr_take_sync(ntr_decoder *d, ntr_source *s) {
    const ntr_message *m = &d->message;
    if (!walks_to_sync(d, s)) return NTR_OK;
    ntr_goal goal = !NTR_HAS(m, BTYPE) ? NTR_GOAL_NOTIFY : m->btype ? NTR_GOAL_TRAP : NTR_GOAL_SYNC;
    return ntr_request_walk_of_message(d, s, goal, s->ref);
}

/* Returns whether nothing ran before a ProgTraceCorrelation. */
static bool is_bare(const ntr_message *m) {
    return m->icnt == 0 && (!NTR_HAS(m, HIST) || m->hist == 1);
}

void ntr_stop_reached(ntr_decoder *d, ntr_source *s) {
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

ntr_status ntr_take_stop(ntr_decoder *d, ntr_source *s) {
    if (!NTR_HAS(&d->message, ICNT)) ntr_event_note(d, s, NTR_E_FIELD_MISSING); /* it reads 0 (OQ-21) */
    if (s->state == NTR_SOURCE_FOLLOWING || s->state == NTR_SOURCE_NO_CODE)
        return ntr_request_walk_of_message(d, s, NTR_GOAL_STOP, 0);
    ntr_source_await(d, s);
    ntr_stop_reached(d, s);
    return NTR_OK;
}

ntr_status ntr_take_error(ntr_decoder *d, ntr_source *s) {
    bool flow = ntr_flow_was_lost(d->params.dialect, &d->message);
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
