/* Messages of branches and jumps, and of their repetition. N-Trace 1.0 section 14. */
#include "decoder/message_handlers.h"
#include "decoder/walk_request.h"
#include "message/sets.h"
#include "message/table.h"

static ntr_goal goal_of(const ntr_message *m) {
    if (ntr_tcode_in(ntr_tcodes_with(NTR_FLAG_DIRECT), m->tcode)) return NTR_GOAL_TAKEN;
    return m->btype ? NTR_GOAL_TRAP : NTR_GOAL_ADDRESS;
}

ntr_repeatable ntr_repeatable_of(const ntr_message *m) {
    uint64_t btype = NTR_HAS(m, BTYPE) ? m->btype : 0;
    return (ntr_repeatable){true,
                            (uint8_t)goal_of(m),
                            (uint8_t)btype,
                            m->icnt,
                            NTR_HAS(m, HIST) ? m->hist : 0,
                            NTR_HAS(m, UADDR) ? m->uaddr : 0};
}

void ntr_decode_last_branch(const ntr_decoder *d, ntr_source *s) {
    ntr_message m = {0};
    ntr_words_decode(&d->params, &s->last_memo, &m);
    s->last_memo = (ntr_message_words){0};
    if (ntr_has_role(m.tcode, NTR_ROLE_BRANCH)) s->last_branch = ntr_repeatable_of(&m);
}

ntr_status ntr_take_branch(ntr_decoder *d, ntr_source *s) {
    if (!ntr_accepts_flow(d, s)) return NTR_OK;
    if (!NTR_HAS(&d->message, UADDR)) return ntr_request_walk_of_message(d, s, goal_of(&d->message), 0);
    uint64_t address = ntr_message_address(&d->params, &d->message, NTR_FIELD_UADDR);
    s->ref = d->params.no_addr_diff ? address : s->ref ^ address;
    if (s->tables.targets && ntr_tcode_in(ntr_tcodes_with(NTR_FLAG_CACHED), d->message.tcode) && !d->message.btype)
        ntr_flow_cache_put(&s->tables, s->ref);
    return ntr_request_walk_of_message(d, s, goal_of(&d->message), s->ref);
}

/* A branch message with an index of the jump target cache. */
ntr_status ntr_take_cached_branch(ntr_decoder *d, ntr_source *s) {
    if (!ntr_accepts_flow(d, s)) return NTR_OK;
    if (!ntr_flow_cache_get(&s->tables, d->message.jidx, &s->ref)) return ntr_flow_fail(d, s, NTR_E_FIELD_VALUE);
    return ntr_request_walk_of_message(d, s, goal_of(&d->message), s->ref);
}

/* Branches that went as predicted, and one that did not. */
ntr_status ntr_take_prediction(ntr_decoder *d, ntr_source *s) {
    uint64_t branches = d->message.bcnt + 1;
    if (!ntr_accepts_flow(d, s)) return NTR_OK;
    if (!s->tables.counters || !branches || !ntr_count_is_plausible(branches, 1))
        return ntr_flow_fail(d, s, NTR_E_FIELD_VALUE);
    s->mode = NTR_MODE_HTM;
    ntr_request_walk(d, s, NTR_GOAL_HISTORY, NTR_NO_ICNT, (ntr_history){.left = branches})->predicted = true;
    return NTR_OK;
}

/* Returns what each repetition changes in the address: nothing, as all have the same target (OQ-1), or U-ADDR in
 * dialects in which the fields of the messages are compared, not the targets. */
static uint64_t repeated_xor(const ntr_decoder *d, const ntr_repeatable *last) {
    if (!d->params.dialect->repeat_xors || d->params.no_addr_diff || last->uaddr == 0) return 0;
    ntr_message m = {.present = 1u << NTR_FIELD_UADDR, .uaddr = last->uaddr};
    return ntr_message_address(&d->params, &m, NTR_FIELD_UADDR);
}

ntr_status ntr_take_repeat(ntr_decoder *d, ntr_source *s) {
    const ntr_repeatable *last = &s->last_branch;
    if (s->last_memo.word[0]) ntr_decode_last_branch(d, s);
    if (!ntr_accepts_flow(d, s)) return NTR_OK;
    if (!last->valid) return ntr_flow_fail(d, s, NTR_E_REPEAT);
    if (d->message.bcnt == 0) { /* no repetition: harmless (OQ-2) */
        ntr_event_note(d, s, NTR_E_FIELD_VALUE);
        return NTR_OK;
    }
    if (!ntr_count_is_plausible(d->message.bcnt, 1)) return ntr_flow_fail(d, s, NTR_E_FIELD_VALUE);
    ntr_history history = last->hist ? ntr_history_of(last->hist, 1) : (ntr_history){0};
    ntr_walk_request *request = ntr_request_walk(d, s, last->goal, last->icnt, history);
    request->btype = last->btype;
    request->repeat_xor = repeated_xor(d, last);
    request->address = request->repeat_xor ? s->ref ^= request->repeat_xor : s->pc;
    request->repeats = d->message.bcnt - 1;
    request->watched = request->repeats >= NTR_WATCHED_REPEATS;
    request->repeat_halfwords = last->icnt;
    request->repeat_history = history;
    ntr_request_measure(d, request);
    return NTR_OK;
}
