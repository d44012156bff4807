#include "flow/baton.h"

#include "base/allocator.h"
#include "flow/decoder_state.h"

#include <string.h>

struct ntr_baton {
    ntr_reader reader;
    ntr_open_gap orphan;
    size_t count;
    ntr_source *sources; /* in the order of their numbers, each with a stack of its own */
};

const ntr_params *ntr_baton_params(const ntr_decoder *d) {
    return &d->params;
}

void ntr_baton_free(ntr_baton *b, const ntr_allocator *allocator) {
    if (!b) return;
    for (size_t i = 0; i < b->count; i++) ntr_return_stack_release(&b->sources[i].stack, allocator);
    ntr_dealloc(allocator, b->sources);
    ntr_dealloc(allocator, b);
}

/* `to` is to be what `from` is; pointers into somebody's cache of blocks are left behind. */
static ntr_status copy_source(ntr_source *to, const ntr_source *from, const ntr_allocator *allocator) {
    *to = *from;
    to->block = NULL;
    to->view_known = false;
    to->stamp++; /* the stack's short cuts, too */
    to->next_listed = NULL;
    return ntr_return_stack_copy(&to->stack, &from->stack, allocator);
}

static ntr_status take_sources(ntr_baton *b, const ntr_decoder *d) {
    ntr_status status = NTR_OK;
    for (uint32_t i = 0; i < d->source_room && status == NTR_OK; i++)
        if (d->sources[i]) status = copy_source(&b->sources[b->count++], d->sources[i], d->allocator);
    return status;
}

ntr_baton *ntr_baton_take(const ntr_decoder *d) {
    ntr_baton *b = ntr_alloc(d->allocator, 1, sizeof *b);
    if (!b) return NULL;
    b->reader = d->reader;
    b->orphan = d->orphan;
    b->sources = ntr_alloc(d->allocator, d->source_count + 1, sizeof *b->sources);
    if (b->sources && take_sources(b, d) == NTR_OK) return b;
    ntr_baton_free(b, d->allocator);
    return NULL;
}

/* ---- going on */

static void drop_sources(ntr_decoder *d) {
    d->orphan = (ntr_open_gap){0};
    d->listed = NULL;
    for (uint32_t i = 0; d->source_count; i++) {
        if (!d->sources[i]) continue;
        ntr_return_stack_release(&d->sources[i]->stack, d->allocator);
        ntr_dealloc(d->allocator, d->sources[i]);
        d->sources[i] = NULL;
        d->source_count--;
    }
}

static ntr_status add_source(ntr_decoder *d, const ntr_source *from) {
    ntr_source *s = ntr_source_get(d, from->id);
    if (!s) return NTR_E_MEMORY;
    ntr_return_stack_release(&s->stack, d->allocator);
    ntr_status status = copy_source(s, from, d->allocator);
    s->listed = false;
    if (from->listed) ntr_source_list(d, s);
    return status;
}

/* A span that has been read to its end; the next one begins here. */
static void rest(ntr_framer *framer) {
    framer->base += framer->at;
    framer->size = framer->at = 0;
    framer->data = framer->held;
}

ntr_status ntr_baton_give(ntr_decoder *d, const ntr_baton *b) {
    ntr_status status = NTR_OK;
    drop_sources(d);
    d->reader = b->reader;
    rest(&d->reader.framer);
    d->order.source = NULL;
    d->times = 1;
    d->queue_at = d->queue_count = 0;
    d->closing = 0;
    d->failed = NTR_OK;
    for (size_t i = 0; i < b->count && status == NTR_OK; i++) status = add_source(d, &b->sources[i]);
    d->orphan = b->orphan;
    return status;
}

/* ---- guessing */

ntr_baton *ntr_baton_guessed(ntr_decoder *d, const ntr_message *sync, const ntr_baton_guess *guess) {
    drop_sources(d);
    ntr_source *s = ntr_source_get(d, d->params.src_bits ? (uint16_t)sync->src : 0);
    if (!s) return NULL;
    s->state = NTR_SOURCE_FOLLOWING;
    s->mode = guess->mode;
    s->context = guess->context;
    s->clock = guess->clock;
    s->ref = ntr_message_address(&d->params, sync, NTR_FIELD_FADDR);
    ntr_source_goto(s, s->ref);
    ntr_source_list(d, s);
    ntr_framer *framer = &d->reader.framer;
    rest(framer);
    framer->mode = 0;
    framer->base = sync->offset + sync->size;
    d->reader.number = guess->number;
    return ntr_baton_take(d);
}

static bool same_context(const ntr_context *a, const ntr_context *b) {
    return a->prv == b->prv && a->v == b->v && a->has_scontext == b->has_scontext &&
           a->has_hcontext == b->has_hcontext && a->scontext == b->scontext && a->hcontext == b->hcontext;
}

/* Nothing pending, as right behind a synchronizing message. */
static bool is_settled(const ntr_source *s) {
    return !s->gap.open && s->icnt == 0 && s->debt == 0 && s->run.halfwords == 0 && s->stack.count == 0 &&
           !s->stack_incomplete && !s->stack_doubtful && !s->last_branch.valid && !s->passed.word[0];
}

static bool same_source(const ntr_source *a, const ntr_source *b) {
    return is_settled(a) && is_settled(b) && a->id == b->id && a->state == b->state && a->mode == b->mode &&
           a->listed == b->listed && a->pc_known == b->pc_known && a->pc == b->pc && a->ref == b->ref &&
           a->clock.known == b->clock.known && a->clock.time == b->clock.time && same_context(&a->context, &b->context);
}

static bool same_reader(const ntr_reader *a, const ntr_reader *b) {
    return a->number == b->number && ntr_reader_offset(a) == ntr_reader_offset(b) && a->framer.mode == b->framer.mode &&
           a->framer.slice_size == b->framer.slice_size;
}

bool ntr_baton_fits(const ntr_baton *truth, const ntr_baton *guess) {
    return truth->count == 1 && guess->count == 1 && !truth->orphan.open && same_reader(&truth->reader, &guess->reader) &&
           same_source(truth->sources, guess->sources);
}

uint64_t ntr_baton_number(const ntr_baton *b) {
    return b->reader.number;
}

bool ntr_baton_source(const ntr_baton *b, size_t index, uint16_t *src, ntr_context *context) {
    if (index >= b->count) return false;
    *src = b->sources[index].id;
    *context = b->sources[index].context;
    return true;
}
