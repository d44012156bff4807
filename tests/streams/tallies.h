/* Whether counting agrees with events: the same totals, and spans with their counts, for each source and context. */
#ifndef NTR_TEST_TALLIES_H
#define NTR_TEST_TALLIES_H

#include <ntrace/decoder.h>
#include <ntrace/tally.h>
#include <stdlib.h>
#include <string.h>

#include "totals.h"

/* A damaged count can stand for more than this limit: NTR_E_LIMIT. */
enum { TALLIES_EVENTS_MAX = 1 << 20 };

/* What a decoder found: spans, and a hash over the other events in their order. */
typedef struct tallies_found {
    ntr_tally *tally;
    uint64_t others;
} tallies_found;

static inline tallies_found tallies_found_nothing(void) {
    tallies_found found = {0};
    ntr_tally_new(NULL, NULL, &found.tally);
    return found;
}

static inline void tallies_add_other(tallies_found *found, const ntr_event *e) {
    const uint64_t values[] = {e->kind, e->src, e->code, (uint64_t)(int64_t)e->reason, e->offset, e->address};
    if (e->kind == NTR_EVENT_SPAN) return;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        found->others = (found->others ^ values[i]) * UINT64_C(0x9e3779b97f4a7c15);
}

/* `repeats`: loops are returned once. */
static inline ntr_status tallies_by_events(const ntr_decoder_config *config, ntr_bytes in, bool repeats,
                                           tallies_found *found, ntr_counts *totals) {
    ntr_event events[256];
    ntr_decoder *d;
    ntr_decoder_new(config, &d);
    ntr_status status = NTR_OK;
    size_t total = 0;
    ntr_decoder_set_repeats(d, repeats);
    ntr_decoder_feed(d, in.data, in.size, true);
    while (status == NTR_OK) {
        size_t count = 0;
        status = ntr_decoder_read(d, events, 256, &count);
        ntr_tally_feed(found->tally, events, count);
        for (size_t i = 0; i < count; i++) {
            totals_add(totals, &events[i], config->params.dialect);
            tallies_add_other(found, &events[i]);
        }
        total += count;
        if (total > TALLIES_EVENTS_MAX && status == NTR_OK) status = NTR_E_LIMIT;
    }
    ntr_decoder_free(d);
    return status;
}

static inline ntr_status tallies_take(void *user, const ntr_event *event, uint64_t times) {
    tallies_found *found = user;
    tallies_add_other(found, event);
    return ntr_tally_count(found->tally, event, times);
}

/* In two pieces, the first one settled on its own. */
static inline ntr_status tallies_by_counting(const ntr_decoder_config *config, ntr_bytes in, tallies_found *found,
                                             ntr_counts *counts) {
    ntr_decoder *d;
    ntr_decoder_new(config, &d);
    ntr_decoder_set_count_callback(d, tallies_take, found);
    ntr_decoder_feed(d, in.data, in.size / 2, false);
    ntr_status status = ntr_decoder_count(d, counts);
    if (status == NTR_NEED_MORE) status = ntr_decoder_flush_counts(d);
    if (status == NTR_OK) {
        ntr_decoder_feed(d, in.data + in.size / 2, in.size - in.size / 2, true);
        status = ntr_decoder_count(d, counts);
    }
    ntr_decoder_free(d);
    counts->messages = counts->bytes = 0;
    return status;
}

/* A row with its source and context. Set to zero first, because rows are compared as bytes. */
typedef struct tallies_row {
    ntr_context context;
    uint64_t address, last, target, count, src, end, instructions, halfwords, target_unknown;
} tallies_row;

static inline int tallies_compare(const void *a, const void *b) {
    return memcmp(a, b, sizeof(tallies_row));
}

static inline tallies_row *tallies_rows(ntr_tally *tally, size_t *count) {
    const ntr_tally_row *rows = ntr_tally_rows(tally, count);
    tallies_row *out = calloc(*count + 1, sizeof *out);
    for (size_t i = 0; i < *count; i++) {
        const ntr_tally_row *r = &rows[i];
        const ntr_tally_view_info *view = ntr_tally_view(tally, r->view);
        tallies_row *o = &out[i];
        o->context.scontext = view->context.scontext;
        o->context.hcontext = view->context.hcontext;
        o->context.prv = view->context.prv;
        o->context.v = view->context.v;
        o->src = view->src;
        o->address = r->address;
        o->last = r->last;
        o->target = r->target;
        o->count = r->count;
        o->end = r->end;
        o->instructions = r->instructions;
        o->halfwords = r->halfwords;
        o->target_unknown = r->target_unknown;
    }
    qsort(out, *count, sizeof *out, tallies_compare);
    return out;
}

static inline bool tallies_equal(ntr_tally *a, ntr_tally *b) {
    size_t count_a, count_b;
    tallies_row *rows_a = tallies_rows(a, &count_a), *rows_b = tallies_rows(b, &count_b);
    bool equal = count_a == count_b && memcmp(rows_a, rows_b, count_a * sizeof *rows_a) == 0 &&
                 ntr_tally_gaps(a) == ntr_tally_gaps(b);
    free(rows_a);
    free(rows_b);
    return equal;
}

/* Without a callback. */
static inline ntr_status tallies_totals(const ntr_decoder_config *config, ntr_bytes in, ntr_counts *counts) {
    ntr_decoder *d;
    ntr_decoder_new(config, &d);
    ntr_decoder_feed(d, in.data, in.size, true);
    ntr_status status = ntr_decoder_count(d, counts);
    ntr_decoder_free(d);
    counts->messages = counts->bytes = 0;
    return status;
}

/* NULL, or what differs in this stream. */
static inline const char *tallies_differ_once(const ntr_decoder_config *config, ntr_bytes in) {
    tallies_found events = tallies_found_nothing(), counted = tallies_found_nothing();
    tallies_found repeated = tallies_found_nothing();
    ntr_counts totals = {0}, counts = {0}, plain = {0}, loops = {0};
    ntr_status by_events = tallies_by_events(config, in, false, &events, &totals), by_counting, by_totals, by_loops;
    const char *what = NULL;
    if (by_events != NTR_E_LIMIT) {
        by_counting = tallies_by_counting(config, in, &counted, &counts);
        by_totals = tallies_totals(config, in, &plain);
        by_loops = tallies_by_events(config, in, true, &repeated, &loops);
        bool ended = by_events == NTR_END;
        if (by_events != by_counting || by_events != by_totals || by_events != by_loops)
            what = "counting ends with another status than events";
        else if (ended && memcmp(&totals, &counts, sizeof counts))
            what = "counting has other totals than events";
        else if (ended && memcmp(&totals, &plain, sizeof plain))
            what = "counting without callback has other totals";
        else if (ended && !tallies_equal(events.tally, counted.tally))
            what = "counting gives other spans than events";
        else if (ended && events.others != counted.others)
            what = "counting gives other events";
        else if (ended && memcmp(&totals, &loops, sizeof loops))
            what = "repeated spans have other totals than all spans";
        else if (ended && !tallies_equal(events.tally, repeated.tally))
            what = "repeated spans are others than all spans";
        else if (ended && events.others != repeated.others)
            what = "other events differ beside repeated spans";
    }
    ntr_tally_free(repeated.tally);
    ntr_tally_free(events.tally);
    ntr_tally_free(counted.tally);
    return what;
}

/* The same when the stream comes four times in a row, so that message memos apply. */
static inline const char *tallies_differ(const ntr_decoder_config *config, ntr_bytes in) {
    enum { TIMES = 4 };
    const char *what = tallies_differ_once(config, in);
    if (what || !in.size) return what;
    uint8_t *many = malloc(TIMES * in.size);
    for (unsigned i = 0; i < TIMES; i++) memcpy(many + i * in.size, in.data, in.size);
    what = tallies_differ_once(config, (ntr_bytes){many, TIMES * in.size});
    free(many);
    return what;
}

#endif
