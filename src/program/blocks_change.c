/* Blocks die when the code they were made of changes: images that are added, that come, and that go. */
#include "program/blocks_change.h"

static void kill(ntr_blocks *blocks, ntr_block *block) {
    block->key = NTR_BLOCK_DEAD;
    blocks->epoch++;
}

static void kill_all(ntr_blocks *blocks) {
    for (size_t i = 0; i < blocks->count; i++) kill(blocks, ntr_blocks_at(blocks, i));
    ntr_blocks_empty(blocks);
    blocks->epoch++;
}

/* Jump tables are read through code, so a change of one may show anywhere. */
static bool holds_jump_table(const ntr_program *program, uint64_t first, uint64_t last) {
    for (size_t i = 0; program->tables && i < program->image_count; i++) {
        const ntr_image *image = &program->images[i];
        if (image->has_jvt && image->jvt <= last && first <= image->jvt + NTR_JUMP_TABLE_BYTES - 1) return true;
    }
    return false;
}

static void kill_if_changed(ntr_blocks *blocks, ntr_block *block, uint64_t first, uint64_t last) {
    if (block->key != NTR_BLOCK_DEAD && ntr_block_depends(block, blocks->program, first, last)) kill(blocks, block);
}

/* The dead leave the list of their page, but for its head: an empty slot would break the table's chain. */
static void kill_in_page(ntr_blocks *blocks, uint64_t page, uint64_t first, uint64_t last) {
    ntr_block *block = *ntr_blocks_page(blocks, page);
    if (block) kill_if_changed(blocks, block, first, last);
    while (block && block->neighbour) {
        kill_if_changed(blocks, block->neighbour, first, last);
        if (block->neighbour->key == NTR_BLOCK_DEAD)
            block->neighbour = block->neighbour->neighbour;
        else
            block = block->neighbour;
    }
}

static void kill_range(ntr_blocks *blocks, uint64_t first, uint64_t last) {
    const ntr_program *program = blocks->program;
    if (holds_jump_table(program, first, last)) {
        kill_all(blocks);
        return;
    }
    uint64_t from = (first - NTR_BLOCK_REACH) >> NTR_PAGE_BITS << NTR_PAGE_BITS;
    uint64_t pages = ((last - from) >> NTR_PAGE_BITS) + 1;
    if (pages > blocks->count) {
        for (size_t i = 0; i < blocks->count; i++) kill_if_changed(blocks, ntr_blocks_at(blocks, i), first, last);
        return;
    }
    for (uint64_t i = 0; i < pages; i++)
        kill_in_page(blocks, ntr_program_cut(program, from + (i << NTR_PAGE_BITS)), first, last);
}

static void kill_segment(ntr_blocks *blocks, size_t segment) {
    kill_range(blocks, blocks->program->segments[segment].first, blocks->program->segments[segment].last);
}

static void kill_crossed(ntr_blocks *blocks, uint64_t position) {
    ntr_image_timeline *timeline = &blocks->rest->timeline;
    size_t passed = ntr_image_timeline_passed(timeline, position);
    size_t low = passed < timeline->passed ? passed : timeline->passed;
    size_t high = passed < timeline->passed ? timeline->passed : passed;
    for (size_t i = low; i < high; i++) kill_segment(blocks, timeline->edges[i].segment);
    timeline->passed = passed;
    blocks->calm_from = passed ? timeline->edges[passed - 1].position : 0;
    blocks->calm_until = passed < timeline->count ? timeline->edges[passed].position - 1 : UINT64_MAX;
}

/* Take in what the program got since. */
static void learn(ntr_blocks *blocks) {
    struct ntr_blocks_rest *rest = blocks->rest;
    const ntr_program *program = blocks->program;
    size_t seen = rest->timeline.segments_seen;
    int finer = ntr_views_update(&rest->views, program, rest->allocator);
    int timed = ntr_image_timeline_update(&rest->timeline, program, rest->allocator);
    /* Without memory to know better, nothing is as it was, and the next seek tries again. */
    bool lacking = finer < 0 || timed < 0;
    if (finer || timed || rest->remade != program->remade) {
        kill_all(blocks);
        ntr_views_clear(&rest->views);
        blocks->generation++;
    } else {
        for (size_t i = seen; i < program->segment_count; i++) kill_segment(blocks, i);
    }
    rest->timeline.passed = ntr_image_timeline_passed(&rest->timeline, rest->position);
    rest->remade = program->remade;
    blocks->revision = lacking ? program->revision - 1 : program->revision;
}

void ntr_blocks_catch_up(ntr_blocks *blocks, uint64_t position) {
    if (blocks->revision != blocks->program->revision) learn(blocks);
    kill_crossed(blocks, position);
    blocks->rest->position = position;
}
