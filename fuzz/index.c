/* Index: decoding can begin at every point of any stream, and the spans from there on are those of the whole stream,
 * except for a gap that is open at the point. The index written as text is read back unchanged. */
#include "fuzz.h"

#include "bundle/index_text.h"

#include <ntrace/export.h>
#include <ntrace/index.h>
#include <ntrace/index_build.h>
#include <ntrace/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPANS_MAX = 2000, INDEX_READS = 400, SOURCES_MAX = 1 << 12 };

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    return fuzz_behind_program(data, size, FUZZ_HEAD);
}

typedef struct spans {
    ntr_event at[SPANS_MAX];
    size_t count;
    uint64_t unknown[SOURCES_MAX]; /* by SRC: messages to which a gap reaches that was open at the first one */
} spans;

static void add_gap(spans *out, const ntr_event *gap, uint64_t first) {
    uint64_t *unknown = &out->unknown[gap->src];
    if (gap->message < first && gap->gap.until_message > *unknown) *unknown = gap->gap.until_message;
}

static ntr_index *index_of(const ntr_params *params, ntr_bytes stream, uint64_t spacing) {
    ntr_index *index;
    ntr_index_new(params, spacing, NULL, &index);
    ntr_reader reader;
    if (!index) return NULL;
    ntr_reader_init(&reader, params);
    ntr_reader_feed(&reader, stream.data, stream.size, true);
    fuzz_must(ntr_index_messages(index, &reader) == NTR_END, "every message is accepted");
    fuzz_must(ntr_index_finish(index) == NTR_OK, "the end is accepted");
    return index;
}

/* The text of the index reads back to the same points. */
static void check_text(const ntr_params *params, const ntr_index *index, uint64_t stream_size) {
    const struct ntr_indexed stream = {.size = stream_size};
    size_t count, copied, length;
    char *text;
    const ntr_point *points = ntr_index_points(index, &count);
    ntr_index *copy;
    ntr_index_new(params, 0, NULL, &copy);
    if (copy && ntr_index_text_write(index, &stream, NULL, &text, &length) == NTR_OK) {
        ntr_status status = ntr_index_text_read((ntr_bytes){(const uint8_t *)text, length}, &stream, copy);
        fuzz_must(status == NTR_OK, "what was written can be read");
        const ntr_point *again = ntr_index_points(copy, &copied);
        fuzz_must(copied == count && ntr_index_is_timed(copy) == ntr_index_is_timed(index), "no point is lost");
        for (size_t i = 0; i < count; i++)
            fuzz_must(again[i].offset == points[i].offset && again[i].message == points[i].message &&
                          again[i].address == points[i].address && again[i].src == points[i].src &&
                          again[i].kind == points[i].kind && again[i].mode == points[i].mode &&
                          again[i].clock.time == points[i].clock.time && again[i].context.prv == points[i].context.prv,
                      "a point is the same");
        free(text);
    }
    ntr_index_free(copy);
}

/* Spans of messages from `first` on. False: there are too many to compare. */
static bool spans_from(const ntr_decoder_config *config, ntr_bytes stream, const ntr_point *points, size_t count,
                       uint64_t first, spans *out) {
    ntr_event events[32];
    size_t n, reads = INDEX_READS;
    uint64_t offset = count ? UINT64_MAX : 0;
    ntr_status status = NTR_OK;
    ntr_decoder *decoder;
    ntr_decoder_new(config, &decoder);
    out->count = 0;
    memset(out->unknown, 0, sizeof out->unknown);
    if (!decoder) return false;
    for (size_t i = 0; i < count; i++)
        if (points[i].offset < offset) offset = points[i].offset;
    fuzz_must(offset <= stream.size, "points are of this stream");
    if (count) fuzz_must(ntr_decoder_begin(decoder, points, count) == NTR_OK, "decoding begins at points");
    ntr_decoder_feed(decoder, stream.data + offset, stream.size - offset, true);
    while (status == NTR_OK && reads--) {
        status = ntr_decoder_read(decoder, events, 32, &n);
        for (size_t i = 0; i < n; i++) {
            if (events[i].kind == NTR_EVENT_GAP) add_gap(out, &events[i], first);
            if (events[i].kind != NTR_EVENT_SPAN || events[i].message < first || events[i].offset < offset) continue;
            if (out->count == SPANS_MAX)
                status = NTR_E_LIMIT;
            else
                out->at[out->count++] = events[i];
        }
    }
    ntr_decoder_free(decoder);
    return status == NTR_END;
}

static bool same(const ntr_event *a, const ntr_event *b) {
    return a->message == b->message && a->offset == b->offset && a->src == b->src && a->address == b->address &&
           a->last == b->last && a->target == b->target && a->end == b->end && a->instructions == b->instructions &&
           a->halfwords == b->halfwords && a->flags == b->flags && (!(a->flags & NTR_EVENT_TIME) || a->time == b->time);
}

/* Leave out messages of a gap that was open at the point. */
static void leave_out_unknown(spans *of, const spans *whole) {
    size_t kept = 0;
    for (size_t i = 0; i < of->count; i++)
        if (of->at[i].message > whole->unknown[of->at[i].src]) of->at[kept++] = of->at[i];
    of->count = kept;
}

static void compare(spans *whole, spans *part) {
    leave_out_unknown(whole, whole);
    leave_out_unknown(part, whole);
    for (size_t i = 0; i < whole->count && i < part->count; i++) {
        if (same(&whole->at[i], &part->at[i])) continue;
        char text[NTR_EVENT_TEXT_MAX];
        fprintf(stderr, "whole: %.*s", (int)ntr_event_json(&whole->at[i], text, sizeof text), text);
        fprintf(stderr, "part:  %.*s", (int)ntr_event_json(&part->at[i], text, sizeof text), text);
        fuzz_must(false, "after a point spans are the same");
    }
    fuzz_must(whole->count == part->count, "after a point the execution is the same");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static spans whole, part;
    fuzz_tape tape = {data, size, 0};
    ntr_decoder_config config = {.size = sizeof config, .params = fuzz_params(&tape)};
    uint8_t unit = fuzz_byte(&tape), spacing = fuzz_byte(&tape);
    uint64_t place = fuzz_number(&tape, 2);
    ntr_program *program = fuzz_program(&tape, config.params.xlen);
    ntr_bytes stream = fuzz_rest(&tape);
    ntr_index *index = stream.size ? index_of(&config.params, stream, spacing) : NULL;
    const ntr_point *points;
    const uint16_t source = unit >> 4;
    size_t count;
    config.program = program;
    config.one_source = unit & 8;
    config.source = source;
    if (index) check_text(&config.params, index, stream.size);
    if (index &&
        ntr_index_find(index, (ntr_unit)(unit % 3), place, unit & 8 ? &source : NULL, &points, &count) == NTR_OK) {
        uint64_t first = 0;
        for (size_t i = 0; i < count; i++)
            if (points[i].message > first) first = points[i].message;
        if (unit % 3 == NTR_UNIT_MESSAGE && spans_from(&config, stream, NULL, 0, place, &whole) &&
            spans_from(&config, stream, points, count, place, &part)) {
            compare(&whole, &part);
        } else {
            spans_from(&config, stream, points, count, first, &part);
        }
    }
    ntr_index_free(index);
    ntr_program_free(program);
    return 0;
}
