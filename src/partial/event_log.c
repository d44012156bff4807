/* Packing events into blocks (event_coder.h). */
#include "partial/event_coder.h"

#include "base/allocator.h"

#include <string.h>

/* A block is ended when it has that many bytes: long blocks repeat fewer shapes. */
enum { BLOCK_FULL = (NTR_BLOCK_MAX - (1 << 12)) };

struct ntr_event_log {
    ntr_allocator own;
    const ntr_allocator *allocator;
    ntr_output output;
    ntr_block_writer writer;
    ntr_event_coder coder;
    uint32_t *slots; /* hash table of shape numbers + 1, open addressing; 0: free */
    size_t slot_count;
    uint64_t run;    /* events that were predicted */
    bool begun;      /* the block has a record */
};

ntr_status ntr_event_log_new(const ntr_output *output, const ntr_allocator *allocator, ntr_event_log **out) {
    *out = NULL;
    ntr_event_log *log = ntr_alloc(allocator, 1, sizeof *log);
    if (!log) return NTR_E_MEMORY;
    if (allocator) log->own = *allocator;
    log->allocator = allocator ? &log->own : NULL;
    log->output = *output;
    log->writer = (ntr_block_writer){.allocator = log->allocator, .output = &log->output, .full = BLOCK_FULL};
    if (ntr_event_coder_open(&log->coder, log->allocator)) {
        *out = log;
        return NTR_OK;
    }
    ntr_event_log_free(log);
    return NTR_E_MEMORY;
}

void ntr_event_log_free(ntr_event_log *log) {
    if (!log) return;
    const ntr_allocator own = log->own, *allocator = log->allocator ? &own : NULL;
    ntr_event_coder_release(&log->coder);
    ntr_dealloc(allocator, log->writer.bytes);
    ntr_dealloc(allocator, log->slots);
    ntr_dealloc(allocator, log);
}

/* ---- shapes */

static uint64_t hash(const ntr_event_shape *s) {
    const uint64_t value = (s->address ^ s->target << 20 ^ (uint64_t)s->halfwords << 50) * 0x9e3779b97f4a7c15u;
    return (value ^ ((uint64_t)s->context << 16 ^ s->src)) * 0xc2b2ae3d27d4eb4fu >> 20;
}

static bool same_shape(const ntr_event_shape *a, const ntr_event_shape *b) {
    return a->address == b->address && a->last == b->last && a->target == b->target &&
           a->instructions == b->instructions && a->halfwords == b->halfwords && a->context == b->context &&
           a->src == b->src && a->kind == b->kind && a->end == b->end && a->flags == b->flags && a->code == b->code;
}

static uint32_t *slot_of(const ntr_event_log *log, const ntr_event_shape *shape) {
    const size_t mask = log->slot_count - 1;
    size_t at = hash(shape) & mask;
    while (log->slots[at] && !same_shape(&log->coder.shapes[log->slots[at] - 1], shape)) at = (at + 1) & mask;
    return &log->slots[at];
}

/* Makes room for one more shape. */
static bool grow_slots(ntr_event_log *log) {
    enum { SHAPE_SLOTS = 1 << 12 };
    const size_t count = log->slot_count ? 2 * log->slot_count : SHAPE_SLOTS;
    if (log->coder.shape_count * 2 < log->slot_count) return true;
    ntr_dealloc(log->allocator, log->slots);
    log->slot_count = 0;
    log->slots = ntr_alloc(log->allocator, count, sizeof *log->slots);
    if (!log->slots) return false;
    log->slot_count = count;
    for (size_t i = 0; i < log->coder.shape_count; i++) *slot_of(log, &log->coder.shapes[i]) = (uint32_t)i + 1;
    return true;
}

/* ---- records */

static void put(ntr_event_log *log, uint64_t number) {
    ntr_block_number(&log->writer, number);
}

static void put_signed(ntr_event_log *log, uint64_t difference) {
    put(log, ntr_block_zigzag(difference));
}

/* Begins a record: the number of events that were predicted, and what follows. */
static void begin_record(ntr_event_log *log, uint64_t what) {
    put(log, log->run);
    put(log, what);
    log->run = 0;
}

/* Begins a new block when there is none, or when it is full. */
static void begin_block(ntr_event_log *log) {
    const size_t before = log->writer.used;
    if (log->run && before >= BLOCK_FULL) begin_record(log, NTR_CODED_NONE);
    ntr_block_record(&log->writer, NTR_BLOCK_EVENTS);
    if (before && log->writer.used >= before) return;
    ntr_event_coder_restart(&log->coder);
    if (log->slots) memset(log->slots, 0, log->slot_count * sizeof *log->slots);
}

static uint32_t context_number(const ntr_event_coder *c, const ntr_context *context) {
    for (size_t i = c->context_count; i-- > 0;)
        if (ntr_context_equal(&c->contexts[i], context)) return (uint32_t)i;
    return UINT32_MAX;
}

/* Puts the number of the context; a number that is not known yet is followed by the context. */
static void put_context(ntr_event_log *log, const ntr_context *context) {
    const uint32_t known = context_number(&log->coder, context);
    if (known != UINT32_MAX) {
        put(log, known);
        return;
    }
    const size_t number = ntr_event_coder_context(&log->coder, context);
    if (number == SIZE_MAX) log->writer.status = NTR_E_MEMORY;
    put(log, number);
    put(log, (uint64_t)context->has_scontext | (uint64_t)context->has_hcontext << 1 | (uint64_t)context->v << 2);
    put(log, context->prv);
    put(log, context->scontext);
    put(log, context->hcontext);
}

static void put_kind(ntr_event_log *log, const ntr_event *e) {
    put(log, e->kind);
    put(log, (uint64_t)e->end | (uint64_t)e->flags << 8 | (uint64_t)e->code << 16);
    put(log, e->src);
}

static void put_step(ntr_event_log *log, const ntr_event_step *step) {
    put_signed(log, step->message);
    put_signed(log, step->offset);
    put_signed(log, step->time);
}

/* ---- spans */

static void put_new_shape(ntr_event_log *log, const ntr_event *e) {
    begin_record(log, NTR_CODED_NEW);
    put_kind(log, e);
    put_context(log, &e->context);
    put_signed(log, e->address - (log->coder.last[0] ? log->coder.shapes[log->coder.last[0] - 1].target : 0));
    put_signed(log, e->last - e->address);
    put_signed(log, e->target - e->address);
    put(log, e->instructions);
    put(log, e->halfwords);
}

static ntr_event_shape shape_of(const ntr_event_coder *c, const ntr_event *e) {
    return (ntr_event_shape){.address = e->address,
                             .last = e->last,
                             .target = e->target,
                             .instructions = e->instructions,
                             .halfwords = e->halfwords,
                             .context = context_number(c, &e->context),
                             .src = e->src,
                             .kind = e->kind,
                             .end = e->end,
                             .flags = e->flags,
                             .code = e->code};
}

static void add_span(ntr_event_log *log, const ntr_event *e, const ntr_event_step *step) {
    ntr_event_coder *c = &log->coder;
    ntr_event_shape shape = shape_of(c, e);
    const ntr_predicted *p = ntr_event_coder_next(c);
    if (p->shape && log->run < NTR_CODER_RUN_MAX && ntr_event_step_equal(&p->step, step) &&
        same_shape(&c->shapes[p->shape - 1], &shape)) {
        log->run++;
        ntr_event_coder_moved(c, step, p->shape - 1);
        return;
    }
    if (!grow_slots(log)) {
        log->writer.status = NTR_E_MEMORY;
        return;
    }
    uint32_t *slot = slot_of(log, &shape);
    if (*slot) {
        begin_record(log, NTR_CODED_SHAPES + (uint64_t)*slot - 1);
    } else {
        put_new_shape(log, e);
        shape.context = context_number(c, &e->context);
        slot = slot_of(log, &shape);
        const size_t number = ntr_event_coder_shape(c, &shape);
        if (number == SIZE_MAX) log->writer.status = NTR_E_MEMORY;
        if (number == SIZE_MAX) return;
        *slot = (uint32_t)number + 1;
    }
    put_step(log, step);
    ntr_event_coder_moved(c, step, *slot - 1);
}

/* ---- other events */

static void put_gap(ntr_event_log *log, const ntr_event *e) {
    put_signed(log, e->gap.until - e->offset);
    put_signed(log, e->gap.until_message - e->message);
    put(log, e->gap.from_address);
    put(log, e->gap.to_address);
    put(log, e->gap.from_time);
    put(log, e->gap.to_time);
    put(log, (uint64_t)e->gap.from_known | (uint64_t)e->gap.to_known << 1 | (uint64_t)e->gap.from_timed << 2 |
                 (uint64_t)e->gap.to_timed << 3);
    put(log, e->gap.tcode);
    put(log, e->gap.field);
}

static void put_data(ntr_event_log *log, const ntr_event *e) {
    put(log, e->data_address);
    put(log, e->tag);
    put(log, e->data);
    put(log, e->data_size);
    put(log, e->data_more[0]);
    put(log, e->data_more[1]);
}

static void add_other(ntr_event_log *log, const ntr_event *e, const ntr_event_step *step) {
    begin_record(log, NTR_CODED_OTHER);
    put_kind(log, e);
    put_context(log, &e->context);
    put(log, (uint16_t)e->reason);
    put_step(log, step);
    (e->kind == NTR_EVENT_GAP ? put_gap : put_data)(log, e);
    log->coder.at.offset += step->offset;
    log->coder.at.message += step->message;
    log->coder.at.time += step->time;
}

ntr_status ntr_event_log_feed(ntr_event_log *log, const ntr_event *events, size_t count) {
    for (size_t i = 0; i < count && !log->writer.status; i++) {
        const ntr_event *e = &events[i];
        begin_block(log);
        const ntr_event_step step = {e->offset - log->coder.at.offset, e->message - log->coder.at.message,
                                     e->time - log->coder.at.time};
        (e->kind == NTR_EVENT_SPAN || e->kind == NTR_EVENT_NO_CODE ? add_span : add_other)(log, e, &step);
    }
    return log->writer.status;
}

ntr_status ntr_event_log_finish(ntr_event_log *log) {
    if (log->run) begin_record(log, NTR_CODED_NONE);
    ntr_block_writer_flush(&log->writer);
    return log->writer.status;
}
