/* The sources of a decoder: allocation, and what each sees of the program. */
#include "decoder/state.h"

#include "base/allocator.h"

/* Returns a new source; NULL when out of memory. */
static __attribute__((noinline)) ntr_source *new_source(ntr_decoder *d, uint16_t id) {
    ntr_source *s = ntr_alloc(d->allocator, 1, sizeof *s);
    if (!s) return NULL;
    s->id = id;
    s->context.prv = NTR_PRV_UNKNOWN;
    ntr_return_stack_init(&s->stack, d->params.return_stack);
    if (ntr_flow_tables_new(&s->tables, &d->params, d->allocator) != NTR_OK) {
        ntr_dealloc(d->allocator, s);
        return NULL;
    }
    if (d->follows_calls && !(s->trail = ntr_trail_new(d->allocator))) {
        ntr_flow_tables_free(&s->tables, d->allocator);
        ntr_dealloc(d->allocator, s);
        return NULL;
    }
    if (d->early_gap.open) { /* the damaged bytes may have been of this source */
        s->gap = d->early_gap;
        s->state = NTR_SOURCE_LOST;
        d->early_gap.open = false;
    }
    d->sources[id] = s;
    d->source_count++;
    return s;
}

void ntr_source_free(ntr_decoder *d, ntr_source *s) {
    ntr_return_stack_release(&s->stack, d->allocator);
    ntr_flow_tables_free(&s->tables, d->allocator);
    ntr_trail_free(s->trail);
    ntr_dealloc(d->allocator, s);
}

ntr_source *ntr_source_get(ntr_decoder *d, uint16_t id) {
    ntr_source *s = d->sources[id];
    return s ? s : new_source(d, id);
}

void ntr_sources_release(ntr_decoder *d) {
    if (!d->sources) return;
    for (uint32_t i = 0; i < d->source_capacity; i++) {
        if (!d->sources[i]) continue;
        ntr_source_free(d, d->sources[i]);
    }
    ntr_dealloc(d->allocator, d->sources);
}

void ntr_source_goto(ntr_source *s, uint64_t pc) {
    s->pc = pc;
    s->pc_known = true;
    s->block = NULL;
}

void ntr_source_activate(ntr_decoder *d, ntr_source *s) {
    if (s->active) return;
    s->active = true;
    s->next_active = d->active;
    d->active = s;
}

void ntr_source_begin(ntr_decoder *d, ntr_source *s) {
    s->begun = true;
    ntr_source_activate(d, s);
}

void ntr_source_forget_view(ntr_source *s) {
    s->view_known = false;
    s->block = NULL;
    s->stamp++;
}

static uint32_t view_of(ntr_decoder *d, const ntr_source *s) {
    if (d->count_callback) return ntr_blocks_own_view(d->blocks, s->id, &s->context);
    return ntr_blocks_view(d->blocks, &s->context);
}

void ntr_source_update_view(ntr_decoder *d, ntr_source *s) {
    ntr_blocks *blocks = d->blocks;
    if (!d->replays && !ntr_blocks_is_unchanged(blocks, d->message.offset)) {
        ntr_count_flush(d);
        ntr_blocks_seek(blocks, d->message.offset);
    }
    bool view_known = s->view_known && s->generation == blocks->generation;
    if (view_known && s->epoch == blocks->epoch) return;
    if (!view_known) s->view = view_of(d, s);
    if (s->view == NTR_VIEW_NONE) { /* too many contexts since the last flush */
        ntr_count_flush(d);
        ntr_blocks_flush(blocks);
        s->view = view_of(d, s);
    }
    s->view_known = true;
    s->generation = blocks->generation;
    s->epoch = blocks->epoch;
    s->block = NULL;
    s->stamp++;
}

/* ---- call trails */

void ntr_decoder_follow_calls(ntr_decoder *d) {
    d->follows_calls = true;
}

ntr_call_trail *ntr_decoder_call_trail(ntr_decoder *d, uint16_t src) {
    return src < d->source_capacity && d->sources[src] ? d->sources[src]->trail : NULL;
}
