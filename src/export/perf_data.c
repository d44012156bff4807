/* perf.data, as Linux perf reads it: samples with call chains, and branch stacks if wanted.
 *
 * Every `sample_every`-th instruction of a source is a sample, whose period is the number of instructions since the one
 * before; what is left at the end is the period of a last sample. So the periods add up to the instructions of the
 * trace. If no interval is given, it begins with 1 and is doubled whenever there are too many samples: every second one
 * is dropped, which leaves those that the doubled interval would have taken.
 *
 * The file has no AUXTRACE_INFO: perf refuses files with a type that it does not know. docs/exports.md, "perf". */
#include "export/perf_record.h"

#include "base/allocator.h"

#include <ntrace/instructions.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_MOST = 200000, SAMPLES_GIVEN_MOST = 10000000, PERF_SOURCES = 1 << 12 };

typedef struct perf_source {
    uint64_t total, next; /* instructions so far, and at the next sample */
    uint64_t sampled;     /* at the last one */
    uint32_t branches;    /* recorded in its ring */
    ntr_perf_branch *ring;
    ntr_perf_sample last; /* of the last instruction */
} perf_source;

typedef struct perf_writer {
    ntr_perf_samples samples;
    ntr_callstack *stack;
    ntr_instructions *instructions;
    perf_source *sources;
    uint64_t every;
    uint64_t now; /* time of the last event */
    uint64_t newest, least; /* of all samples; no further one is earlier */
    bool fixed;   /* the interval was given */
} perf_writer;

/* ---- call chains: a tree of return addresses, whose nodes are the handles of frames */

static uint32_t enter(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool tail) {
    perf_writer *w = user;
    uint32_t parent = moment->parent ? moment->parent->handle : 0;

    (void)tail;
    return moment->parent ? ntr_perf_chain_child(&w->samples, parent, frame->return_to) : 0;
}

/* ---- samples */

/* Drop the samples that twice the interval would not have taken. */
static void double_interval(perf_writer *w) {
    ntr_perf_samples *s = &w->samples;
    size_t kept = 0;

    w->every *= 2;
    for (size_t i = 0; i < s->count; i++) {
        if (s->items[i].number % w->every) continue;
        if (s->depth)
            memmove(&s->branches[kept * s->depth], &s->branches[i * s->depth], s->depth * sizeof *s->branches);
        s->items[kept] = s->items[i];
        s->items[kept++].period = w->every;
    }
    s->count = kept;
    for (unsigned i = 0; i < PERF_SOURCES; i++) {
        perf_source *source = &w->sources[i];
        source->next = (source->total / w->every + 1) * w->every;
        source->sampled = source->total / w->every * w->every;
    }
}

static ntr_status add_sample(perf_writer *w, perf_source *source, const ntr_perf_sample *sample) {
    ntr_perf_samples *s = &w->samples;

    if (s->count == (w->fixed ? SAMPLES_GIVEN_MOST : SAMPLES_MOST)) {
        if (w->fixed) return NTR_E_LIMIT;
        double_interval(w);
        if (sample->number % w->every) return NTR_OK;
    }
    if (ntr_perf_samples_add(s, sample, source->ring, source->branches)) return NTR_E_MEMORY;
    source->sampled = sample->number;
    return NTR_OK;
}

static bool is_kernel(const ntr_event *e) {
    return e->context.prv == 1 && e->address >> 63;
}

static ntr_perf_sample sample_of(const perf_writer *w, const ntr_event *e, uint32_t chain) {
    return (ntr_perf_sample){
        .time = w->now, .chain = chain, .src = e->src, .kernel = is_kernel(e), .pid = ntr_perf_pid(&e->context)};
}

/* The samples within a span. */
static ntr_status take_span(ntr_export *x, perf_writer *w, const ntr_event *e) {
    perf_source *source = &w->sources[e->src % PERF_SOURCES];
    const ntr_stack_frame *frame = ntr_callstack_frame(w->stack, e);
    ntr_instruction i;

    if (!frame) return NTR_E_MEMORY;
    if (!source->next) source->next = w->every;
    source->last = sample_of(w, e, frame->handle);
    source->last.address = e->last;
    uint64_t end = source->total + e->instructions;
    if (source->next <= end) ntr_instructions_begin(w->instructions, e);
    for (; source->next <= end; source->total++) {
        ntr_status status = ntr_instructions_next(w->instructions, &i);
        if (status == NTR_E_MEMORY) return status;
        if (status != NTR_OK) break;
        if (source->total + 1 < source->next) continue;
        ntr_perf_sample sample = sample_of(w, e, frame->handle);
        sample.address = i.address;
        sample.number = source->next;
        sample.period = source->next - source->sampled;
        source->next += w->every;
        status = add_sample(w, source, &sample);
        if (status != NTR_OK) return status;
    }
    source->total = end;
    (void)x;
    return NTR_OK;
}

static void take_branch(perf_writer *w, const ntr_event *e) {
    perf_source *source = &w->sources[e->src % PERF_SOURCES];
    const bool branches = e->end != NTR_SPAN_CUT && e->end != NTR_SPAN_NOT_TAKEN && e->instructions;

    if (!source->ring || !w->samples.depth || !branches || e->flags & NTR_EVENT_TARGET_UNKNOWN) return;
    source->ring[source->branches++ % w->samples.depth] = (ntr_perf_branch){e->last, e->target, e->end};
}

static uint64_t time_of(const ntr_export *x, const perf_writer *w, const ntr_event *e) {
    const uint64_t per_second = x->analysis.ticks_per_second;

    if (!(e->flags & NTR_EVENT_TIME)) return w->sources[e->src % PERF_SOURCES].total;
    if (!per_second) return e->time;
    return e->time / per_second * 1000000000u + e->time % per_second * 1000000000u / per_second;
}

/* Samples behind a change of what is mapped are not earlier than all those before it, of whichever source. */
static void set_time(const ntr_export *x, perf_writer *w, const ntr_event *e) {
    ntr_perf_samples *s = &w->samples;

    for (; s->changes_reached < s->change_count && s->changes[s->changes_reached].position <= e->offset;
         s->changes_reached++) {
        ntr_perf_change *change = &s->changes[s->changes_reached];
        if (change->position) change->time = w->least = w->newest + 1;
    }
    w->now = time_of(x, w, e);
    if (w->now < w->least) w->now = w->least;
    if (w->now > w->newest) w->newest = w->now;
}

static ntr_status take(ntr_export *x, perf_writer *w, const ntr_event *e) {
    perf_source *source = &w->sources[e->src % PERF_SOURCES];
    ntr_status status = NTR_OK;

    if (w->samples.depth && !source->ring) {
        source->ring = ntr_alloc(x->allocator, w->samples.depth, sizeof *source->ring);
        if (!source->ring) return NTR_E_MEMORY;
    }
    if (e->kind == NTR_EVENT_SPAN) {
        set_time(x, w, e);
        if (e->instructions) status = take_span(x, w, e);
        take_branch(w, e);
    }
    return status == NTR_OK ? ntr_callstack_feed(w->stack, e) : status;
}

/* ---- */

static ntr_status begin(ntr_export *x) {
    perf_writer *w = x->state;
    const ntr_stack_listener listener = {.enter = enter, .user = w};

    w->fixed = x->analysis.sample_every != 0;
    w->every = w->fixed ? x->analysis.sample_every : 1;
    w->samples.allocator = x->allocator;
    w->samples.depth = x->analysis.sample_branches;
    ntr_callstack_new(x->analysis.functions, &listener, x->allocator, &w->stack);
    ntr_instructions_new(x->analysis.program, x->allocator, &w->instructions);
    w->sources = ntr_alloc(x->allocator, PERF_SOURCES, sizeof *w->sources);
    if (!w->stack || !w->instructions || !w->sources) return NTR_E_MEMORY;
    const ntr_status status = ntr_perf_changes_begin(&w->samples, x->analysis.program);
    return status == NTR_OK ? ntr_perf_chain_begin(&w->samples) : status;
}

static ntr_status events(ntr_export *x, const ntr_event *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        ntr_status status = take(x, x->state, &list[i]);
        if (status != NTR_OK) return status;
    }
    return NTR_OK;
}

static ntr_status end(ntr_export *x) {
    perf_writer *w = x->state;

    for (unsigned i = 0; i < PERF_SOURCES; i++) {
        perf_source *source = &w->sources[i];
        if (source->total == source->sampled) continue;
        source->last.number = source->total;
        source->last.period = source->total - source->sampled;
        if (ntr_perf_samples_add(&w->samples, &source->last, source->ring, source->branches)) return NTR_E_MEMORY;
    }
    return ntr_perf_file_write(x, &w->samples, w->every);
}

static void release(ntr_export *x) {
    perf_writer *w = x->state;

    for (unsigned i = 0; w->sources && i < PERF_SOURCES; i++) ntr_dealloc(x->allocator, w->sources[i].ring);
    ntr_dealloc(x->allocator, w->sources);
    ntr_callstack_free(w->stack);
    ntr_instructions_free(w->instructions);
    ntr_perf_samples_release(&w->samples);
}

const ntr_exporter ntr_exporter_perf_data = {
    .name = "perf.data",
    .family = "export",
    .summary = "samples with call chains for perf report, perf script and perf annotate",
    .aliases = {"perf-data"},
    .needs = NTR_NEEDS_EVENTS,
    .state_size = sizeof(perf_writer),
    .begin = begin,
    .events = events,
    .end = end,
    .release = release,
    .abandon = ntr_perf_abandon,
};
