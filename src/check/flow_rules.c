/* Rules about the execution that the messages describe, with a program: the defects that a decoder reports. */
#include "check/flow_rules.h"

#include "base/allocator.h"

#include <ntrace/decoder.h>
#include <ntrace/params.h>

enum { EVENT_BATCH = 256, CALLERS = 32 };

/* Return addresses of one source. The stack has the maximum depth that an encoder may have. */
struct callers {
    uint64_t address[CALLERS];
    uint64_t message[CALLERS]; /* number of the message that reports the call */
    uint32_t top, count;
    uint64_t inferable; /* number + 1 of the message of a return that could have been inferred; 0: none */
    bool leaf;     /* no call or return since the last call: the smallest stack can infer its return */
};

struct ntr_check_flow {
    ntr_decoder *decoder;
    const ntr_allocator *allocator;
    bool implicit_return;
    struct callers *sources[NTR_SOURCES_MAX];
    ntr_event events[EVENT_BATCH];
    size_t next, count;
    ntr_status status;
    bool has_finding; /* `finding` is valid */
    ntr_flow_finding finding;
};

ntr_check_flow *ntr_check_flow_new(const ntr_check_config *config, ntr_status *status) {
    ntr_check_flow *f = ntr_alloc(config->allocator, 1, sizeof *f);
    ntr_decoder_config decoder = {.size = sizeof decoder,
                                  .params = config->params,
                                  .program = config->program,
                                  .allocator = config->allocator,
                                  .mid_stream = config->mid_stream};
    if (!f) {
        *status = NTR_E_MEMORY;
        return NULL;
    }
    f->allocator = config->allocator;
    f->implicit_return = config->params.implicit_return != NTR_RETURN_OFF;
    *status = ntr_decoder_new(&decoder, &f->decoder);
    if (f->decoder) {
        ntr_decoder_set_repeats(f->decoder, true);
        return f;
    }
    ntr_dealloc(config->allocator, f);
    return NULL;
}

void ntr_check_flow_free(ntr_check_flow *f) {
    if (!f) return;
    for (size_t i = 0; i < NTR_SOURCES_MAX; i++) ntr_dealloc(f->allocator, f->sources[i]);
    ntr_decoder_free(f->decoder);
    ntr_dealloc(f->allocator, f);
}

ntr_status ntr_check_flow_feed(ntr_check_flow *f, const uint8_t *data, size_t size, bool last) {
    f->status = NTR_OK;
    return ntr_decoder_feed(f->decoder, data, size, last);
}

/* ---- returns that could have been inferred */

static struct callers *callers_of(ntr_check_flow *f, uint16_t src) {
    struct callers **place = &f->sources[src % NTR_SOURCES_MAX];
    if (!*place) *place = ntr_alloc(f->allocator, 1, sizeof **place);
    return *place;
}

static void call(struct callers *c, uint64_t back, uint64_t message) {
    c->message[c->top % CALLERS] = message;
    c->address[c->top++ % CALLERS] = back;
    if (c->count < CALLERS) c->count++;
    c->leaf = true;
}

/* Returns whether `target` is the return address for return stacks of any depth. *message is set to the number of the
 * message with the call, if it is known. */
static bool returns(struct callers *c, uint64_t target, uint64_t *message) {
    const bool leaf = c->leaf;
    c->leaf = false;
    if (c->count == 0) return false;
    c->count--;
    *message = c->message[--c->top % CALLERS];
    return c->address[c->top % CALLERS] == target && leaf;
}

/* Returns whether the span ends with a return that could have been inferred: an earlier message reported its call.
 * *early: it was inferred, but the message also reports its call. */
static bool follow_span(struct callers *c, const ntr_event *e, bool *early) {
    const bool implicit = e->flags & NTR_EVENT_IMPLICIT;
    uint64_t message = 0;
    switch (e->end) {
    case NTR_SPAN_CALL:
    case NTR_SPAN_INDIRECT_CALL: call(c, e->address + 2 * (uint64_t)e->halfwords, e->message); return false;
    case NTR_SPAN_RETURN: {
        const bool known = returns(c, e->target, &message);
        *early = implicit && message == e->message;
        return known && !implicit && message < e->message;
    }
    case NTR_SPAN_CO_SWAP: c->count = 0; return false;
    default: return false;
    }
}

/* ---- events */

static void record(ntr_check_flow *f, const ntr_event *e, ntr_flow_kind kind, uint64_t address, bool known) {
    f->has_finding = true;
    f->finding = (ntr_flow_finding){.kind = (uint8_t)kind,
                                    .reason = kind <= NTR_FLOW_NOTE ? e->reason : 0,
                                    .src = e->src,
                                    .offset = e->offset,
                                    .message = e->message,
                                    .address = address,
                                    .has_address = known};
}

/* A return that was sent in a synchronizing message needed that message. The finding is therefore reported only
 * after the next event. */
static void check_return(ntr_check_flow *f, struct callers *c, const ntr_event *e) {
    if (c->inferable && !(e->kind == NTR_EVENT_SYNC && e->message + 1 == c->inferable)) {
        ntr_event at = *e;
        at.message = c->inferable - 1;
        record(f, &at, NTR_FLOW_PREDICTABLE, 0, false);
    }
    c->inferable = 0;
}

static void take(ntr_check_flow *f, const ntr_event *e) {
    struct callers *c = callers_of(f, e->src);
    bool early = false;
    if (!c) return;
    if (f->implicit_return && e->kind != NTR_EVENT_CONTEXT) check_return(f, c, e);
    switch (e->kind) {
    case NTR_EVENT_SPAN:
        if (follow_span(c, e, &early)) c->inferable = e->message + 1;
        if (early && f->implicit_return) record(f, e, NTR_FLOW_EARLY, e->last, true);
        break;
    case NTR_EVENT_SYNC: c->count = 0; break;
    case NTR_EVENT_GAP:
        c->count = 0;
        record(f, e, NTR_FLOW_GAP, e->gap.from_address, e->gap.from_known);
        break;
    case NTR_EVENT_NOTE: record(f, e, NTR_FLOW_NOTE, e->address, !(e->flags & NTR_EVENT_ADDRESS_UNKNOWN)); break;
    default: break;
    }
}

static bool refill(ntr_check_flow *f) {
    while (f->next == f->count && f->status == NTR_OK) {
        f->next = 0;
        f->status = ntr_decoder_read(f->decoder, f->events, EVENT_BATCH, &f->count);
    }
    return f->next < f->count;
}

bool ntr_check_flow_next(ntr_check_flow *f, uint64_t message, ntr_flow_finding *finding) {
    while (!f->has_finding && refill(f) && f->events[f->next].message <= message) take(f, &f->events[f->next++]);
    if (!f->has_finding) return false;
    f->has_finding = false;
    *finding = f->finding;
    return true;
}

ntr_status ntr_check_flow_status(const ntr_check_flow *f) {
    return f->status < 0 ? f->status : NTR_OK;
}
