#include "transcript.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(transcript *t, const oracle_event *event) {
    size_t n = t->events;
    if (n < 64 || (n & (n - 1)) == 0) t->event = realloc(t->event, (n < 64 ? 64 : 2 * n) * sizeof *t->event);
    if (!t->event) abort();
    t->event[t->events++] = *event;
}

static transcript *new_told(void) {
    transcript *t = calloc(1, sizeof *t);
    if (!t) abort();
    return t;
}

void transcript_free(transcript *t) {
    if (t) {
        free(t->event);
    }
    free(t);
}

static void hear(void *user, const oracle_event *event) {
    add(user, event);
}

transcript *transcript_by_oracle(const ntr_params *params, const ntr_program *program, ntr_bytes stream) {
    transcript *t = new_told();
    oracle_decode(&(oracle_options){params, program, hear, t}, stream);
    return t;
}

/* ---- the library's decoder ------------------------------------------------------------------------- */

static const uint8_t kind_of[NTR_EVENT_KINDS] = {
    [NTR_EVENT_SPAN] = ORACLE_PC,           [NTR_EVENT_SYNC] = ORACLE_SYNC,     [NTR_EVENT_CONTEXT] = ORACLE_CONTEXT,
    [NTR_EVENT_GAP] = ORACLE_LOST,          [NTR_EVENT_STOP] = ORACLE_STOP,     [NTR_EVENT_NOTE] = ORACLE_NOTE,
    [NTR_EVENT_OVERFLOW] = ORACLE_OVERFLOW, [NTR_EVENT_ACCESS] = ORACLE_ACCESS,
};

/* One instruction after the other: a span is straight code. */
static void hear_span(transcript *t, const ntr_program *program, const ntr_event *e, oracle_event out) {
    uint64_t pc = e->address, start = pc;
    ntr_insn insn;
    for (uint32_t i = 0; i < e->instructions; i++) {
        if (ntr_program_insn(program, ntr_place_at(NULL, e->offset, pc), &insn)) {
            snprintf(t->wrong, sizeof t->wrong, "span at 0x%llx leaves the image", (unsigned long long)e->address);
            return;
        }
        out.pc = pc;
        add(t, &out);
        if (i + 1 == e->instructions && pc != e->last)
            snprintf(t->wrong, sizeof t->wrong, "span at 0x%llx ends at 0x%llx, not at 0x%llx",
                     (unsigned long long)e->address, (unsigned long long)pc, (unsigned long long)e->last);
        pc += insn.size;
    }
    if (e->halfwords != (pc - start) / 2)
        snprintf(t->wrong, sizeof t->wrong, "span at 0x%llx has %u halfwords, not %llu", (unsigned long long)start,
                 e->halfwords, (unsigned long long)(pc - start) / 2);
    if (e->end >= NTR_SPAN_EXCEPTION) {
        out.kind = ORACLE_TRAP;
        out.code = e->end == NTR_SPAN_EXCEPTION ? 2 : e->end == NTR_SPAN_INTERRUPT ? 3 : 1;
        out.pc = pc;
        add(t, &out);
    }
}

static void hear_event(transcript *t, const ntr_program *program, const ntr_event *e) {
    oracle_event out = {.kind = kind_of[e->kind],
                        .src = e->src,
                        .code = e->code,
                        .known = !(e->flags & NTR_EVENT_ADDRESS_UNKNOWN),
                        .time = e->time,
                        .has_time = e->flags & NTR_EVENT_TIME,
                        .offset = e->offset,
                        .reason = e->reason,
                        .context = e->context};
    switch ((ntr_event_kind)e->kind) {
    case NTR_EVENT_SPAN: hear_span(t, program, e, out); return;
    case NTR_EVENT_OVERFLOW: out.code = (unsigned)e->data; break;
    case NTR_EVENT_SYNC:
    case NTR_EVENT_STOP: out.pc = e->address; break;
    case NTR_EVENT_ACCESS:
        out.pc = e->data_address;
        out.size = e->data_size;
        out.data = e->data;
        break;
    case NTR_EVENT_CONTEXT:
    case NTR_EVENT_GAP:
    case NTR_EVENT_NOTE: break;
    default: return; /* data, vendor messages: not part of the flow */
    }
    add(t, &out);
}

typedef struct feeder {
    ntr_decoder *decoder;
    ntr_bytes stream;
    size_t at;
    prng *random;
    bool done;
} feeder;

static bool start(feeder *f, const ntr_params *params, const ntr_program *program, ntr_bytes stream, prng *random) {
    ntr_decoder_config config = {.size = sizeof config, .params = *params, .program = program};
    *f = (feeder){.stream = stream, .random = random};
    return ntr_decoder_new(&config, &f->decoder) == NTR_OK;
}

/* The next span: often small, sometimes all the rest. */
static ntr_status feed(feeder *f) {
    size_t left = f->stream.size - f->at, size = prng_below(f->random, 40) ? prng_range(f->random, 0, 300) : left;
    if (size > left) size = left;
    const uint8_t *data = size ? f->stream.data + f->at : NULL;
    f->at += size;
    f->done = f->at == f->stream.size;
    return ntr_decoder_feed(f->decoder, data, size, f->done);
}

transcript *transcript_by_decoder(const ntr_params *params, const ntr_program *program, ntr_bytes stream,
                                  prng *random) {
    transcript *t = new_told();
    ntr_event events[256];
    feeder f;
    if (!start(&f, params, program, stream, random)) {
        snprintf(t->wrong, sizeof t->wrong, "no decoder");
        return t;
    }
    ntr_status status = NTR_NEED_MORE;
    while ((status == NTR_OK || (status == NTR_NEED_MORE && !f.done)) && !t->endless) {
        if (status == NTR_NEED_MORE && feed(&f)) break;
        size_t count = 0;
        status = ntr_decoder_read(f.decoder, events, prng_range(random, 1, 256), &count);
        for (size_t i = 0; i < count; i++) hear_event(t, program, &events[i]);
        t->endless = t->events > TRANSCRIPT_MAX;
    }
    if (status != NTR_END && !t->endless)
        snprintf(t->wrong, sizeof t->wrong, "decoder ends with %s", ntr_status_name(status));
    ntr_decoder_free(f.decoder);
    return t;
}

bool transcript_counts(const ntr_params *params, const ntr_program *program, ntr_bytes stream, prng *random,
                       ntr_counts *counts) {
    feeder f;
    memset(counts, 0, sizeof *counts);
    if (!start(&f, params, program, stream, random)) return false;
    ntr_status status = NTR_NEED_MORE;
    while (status == NTR_NEED_MORE && !f.done && !feed(&f)) status = ntr_decoder_count(f.decoder, counts);
    ntr_decoder_free(f.decoder);
    return status == NTR_END;
}
