#include "decoder/snapshot.h"

#include "base/allocator.h"
#include "decoder/state.h"

#include <string.h>

struct ntr_snapshot {
    ntr_reader reader;
    ntr_open_gap early_gap;
    uint32_t silent; /* in a guess: number of further known sources */
    size_t count;
    ntr_source *sources; /* sorted by SRC, each with its own return stack */
};

const ntr_params *ntr_snapshot_params(const ntr_decoder *d) {
    return &d->params;
}

static void release_sources(ntr_snapshot *snapshot, const ntr_allocator *allocator) {
    for (size_t i = 0; i < snapshot->count; i++) {
        ntr_return_stack_release(&snapshot->sources[i].stack, allocator);
        ntr_flow_tables_free(&snapshot->sources[i].tables, allocator);
    }
    ntr_dealloc(allocator, snapshot->sources);
}

void ntr_snapshot_free(ntr_snapshot *snapshot, const ntr_allocator *allocator) {
    if (!snapshot) return;
    release_sources(snapshot, allocator);
    ntr_dealloc(allocator, snapshot);
}

/* Copy a source, but for its call trail. Pointers into the block cache of a decoder are not copied. */
static ntr_status copy_source(ntr_source *to, const ntr_source *from, const ntr_allocator *allocator) {
    ntr_call_trail *trail = to->trail;
    *to = *from;
    to->block = NULL;
    to->view_known = false;
    to->stamp++; /* invalidates the block pointers on the return stack */
    to->next_active = NULL;
    to->trail = trail;
    ntr_status status = ntr_flow_tables_copy(&to->tables, &from->tables, allocator);
    ntr_status stack = ntr_return_stack_copy(&to->stack, &from->stack, allocator);
    return status == NTR_OK ? stack : status;
}

static ntr_status take_sources(ntr_snapshot *snapshot, const ntr_decoder *d) {
    ntr_status status = NTR_OK;
    for (uint32_t i = 0; i < d->source_capacity && status == NTR_OK; i++)
        if (d->sources[i]) status = copy_source(&snapshot->sources[snapshot->count++], d->sources[i], d->allocator);
    return status;
}

ntr_snapshot *ntr_snapshot_take(const ntr_decoder *d) {
    ntr_snapshot *snapshot = ntr_alloc(d->allocator, 1, sizeof *snapshot);
    if (!snapshot) return NULL;
    snapshot->reader = d->reader;
    snapshot->early_gap = d->early_gap;
    snapshot->sources = ntr_alloc(d->allocator, d->source_count + 1, sizeof *snapshot->sources);
    if (snapshot->sources && take_sources(snapshot, d) == NTR_OK) return snapshot;
    ntr_snapshot_free(snapshot, d->allocator);
    return NULL;
}

/* ---- restoring */

static void drop_sources(ntr_decoder *d) {
    d->early_gap = (ntr_open_gap){0};
    d->active = NULL;
    for (uint32_t i = 0; d->source_count; i++) {
        if (!d->sources[i]) continue;
        ntr_source_free(d, d->sources[i]);
        d->sources[i] = NULL;
        d->source_count--;
    }
}

static ntr_status add_source(ntr_decoder *d, const ntr_source *from) {
    ntr_source *s = ntr_source_get(d, from->id);
    if (!s) return NTR_E_MEMORY;
    ntr_return_stack_release(&s->stack, d->allocator);
    ntr_flow_tables_free(&s->tables, d->allocator);
    ntr_status status = copy_source(s, from, d->allocator);
    s->active = false;
    if (from->active) ntr_source_activate(d, s);
    return status;
}

/* The framer has read its span to the end: the next span begins here. */
static void drop_span(ntr_framer *framer) {
    framer->base += framer->at;
    framer->size = framer->at = 0;
    framer->data = framer->held;
}

ntr_status ntr_snapshot_restore(ntr_decoder *d, const ntr_snapshot *snapshot) {
    ntr_status status = NTR_OK;
    drop_sources(d);
    d->reader = snapshot->reader;
    drop_span(&d->reader.framer);
    d->request.source = NULL;
    d->times = 1;
    d->queue_at = d->queue_count = 0;
    d->closing = 0;
    d->failed = NTR_OK;
    d->error[0] = 0;
    for (size_t i = 0; i < snapshot->count && status == NTR_OK; i++) status = add_source(d, &snapshot->sources[i]);
    d->early_gap = snapshot->early_gap;
    return status;
}

/* ---- guessing */

void ntr_snapshot_move(ntr_decoder *d, const ntr_snapshot_position *place) {
    ntr_framer *framer = &d->reader.framer;
    drop_span(framer);
    framer->mode = 0;
    framer->base = place->offset;
    d->reader.number = place->number;
}

static ntr_status guess_source(ntr_decoder *d, const ntr_snapshot_guess *guess) {
    ntr_source *s = ntr_source_get(d, guess->src);
    if (!s) return NTR_E_MEMORY;
    s->state = guess->stopped ? NTR_SOURCE_STOPPED : NTR_SOURCE_FOLLOWING;
    s->first = guess->first;
    s->mode = guess->mode;
    s->context = guess->context;
    s->clock = guess->clock;
    s->data = guess->data;
    ntr_source_begin(d, s);
    if (guess->stopped) return NTR_OK;
    s->ref = guess->address;
    ntr_source_goto(s, s->ref);
    return NTR_OK;
}

ntr_snapshot *ntr_snapshot_predict(ntr_decoder *d, const ntr_snapshot_position *place,
                                   const ntr_snapshot_guess *guesses, size_t count) {
    drop_sources(d);
    for (size_t i = 0; i < count; i++)
        if (guess_source(d, &guesses[i]) != NTR_OK) return NULL;
    ntr_snapshot_move(d, place);
    ntr_snapshot *snapshot = ntr_snapshot_take(d);
    if (snapshot) snapshot->silent = place->silent;
    return snapshot;
}

/* Returns whether nothing is pending, as directly after a synchronizing message. */
static bool has_nothing_pending(const ntr_source *s) {
    return !s->gap.open && s->icnt == 0 && s->halfwords_ahead == 0 && s->run.halfwords == 0 && !s->last_branch.valid &&
           !s->last_memo.word[0];
}

static bool has_no_calls(const ntr_source *s) {
    return s->stack.count == 0 && !s->stack_incomplete && !s->stack_doubtful;
}

/* Returns whether both are at the same place, or stopped: the next synchronizing message then sets it. */
static bool same_place(const ntr_source *a, const ntr_source *b) {
    if (a->state == NTR_SOURCE_STOPPED) return a->begun == b->begun;
    return has_no_calls(a) && has_no_calls(b) && a->pc_known == b->pc_known && a->pc == b->pc && a->ref == b->ref;
}

static bool same_data(const ntr_data_reference *a, const ntr_data_reference *b) {
    return a->known == b->known && a->relative == b->relative && (!a->known || a->address == b->address);
}

static bool same_source(const ntr_source *a, const ntr_source *b) {
    return has_nothing_pending(a) && has_nothing_pending(b) && a->id == b->id && a->state == b->state &&
           a->mode == b->mode && a->active == b->active && same_place(a, b) && a->clock.known == b->clock.known &&
           a->clock.time == b->clock.time && same_data(&a->data, &b->data) &&
           ntr_flow_tables_equal(&a->tables, &b->tables) && ntr_context_equal(&a->context, &b->context);
}

static bool same_reader(const ntr_reader *a, const ntr_reader *b) {
    return a->number == b->number && ntr_reader_offset(a) == ntr_reader_offset(b) && a->framer.mode == b->framer.mode &&
           a->framer.slice_size == b->framer.slice_size;
}

/* Binary search by SRC. */
static const ntr_source *find(const ntr_snapshot *snapshot, uint16_t id) {
    size_t low = 0, high = snapshot->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (snapshot->sources[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < snapshot->count && snapshot->sources[low].id == id ? &snapshot->sources[low] : NULL;
}

bool ntr_snapshot_matches(const ntr_snapshot *truth, const ntr_snapshot *after_pre_sync, const ntr_snapshot *guess) {
    if (truth->early_gap.open || truth->count != guess->count + guess->silent) return false;
    if (!same_reader(&truth->reader, &guess->reader)) return false;
    for (size_t i = 0; i < guess->count; i++) {
        /* the chunk before may not know a source that has no pre-sync messages */
        const bool early = guess->sources[i].first <= truth->reader.number + 1;
        const ntr_source *s = find(early ? truth : after_pre_sync, guess->sources[i].id);
        if (!s || !same_source(s, &guess->sources[i])) return false;
    }
    return true;
}

/* Copy the sources of both sides into `all`, sorted; those of `b` only if `leave_out` does not have them. */
static ntr_status merge_sources(ntr_snapshot *all, const ntr_snapshot *a, const ntr_snapshot *b,
                                const ntr_snapshot *leave_out, const ntr_allocator *allocator) {
    ntr_status status = NTR_OK;
    for (size_t i = 0, j = 0; status == NTR_OK && (i < a->count || j < b->count);) {
        bool from_a = j == b->count || (i < a->count && a->sources[i].id <= b->sources[j].id);
        const ntr_source *s = from_a ? &a->sources[i++] : &b->sources[j++];
        if (!from_a && find(leave_out, s->id)) continue;
        if (all->count && all->sources[all->count - 1].id == s->id) return NTR_E_STATE;
        status = copy_source(&all->sources[all->count++], s, allocator);
    }
    return status;
}

/* Sources that were stopped in the guess, and have not synchronized since, are where they were before. */
static void restore_places(ntr_snapshot *end, const ntr_snapshot *before, const ntr_snapshot *guess) {
    for (size_t i = 0; i < guess->count; i++) {
        if (guess->sources[i].state != NTR_SOURCE_STOPPED) continue;
        ntr_source *s = (ntr_source *)find(end, guess->sources[i].id);
        const ntr_source *b = find(before, guess->sources[i].id);
        if (!s || !b || s->state != NTR_SOURCE_STOPPED || s->pc_known) continue;
        s->pc = b->pc;
        s->pc_known = b->pc_known;
        s->ref = b->ref;
    }
}

ntr_status ntr_snapshot_carry(ntr_snapshot *end, const ntr_snapshot *before, const ntr_snapshot *guess,
                              const ntr_allocator *allocator) {
    restore_places(end, before, guess);
    ntr_snapshot all = *end;
    if (before->count == guess->count) return NTR_OK;
    all.count = 0;
    all.sources = ntr_alloc(allocator, end->count + before->count, sizeof *all.sources);
    if (!all.sources) return NTR_E_MEMORY;
    ntr_status status = merge_sources(&all, end, before, guess, allocator);
    release_sources(status == NTR_OK ? end : &all, allocator);
    if (status == NTR_OK) *end = all;
    return status;
}

uint64_t ntr_snapshot_offset(const ntr_snapshot *snapshot) {
    return ntr_reader_offset(&snapshot->reader);
}

uint64_t ntr_snapshot_number(const ntr_snapshot *snapshot) {
    return snapshot->reader.number;
}

uint64_t ntr_snapshot_time(const ntr_snapshot *snapshot) {
    uint64_t latest = 0;
    for (size_t i = 0; i < snapshot->count; i++) {
        const ntr_clock *clock = &snapshot->sources[i].clock;
        if (clock->known && clock->time > latest) latest = clock->time;
    }
    return latest;
}

bool ntr_snapshot_source(const ntr_snapshot *snapshot, size_t index, uint16_t *src, uint64_t *address,
                         bool *address_known) {
    if (index >= snapshot->count) return false;
    const ntr_source *s = &snapshot->sources[index];
    *src = s->id;
    *address = s->pc - 2 * (uint64_t)s->run.halfwords;
    *address_known = s->pc_known;
    return true;
}

void ntr_snapshot_forget_joined(ntr_snapshot *snapshot) {
    for (size_t i = 0; i < snapshot->count; i++) snapshot->sources[i].joined = 0;
}
