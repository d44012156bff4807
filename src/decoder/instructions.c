/* Spans expanded to instructions, through a cache.
 *
 * A span is cut into pieces of at most PIECE instructions; the cache holds the instructions of a piece. A piece is
 * found by its address, its number of instructions, the view of its context (contexts that see the same images share a
 * view) and the epoch: a number for the state of the program and for the images that exist at a position.
 *
 * Invariant: a cached piece of the current epoch is what decoding its bytes again would give. Example: an image is
 * valid up to offset 1000. A piece at offset 900 is decoded in epoch 1. At offset 1100 the epoch is 2, and nothing of
 * epoch 1 is found. Back at 950 the epoch is 1, and the piece is found again unless another one replaced it. */
#include <ntrace/instructions.h>

#include "base/allocator.h"
#include "base/bytes.h"
#include "isa/plain.h"
#include "program/image_timeline.h"
#include "program/views.h"

enum { CODE_CACHE_BITS = 12, PIECE = 64 };

_Static_assert(sizeof(ntr_instruction) == 48, "ntr_instruction does not grow");

typedef struct code_piece {
    uint64_t address, epoch; /* epoch 0: empty */
    uint32_t asked, view;    /* asked: number of instructions wanted */
    /* count: instructions in the list, fewer than asked if no image has the next one; room: capacity */
    uint32_t count, room;
    ntr_instruction *list;
} code_piece;

struct ntr_instructions {
    const ntr_program *program;
    const ntr_allocator *allocator;

    ntr_context context; /* context and position of the span */
    uint64_t position;
    uint64_t address;        /* address of the next piece */
    uint32_t left;           /* instructions after the current piece */
    const code_piece *piece; /* NULL: none yet */
    uint32_t at;             /* index in its list */

    ntr_views *views;
    ntr_image_timeline timeline;
    uint64_t revision, epoch;
    uint64_t first_epoch;           /* epoch of positions before any change, at this revision */
    uint64_t calm_from, calm_until; /* positions that have this epoch */
    bool one_view;                  /* all contexts see the same images: view 0 */
    code_piece cache[1u << CODE_CACHE_BITS];
};

ntr_status ntr_instructions_new(const ntr_program *program, const ntr_allocator *allocator, ntr_instructions **out) {
    *out = NULL;
    ntr_instructions *x = ntr_alloc(allocator, 1, sizeof *x);
    if (!x) return NTR_E_MEMORY;
    x->program = program;
    x->allocator = allocator;
    x->revision = program->revision - 1; /* differs from the program's: nothing is cached */
    x->first_epoch = 1;
    x->views = ntr_alloc(allocator, 1, sizeof *x->views);
    if (x->views) {
        *out = x;
        return NTR_OK;
    }
    ntr_instructions_free(x);
    return NTR_E_MEMORY;
}

void ntr_instructions_free(ntr_instructions *x) {
    if (!x) return;
    for (size_t i = 0; i < sizeof x->cache / sizeof *x->cache; i++) ntr_dealloc(x->allocator, x->cache[i].list);
    if (x->views) ntr_views_release(x->views, x->allocator);
    ntr_dealloc(x->allocator, x->views);
    ntr_image_timeline_release(&x->timeline, x->allocator);
    ntr_dealloc(x->allocator, x);
}

void ntr_instructions_begin(ntr_instructions *x, const ntr_event *span) {
    x->context = span->context;
    x->position = span->offset;
    x->address = span->address;
    x->left = span->kind == NTR_EVENT_SPAN ? span->instructions : 0;
    x->piece = NULL;
    x->at = 0;
}

/* ---- the epoch */

/* Invalidate everything that is cached. */
static void renew(ntr_instructions *x) {
    x->first_epoch += x->timeline.count + 2;
    x->calm_from = 1;
    x->calm_until = 0;
}

static ntr_status learn_program(ntr_instructions *x) {
    renew(x); /* counts with the number of epochs of the old timeline */
    if (ntr_views_update(x->views, x->program, x->allocator) < 0 ||
        ntr_image_timeline_update(&x->timeline, x->program, x->allocator) < 0)
        return NTR_E_MEMORY;
    x->one_view = !x->views->binding_count && !x->program->read;
    x->revision = x->program->revision;
    return NTR_OK;
}

static ntr_status seek(ntr_instructions *x, uint64_t position) {
    if (x->revision != x->program->revision) {
        ntr_status status = learn_program(x);
        if (status) return status;
    }
    const ntr_image_timeline *t = &x->timeline;
    size_t passed = ntr_image_timeline_passed(t, position);
    /* NTR_POSITION_ANY sees images of all positions: it has an epoch of its own */
    bool any = position == NTR_POSITION_ANY;
    x->epoch = x->first_epoch + (any ? t->count + 1 : passed);
    x->calm_from = any ? position : passed ? t->edges[passed - 1].position : 0;
    x->calm_until = passed < t->count ? t->edges[passed].position - 1 : NTR_POSITION_ANY - !any;
    return NTR_OK;
}

static inline bool is_calm(const ntr_instructions *x, uint64_t position) {
    return x->revision == x->program->revision && position >= x->calm_from && position <= x->calm_until;
}

/* Set x->epoch for the position, and find the view of a context. */
static __attribute__((noinline)) ntr_status find_view(ntr_instructions *x, const ntr_context *context,
                                                      uint64_t position, uint32_t *view) {
    ntr_status status = is_calm(x, position) ? NTR_OK : seek(x, position);
    *view = 0;
    if (status || x->one_view) return status;
    *view = ntr_views_get(x->views, x->program, NTR_VIEW_SHARED, context);
    if (*view < NTR_VIEWS_MAX) return NTR_OK;
    ntr_views_clear(x->views); /* too many views: number them again */
    renew(x);
    status = seek(x, position);
    *view = ntr_views_get(x->views, x->program, NTR_VIEW_SHARED, context);
    return status;
}

static __attribute__((noinline)) uint64_t number_of(ntr_instructions *x, const ntr_event *span) {
    uint32_t view;
    ntr_status status = find_view(x, &span->context, span->offset, &view);
    return status ? 0 : x->epoch * NTR_VIEWS_MAX + view;
}

uint64_t ntr_instructions_view(ntr_instructions *x, const ntr_event *span) {
    bool easy = x->one_view && is_calm(x, span->offset);
    return easy ? x->epoch * NTR_VIEWS_MAX : number_of(x, span);
}

/* ---- decoding */

static uint64_t read_bits(const ntr_instructions *x, const ntr_code_window *window, uint64_t address, unsigned size) {
    uint8_t bytes[8] = {0};
    const uint64_t offset = window ? address - window->first : 0;
    const uint8_t *from = bytes;
    unsigned count = size < sizeof bytes ? size : sizeof bytes;
    if (window && window->size - offset >= count)
        from = window->bytes + offset;
    else
        ntr_program_read(x->program, ntr_place_at(&x->context, x->position, address), bytes, count);
    return ntr_little(from, count);
}

/* Decode the piece, up to the first instruction that no image has. */
static void decode(const ntr_instructions *x, code_piece *p) {
    ntr_code_window window, *have = NULL;
    uint64_t address = p->address;
    for (p->count = 0; p->count < p->asked; p->count++) {
        ntr_instruction *i = &p->list[p->count];
        uint64_t at = ntr_program_cut(x->program, address);
        const ntr_place place = ntr_place_at(&x->context, x->position, at);
        *i = (ntr_instruction){.address = address};
        if (!have || at - window.first >= window.size)
            have = ntr_program_window(x->program, place, &window) ? &window : NULL;
        const bool whole = have && window.size - (at - window.first) >= 4 && !x->program->rule_count;
        if (!whole || !ntr_insn_take_linear(window.bytes + (at - window.first), &i->insn)) {
            ntr_status status = ntr_program_decode(x->program, place, have, &i->insn);
            /* without its jump table only the target of CM.JT is unknown */
            if (status != NTR_OK && !i->insn.table_jump) return;
        }
        i->bits = read_bits(x, have, at, i->insn.size);
        address += i->insn.size;
    }
}

static bool make_room(const ntr_instructions *x, code_piece *p, uint32_t count) {
    if (p->room >= count) return true;
    ntr_instruction *list = ntr_realloc(x->allocator, p->list, count, sizeof *list);
    if (!list) return false;
    p->list = list;
    p->room = count;
    return true;
}

/* Continue with the next piece of the span, if there is one. */
static ntr_status next_piece(ntr_instructions *x) {
    uint32_t asked = x->left < PIECE ? x->left : PIECE, view;
    ntr_status status = find_view(x, &x->context, x->position, &view);
    if (status) return status;

    uint64_t mix = (x->address >> 1) + ((uint64_t)asked << 40) + ((uint64_t)view << 48);
    code_piece *p = &x->cache[mix * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CODE_CACHE_BITS)];
    if (p->epoch != x->epoch || p->address != x->address || p->asked != asked || p->view != view) {
        p->epoch = 0;
        if (!make_room(x, p, asked)) return NTR_E_MEMORY;
        p->address = x->address;
        p->asked = asked;
        p->view = view;
        decode(x, p);
        p->epoch = x->epoch;
    }
    x->piece = p;
    x->at = 0;
    x->left -= asked;
    if (p->count) x->address = p->list[p->count - 1].address + p->list[p->count - 1].insn.size;
    return NTR_OK;
}

/* Make the next instruction of the span available. Returns NTR_END at the end of the span. */
static inline ntr_status prepare(ntr_instructions *x) {
    while (!x->piece || x->at == x->piece->count) {
        if (x->piece && x->piece->count < x->piece->asked) return NTR_E_NO_IMAGE;
        if (!x->left) return NTR_END;
        ntr_status status = next_piece(x);
        if (status) return status;
    }
    return NTR_OK;
}

ntr_status ntr_instructions_next(ntr_instructions *x, ntr_instruction *instruction) {
    ntr_status status = prepare(x);
    if (status == NTR_OK) *instruction = x->piece->list[x->at++];
    return status;
}
