#include "program/blocks.h"
#include "base/allocator.h"

#define LIMIT_DEFAULT ((size_t)512 * 1024)
#define HARD_LIMIT    4 /* maximum number of blocks, as a multiple of the limit */

_Static_assert(NTR_VIEWS_MAX <= NTR_VIEW_NONE && NTR_VIEW_NONE <= UINT16_MAX, "the number of a view has 16 bits");

static void make_sentinel(ntr_blocks *blocks, ntr_block *sentinel, ntr_status status) {
    *sentinel = (ntr_block){.key = NTR_BLOCK_INVALID,
                            .flags = NTR_BLOCK_CUT,
                            .status = (int16_t)status,
                            .taken = &blocks->none,
                            .fall = &blocks->none};
    if (status != NTR_E_MEMORY && status != NTR_E_LIMIT) sentinel->flags |= NTR_BLOCK_NO_IMAGE;
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
    make_sentinel(blocks, &blocks->none, NTR_E_NO_IMAGE);
    make_sentinel(blocks, &blocks->undecided, NTR_E_UNDECIDED);
    make_sentinel(blocks, &blocks->no_table, NTR_E_JUMP_TABLE);
    make_sentinel(blocks, &blocks->loop, NTR_E_HARDWARE_LOOP);
    make_sentinel(blocks, &blocks->no_memory, NTR_E_MEMORY);
    make_sentinel(blocks, &blocks->full, NTR_E_LIMIT);
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

void ntr_blocks_divide(ntr_blocks *blocks, ntr_block_same *same, void *user) {
    blocks->state->same = same;
    blocks->state->same_user = user;
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
    const struct ntr_blocks_state *state = blocks->state;
    const ntr_context *context = &state->views.contexts[view];
    ntr_block_make(block, blocks->program, context, state->position, address);
    if (block->halfwords && state->same)
        ntr_block_divide(block, blocks->program, context, state->position, state->same, state->same_user);
    if (block->halfwords) return ntr_block_table_keep(blocks, block);
    return block->status == NTR_E_HARDWARE_LOOP ? &blocks->loop
           : block->status == NTR_E_JUMP_TABLE  ? &blocks->no_table
           : block->status == NTR_E_UNDECIDED   ? &blocks->undecided
                                                : &blocks->none;
}

ntr_block *ntr_blocks_link(ntr_blocks *blocks, ntr_block *from, ntr_block **link, uint64_t address) {
    return *link = ntr_blocks_get(blocks, from->view, address);
}

/* ---- Invalidation of blocks when their code changes: an image is added, becomes valid or becomes invalid. */

static void invalidate(ntr_blocks *blocks, ntr_block *block) {
    block->key = NTR_BLOCK_INVALID;
    blocks->epoch++;
}

static void invalidate_all(ntr_blocks *blocks) {
    for (size_t i = 0; i < blocks->count; i++) invalidate(blocks, ntr_blocks_at(blocks, i));
    ntr_blocks_empty(blocks);
    blocks->epoch++;
}

/* Jump targets are read from jump tables. A change of a jump table can therefore affect any block. */
static bool holds_jump_table(const ntr_program *program, uint64_t first, uint64_t last) {
    for (size_t i = 0; program->tables && i < program->image_count; i++) {
        const ntr_image *image = &program->images[i];
        if (image->has_jvt && image->jvt <= last && first <= image->jvt + NTR_JUMP_TABLE_BYTES - 1) return true;
    }
    return false;
}

static void invalidate_if_changed(ntr_blocks *blocks, ntr_block *block, uint64_t first, uint64_t last) {
    if (block->key != NTR_BLOCK_INVALID && ntr_block_depends(block, blocks->program, first, last))
        invalidate(blocks, block);
}

/* Unlinks invalid blocks from the list of their page, except for its head: an empty slot would break the probe sequence
 * of the hash table. */
static void invalidate_in_page(ntr_blocks *blocks, uint64_t page, uint64_t first, uint64_t last) {
    ntr_block *block = *ntr_blocks_page(blocks, page);
    if (block) invalidate_if_changed(blocks, block, first, last);
    while (block && block->neighbour) {
        invalidate_if_changed(blocks, block->neighbour, first, last);
        if (block->neighbour->key == NTR_BLOCK_INVALID)
            block->neighbour = block->neighbour->neighbour;
        else
            block = block->neighbour;
    }
}

static void invalidate_range(ntr_blocks *blocks, uint64_t first, uint64_t last) {
    const ntr_program *program = blocks->program;
    if (holds_jump_table(program, first, last)) {
        invalidate_all(blocks);
        return;
    }
    uint64_t from = (first - NTR_BLOCK_REACH) >> NTR_PAGE_BITS << NTR_PAGE_BITS;
    uint64_t pages = ((last - from) >> NTR_PAGE_BITS) + 1;
    if (pages > blocks->count) {
        for (size_t i = 0; i < blocks->count; i++) invalidate_if_changed(blocks, ntr_blocks_at(blocks, i), first, last);
        return;
    }
    for (uint64_t i = 0; i < pages; i++)
        invalidate_in_page(blocks, ntr_program_cut(program, from + (i << NTR_PAGE_BITS)), first, last);
}

/* The limits of functions may be others with other names: these may be anywhere. */
static void invalidate_segment(ntr_blocks *blocks, size_t segment) {
    if (segment == NTR_EDGE_NAMES)
        invalidate_all(blocks);
    else
        invalidate_range(blocks, blocks->program->segments[segment].first, blocks->program->segments[segment].last);
}

static void invalidate_crossed(ntr_blocks *blocks, uint64_t position) {
    ntr_image_timeline *timeline = &blocks->state->timeline;
    size_t passed = ntr_image_timeline_passed(timeline, position);
    size_t low = passed < timeline->passed ? passed : timeline->passed;
    size_t high = passed < timeline->passed ? timeline->passed : passed;
    for (size_t i = low; i < high; i++) invalidate_segment(blocks, timeline->edges[i].segment);
    timeline->passed = passed;
    blocks->unchanged_from = passed ? timeline->edges[passed - 1].position : 0;
    blocks->unchanged_until = passed < timeline->count ? timeline->edges[passed].position - 1 : UINT64_MAX;
}

/* Updates the cache for images that were added to the program. */
static void update_images(ntr_blocks *blocks) {
    struct ntr_blocks_state *state = blocks->state;
    const ntr_program *program = blocks->program;
    size_t seen = state->timeline.segments_seen;
    int finer = ntr_views_update(&state->views, program, state->allocator);
    int timed = ntr_image_timeline_update(&state->timeline, program, state->allocator);
    /* Out of memory: invalidate everything; the next seek tries again. */
    bool lacking = finer < 0 || timed < 0;
    if (finer || timed || state->code_revision != program->code_revision) {
        invalidate_all(blocks);
        ntr_views_clear(&state->views);
        blocks->generation++;
    } else {
        for (size_t i = seen; i < program->segment_count; i++) invalidate_segment(blocks, i);
    }
    state->timeline.passed = ntr_image_timeline_passed(&state->timeline, state->position);
    state->code_revision = program->code_revision;
    blocks->revision = lacking ? program->revision - 1 : program->revision;
}

void ntr_blocks_catch_up(ntr_blocks *blocks, uint64_t position) {
    if (blocks->revision != blocks->program->revision) update_images(blocks);
    invalidate_crossed(blocks, position);
    blocks->state->position = position;
}
