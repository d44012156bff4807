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

static inline ntr_status tallies_by_events(const ntr_decoder_config *config, ntr_bytes in, ntr_tally *tally,
                                           ntr_counts *totals) {
    ntr_event events[256];
    ntr_decoder *d = ntr_decoder_new(config, NULL);
    ntr_status status = NTR_OK;
    size_t total = 0;
    ntr_decoder_feed(d, in.data, in.size, true);
    while (status == NTR_OK) {
        size_t count = 0;
        status = ntr_decoder_read(d, events, 256, &count);
        ntr_tally_feed(tally, events, count);
        for (size_t i = 0; i < count; i++) totals_add(totals, &events[i], config->params.dialect);
        total += count;
        if (total > TALLIES_EVENTS_MAX && status == NTR_OK) status = NTR_E_LIMIT;
    }
    ntr_decoder_free(d);
    return status;
}

/* In two pieces, the first one settled on its own. */
static inline ntr_status tallies_by_counting(const ntr_decoder_config *config, ntr_bytes in, ntr_tally *tally,
                                             ntr_counts *counts) {
    ntr_decoder *d = ntr_decoder_new(config, NULL);
    ntr_decoder_set_count_callback(d, ntr_tally_count, tally);
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

static inline ntr_status tallies_ignore(void *user, const ntr_event *event, uint64_t times) {
    (void)user, (void)event, (void)times;
    return NTR_OK;
}

static inline ntr_status tallies_count(const ntr_decoder_config *config, ntr_bytes in, ntr_count_callback *callback,
                                       ntr_counts *counts) {
    ntr_decoder *d = ntr_decoder_new(config, NULL);
    if (callback) ntr_decoder_set_count_callback(d, callback, NULL);
    ntr_decoder_feed(d, in.data, in.size, true);
    ntr_status status = ntr_decoder_count(d, counts);
    ntr_decoder_free(d);
    return status;
}

/* Message memos are used only without a count callback: the totals must be the same with and without it. */
static inline bool tallies_repeat(const ntr_decoder_config *config, ntr_bytes in) {
    enum { TIMES = 4 };
    uint8_t *many = malloc(TIMES * in.size + 1);
    ntr_counts known = {0}, walked = {0};
    for (unsigned i = 0; in.size && i < TIMES; i++) memcpy(many + i * in.size, in.data, in.size);
    ntr_bytes all = {many, TIMES * in.size};
    ntr_status one = tallies_count(config, all, NULL, &known),
               other = tallies_count(config, all, tallies_ignore, &walked);
    free(many);
    return one == other && memcmp(&known, &walked, sizeof known) == 0;
}

/* NULL, or what differs. */
static inline const char *tallies_differ(const ntr_decoder_config *config, ntr_bytes in) {
    ntr_tally *events = ntr_tally_new(NULL), *counting = ntr_tally_new(NULL);
    ntr_counts totals = {0}, counts = {0};
    ntr_status one = tallies_by_events(config, in, events, &totals);
    ntr_status other = tallies_by_counting(config, in, counting, &counts);
    const char *what = NULL;
    if (one == NTR_E_LIMIT) what = NULL;
    else if (one != other) what = "counting ends with another status than events";
    else if (one == NTR_END && memcmp(&totals, &counts, sizeof counts)) what = "counting has other totals than events";
    else if (one == NTR_END && !tallies_equal(events, counting)) what = "counting gives other spans than events";
    else if (!tallies_repeat(config, in)) what = "counting what is known has other totals";
    ntr_tally_free(events);
    ntr_tally_free(counting);
    return what;
}

#endif
