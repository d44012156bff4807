#include "middle.h"
#include <inttypes.h>
#include <ntrace/export.h>
#include <ntrace/index_build.h>
#include <ntrace/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct place {
    ntr_unit unit;
    uint64_t value;
} place;

typedef struct window {
    ntr_decoder *decoder;
    place from;
    ntr_event event[64];
    size_t at, count;
    ntr_status status;
} window;

static bool is_inside(const place *from, const ntr_event *e) {
    switch (from->unit) {
    case NTR_UNIT_MESSAGE: return e->message >= from->value;
    case NTR_UNIT_OFFSET: return e->offset >= from->value;
    default: return !(e->flags & NTR_EVENT_TIME) || e->time >= from->value;
    }
}

static const ntr_event *next_inside(window *w) {
    for (;;) {
        while (w->at < w->count) {
            const ntr_event *e = &w->event[w->at++];
            if (is_inside(&w->from, e)) return e;
        }
        if (w->status != NTR_OK) return NULL;
        w->at = 0;
        w->status = ntr_decoder_read(w->decoder, w->event, sizeof w->event / sizeof *w->event, &w->count);
    }
}

static ntr_index *index_of(const ntr_params *params, ntr_bytes stream, uint64_t spacing, uint64_t *messages) {
    ntr_index *index;
    ntr_index_new(params, spacing, NULL, &index);
    ntr_reader reader;
    ntr_message message;
    if (!index || ntr_reader_init(&reader, params) || ntr_reader_feed(&reader, stream.data, stream.size, true)) abort();
    while (ntr_reader_next(&reader, &message) == NTR_OK)
        if (ntr_index_message(index, &message)) abort();
    if (ntr_index_finish(index)) abort();
    *messages = reader.number;
    return index;
}

static uint64_t latest_time(const ntr_index *index) {
    size_t count;
    const ntr_point *points = ntr_index_points(index, &count);
    uint64_t latest = 0;
    for (size_t i = 0; i < count; i++)
        if (points[i].clock.time > latest) latest = points[i].clock.time;
    return latest;
}

static place choose(const ntr_index *index, uint64_t messages, uint64_t size, prng *random) {
    place p = {.unit = (ntr_unit)prng_below(random, 3)};
    const uint64_t limit[] = {
        [NTR_UNIT_MESSAGE] = messages, [NTR_UNIT_OFFSET] = size, [NTR_UNIT_TIME] = latest_time(index)};
    p.value = prng_next(random) % (limit[p.unit] + 1);
    return p;
}

static bool same(const ntr_event *a, const ntr_event *b) {
    static char one[NTR_EVENT_TEXT_MAX], other[NTR_EVENT_TEXT_MAX];
    if (!a || !b) return !a && !b;
    size_t size = ntr_event_json(a, one, sizeof one);
    return ntr_event_json(b, other, sizeof other) == size && memcmp(one, other, size) == 0;
}

static verdict compare(window *all, window *part) {
    verdict v = {.good = true};
    const ntr_event *expected, *found;
    do {
        expected = next_inside(all);
        found = next_inside(part);
        v.good = same(expected, found);
    } while (v.good && expected);
    if (!v.good)
        snprintf(v.why, sizeof v.why,
                 "from unit %d %" PRIu64 ": message %" PRIu64 " has event %d, expected %" PRIu64 " and %d",
                 (int)part->from.unit, part->from.value, found ? found->message : 0, found ? found->kind : -1,
                 expected ? expected->message : 0, expected ? expected->kind : -1);
    return v;
}

static bool begin(window *w, const ntr_params *params, const ntr_program *program, ntr_bytes stream,
                  const ntr_point *points, size_t count) {
    ntr_decoder_config config = {.size = sizeof config, .params = *params, .program = program};
    uint64_t offset = count ? points[0].offset : 0;
    for (size_t i = 1; i < count; i++)
        if (points[i].offset < offset) offset = points[i].offset;
    ntr_decoder_new(&config, &w->decoder);
    return w->decoder && (!count || !ntr_decoder_begin(w->decoder, points, count)) &&
           !ntr_decoder_feed(w->decoder, stream.data + offset, stream.size - offset, true);
}

verdict judge_middle(const ntr_params *params, const ntr_program *program, ntr_bytes stream, prng *random) {
    uint64_t messages;
    ntr_index *index = index_of(params, stream, prng_chance(random, 500) ? 0 : prng_below(random, 1000), &messages);
    const ntr_point *points;
    size_t count;
    verdict v = {.good = true};
    for (unsigned i = 0; i < 4 && v.good; i++) {
        window all = {.from = choose(index, messages, stream.size, random)}, part = {.from = all.from};
        if (ntr_index_find(index, all.from.unit, all.from.value, NULL, &points, &count) != NTR_OK) continue;
        if (begin(&all, params, program, stream, NULL, 0) && begin(&part, params, program, stream, points, count))
            v = compare(&all, &part);
        else
            v = (verdict){.why = "no decoder for the middle"};
        ntr_decoder_free(all.decoder);
        ntr_decoder_free(part.decoder);
    }
    ntr_index_free(index);
    return v;
}
