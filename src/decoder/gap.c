/* Gaps: execution that cannot be reconstructed. One event covers the part of the stream from the last certain address
 * to the address where decoding resumes. */
#include "decoder/state.h"

static ntr_open_gap gap_here(ntr_decoder *d, const ntr_source *s, ntr_status reason) {
    ntr_decoder_defect(d, s, reason);
    return (ntr_open_gap){.open = true,
                          .reason = (int16_t)reason,
                          .offset = d->message.offset,
                          .message = d->message.number,
                          .tcode = d->message.tcode,
                          .field = d->message.defect ? d->message.defect_field : NTR_FIELD_NONE};
}

/* Returns whether a wrongly inferred return can make a walk fail for this reason. */
static bool may_be_wrong_return(ntr_status reason) {
    return reason == NTR_E_RETURN_STACK || reason == NTR_E_UNEXPECTED_INDIRECT || reason == NTR_E_ICNT_SPLITS ||
           reason == NTR_E_NO_LANDING || reason == NTR_E_HIST_LEFT || reason == NTR_E_HIST_SHORT;
}

/* Returns whether the code may be another one than that of the program. */
static bool may_be_other_code(ntr_status reason) {
    return may_be_wrong_return(reason) || reason == NTR_E_LOOP;
}

/* Returns whether all messages so far are valid, so that the reference address is still correct. */
static bool messages_are_valid(const ntr_decoder *d, const ntr_source *s, ntr_status reason) {
    if (ntr_reason_is_of_code(reason)) return true;
    if (d->retries && may_be_other_code(reason)) return true;
    if (s->stack_doubtful) return may_be_wrong_return(reason);
    return s->stack_incomplete && reason == NTR_E_RETURN_STACK;
}

/* The flow before the gap is lost: calls on the return stack, and the branch that RepeatBranch refers to. */
static void forget_flow(ntr_source *s) {
    ntr_return_stack_clear(&s->stack);
    s->stack_incomplete = true;
    ntr_flow_tables_lose(&s->tables);
    ntr_source_forget_branch(s);
}

void ntr_gap_flush(ntr_decoder *d, ntr_source *s) {
    s->halfwords_ahead += ntr_walk_end_flush(d, s, s->icnt > s->halfwords_ahead ? s->icnt - s->halfwords_ahead : 0);
}

void ntr_gap_open(ntr_decoder *d, ntr_source *s, ntr_status reason) {
    ntr_gap_flush(d, s);
    bool valid = messages_are_valid(d, s, reason);
    s->awaits_sync = false;
    if (!s->gap.open) {
        s->gap = gap_here(d, s, reason);
        s->gap.from = s->pc;
        s->gap.from_known = s->state == NTR_SOURCE_FOLLOWING && s->pc_known;
        s->gap.from_time = s->clock.time;
        s->gap.from_timed = s->clock.known;
    }
    forget_flow(s);
    if (valid) {
        s->state = NTR_SOURCE_NO_CODE;
        return;
    }
    s->state = NTR_SOURCE_LOST;
    s->icnt = s->halfwords_ahead = 0;
}

void ntr_gap_await(ntr_decoder *d, ntr_source *s) {
    if (s->gap.open) return;
    s->awaits_sync = true;
    s->gap = (ntr_open_gap){
        .offset = d->message.offset, .message = d->message.number, .tcode = d->message.tcode, .field = NTR_FIELD_NONE};
}

void ntr_gap_end_unsynced(ntr_decoder *d) {
    for (uint32_t i = 0; i < d->source_capacity; i++)
        if (d->sources[i] && d->sources[i]->begun) return;
    for (uint32_t i = d->closing; i < d->source_capacity; i++) {
        ntr_source *s = d->sources[i];
        if (!s) continue;
        s->gap.open |= s->awaits_sync;
        if (s->awaits_sync || s->gap.reason == NTR_E_NOT_SYNCED) s->gap.reason = NTR_E_NO_SYNC;
        s->awaits_sync = false;
    }
}

static void lose_source(ntr_decoder *d, ntr_source *s, ntr_status reason) {
    if (s->begun) ntr_gap_open(d, s, reason);
    ntr_clock_lose(&s->clock);
    s->data.known = false;
}

static ntr_source *merge(ntr_source *a, ntr_source *b) {
    ntr_source *first = NULL, **end = &first;
    while (a && b) {
        ntr_source **less = a->id < b->id ? &a : &b;
        *end = *less;
        end = &(*less)->next_active;
        *less = *end;
    }
    *end = a ? a : b;
    return first;
}

/* Returns the list sorted by SRC, so that gaps are reported in a defined order. */
static ntr_source *sort(ntr_source *list) {
    if (!list || !list->next_active) return list;
    ntr_source *middle = list, *behind;
    for (ntr_source *end = list->next_active; end && end->next_active; end = end->next_active->next_active)
        middle = middle->next_active;
    behind = middle->next_active;
    middle->next_active = NULL;
    return merge(sort(list), sort(behind));
}

void ntr_gap_open_all(ntr_decoder *d, ntr_status reason) {
    if (!d->active && !d->early_gap.open && d->source_count == 0) d->early_gap = gap_here(d, NULL, reason);
    ntr_source *next = sort(d->active);
    d->active = NULL;
    while (next) {
        ntr_source *s = next;
        next = s->next_active;
        s->active = false;
        if (d->message.number < s->first)
            ntr_source_activate(d, s); /* the source begins at a later message */
        else
            lose_source(d, s, reason);
    }
}

void ntr_gap_close(ntr_decoder *d, ntr_source *s, const uint64_t *to) {
    if (!s->gap.open) return;
    ntr_event e = ntr_event_make(d, s, NTR_EVENT_GAP);
    e.reason = s->gap.reason;
    e.offset = s->gap.offset;
    e.message = s->gap.message;
    e.gap.tcode = s->gap.tcode;
    e.gap.field = s->gap.field;
    e.gap.until = d->message.offset;
    e.gap.until_message = d->message.number;
    e.gap.from_address = s->gap.from;
    e.gap.from_known = s->gap.from_known;
    e.gap.from_time = s->gap.from_time;
    e.gap.from_timed = s->gap.from_timed;
    e.gap.to_address = to ? *to : 0;
    e.gap.to_known = to != NULL;
    e.gap.to_time = s->clock.time;
    e.gap.to_timed = s->clock.known;
    s->gap.open = false;
    ntr_event_emit(d, &e);
}

/* ---- missing code */

/* Returns how the execution of the missing code ended, as far as the message shows it. */
static unsigned no_code_end(const ntr_walk_request *request) {
    switch (request->goal) {
    case NTR_GOAL_TAKEN: return NTR_SPAN_TAKEN;
    case NTR_GOAL_ADDRESS: return NTR_SPAN_INDIRECT_JUMP;
    case NTR_GOAL_TRAP: return ntr_trap_end(request->btype);
    default: return NTR_SPAN_CUT;
    }
}

void ntr_gap_no_code(ntr_decoder *d) {
    ntr_walk_request *request = &d->request;
    ntr_source *s = request->source;
    bool to_known = request->goal != NTR_GOAL_TAKEN && request->goal != NTR_GOAL_STOP &&
                    (request->goal != NTR_GOAL_SELF || request->leaves_loop);
    ntr_event e = ntr_event_make(d, s, NTR_EVENT_NO_CODE);
    e.end = (uint8_t)no_code_end(request);
    e.address = s->pc;
    e.target = to_known ? request->address : 0;
    e.flags |= (uint8_t)((s->pc_known ? 0 : NTR_EVENT_ADDRESS_UNKNOWN) | (to_known ? 0 : NTR_EVENT_TARGET_UNKNOWN));
    e.halfwords = request->left > UINT32_MAX ? UINT32_MAX : (uint32_t)request->left;
    if (e.halfwords || e.end != NTR_SPAN_CUT) ntr_event_emit(d, &e);

    ntr_source_goto(s, request->address);
    s->pc_known = to_known;
    if (!to_known) return;
    s->block = ntr_blocks_get(d->blocks, s->view, s->pc);
    if (s->block->halfwords == 0) {
        s->block = NULL;
        return;
    }
    ntr_gap_close(d, s, &s->pc);
    s->state = NTR_SOURCE_FOLLOWING;
}
