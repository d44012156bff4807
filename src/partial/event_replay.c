/* Unpacking events (event_coder.h). */
#include "partial/event_coder.h"
#include "partial/partial.h"

#include "base/allocator.h"

#include <string.h>

static void damaged(ntr_block_reader *r) {
    ntr_block_reader_fail(r, "is damaged: an event is not possible");
}

static uint64_t get_below(ntr_block_reader *r, uint64_t limit) {
    const uint64_t number = ntr_block_get(r);
    if (number >= limit) damaged(r);
    return number < limit ? number : 0;
}

static uint64_t get_signed(ntr_block_reader *r) {
    return ntr_block_unzigzag(ntr_block_get(r));
}

static uint32_t get_context(ntr_event_coder *c, ntr_block_reader *r) {
    const uint64_t number = get_below(r, c->context_count + 1);
    if (r->status || number < c->context_count) return (uint32_t)number;
    ntr_context context = NTR_CONTEXT_UNKNOWN;
    const uint64_t flags = get_below(r, 8);
    context.has_scontext = flags & 1;
    context.has_hcontext = flags >> 1 & 1;
    context.v = flags >> 2 & 1;
    context.prv = (uint8_t)get_below(r, UINT8_MAX + 1);
    context.scontext = ntr_block_get(r);
    context.hcontext = ntr_block_get(r);
    if (ntr_event_coder_context(c, &context) == SIZE_MAX) r->status = NTR_E_MEMORY;
    return (uint32_t)number;
}

static ntr_event_step get_step(ntr_block_reader *r) {
    ntr_event_step step;
    step.message = get_signed(r);
    step.offset = get_signed(r);
    step.time = get_signed(r);
    return step;
}

static void get_kind(ntr_block_reader *r, ntr_event_shape *s) {
    s->kind = (uint8_t)get_below(r, NTR_EVENT_KINDS);
    const uint64_t word = get_below(r, 1 << 24);
    s->end = (uint8_t)word;
    s->flags = (uint8_t)(word >> 8);
    s->code = (uint8_t)(word >> 16);
    s->src = (uint16_t)get_below(r, NTR_SOURCES_MAX);
    if (s->end >= NTR_SPAN_KINDS) damaged(r);
}

/* ---- spans */

static void get_new_shape(ntr_event_coder *c, ntr_block_reader *r) {
    ntr_event_shape s = {0};
    get_kind(r, &s);
    s.context = get_context(c, r);
    s.address = get_signed(r) + (c->last[0] ? c->shapes[c->last[0] - 1].target : 0);
    s.last = get_signed(r) + s.address;
    s.target = get_signed(r) + s.address;
    s.instructions = (uint32_t)get_below(r, UINT64_C(1) << 32);
    s.halfwords = (uint32_t)get_below(r, UINT64_C(1) << 32);
    if (s.kind != NTR_EVENT_SPAN && s.kind != NTR_EVENT_NO_CODE) damaged(r);
    if (!r->status && ntr_event_coder_shape(c, &s) == SIZE_MAX) r->status = NTR_E_MEMORY;
}

static void make_span(ntr_event_coder *c, const ntr_event_step *step, uint32_t number, ntr_event *e) {
    const ntr_event_shape *s = &c->shapes[number];
    ntr_event_coder_moved(c, step, number);
    *e = (ntr_event){.kind = s->kind,
                     .end = s->end,
                     .flags = s->flags,
                     .code = s->code,
                     .src = s->src,
                     .offset = c->at.offset,
                     .message = c->at.message,
                     .time = c->at.time,
                     .context = c->contexts[s->context]};
    e->address = s->address;
    e->last = s->last;
    e->target = s->target;
    e->instructions = s->instructions;
    e->halfwords = s->halfwords;
}

/* ---- other events */

static void get_gap(ntr_block_reader *r, ntr_event *e) {
    e->gap.until = get_signed(r) + e->offset;
    e->gap.until_message = get_signed(r) + e->message;
    e->gap.from_address = ntr_block_get(r);
    e->gap.to_address = ntr_block_get(r);
    e->gap.from_time = ntr_block_get(r);
    e->gap.to_time = ntr_block_get(r);
    const uint64_t known = get_below(r, 16);
    e->gap.from_known = known & 1;
    e->gap.to_known = known >> 1 & 1;
    e->gap.from_timed = known >> 2 & 1;
    e->gap.to_timed = known >> 3 & 1;
    e->gap.tcode = (uint8_t)get_below(r, UINT8_MAX + 1);
    e->gap.field = (uint8_t)get_below(r, UINT8_MAX + 1);
}

static void get_data(ntr_block_reader *r, ntr_event *e) {
    enum { DATA_BYTES = 24 };
    e->data_address = ntr_block_get(r);
    e->tag = ntr_block_get(r);
    e->data = ntr_block_get(r);
    e->data_size = (uint8_t)get_below(r, DATA_BYTES + 1);
    e->data_more[0] = ntr_block_get(r);
    e->data_more[1] = ntr_block_get(r);
}

static void get_other(ntr_event_coder *c, ntr_block_reader *r, ntr_event *e) {
    ntr_event_shape s = {0};
    get_kind(r, &s);
    const uint32_t context = get_context(c, r);
    const int16_t reason = (int16_t)get_below(r, UINT16_MAX + 1);
    const ntr_event_step step = get_step(r);
    if (s.kind == NTR_EVENT_SPAN || s.kind == NTR_EVENT_NO_CODE) damaged(r);
    if (r->status) return;
    c->at.offset += step.offset;
    c->at.message += step.message;
    c->at.time += step.time;
    *e = (ntr_event){.kind = s.kind,
                     .end = s.end,
                     .flags = s.flags,
                     .code = s.code,
                     .src = s.src,
                     .reason = reason,
                     .offset = c->at.offset,
                     .message = c->at.message,
                     .time = c->at.time,
                     .context = c->contexts[context]};
    (e->kind == NTR_EVENT_GAP ? get_gap : get_data)(r, e);
}

/* ---- records */

/* Reads the event behind the predicted ones. Returns false when there is none. */
static bool get_event(ntr_partial_events_state *s, ntr_block_reader *r, ntr_event *e) {
    ntr_event_coder *c = &s->coder;
    const uint64_t what = s->what;
    s->pending = false;
    if (what == NTR_CODED_NONE) return false;
    if (what == NTR_CODED_OTHER) {
        get_other(c, r, e);
        return !r->status;
    }
    if (what == NTR_CODED_NEW) get_new_shape(c, r);
    const uint64_t number = what == NTR_CODED_NEW ? c->shape_count - 1 : what - NTR_CODED_SHAPES;
    const ntr_event_step step = get_step(r);
    if (!r->status && number >= c->shape_count) damaged(r);
    if (!r->status) make_span(c, &step, (uint32_t)number, e);
    return !r->status;
}

/* Reads the next record, but for its event. Returns false at the end. */
static bool get_record(ntr_partial_events_state *s, ntr_block_reader *r) {
    const uint64_t block = r->number;
    if (!ntr_block_more(r, NTR_BLOCK_EVENTS)) return false;
    if (r->number != block) ntr_event_coder_restart(&s->coder);
    s->run = get_below(r, NTR_CODER_RUN_MAX + 1);
    s->what = ntr_block_get(r);
    s->pending = !r->status;
    return s->pending;
}

static bool predict(ntr_partial_events_state *s, ntr_block_reader *r, ntr_event *e) {
    const ntr_predicted p = *ntr_event_coder_next(&s->coder);
    s->run--;
    if (!p.shape) {
        damaged(r);
        return false;
    }
    make_span(&s->coder, &p.step, p.shape - 1, e);
    return true;
}

ntr_status ntr_partial_events(ntr_partial *p, ntr_event *events, size_t capacity, size_t *count) {
    ntr_partial_events_state *s = &p->events;
    ntr_block_reader *r = &p->reader;
    *count = 0;
    if (!s->coder.predicted && !ntr_event_coder_open(&s->coder, p->allocator)) return NTR_E_MEMORY;
    while (*count < capacity && !r->status) {
        if (s->run)
            *count += predict(s, r, &events[*count]);
        else if (s->pending)
            *count += get_event(s, r, &events[*count]);
        else if (!get_record(s, r))
            break;
    }
    if (r->status) return ntr_partial_reader_error(p);
    return *count ? NTR_OK : NTR_END;
}

ntr_status ntr_partial_copy_events(ntr_partial *p, const ntr_output *output) {
    ntr_block_reader *r = &p->reader;
    ntr_status status = NTR_OK;
    while (!status && ntr_block_more(r, NTR_BLOCK_EVENTS)) {
        status = output->write(output->user, r->bytes, r->size + NTR_BLOCK_SUM_SIZE);
        r->at = r->size;
    }
    return status ? status : r->status ? ntr_partial_reader_error(p) : NTR_OK;
}
