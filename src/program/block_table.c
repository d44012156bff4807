/* Table of the block cache: blocks are allocated in chunks, never move, and are found by address and by page. */
#include "program/block_table.h"

#include "base/allocator.h"

#include <string.h>

#define TABLE_BITS_MIN 10

_Static_assert(sizeof(ntr_block) == 2 * NTR_BLOCK_LINE, "a block is two cache lines");
_Static_assert(offsetof(ntr_block, start) == NTR_BLOCK_LINE, "a walk needs the first line only");

/* Allocates tables of 2^bits empty slots. Keeps the old ones and returns -1 when out of memory. */
static int make_tables(ntr_blocks *blocks, unsigned bits) {
    struct ntr_blocks_state *state = blocks->state;
    ntr_block **table = ntr_alloc(state->allocator, (size_t)1 << bits, sizeof(ntr_block *));
    ntr_block **pages = ntr_alloc(state->allocator, (size_t)1 << bits, sizeof(ntr_block *));
    if (!table || !pages) {
        ntr_dealloc(state->allocator, table);
        ntr_dealloc(state->allocator, pages);
        return -1;
    }
    ntr_dealloc(state->allocator, blocks->table);
    ntr_dealloc(state->allocator, state->pages);
    blocks->table = table;
    blocks->shift = 64 - bits;
    state->pages = pages;
    state->taken = 0;
    return 0;
}

int ntr_block_table_init(ntr_blocks *blocks) {
    return make_tables(blocks, TABLE_BITS_MIN);
}

static void free_chunks(struct ntr_blocks_state *state) {
    while (state->chunk_count) ntr_dealloc(state->allocator, state->chunks[--state->chunk_count]);
}

void ntr_block_table_release(ntr_blocks *blocks) {
    struct ntr_blocks_state *state = blocks->state;
    free_chunks(state);
    ntr_dealloc(state->allocator, state->chunks);
    ntr_dealloc(state->allocator, state->pages);
    ntr_dealloc(state->allocator, blocks->table);
}

void ntr_blocks_empty(ntr_blocks *blocks) {
    size_t size = (size_t)1 << (64 - blocks->shift);
    memset(blocks->table, 0, size * sizeof(ntr_block *));
    memset(blocks->state->pages, 0, size * sizeof(ntr_block *));
    blocks->state->taken = 0;
}

void ntr_block_table_clear(ntr_blocks *blocks) {
    if (make_tables(blocks, TABLE_BITS_MIN)) ntr_blocks_empty(blocks); /* out of memory: reuse the large table */
    free_chunks(blocks->state);
    blocks->count = 0;
}

/* ---- the tables ---- */

ntr_block **ntr_blocks_page(const ntr_blocks *blocks, uint64_t address) {
    ntr_block **pages = blocks->state->pages;
    size_t mask = ((size_t)1 << (64 - blocks->shift)) - 1;
    size_t i = ntr_blocks_hash(blocks, 0, address >> NTR_PAGE_BITS << 1);
    while (pages[i] && pages[i]->start >> NTR_PAGE_BITS != address >> NTR_PAGE_BITS) i = (i + 1) & mask;
    return &pages[i];
}

/* Returns the slot of a valid block, or the slot for a new one: an empty slot, or that of an invalid block, so that
 * code that is rewritten repeatedly does not fill the table. */
static ntr_block **table_slot(const ntr_blocks *blocks, uint32_t view, uint64_t address) {
    size_t mask = ((size_t)1 << (64 - blocks->shift)) - 1;
    size_t i = ntr_blocks_hash(blocks, view, address);
    ntr_block **dead = NULL;
    for (ntr_block *block; (block = blocks->table[i]); i = (i + 1) & mask) {
        if (block->key == address && block->view == view) return &blocks->table[i];
        if (block->key == NTR_BLOCK_INVALID && !dead) dead = &blocks->table[i];
    }
    return dead ? dead : &blocks->table[i];
}

ntr_block *ntr_block_table_find(const ntr_blocks *blocks, uint32_t view, uint64_t address) {
    ntr_block *block = *table_slot(blocks, view, address);
    return block && block->key != NTR_BLOCK_INVALID ? block : NULL;
}

static void insert(ntr_blocks *blocks, ntr_block *block) {
    ntr_block **slot = table_slot(blocks, block->view, block->start);
    blocks->state->taken += !*slot;
    *slot = block;
    ntr_block **page = ntr_blocks_page(blocks, block->start);
    block->neighbour = *page;
    *page = block;
}

/* Keeps half of the slots empty. Invalid blocks are not copied to the larger table. */
static int make_room(ntr_blocks *blocks) {
    unsigned bits = 64 - blocks->shift;
    if (blocks->state->taken < (size_t)1 << (bits - 1)) return 0;
    if (make_tables(blocks, bits + 1)) return -1;
    for (size_t i = 0; i < blocks->count; i++) {
        ntr_block *block = ntr_blocks_at(blocks, i);
        if (block->key == block->start) insert(blocks, block);
    }
    return 0;
}

ntr_block *ntr_block_table_fresh(ntr_blocks *blocks) {
    struct ntr_blocks_state *state = blocks->state;
    if (blocks->count == state->chunk_count * NTR_BLOCKS_PER_CHUNK) {
        if (ntr_reserve(state->allocator, (void **)&state->chunks, &state->chunk_capacity, state->chunk_count + 1,
                        sizeof *state->chunks))
            return NULL;
        void *chunk =
            ntr_realloc(state->allocator, NULL, 1, NTR_BLOCKS_PER_CHUNK * sizeof(ntr_block) + NTR_BLOCK_LINE - 1);
        if (!chunk) return NULL;
        state->chunks[state->chunk_count++] = chunk;
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
