/* How well a stream and a program belong together (<ntrace/fit.h>).
 *
 * Idea: a decoder that goes on after a contradiction as after missing code (ntr_decoder.retries) judges each message
 * with an address of its own. Its gaps are the messages that contradict, and those that nothing can be said of. The
 * messages themselves are then counted by a reader, source by source.
 *
 * Which contradictions are damage? A damaged message contradicts once. If it changes an address (U-ADDR is relative to
 * the one before), everything up to the next synchronizing message contradicts, at addresses that never agree. So a
 * place of the code counts against the program when it contradicts in two stretches between synchronizing messages, and
 * agrees nowhere: damage does not hit the same place twice, unless it is executed all the time, and then it also
 * agrees. */
#include <ntrace/fit.h>
#include <ntrace/program_files.h>
#include <ntrace/reader.h>

#include "base/allocator.h"
#include "decoder/message_source.h"
#include "decoder/state.h"
#include "message/sets.h"
#include "message/table.h"

#include <string.h>

enum { FIT_EVENTS = 256, FIT_SPANS_MAX = 4 << 20, FIT_PLACES = 1 << 12, FIT_PLACES_TRIED = 16 };

/* A gap: the messages of one source from `message` to `until`, both included. */
typedef struct fit_gap {
    uint64_t message, until;
    uint32_t next; /* number + 1 of the next gap of the source; 0: none */
    bool contradicts; /* `message` contradicts the program; the others were not judged */
} fit_gap;

/* A place at which the program was contradicted. */
typedef struct fit_place {
    uint64_t address;
    uint64_t stretch; /* the latest one with a contradiction here */
    uint32_t source;
    uint32_t stretches; /* 0: the entry is free */
    bool agrees;
} fit_place;

typedef struct fit_source {
    uint32_t first_gap, last_gap; /* number + 1 */
    uint64_t stretch; /* number of synchronizing messages so far */
    uint64_t agreeing, contradicting; /* of this stretch */
} fit_source;

typedef struct fit_state {
    const ntr_decoder_config *config;
    ntr_params params;
    ntr_fit *fit;
    fit_source *sources;
    size_t source_count;
    fit_gap *gaps;
    size_t gap_count, gap_capacity;
    fit_place *places;
    ntr_fit_image *images;
    size_t image_count, image; /* `image`: of the latest span */
    uint64_t low, high; /* its addresses */
    bool has_context;
    ntr_context context; /* the latest one */
    uint64_t latest; /* the latest message with a span */
    uint64_t end; /* number of the first message that was not decoded */
    bool spans_agree; /* the second pass: look for places that agree */
} fit_state;

/* Returns whether a gap for this reason is a contradiction between messages and code. An empty return stack is none:
 * the calls may have been before the trace. */
static bool contradicts(int reason) {
    switch (reason) {
    case NTR_E_ICNT_SPLITS:
    case NTR_E_UNEXPECTED_INDIRECT:
    case NTR_E_HIST_LEFT:
    case NTR_E_HIST_SHORT:
    case NTR_E_ADDRESS_MISMATCH:
    case NTR_E_NO_LANDING:
    case NTR_E_LOOP: return true;
    default: return false;
    }
}

/* ---- places */

/* Returns the entry of an address, or the free one for it; NULL when there is no room. */
static fit_place *place_at(const fit_state *f, uint64_t address) {
    const uint64_t hash = address * UINT64_C(0x9e3779b97f4a7c15);
    for (unsigned i = 0; i < FIT_PLACES_TRIED; i++) {
        fit_place *p = &f->places[((hash >> 40) + i) % FIT_PLACES];
        if (!p->stretches || p->address == address) return p;
    }
    return NULL;
}

static void contradict_place(fit_state *f, uint16_t src, uint64_t address) {
    const uint64_t stretch = f->sources[src].stretch;
    fit_place *p = place_at(f, address);
    if (!p || (p->stretches && p->source == src && p->stretch == stretch)) return;
    p->address = address;
    p->source = src;
    p->stretch = stretch;
    p->stretches++;
}

/* The instructions of the span were executed as its message says. */
static void agree(fit_state *f, const ntr_event *e) {
    for (uint64_t at = e->address; at <= e->last; at += 2) {
        fit_place *p = place_at(f, at);
        if (p && p->stretches) p->agrees = true;
    }
}

/* ---- gaps */

static ntr_status add_gap(fit_state *f, const ntr_event *e) {
    fit_source *s = &f->sources[e->src];
    void *list = f->gaps;
    if (ntr_reserve(f->config->allocator, &list, &f->gap_capacity, f->gap_count + 1, sizeof *f->gaps))
        return NTR_E_MEMORY;
    f->gaps = list;
    f->gaps[f->gap_count++] =
        (fit_gap){.message = e->message, .until = e->gap.until_message, .contradicts = contradicts(e->reason)};
    *(s->last_gap ? &f->gaps[s->last_gap - 1].next : &s->first_gap) = (uint32_t)f->gap_count;
    s->last_gap = (uint32_t)f->gap_count;
    return NTR_OK;
}

static void note_first(ntr_fit *fit, const ntr_event *e) {
    if (fit->reason && fit->message <= e->message) return;
    fit->reason = e->reason;
    fit->message = e->message;
    fit->offset = e->offset;
    fit->address = e->gap.from_address;
    fit->address_known = e->gap.from_known;
}

/* ---- images */

/* Returns the image of an address, or NULL. */
static ntr_fit_image *image_of(fit_state *f, const ntr_event *e, uint64_t address) {
    ntr_image_info info;
    if (!f->image_count) return NULL;
    if (address >= f->low && address < f->high) return &f->images[f->image];
    const ntr_program *program = f->config->program;
    if (ntr_program_image_at(program, ntr_event_place(e, address), &f->image) != NTR_OK || f->image >= f->image_count) {
        f->low = f->high = 0;
        return NULL;
    }
    /* Where images depend on context or position, the next address may be of another one. */
    const bool simple = f->image_count == 1 && ntr_program_is_constant(program);
    if (simple && ntr_program_image(program, f->image, &info) == NTR_OK) {
        f->low = info.low;
        f->high = info.high;
    }
    return &f->images[f->image];
}

static void take_span(fit_state *f, const ntr_event *e) {
    const bool branch = e->end == NTR_SPAN_TAKEN || e->end == NTR_SPAN_NOT_TAKEN;
    ntr_fit_image *image = image_of(f, e, e->address);
    f->fit->branches += branch * ntr_event_times(e);
    f->fit->instructions += ntr_event_executed(e);
    if (!image) return;
    image->branches += branch * ntr_event_times(e);
    image->instructions += ntr_event_executed(e);
    image->agreeing += f->latest != e->message;
    f->latest = e->message;
}

static ntr_status take_gap(fit_state *f, const ntr_event *e) {
    if (contradicts(e->reason)) {
        ntr_fit_image *image = e->gap.from_known ? image_of(f, e, e->gap.from_address) : NULL;
        note_first(f->fit, e);
        if (image) image->contradicting++;
        if (e->gap.from_known) contradict_place(f, e->src, e->gap.from_address);
    }
    const bool missing = e->reason == NTR_E_NO_IMAGE || e->reason == NTR_E_UNDECIDED;
    if (missing && !f->fit->without_code++) f->fit->missing = e->gap.from_address;
    return add_gap(f, e);
}

static void take_context(fit_state *f, const ntr_context *context) {
    const bool other = context->scontext != f->context.scontext || context->hcontext != f->context.hcontext;
    if (!context->has_scontext && !context->has_hcontext) return;
    f->fit->several_contexts |= f->has_context && other;
    f->context = *context;
    f->has_context = true;
}

static ntr_status take(fit_state *f, const ntr_event *e) {
    if (f->spans_agree) {
        if (e->kind == NTR_EVENT_SPAN && e->instructions) agree(f, e);
        return NTR_OK;
    }
    if (e->src >= f->source_count) return NTR_OK;
    switch (e->kind) {
    case NTR_EVENT_SPAN: take_span(f, e); break;
    case NTR_EVENT_CONTEXT: take_context(f, &e->context); break;
    case NTR_EVENT_SYNC: f->sources[e->src].stretch++; break;
    case NTR_EVENT_GAP: return take_gap(f, e);
    default: f->fit->damaged += ntr_event_is_doubtful(e, f->params.dialect); break;
    }
    return NTR_OK;
}

/* Decodes the bytes, at most FIT_SPANS_MAX spans of them; a loop is one pass of its spans. */
static ntr_status decode(fit_state *f, ntr_bytes stream, bool last) {
    ntr_event events[FIT_EVENTS];
    ntr_status status, taken = NTR_OK;
    uint64_t spans = 0;
    ntr_decoder *decoder;
    status = ntr_decoder_new(f->config, &decoder);
    if (!decoder) return status;
    f->params = decoder->params;
    decoder->retries = true;
    ntr_decoder_set_repeats(decoder, true);
    ntr_decoder_feed(decoder, stream.data, stream.size, last);
    do {
        size_t count;
        status = ntr_decoder_read(decoder, events, FIT_EVENTS, &count);
        for (size_t i = 0; i < count && taken == NTR_OK; i++) {
            spans += events[i].kind == NTR_EVENT_SPAN;
            taken = take(f, &events[i]);
        }
    } while (status == NTR_OK && taken == NTR_OK && spans < FIT_SPANS_MAX);
    f->end = status == NTR_OK ? decoder->message.number : UINT64_MAX;
    ntr_decoder_free(decoder);
    return status < 0 ? status : taken;
}

/* ---- messages */

static bool carries_flow(const uint8_t roles[64], unsigned tcode) {
    switch (roles[tcode & 63]) {
    case NTR_ROLE_SYNC:
    case NTR_ROLE_BRANCH:
    case NTR_ROLE_REPEAT:
    case NTR_ROLE_RESOURCE:
    case NTR_ROLE_STOP:
    case NTR_ROLE_SELF_LOOP:
    case NTR_ROLE_PREDICTION:
    case NTR_ROLE_CACHED_BRANCH: return true;
    default: return false;
    }
}

static void end_stretch(ntr_fit *fit, fit_source *s) {
    if (!s->agreeing && !s->contradicting) return;
    fit->stretches++;
    fit->contradicting_stretches += s->contradicting > 0;
    s->agreeing = s->contradicting = 0;
}

/* The first gap of the source that ends at or behind a message. NULL: none. */
static const fit_gap *gap_from(const fit_state *f, fit_source *s, uint64_t number) {
    while (f->gaps && s->first_gap) {
        const fit_gap *gap = &f->gaps[s->first_gap - 1];
        if (gap->until >= number) return gap;
        s->first_gap = gap->next;
    }
    return NULL;
}

/* Counts a message of the flow as agreeing, contradicting or neither. */
static void judge(fit_state *f, fit_source *s, uint64_t number) {
    const fit_gap *gap = gap_from(f, s, number);
    f->fit->messages++;
    if (!gap || gap->message > number) {
        s->agreeing++;
        f->fit->agreeing++;
    } else if (gap->contradicts && gap->message == number) {
        s->contradicting++;
        f->fit->contradicting++;
    }
}

static ntr_status count_messages(fit_state *f, ntr_bytes stream, bool last) {
    ntr_reader reader;
    ntr_message m;
    uint8_t roles[64];
    ntr_status status = ntr_reader_init(&reader, &f->params);
    if (status != NTR_OK) return status;
    if (f->config->mid_stream) ntr_reader_seek_start(&reader);
    ntr_tcode_roles(f->params.dialect, roles);
    ntr_reader_feed(&reader, stream.data, stream.size, last);
    while (ntr_reader_next(&reader, &m) == NTR_OK && m.number < f->end) {
        const uint16_t src = ntr_message_source(&f->params, &m);
        const bool cut = m.defect == NTR_E_TRUNCATED && m.offset + m.size >= stream.size;
        f->fit->damaged += m.defect && m.defect != NTR_E_FIELD_EXTRA && !cut;
        if (m.defect || src >= f->source_count || !carries_flow(roles, m.tcode)) continue;
        if (f->config->one_source && src != f->config->source) continue;
        judge(f, &f->sources[src], m.number);
        if (ntr_tcode_is_sync(m.tcode)) end_stretch(f->fit, &f->sources[src]);
    }
    for (size_t i = 0; i < f->source_count; i++) end_stretch(f->fit, &f->sources[i]);
    return NTR_OK;
}

/* ---- the verdict */

/* Returns whether damage is no explanation. About every second damaged byte makes a message invalid, so that
 * contradictions in several stretches come with damage that is noticed. */
static bool damage_is_noticed_less(const ntr_fit *fit) {
    enum { STRETCHES_FEW = 3, STRETCHES_SURE = 5, NOTICED = 8, STRETCHES_SHARE = 20 };
    if (fit->contradicting_stretches < STRETCHES_FEW) return false;
    if (fit->contradicting_stretches > 2 * fit->damaged && 2 * fit->contradicting_stretches >= fit->stretches)
        return true;
    if (fit->contradicting_stretches * STRETCHES_SHARE < fit->stretches) return false;
    return fit->contradicting_stretches >= STRETCHES_SURE && fit->contradicting_stretches > NOTICED * fit->damaged;
}

/* Returns whether the code contradicts again where it did before. */
static bool repeats(const ntr_fit *fit) {
    enum { REPEATS_SURE = 2, CONTRADICTING_SHARE = 1000 };
    if (fit->contradicting * CONTRADICTING_SHARE < fit->agreeing) return false;
    return fit->repeats > fit->damaged && (fit->repeats >= REPEATS_SURE || fit->contradicting_stretches > REPEATS_SURE);
}

static ntr_fit_verdict verdict_of(const ntr_fit *fit) {
    if (!fit->contradicting) return fit->agreeing ? NTR_FIT_AGREES : NTR_FIT_UNKNOWN;
    if (fit->several_contexts) return NTR_FIT_DOUBTFUL;
    if (repeats(fit) || damage_is_noticed_less(fit)) return NTR_FIT_OTHER_CODE;
    return NTR_FIT_DOUBTFUL;
}

static ntr_status measure(fit_state *f, ntr_bytes stream, bool last) {
    ntr_status status = decode(f, stream, last);
    if (status == NTR_OK) status = count_messages(f, stream, last);
    if (status != NTR_OK || !f->fit->contradicting) return status;
    f->spans_agree = true;
    status = decode(f, stream, last);
    for (size_t i = 0; i < FIT_PLACES; i++)
        if (f->places[i].stretches && !f->places[i].agrees) f->fit->repeats += f->places[i].stretches - 1;
    return status;
}

ntr_status ntr_fit_measure(const ntr_decoder_config *config, ntr_bytes stream, bool last, ntr_fit *fit,
                           ntr_fit_image *images, size_t image_count) {
    const ntr_allocator *allocator = config->allocator;
    fit_state f = {.config = config,
                   .fit = fit,
                   .source_count = (size_t)1 << config->params.src_bits,
                   .images = images,
                   .image_count = images ? image_count : 0};
    memset(fit, 0, sizeof *fit);
    if (images) memset(images, 0, image_count * sizeof *images);
    f.sources = ntr_alloc(allocator, f.source_count, sizeof *f.sources);
    f.places = ntr_alloc(allocator, FIT_PLACES, sizeof *f.places);
    ntr_status status = f.sources && f.places ? measure(&f, stream, last) : NTR_E_MEMORY;
    fit->complete = last && f.end == UINT64_MAX;
    fit->verdict = (uint8_t)verdict_of(fit);
    ntr_dealloc(allocator, f.sources);
    ntr_dealloc(allocator, f.places);
    ntr_dealloc(allocator, f.gaps);
    return status;
}
