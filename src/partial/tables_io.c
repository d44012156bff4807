#include "partial/tables.h"

#include "base/allocator.h"

#include <string.h>

/* The members of the totals, in the order in the file. */
enum { TOTALS = 13 };

static void list_totals(ntr_counts *c, uint64_t *members[TOTALS]) {
    uint64_t *const all[TOTALS] = {&c->instructions, &c->halfwords, &c->spans,      &c->branches,   &c->taken,
                                   &c->calls,        &c->returns,   &c->exceptions, &c->interrupts, &c->gaps,
                                   &c->messages,     &c->bytes,     &c->doubtful};
    memcpy(members, all, sizeof all);
}

void ntr_totals_add(ntr_counts *to, const ntr_counts *counts) {
    ntr_counts other = *counts;
    uint64_t *sums[TOTALS], *added[TOTALS];
    list_totals(to, sums);
    list_totals(&other, added);
    for (unsigned i = 0; i < TOTALS; i++) *sums[i] += *added[i];
}

/* ---- writing */

static void put_capture(ntr_block_writer *w, const ntr_partial_capture *c) {
    const uint64_t numbers[] = {c->id[0], c->id[1],    c->begin,  c->end,
                                c->shard, c->shards,   c->digest, c->ticks_per_second,
                                c->gaps,  c->reserved, c->any,    c->damaged};
    const size_t gaps = c->gaps < NTR_PARTIAL_GAPS ? (size_t)c->gaps : NTR_PARTIAL_GAPS;
    ntr_block_record(w, NTR_BLOCK_CAPTURES);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) ntr_block_number(w, numbers[i]);
    for (size_t i = 0; i < gaps; i++) {
        ntr_block_number(w, c->gap[i].offset);
        ntr_block_number(w, c->gap[i].message);
        ntr_block_number(w, (uint64_t)-c->gap[i].reason);
    }
    ntr_block_text(w, c->path);
    ntr_block_text(w, c->title);
    ntr_block_text(w, c->begin_state);
    ntr_block_text(w, c->end_state);
    ntr_block_number(w, c->option_count);
    for (size_t i = 0; i < c->option_count; i++) ntr_block_text(w, c->options[i]);
}

static void put_image(ntr_block_writer *w, const ntr_partial_image *i) {
    const ntr_image_options *o = &i->options;
    ntr_block_record(w, NTR_BLOCK_IMAGES);
    ntr_block_text(w, i->identity);
    ntr_block_text(w, i->name);
    ntr_block_text(w, i->path);
    ntr_block_number(w, i->bias);
    ntr_block_number(w, (uint64_t)o->has_scontext | (uint64_t)o->has_hcontext << 1 | (uint64_t)o->has_prv << 2);
    ntr_block_number(w, o->scontext);
    ntr_block_number(w, o->hcontext);
    ntr_block_number(w, (uint64_t)o->prv | (uint64_t)o->v << 8);
}

static void put_first(ntr_block_writer *w, ntr_first first) {
    ntr_block_number(w, first.capture + 1); /* NTR_FIRST_NEVER: 0 */
    if (first.capture != UINT64_MAX) ntr_block_number(w, first.order);
}

static void put_view(ntr_block_writer *w, const ntr_partial_view *v) {
    const ntr_context *c = &v->context;
    ntr_block_record(w, NTR_BLOCK_VIEWS);
    ntr_block_number(w, v->src);
    ntr_block_number(w, (uint64_t)c->has_scontext | (uint64_t)c->has_hcontext << 1 | (uint64_t)c->v << 2);
    ntr_block_number(w, c->prv);
    ntr_block_number(w, c->scontext);
    ntr_block_number(w, c->hcontext);
    put_first(w, v->first);
}

static void put_function(ntr_block_writer *w, const ntr_partial_function *f) {
    ntr_block_record(w, NTR_BLOCK_FUNCTIONS);
    ntr_block_text(w, f->name);
    ntr_block_text(w, f->linkage);
    ntr_block_text(w, f->file);
    ntr_block_number(w, f->line);
    ntr_block_number(w, (uint64_t)f->linked | (uint64_t)f->only_name << 1 | (uint64_t)f->by_entry << 2);
    ntr_block_number(w, f->image);
    ntr_block_number(w, f->view);
    ntr_block_number(w, f->offset);
    put_first(w, f->first);
}

void ntr_tables_put(const ntr_partial_tables *t, ntr_block_writer *w) {
    ntr_block_record(w, NTR_BLOCK_HEAD);
    ntr_block_number(w, t->holds);
    ntr_block_number(w, t->split);
    ntr_block_text(w, t->tool);
    ntr_counts totals = t->totals;
    uint64_t *members[TOTALS];
    list_totals(&totals, members);
    for (unsigned i = 0; t->holds & NTR_PARTIAL_TOTALS && i < TOTALS; i++) ntr_block_number(w, *members[i]);
    for (size_t i = 0; i < t->capture_count; i++) put_capture(w, &t->captures[i]);
    for (size_t i = 0; i < t->image_count; i++) put_image(w, &t->images[i]);
    for (size_t i = 0; i < t->view_count; i++) put_view(w, &t->views[i]);
    for (size_t i = 0; i < t->function_count; i++) put_function(w, &t->functions[i]);
}

/* ---- reading */

/* A number that must be below `limit`. */
static uint64_t get_below(ntr_block_reader *r, uint64_t limit) {
    const uint64_t number = ntr_block_get(r);
    if (number < limit) return number;
    ntr_block_reader_fail(r, "is damaged: a number exceeds its limit");
    return 0;
}

static void get_options(ntr_partial_tables *t, ntr_block_reader *r, ntr_partial_capture *c) {
    const size_t count = (size_t)get_below(r, NTR_BLOCK_MAX);
    char **options = r->status ? NULL : ntr_alloc(t->allocator, count + 1, sizeof *options);
    if (!r->status && !options) r->status = NTR_E_MEMORY;
    c->options = (const char *const *)options;
    c->option_count = options ? count : 0;
    for (size_t i = 0; options && i < count && !r->status; i++) options[i] = ntr_block_get_text(r);
}

static void get_capture(ntr_partial_tables *t, ntr_block_reader *r) {
    ntr_partial_capture *c;
    if (ntr_reserve(t->allocator, (void **)&t->captures, &t->capture_capacity, t->capture_count + 1, sizeof *c)) {
        r->status = NTR_E_MEMORY;
        return;
    }
    c = &t->captures[t->capture_count++];
    ntr_partial_capture_init(c);
    uint64_t *const numbers[] = {&c->id[0], &c->id[1], &c->begin, &c->end};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) *numbers[i] = ntr_block_get(r);
    c->shard = (uint32_t)get_below(r, NTR_BLOCK_MAX);
    c->shards = (uint32_t)get_below(r, NTR_BLOCK_MAX);
    c->digest = ntr_block_get(r);
    c->ticks_per_second = ntr_block_get(r);
    c->gaps = ntr_block_get(r);
    c->reserved = ntr_block_get(r);
    c->any = get_below(r, 2) != 0;
    c->damaged = get_below(r, 2) != 0;
    for (size_t i = 0; i < c->gaps && i < NTR_PARTIAL_GAPS && !r->status; i++) {
        c->gap[i].offset = ntr_block_get(r);
        c->gap[i].message = ntr_block_get(r);
        c->gap[i].reason = (int16_t)-(int)get_below(r, 1 << 10);
    }
    c->path = ntr_block_get_text(r);
    c->title = ntr_block_get_text(r);
    c->begin_state = ntr_block_get_text(r);
    c->end_state = ntr_block_get_text(r);
    get_options(t, r, c);
    if (c->begin > c->end || c->shard > c->shards || !c->shard != !c->shards)
        ntr_block_reader_fail(r, "is damaged: the part of a capture is not possible");
}

static void get_image(ntr_partial_tables *t, ntr_block_reader *r) {
    ntr_partial_image *i;
    if (ntr_reserve(t->allocator, (void **)&t->images, &t->image_capacity, t->image_count + 1, sizeof *i)) {
        r->status = NTR_E_MEMORY;
        return;
    }
    i = &t->images[t->image_count++];
    *i = (ntr_partial_image){0};
    ntr_image_options_init(&i->options);
    i->identity = ntr_block_get_text(r);
    i->name = ntr_block_get_text(r);
    i->path = ntr_block_get_text(r);
    i->bias = i->options.bias = ntr_block_get(r);
    const uint64_t flags = get_below(r, 8);
    i->options.has_scontext = flags & 1;
    i->options.has_hcontext = flags >> 1 & 1;
    i->options.has_prv = flags >> 2 & 1;
    i->options.scontext = ntr_block_get(r);
    i->options.hcontext = ntr_block_get(r);
    const uint64_t mode = get_below(r, 1 << 16);
    i->options.prv = (uint8_t)mode;
    i->options.v = (uint8_t)(mode >> 8);
}

static ntr_first get_first(ntr_partial_tables *t, ntr_block_reader *r) {
    const uint64_t capture = get_below(r, t->capture_count + 1);
    if (!capture) return NTR_FIRST_NEVER;
    return (ntr_first){capture - 1, ntr_block_get(r)};
}

static void get_view(ntr_partial_tables *t, ntr_block_reader *r) {
    ntr_partial_view v = {.context.prv = NTR_PRV_UNKNOWN};
    v.src = (uint16_t)get_below(r, 1 << 16);
    const uint64_t flags = get_below(r, 8);
    v.context.has_scontext = flags & 1;
    v.context.has_hcontext = flags >> 1 & 1;
    v.context.v = flags >> 2 & 1;
    v.context.prv = (uint8_t)get_below(r, 1 << 8);
    v.context.scontext = ntr_block_get(r);
    v.context.hcontext = ntr_block_get(r);
    v.first = get_first(t, r);
    if (!ntr_tables_view(t, &v)) r->status = NTR_E_MEMORY;
}

static void get_function(ntr_partial_tables *t, ntr_block_reader *r) {
    ntr_partial_function *f;
    if (ntr_reserve(t->allocator, (void **)&t->functions, &t->function_capacity, t->function_count + 1, sizeof *f)) {
        r->status = NTR_E_MEMORY;
        return;
    }
    f = &t->functions[t->function_count++];
    *f = (ntr_partial_function){0};
    f->name = ntr_block_get_text(r);
    f->linkage = ntr_block_get_text(r);
    f->file = ntr_block_get_text(r);
    f->line = (uint32_t)get_below(r, UINT64_C(1) << 32);
    const uint64_t flags = get_below(r, 8);
    f->linked = flags & 1;
    f->only_name = flags >> 1 & 1;
    f->by_entry = flags >> 2 & 1;
    f->image = get_below(r, t->image_count + 1);
    f->view = get_below(r, t->view_count);
    f->offset = ntr_block_get(r);
    f->first = get_first(t, r);
}

/* Checks the order of the elements [1, count) of a table. */
#define CHECK_ORDER(r, items, count, compare)                                                                          \
    for (size_t i = 1; i < (count) && !(r)->status; i++)                                                               \
        if (compare(&(items)[i - 1], &(items)[i]) >= 0) ntr_block_reader_fail(r, "is damaged: a table is not sorted")

void ntr_tables_get(ntr_partial_tables *t, ntr_block_reader *r) {
    if (!ntr_block_more(r, NTR_BLOCK_HEAD)) {
        ntr_block_reader_fail(r, "is damaged: it has no head");
        return;
    }
    t->holds = (unsigned)get_below(r, 2 * NTR_PARTIAL_TOTALS);
    t->split = get_below(r, NTR_CALLTREE_CONTEXTS + 1);
    t->tool = ntr_block_get_text(r);
    uint64_t *members[TOTALS];
    list_totals(&t->totals, members);
    for (unsigned i = 0; t->holds & NTR_PARTIAL_TOTALS && i < TOTALS; i++) *members[i] = ntr_block_get(r);
    while (ntr_block_more(r, NTR_BLOCK_CAPTURES)) get_capture(t, r);
    while (ntr_block_more(r, NTR_BLOCK_IMAGES)) get_image(t, r);
    while (ntr_block_more(r, NTR_BLOCK_VIEWS)) get_view(t, r);
    while (ntr_block_more(r, NTR_BLOCK_FUNCTIONS)) get_function(t, r);
    if (!r->status && !t->capture_count) ntr_block_reader_fail(r, "is damaged: it has no capture");
    CHECK_ORDER(r, t->captures, t->capture_count, ntr_capture_compare);
    CHECK_ORDER(r, t->images, t->image_count, ntr_image_compare);
    CHECK_ORDER(r, t->views, t->view_count, ntr_view_compare);
    CHECK_ORDER(r, t->functions, t->function_count, ntr_function_compare);
}
