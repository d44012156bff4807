/* CTXP text, file version 1: branches in order, one event per line. */
#include "export/export.h"

typedef struct ctxp_state {
    bool source_seen[1 << 12];
} ctxp_state;

static ntr_status begin(ntr_export *x) {
    ntr_out_text(&x->out, "HDR:format=accemic//ctxp-txt,ver=1\n");
    return NTR_OK;
}

static void event_line(ntr_out *out, const ntr_event *e, const char *type, const uint64_t *origin,
                       const uint64_t *target) {
    ntr_out_char(out, '#');
    ntr_out_dec(out, e->src);
    ntr_out_char(out, ':');
    ntr_out_text(out, type);
    ntr_out_char(out, ':');
    if (origin) {
        ntr_out_text(out, "0x");
        ntr_out_hex(out, *origin);
    }
    ntr_out_char(out, ':');
    if (target) {
        ntr_out_text(out, "0x");
        ntr_out_hex(out, *target);
    }
    if (e->flags & NTR_EVENT_TIME && target) {
        ntr_out_text(out, " @ ");
        ntr_out_dec(out, e->time);
    }
    ntr_out_char(out, '\n');
}

/* BRANCH_* is any jump except calls and returns. The origin of an interrupt is the last executed instruction. */
static const char *const type_of_end[NTR_SPAN_KINDS] = {
    [NTR_SPAN_NOT_TAKEN] = "BRANCH_NOTTAKEN",  [NTR_SPAN_TAKEN] = "BRANCH_TAKEN",   [NTR_SPAN_JUMP] = "BRANCH_TAKEN",
    [NTR_SPAN_INDIRECT_JUMP] = "BRANCH_TAKEN", [NTR_SPAN_CO_SWAP] = "BRANCH_TAKEN", [NTR_SPAN_CALL] = "CALL",
    [NTR_SPAN_INDIRECT_CALL] = "CALL",         [NTR_SPAN_RETURN] = "RETURN",        [NTR_SPAN_TRAP_RETURN] = "RFI",
    [NTR_SPAN_EXCEPTION] = "INTERRUPT",        [NTR_SPAN_INTERRUPT] = "INTERRUPT",  [NTR_SPAN_TRAP] = "INTERRUPT",
};

static ntr_status events(ntr_export *x, const ntr_event *events_, size_t count) {
    ctxp_state *state = x->state;
    for (size_t i = 0; i < count; i++) {
        const ntr_event *e = &events_[i];
        if (e->src > 255) continue; /* the format supports 256 sources */
        bool *seen = &state->source_seen[e->src];
        if (e->kind == NTR_EVENT_SYNC && !*seen) {
            event_line(&x->out, e, "SYNC", NULL, &e->address);
            *seen = true;
        } else if (e->kind == NTR_EVENT_GAP || e->kind == NTR_EVENT_STOP) {
            if (*seen) event_line(&x->out, e, "OVERFLOW", NULL, NULL);
            *seen = false;
        } else if (e->kind == NTR_EVENT_SPAN && type_of_end[e->end] && !(e->flags & NTR_EVENT_TARGET_UNKNOWN)) {
            event_line(&x->out, e, type_of_end[e->end], &e->last, &e->target);
        }
    }
    return NTR_OK;
}

const ntr_exporter ntr_exporter_ctxp = {
    .name = "ctxp",
    .family = "export",
    .summary = "CTXP text, version 1",
    .needs = NTR_NEEDS_EVENTS,
    .state_size = sizeof(ctxp_state),
    .begin = begin,
    .events = events,
};
