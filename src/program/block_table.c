/* The table behind the block cache: blocks in chunks that never move, found by address and by page. */
#include "program/block_table.h"

#include "base/allocator.h"

#include <string.h>

#define CHUNK 1024 /* blocks allocated at once */
#define TABLE_BITS_MIN 10
#define CACHE_LINE 64

_Static_assert(sizeof(ntr_block) == 2 * CACHE_LINE, "a block is two cache lines");
_Static_assert(offsetof(ntr_block, start) == CACHE_LINE, "a walk needs the first line only");

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

int ntr_block_table_init(ntr_blocks *blocks) {
    return make_tables(blocks, TABLE_BITS_MIN);
}

static void free_chunks(struct ntr_blocks_rest *rest) {
    while (rest->chunk_count) ntr_dealloc(rest->allocator, rest->chunks[--rest->chunk_count]);
}

void ntr_block_table_release(ntr_blocks *blocks) {
    struct ntr_blocks_rest *rest = blocks->rest;
    free_chunks(rest);
    ntr_dealloc(rest->allocator, rest->chunks);
    ntr_dealloc(rest->allocator, rest->pages);
    ntr_dealloc(rest->allocator, blocks->table);
}

void ntr_blocks_empty(ntr_blocks *blocks) {
    size_t size = (size_t)1 << (64 - blocks->shift);
    memset(blocks->table, 0, size * sizeof(ntr_block *));
    memset(blocks->rest->pages, 0, size * sizeof(ntr_block *));
    blocks->rest->taken = 0;
}

void ntr_block_table_clear(ntr_blocks *blocks) {
    if (make_tables(blocks, TABLE_BITS_MIN)) ntr_blocks_empty(blocks); /* large, but as good */
    free_chunks(blocks->rest);
    blocks->count = 0;
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

ntr_block *ntr_block_table_find(const ntr_blocks *blocks, uint32_t view, uint64_t address, unsigned halfwords) {
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

ntr_block *ntr_block_table_fresh(ntr_blocks *blocks) {
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

ntr_block *ntr_block_table_keep(ntr_blocks *blocks, ntr_block *block) {
    if (make_room(blocks)) return &blocks->no_memory;
    blocks->count++;
    insert(blocks, block);
    return block;
}
