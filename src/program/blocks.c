#include "program/blocks.h"

#include "base/allocator.h"

#define LIMIT_DEFAULT ((size_t)512 * 1024)
#define HARD_LIMIT 4 /* maximum number of blocks, as a multiple of the limit */
#define PART_VIEW 0x8000u /* added to the view of a part, so that lookups of blocks do not find it */

_Static_assert(NTR_VIEWS_MAX <= NTR_VIEW_NONE && NTR_VIEW_NONE < PART_VIEW, "views fit beside the mark of parts");

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
    *src = (uint16_t)views->owners[view & ~PART_VIEW];
    return &views->contexts[view & ~PART_VIEW];
}

static ntr_block *no_block(ntr_blocks *blocks) {
    return blocks->count >= blocks->limit * HARD_LIMIT ? &blocks->full : NULL;
}

ntr_block *ntr_blocks_find(ntr_blocks *blocks, uint32_t view, uint64_t address) {
    if (address & 1) return &blocks->none;
    if (view >= blocks->state->views.count) return &blocks->full; /* NTR_VIEW_NONE */
    address = ntr_program_cut(blocks->program, address);
    ntr_block *block = ntr_block_table_find(blocks, view, address, 0);
    if (block) return block;
    if ((block = no_block(blocks))) return block;
    if (!(block = ntr_block_table_fresh(blocks))) return &blocks->no_memory;
    block->view = (uint16_t)view;
    ntr_block_make(block, blocks->program, &blocks->state->views.contexts[view], blocks->state->position, address);
    return block->halfwords ? ntr_block_table_keep(blocks, block) : &blocks->none;
}

ntr_block *ntr_blocks_link(ntr_blocks *blocks, ntr_block *from, ntr_block **link, uint64_t address) {
    return *link = ntr_blocks_get(blocks, from->view & ~PART_VIEW, address);
}

ntr_block *ntr_blocks_part(ntr_blocks *blocks, const ntr_block *block, unsigned halfwords) {
    uint32_t view = block->view | PART_VIEW;
    ntr_block *part = ntr_block_table_find(blocks, view, block->start, halfwords);
    if (part) return part;
    if ((part = no_block(blocks))) return part;
    if (!(part = ntr_block_table_fresh(blocks))) return &blocks->no_memory;
    part->key = part->start = block->start;
    part->view = (uint16_t)view;
    part->halfwords = (uint8_t)halfwords;
    part->instructions = (uint8_t)ntr_block_count(block, halfwords);
    part->last_halfwords = (uint8_t)(halfwords - ntr_block_before(block, halfwords));
    part->flags = NTR_BLOCK_CUT | NTR_BLOCK_PART;
    part->next = ntr_program_cut(blocks->program, block->start + 2 * halfwords);
    for (unsigned k = 0; k < halfwords; k = ntr_block_after(block, k)) part->starts[k / 64] |= UINT64_C(1) << k % 64;
    return ntr_block_table_keep(blocks, part);
}
