#include "program/blocks.h"

#include "base/allocator.h"

#define LIMIT_DEFAULT ((size_t)512 * 1024)
#define HARD_LIMIT    4 /* maximum number of blocks, as a multiple of the limit */

_Static_assert(NTR_VIEWS_MAX <= NTR_VIEW_NONE && NTR_VIEW_NONE <= UINT16_MAX, "the number of a view has 16 bits");

static void make_sentinel(ntr_blocks *blocks, ntr_block *sentinel, uint8_t flags) {
    *sentinel = (ntr_block){.key = NTR_BLOCK_INVALID, .flags = flags, .taken = &blocks->none, .fall = &blocks->none};
}

ntr_blocks *ntr_blocks_new(const ntr_program *program, const ntr_allocator *allocator, size_t limit) {
    ntr_blocks *blocks = ntr_alloc(allocator, 1, sizeof *blocks);
    struct ntr_blocks_state *state = ntr_alloc(allocator, 1, sizeof *state);
    if (!blocks || !state) {
        ntr_dealloc(allocator, blocks);
        ntr_dealloc(allocator, state);
        return NULL;
    }
    blocks->program = program;
    blocks->limit = limit ? limit : LIMIT_DEFAULT;
    blocks->state = state;
    state->allocator = allocator;
    make_sentinel(blocks, &blocks->none, NTR_BLOCK_CUT | NTR_BLOCK_NO_IMAGE);
    make_sentinel(blocks, &blocks->no_memory, NTR_BLOCK_CUT | NTR_BLOCK_NO_MEMORY);
    make_sentinel(blocks, &blocks->full, NTR_BLOCK_CUT | NTR_BLOCK_LIMIT);
    if (ntr_block_table_init(blocks)) {
        ntr_blocks_free(blocks);
        return NULL;
    }
    ntr_blocks_catch_up(blocks, 0);
    return blocks;
}

void ntr_blocks_free(ntr_blocks *blocks) {
    if (!blocks) return;
    struct ntr_blocks_state *state = blocks->state;
    const ntr_allocator *allocator = state->allocator;
    ntr_block_table_release(blocks);
    ntr_views_release(&state->views, allocator);
    ntr_image_timeline_release(&state->timeline, allocator);
    ntr_dealloc(allocator, state);
    ntr_dealloc(allocator, blocks);
}

bool ntr_blocks_full(const ntr_blocks *blocks) {
    return blocks->count >= blocks->limit || blocks->state->views.count > NTR_VIEWS_MAX / 2;
}

void ntr_blocks_flush(ntr_blocks *blocks) {
    ntr_block_table_clear(blocks);
    ntr_views_clear(&blocks->state->views);
    blocks->generation++;
    blocks->epoch++;
}

static uint32_t view_for(ntr_blocks *blocks, uint32_t owner, const ntr_context *context) {
    uint32_t view = ntr_views_get(&blocks->state->views, blocks->program, owner, context);
    return view < NTR_VIEWS_MAX ? view : NTR_VIEW_NONE;
}

uint32_t ntr_blocks_view(ntr_blocks *blocks, const ntr_context *context) {
    return view_for(blocks, NTR_VIEW_SHARED, context);
}

uint32_t ntr_blocks_own_view(ntr_blocks *blocks, uint16_t src, const ntr_context *context) {
    return view_for(blocks, src, context);
}

const ntr_context *ntr_blocks_owner(const ntr_blocks *blocks, uint32_t view, uint16_t *src) {
    const ntr_views *views = &blocks->state->views;
    *src = (uint16_t)views->owners[view];
    return &views->contexts[view];
}

ntr_block *ntr_blocks_find(ntr_blocks *blocks, uint32_t view, uint64_t address) {
    if (address & 1) return &blocks->none;
    if (view >= blocks->state->views.count) return &blocks->full; /* NTR_VIEW_NONE */
    address = ntr_program_cut(blocks->program, address);
    ntr_block *block = ntr_block_table_find(blocks, view, address);
    if (block) return block;
    if (blocks->count >= blocks->limit * HARD_LIMIT) return &blocks->full;
    if (!(block = ntr_block_table_fresh(blocks))) return &blocks->no_memory;
    block->view = (uint16_t)view;
    ntr_block_make(block, blocks->program, &blocks->state->views.contexts[view], blocks->state->position, address);
    return block->halfwords ? ntr_block_table_keep(blocks, block) : &blocks->none;
}

ntr_block *ntr_blocks_link(ntr_blocks *blocks, ntr_block *from, ntr_block **link, uint64_t address) {
    return *link = ntr_blocks_get(blocks, from->view, address);
}
