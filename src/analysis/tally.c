#include "analysis/tally_state.h"
#include "analysis/sums.h"
#include "base/allocator.h"
#include "base/macros.h"
#include "program/program.h"

#include <stdlib.h>
#include <string.h>

ntr_status ntr_tally_new(const ntr_program *program, const ntr_allocator *allocator, ntr_tally **out) {
    *out = NULL;
    ntr_tally *t = ntr_alloc(allocator, 1, sizeof *t);
    if (!t) return NTR_E_MEMORY;
    t->program = program;
    t->allocator = allocator;
    *out = t;
    return NTR_OK;
}

void ntr_tally_free(ntr_tally *t) {
    if (!t) return;
    ntr_dealloc(t->allocator, t->rows);
    ntr_dealloc(t->allocator, t->slots);
    ntr_dealloc(t->allocator, t->views);
    ntr_dealloc(t->allocator, t->known);
    for (size_t i = 0; i < t->attribution_count; i++) ntr_time_attribution_release(&t->attributions[i], t->allocator);
    ntr_dealloc(t->allocator, t->attributions);
    ntr_dealloc(t->allocator, t);
}

/* ---- contexts ---------------------------------------------------------------------------------- */

static bool is_view(const ntr_tally *t, size_t view, uint16_t src, const ntr_context *context) {
    return t->views[view].src == src && ntr_context_equal(&t->views[view].context, context);
}

/* Stores the number of the view in *view. The view is created when it does not exist. Errors: NTR_E_MEMORY. */
static ntr_status find_view(ntr_tally *t, uint16_t src, const ntr_context *context, uint32_t *view) {
    for (size_t i = t->view_count; i-- > 0;)
        if (is_view(t, i, src, context)) {
            *view = (uint32_t)i;
            return NTR_OK;
        }
    if (ntr_reserve(t->allocator, (void **)&t->views, &t->view_capacity, t->view_count + 1, sizeof *t->views))
        return NTR_E_MEMORY;
    *view = (uint32_t)t->view_count;
    t->views[t->view_count++] = (ntr_tally_view_info){src, *context};
    return NTR_OK;
}

static ntr_status look_up_view(ntr_tally *t, uint16_t src, const ntr_context *context, uint32_t *view) {
    uint64_t mix = src * 127u + context->scontext * 31 + context->hcontext * 7 + context->prv * 2u + context->v;
    uint32_t *recent = &t->recent[(mix * UINT64_C(0x9e3779b97f4a7c15) >> 32) % RECENT_VIEWS];
    *view = *recent - 1;
    if (!*recent || !is_view(t, *view, src, context)) {
        ntr_status status = find_view(t, src, context, view);
        if (status) return status;
    }
    *recent = *view + 1;
    t->last_view = *view;
    return NTR_OK;
}

static inline ntr_status view_of(ntr_tally *t, uint16_t src, const ntr_context *context, uint32_t *view) {
    *view = t->last_view;
    return *view < t->view_count && is_view(t, *view, src, context) ? NTR_OK : look_up_view(t, src, context, view);
}

const ntr_tally_view_info *ntr_tally_view(const ntr_tally *t, uint32_t view) {
    return view < t->view_count ? &t->views[view] : NULL;
}

/* ---- rows -------------------------------------------------------------------------------------- */

static size_t hash(const ntr_tally_row *row) {
    uint64_t value = row->address * 0x9e3779b97f4a7c15u;
    value ^= (row->target + row->end) * 0xc2b2ae3d27d4eb4fu;
    value ^= (row->last + row->view + (row->position << 20)) * 0x165667b19e3779f9u;
    return (size_t)(value ^ value >> 29);
}

static bool same_row(const ntr_tally_row *a, const ntr_tally_row *b) {
    return a->address == b->address && a->target == b->target && a->last == b->last &&
           a->instructions == b->instructions && a->end == b->end && a->view == b->view &&
           a->target_unknown == b->target_unknown && a->position == b->position;
}

static uint32_t *slot_of(ntr_tally *t, const ntr_tally_row *row) {
    size_t mask = t->slot_count - 1, at = hash(row) & mask;
    while (t->slots[at] && !same_row(&t->rows[t->slots[at] - 1], row)) at = (at + 1) & mask;
    return &t->slots[at];
}

static ntr_status rehash(ntr_tally *t) {
    enum { SLOTS_MIN = 1024 };
    size_t slot_count = t->slot_count ? t->slot_count : SLOTS_MIN;
    while (slot_count < t->count * 2 + 2) slot_count *= 2;
    if (slot_count != t->slot_count) {
        uint32_t *slots = ntr_realloc(t->allocator, t->slots, slot_count, sizeof *slots);
        if (!slots) return NTR_E_MEMORY;
        t->slots = slots;
        t->slot_count = slot_count;
    }
    memset(t->slots, 0, t->slot_count * sizeof *t->slots);
    for (size_t i = 0; i < t->count; i++) *slot_of(t, &t->rows[i]) = (uint32_t)i + 1;
    t->sorted = false;
    return NTR_OK;
}

static ntr_status add(ntr_tally *t, const ntr_tally_row *row, uint32_t *number) {
    if (t->sorted || t->count * 2 >= t->slot_count) {
        ntr_status status = rehash(t);
        if (status) return status;
    }
    uint32_t *slot = slot_of(t, row);
    if (*slot) {
        *number = *slot - 1;
        t->rows[*number].count += row->count;
        t->rows[*number].ticks += row->ticks;
        return NTR_OK;
    }
    if (t->count == UINT32_MAX - 1) return NTR_E_LIMIT;
    if (ntr_reserve(t->allocator, (void **)&t->rows, &t->capacity, t->count + 1, sizeof *t->rows)) return NTR_E_MEMORY;
    *number = (uint32_t)t->count;
    t->rows[t->count++] = *row;
    *slot = (uint32_t)t->count;
    return NTR_OK;
}

static ntr_tally_row row_of(const ntr_event *event, uint64_t times) {
    bool unknown = (event->flags & NTR_EVENT_TARGET_UNKNOWN) != 0;
    return (ntr_tally_row){
        .address = event->address,
        .last = event->last,
        .target = unknown ? 0 : event->target,
        .count = times,
        .instructions = event->instructions,
        .halfwords = event->halfwords,
        .end = event->end,
        .target_unknown = unknown,
    };
}

/* ---- positions: spans and targets that mean the same share a row */

static ntr_validity intersection(ntr_validity a, ntr_validity b) {
    return (ntr_validity){a.from > b.from ? a.from : b.from, a.last < b.last ? a.last : b.last};
}

static __attribute__((noinline)) ntr_status find_position(ntr_tally *t, const ntr_event *event, ntr_tally_row *row) {
    if (!t->known && !(t->known = ntr_alloc(t->allocator, KNOWN_SPANS, sizeof *t->known))) return NTR_E_MEMORY;
    if (t->known_revision != t->program->revision) {
        memset(t->known, 0, KNOWN_SPANS * sizeof *t->known);
        t->known_revision = t->program->revision;
    }
    struct known_span *k = &t->known[hash(row) % KNOWN_SPANS];
    bool same =
        k->view == row->view + 1 && k->address == row->address && k->last == row->last && k->target == row->target;
    if (!same || event->offset < k->valid.from || event->offset > k->valid.last) {
        *k = (struct known_span){row->address, row->last, row->target, row->view + 1,
                                 ntr_program_validity(t->program, ntr_event_place(event, row->address), row->last)};
        if (!row->target_unknown)
            k->valid = intersection(k->valid,
                                    ntr_program_validity(t->program, ntr_event_place(event, row->target), row->target));
    }
    row->position = k->valid.from;
    return NTR_OK;
}

/* Sets the view and the position of the row of a span. */
static inline ntr_status locate(ntr_tally *t, const ntr_event *event, ntr_tally_row *row) {
    ntr_status status = view_of(t, event->src, &event->context, &row->view);
    if (status || !t->program || !t->program->timed) return status;
    return find_position(t, event, row);
}

ntr_status ntr_tally_count(void *tally, const ntr_event *event, uint64_t times) {
    ntr_tally *t = tally;
    if (event->kind == NTR_EVENT_GAP) t->gaps++;
    if (event->kind != NTR_EVENT_SPAN) return NTR_OK;
    ntr_tally_row row = row_of(event, times);
    uint32_t number;
    ntr_status status = locate(t, event, &row);
    return status ? status : add(t, &row, &number);
}

ntr_status ntr_tally_add_row(ntr_tally *t, const ntr_tally_view_info *view, const ntr_tally_row *row) {
    ntr_tally_row added = *row;
    uint32_t number;
    ntr_status status = view_of(t, view->src, &view->context, &added.view);
    return status ? status : add(t, &added, &number);
}

ntr_status ntr_tally_add_view(ntr_tally *t, const ntr_tally_view_info *view) {
    uint32_t number;
    return view_of(t, view->src, &view->context, &number);
}

void ntr_tally_add_gaps(ntr_tally *t, uint64_t gaps) {
    t->gaps += gaps;
}

/* ---- time -------------------------------------------------------------------------------------- */

static void take_ticks(void *user, uint32_t row, uint64_t ticks) {
    ntr_tally *t = user;
    t->rows[row].ticks += ticks;
}

static void flush_time(ntr_tally *t) {
    for (size_t i = 0; i < t->attribution_count; i++) ntr_time_attribution_flush(&t->attributions[i], take_ticks, t);
}

/* Returns the time attribution of the source, or NULL when out of memory. */
static ntr_time_attribution *attribution_of(ntr_tally *t, uint16_t src) {
    if (src < t->attribution_count) return &t->attributions[src];
    size_t need = (size_t)src + 1;
    if (ntr_reserve(t->allocator, (void **)&t->attributions, &t->attribution_capacity, need, sizeof *t->attributions))
        return NULL;
    memset(t->attributions + t->attribution_count, 0, (need - t->attribution_count) * sizeof *t->attributions);
    t->attribution_count = need;
    return &t->attributions[src];
}

void ntr_tally_keep_time(ntr_tally *t) {
    t->keeps_time = true;
}

bool ntr_tally_keeps_time(const ntr_tally *t) {
    return t->keeps_time;
}

static ntr_status pass_time(ntr_tally *t, const ntr_event *event) {
    ntr_time_attribution *attribution = attribution_of(t, event->src);
    if (!attribution) return NTR_E_MEMORY;
    ntr_time_attribution_event(attribution, event, take_ticks, t);
    return NTR_OK;
}

/* ---- events ------------------------------------------------------------------------------------ */

static ntr_status add_span(ntr_tally *t, const ntr_event *event) {
    ntr_tally_row row = row_of(event, event->repeats + 1);
    uint32_t number;
    ntr_status status = locate(t, event, &row);
    if (!status) status = add(t, &row, &number);
    if (status || !t->keeps_time) return status;
    return ntr_time_attribution_add(&t->attributions[event->src], number, ntr_event_executed(event), t->allocator);
}

ntr_status ntr_tally_feed(ntr_tally *t, const ntr_event *events, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const ntr_event *event = &events[i];
        ntr_status status = t->keeps_time ? pass_time(t, event) : NTR_OK;
        if (status) return status;
        if (event->kind == NTR_EVENT_SPAN)
            status = add_span(t, event);
        else if (event->kind == NTR_EVENT_GAP)
            t->gaps++;
        if (status) return status;
    }
    return NTR_OK;
}

void ntr_tally_restart(ntr_tally *t) {
    flush_time(t);
    if (t->slots) memset(t->slots, 0, t->slot_count * sizeof *t->slots);
    t->count = 0;
    t->gaps = 0;
    t->sorted = false;
}

static int compare(const void *a, const void *b) {
    const ntr_tally_row *x = a, *y = b;
    NTR_COMPARE_BY(view);
    NTR_COMPARE_BY(address);
    NTR_COMPARE_BY(last);
    NTR_COMPARE_BY(end);
    NTR_COMPARE_BY(target);
    NTR_COMPARE_BY(instructions);
    NTR_COMPARE_BY(position);
    return 0;
}

/* Removes rows that were added and taken away again. */
static void drop_empty_rows(ntr_tally *t) {
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++)
        if (t->rows[i].count) t->rows[kept++] = t->rows[i];
    t->count = kept;
}

const ntr_tally_row *ntr_tally_rows(ntr_tally *t, size_t *count) {
    flush_time(t);
    if (!t->sorted) {
        drop_empty_rows(t);
        if (t->count) qsort(t->rows, t->count, sizeof *t->rows, compare);
        t->sorted = true;
    }
    *count = t->count;
    return t->rows;
}

ntr_place ntr_tally_row_place(const ntr_tally *t, const ntr_tally_row *row, uint64_t address) {
    return ntr_place_at(&t->views[row->view].context, row->position, address);
}

ntr_place ntr_tally_count_place(const ntr_tally *t, const ntr_insn_count *count) {
    return ntr_place_at(&t->views[count->view].context, count->position, count->address);
}

uint64_t ntr_tally_gaps(const ntr_tally *t) {
    return t->gaps;
}
