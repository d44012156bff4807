/* The cache itself: blocks in chunks that never move, found through a table. */
#include "program/blocks_rest.h"

#include "base/allocator.h"
#include "program/block.h"

#include <string.h>

#define LIMIT_DEFAULT ((size_t)512 * 1024)
#define HARD_LIMIT 4 /* times the limit */
#define CHUNK 1024   /* blocks allocated at once */
#define TABLE_BITS_MIN 10
#define CACHE_LINE 64
#define PART_VIEW 0x8000u /* added to the view of a part, so that no look-up for a block finds it */

_Static_assert(sizeof(ntr_block) == 2 * CACHE_LINE, "a block is two cache lines");
_Static_assert(offsetof(ntr_block, start) == CACHE_LINE, "a walk needs the first line only");
_Static_assert(NTR_VIEWS_MAX <= NTR_VIEW_NONE && NTR_VIEW_NONE < PART_VIEW, "views fit beside the mark of parts");

static void make_sentinel(ntr_blocks *blocks, ntr_block *sentinel, uint8_t flags) {
    *sentinel = (ntr_block){.key = NTR_BLOCK_DEAD, .flags = flags, .taken = &blocks->none, .fall = &blocks->none};
}

/* Tables of 2^bits slots, both empty. Keeps the old ones when out of memory. */
static int make_tables(ntr_blocks *blocks, unsigned bits) {
    struct ntr_blocks_rest *rest = blocks->rest;
    ntr_block **table = ntr_alloc(rest->allocator, (size_t)1 << bits, sizeof(ntr_block *));
    ntr_block **pages = ntr_alloc(rest->allocator, (size_t)1 << bits, sizeof(ntr_block *));
    if (!table || !pages) {
        ntr_dealloc(rest->allocator, table);
        ntr_dealloc(rest->allocator, pages);
        return -1;
    }
    ntr_dealloc(rest->allocator, blocks->table);
    ntr_dealloc(rest->allocator, rest->pages);
    blocks->table = table;
    blocks->shift = 64 - bits;
    rest->pages = pages;
    rest->taken = 0;
    return 0;
}

ntr_blocks *ntr_blocks_new(const ntr_program *program, const ntr_allocator *allocator, size_t limit) {
    ntr_blocks *blocks = ntr_alloc(allocator, 1, sizeof *blocks);
    struct ntr_blocks_rest *rest = ntr_alloc(allocator, 1, sizeof *rest);
    if (!blocks || !rest) {
        ntr_dealloc(allocator, blocks);
        ntr_dealloc(allocator, rest);
        return NULL;
    }
    blocks->program = program;
    blocks->limit = limit ? limit : LIMIT_DEFAULT;
    blocks->rest = rest;
    rest->allocator = allocator;
    make_sentinel(blocks, &blocks->none, NTR_BLOCK_CUT | NTR_BLOCK_NO_IMAGE);
    make_sentinel(blocks, &blocks->no_memory, NTR_BLOCK_CUT | NTR_BLOCK_NO_MEMORY);
    make_sentinel(blocks, &blocks->full, NTR_BLOCK_CUT | NTR_BLOCK_LIMIT);
    if (make_tables(blocks, TABLE_BITS_MIN)) {
        ntr_blocks_free(blocks);
        return NULL;
    }
    ntr_blocks_catch_up(blocks, 0);
    return blocks;
}

static void free_chunks(struct ntr_blocks_rest *rest) {
    while (rest->chunk_count) ntr_dealloc(rest->allocator, rest->chunks[--rest->chunk_count]);
}

void ntr_blocks_free(ntr_blocks *blocks) {
    if (!blocks) return;
    struct ntr_blocks_rest *rest = blocks->rest;
    const ntr_allocator *allocator = rest->allocator;
    free_chunks(rest);
    ntr_views_release(&rest->views, allocator);
    ntr_image_timeline_release(&rest->timeline, allocator);
    ntr_dealloc(allocator, rest->chunks);
    ntr_dealloc(allocator, rest->pages);
    ntr_dealloc(allocator, blocks->table);
    ntr_dealloc(allocator, rest);
    ntr_dealloc(allocator, blocks);
}

bool ntr_blocks_full(const ntr_blocks *blocks) {
    return blocks->count >= blocks->limit || blocks->rest->views.count > NTR_VIEWS_MAX / 2;
}

void ntr_blocks_empty(ntr_blocks *blocks) {
    size_t size = (size_t)1 << (64 - blocks->shift);
    memset(blocks->table, 0, size * sizeof(ntr_block *));
    memset(blocks->rest->pages, 0, size * sizeof(ntr_block *));
    blocks->rest->taken = 0;
}

void ntr_blocks_flush(ntr_blocks *blocks) {
    if (make_tables(blocks, TABLE_BITS_MIN)) ntr_blocks_empty(blocks); /* large, but as good */
    free_chunks(blocks->rest);
    blocks->count = 0;
    ntr_views_clear(&blocks->rest->views);
    blocks->generation++;
    blocks->epoch++;
}

static uint32_t view_for(ntr_blocks *blocks, uint32_t owner, const ntr_context *context) {
    uint32_t view = ntr_views_get(&blocks->rest->views, blocks->program, owner, context);
    return view < NTR_VIEWS_MAX ? view : NTR_VIEW_NONE;
}

uint32_t ntr_blocks_view(ntr_blocks *blocks, const ntr_context *context) {
    return view_for(blocks, NTR_VIEW_SHARED, context);
}

uint32_t ntr_blocks_own_view(ntr_blocks *blocks, uint16_t src, const ntr_context *context) {
    return view_for(blocks, src, context);
}

const ntr_context *ntr_blocks_owner(const ntr_blocks *blocks, uint32_t view, uint16_t *src) {
    const ntr_views *views = &blocks->rest->views;
    *src = (uint16_t)views->owners[view & ~PART_VIEW];
    return &views->contexts[view & ~PART_VIEW];
}

ntr_block *ntr_blocks_at(const ntr_blocks *blocks, size_t number) {
    uintptr_t chunk = (uintptr_t)blocks->rest->chunks[number / CHUNK];
    ntr_block *first = (ntr_block *)((chunk + CACHE_LINE - 1) & ~(uintptr_t)(CACHE_LINE - 1));
    return &first[number % CHUNK];
}

/* ---- the tables ---- */

ntr_block **ntr_blocks_page(const ntr_blocks *blocks, uint64_t address) {
    ntr_block **pages = blocks->rest->pages;
    size_t mask = ((size_t)1 << (64 - blocks->shift)) - 1;
    size_t i = ntr_blocks_hash(blocks, 0, address >> NTR_PAGE_BITS << 1);
    while (pages[i] && pages[i]->start >> NTR_PAGE_BITS != address >> NTR_PAGE_BITS) i = (i + 1) & mask;
    return &pages[i];
}

/* The slot of a live block, or the one to put it into: empty, or of a dead one (code that is rewritten again and
 * again must not fill the table). Parts differ by their length as well. */
static ntr_block **table_slot(const ntr_blocks *blocks, uint32_t view, uint64_t address, unsigned halfwords) {
    size_t mask = ((size_t)1 << (64 - blocks->shift)) - 1;
    size_t i = ntr_blocks_hash(blocks, view, address);
    ntr_block **dead = NULL;
    for (ntr_block *block; (block = blocks->table[i]); i = (i + 1) & mask) {
        if (block->key == address && block->view == view && (!halfwords || block->halfwords == halfwords))
            return &blocks->table[i];
        if (block->key == NTR_BLOCK_DEAD && !dead) dead = &blocks->table[i];
    }
    return dead ? dead : &blocks->table[i];
}

static ntr_block *look_up(const ntr_blocks *blocks, uint32_t view, uint64_t address, unsigned halfwords) {
    ntr_block *block = *table_slot(blocks, view, address, halfwords);
    return block && block->key != NTR_BLOCK_DEAD ? block : NULL;
}

static void insert(ntr_blocks *blocks, ntr_block *block) {
    unsigned halfwords = block->flags & NTR_BLOCK_PART ? block->halfwords : 0;
    ntr_block **slot = table_slot(blocks, block->view, block->start, halfwords);
    blocks->rest->taken += !*slot;
    *slot = block;
    ntr_block **page = ntr_blocks_page(blocks, block->start);
    block->neighbour = *page;
    *page = block;
}

/* Half of the slots stay empty; the dead are left behind. */
static int make_room(ntr_blocks *blocks) {
    unsigned bits = 64 - blocks->shift;
    if (blocks->rest->taken < (size_t)1 << (bits - 1)) return 0;
    if (make_tables(blocks, bits + 1)) return -1;
    for (size_t i = 0; i < blocks->count; i++) {
        ntr_block *block = ntr_blocks_at(blocks, i);
        if (block->key == block->start) insert(blocks, block);
    }
    return 0;
}

/* Room for one more block, zeroed; NULL when out of memory. It counts once it is kept. */
static ntr_block *fresh(ntr_blocks *blocks) {
    struct ntr_blocks_rest *rest = blocks->rest;
    if (blocks->count == rest->chunk_count * CHUNK) {
        if (ntr_reserve(rest->allocator, (void **)&rest->chunks, &rest->chunk_capacity, rest->chunk_count + 1,
                        sizeof *rest->chunks))
            return NULL;
        void *chunk = ntr_realloc(rest->allocator, NULL, 1, CHUNK * sizeof(ntr_block) + CACHE_LINE - 1);
        if (!chunk) return NULL;
        rest->chunks[rest->chunk_count++] = chunk;
    }
    ntr_block *block = ntr_blocks_at(blocks, blocks->count);
    *block = (ntr_block){.number = (uint32_t)blocks->count, .taken = &blocks->none, .fall = &blocks->none};
    return block;
}

static ntr_block *keep(ntr_blocks *blocks, ntr_block *block) {
    if (make_room(blocks)) return &blocks->no_memory;
    blocks->count++;
    insert(blocks, block);
    return block;
}

static ntr_block *lack(ntr_blocks *blocks) {
    return blocks->count >= blocks->limit * HARD_LIMIT ? &blocks->full : NULL;
}

ntr_block *ntr_blocks_find(ntr_blocks *blocks, uint32_t view, uint64_t address) {
    if (address & 1) return &blocks->none;
    if (view >= blocks->rest->views.count) return &blocks->full; /* NTR_VIEW_NONE */
    address = ntr_program_cut(blocks->program, address);
    ntr_block *block = look_up(blocks, view, address, 0);
    if (block) return block;
    if ((block = lack(blocks))) return block;
    if (!(block = fresh(blocks))) return &blocks->no_memory;
    block->view = (uint16_t)view;
    ntr_block_make(block, blocks->program, &blocks->rest->views.contexts[view], blocks->rest->position, address);
    return block->halfwords ? keep(blocks, block) : &blocks->none;
}

ntr_block *ntr_blocks_link(ntr_blocks *blocks, ntr_block *from, ntr_block **link, uint64_t address) {
    return *link = ntr_blocks_get(blocks, from->view & ~PART_VIEW, address);
}

ntr_block *ntr_blocks_part(ntr_blocks *blocks, const ntr_block *block, unsigned halfwords) {
    uint32_t view = block->view | PART_VIEW;
    ntr_block *part = look_up(blocks, view, block->start, halfwords);
    if (part) return part;
    if ((part = lack(blocks))) return part;
    if (!(part = fresh(blocks))) return &blocks->no_memory;
    part->key = part->start = block->start;
    part->view = (uint16_t)view;
    part->halfwords = (uint8_t)halfwords;
    part->instructions = (uint8_t)ntr_block_count(block, halfwords);
    part->last_halfwords = (uint8_t)(halfwords - ntr_block_before(block, halfwords));
    part->flags = NTR_BLOCK_CUT | NTR_BLOCK_PART;
    part->next = ntr_program_cut(blocks->program, block->start + 2 * halfwords);
    for (unsigned k = 0; k < halfwords; k = ntr_block_after(block, k)) part->starts[k / 64] |= UINT64_C(1) << k % 64;
    return keep(blocks, part);
}
