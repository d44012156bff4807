/* Events are appended to the queue, from which ntr_decoder_read takes them, or added to the totals. */
#include "base/allocator.h"
#include "decoder/snapshot.h"
#include "decoder/walk_loop.h"

ntr_event ntr_event_make(const ntr_decoder *d, const ntr_source *s, ntr_event_kind kind) {
    ntr_event e = d->header;
    e.kind = (uint8_t)kind;
    if (!s) return e;
    e.src = s->id;
    e.context = s->context;
    return e;
}

void ntr_span_count(const ntr_decoder *d, unsigned end, uint64_t instructions, uint64_t halfwords) {
    ntr_counts *counts = d->counts;
    uint64_t times = d->times;
    counts->spans += times;
    counts->instructions += times * instructions;
    counts->halfwords += times * halfwords;
    switch (end) {
    case NTR_SPAN_TAKEN:
        counts->taken += times;
        counts->branches += times;
        break;
    case NTR_SPAN_NOT_TAKEN: counts->branches += times; break;
    case NTR_SPAN_CALL:
    case NTR_SPAN_INDIRECT_CALL: counts->calls += times; break;
    case NTR_SPAN_RETURN: counts->returns += times; break;
    case NTR_SPAN_EXCEPTION:
    case NTR_SPAN_TRAP: counts->exceptions += times; break;
    case NTR_SPAN_INTERRUPT: counts->interrupts += times; break;
    default: break;
    }
}

/* A step adds a few events for each source: a loss of bytes opens the gaps of all sources in one step. */
static void queue(ntr_decoder *d, const ntr_event *event) {
    if (d->queue_count == d->queue_capacity &&
        ntr_reserve(d->allocator, (void **)&d->queue, &d->queue_capacity, d->queue_count + 1, sizeof *d->queue)) {
        d->failed = NTR_E_MEMORY;
        return;
    }
    d->queue[d->queue_count++] = *event;
}

/* Instructions that wait to be added to a span come before any other event. */
static void queue_joined(ntr_decoder *d, ntr_source *s, const ntr_event *event) {
    ntr_event e = *event;
    if (e.kind == NTR_EVENT_SPAN) {
        if (d->count_callback) ntr_count_event(d, event);
        ntr_join_add(s, &e);
        ntr_join_settle(d, s, e.end, e.flags);
    } else {
        ntr_join_flush(d, s);
        s->settled = false;
    }
    queue(d, &e);
}

/* Returns a span of the instructions that no span has reported yet. The message may be another source's. */
static ntr_event joined_span(const ntr_decoder *d, ntr_source *s) {
    ntr_event e = ntr_event_make(d, s, NTR_EVENT_SPAN);
    e.time = s->clock.time;
    e.flags = s->clock.known ? NTR_EVENT_TIME : 0;
    e.end = NTR_SPAN_CUT;
    e.address = e.last = e.target = s->pc;
    ntr_join_add(s, &e);
    return e;
}

void ntr_join_flush(ntr_decoder *d, ntr_source *s) {
    if (!s->joined) return;
    const ntr_event e = joined_span(d, s);
    queue(d, &e);
}

bool ntr_decoder_take_joined(ntr_decoder *d, ntr_event *event) {
    for (uint32_t i = 0; i < d->source_capacity; i++) {
        if (!d->sources[i] || !d->sources[i]->joined) continue;
        *event = joined_span(d, d->sources[i]);
        return true;
    }
    return false;
}

void ntr_event_emit(ntr_decoder *d, const ntr_event *event) {
    if (d->counts) {
        if (event->kind == NTR_EVENT_SPAN) ntr_span_count(d, event->end, event->instructions, event->halfwords);
        if (event->kind == NTR_EVENT_GAP) d->counts->gaps++;
        if (ntr_event_is_doubtful(event, d->params.dialect)) d->counts->doubtful++;
        if (!d->count_callback) return;
        d->other_events += event->kind != NTR_EVENT_SPAN;
        ntr_count_event(d, event);
        return;
    }
    const bool span = event->kind == NTR_EVENT_SPAN;
    ntr_event repeated;
    d->other_events += !span;
    if (d->request.repeats && span) {
        ntr_loop_note_end(d, event->end);
        d->loop.spans.kept++;
    }
    if (d->times > 1 && span) {
        repeated = *event;
        repeated.repeats = d->times - 1;
        event = &repeated;
    }
    if (d->join && d->sources[event->src])
        queue_joined(d, d->sources[event->src], event);
    else
        queue(d, event);
}

void ntr_event_note(ntr_decoder *d, const ntr_source *s, ntr_status reason) {
    ntr_event e = ntr_event_make(d, s, NTR_EVENT_NOTE);
    e.reason = (int16_t)reason;
    if (s) e.address = s->pc;
    ntr_event_emit(d, &e);
    ntr_decoder_defect(d, s, reason);
}
