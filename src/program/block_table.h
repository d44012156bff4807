/* Table of the block cache: blocks are allocated in chunks, never move, and are found by address and by page. Private
 * to the cache; its users include blocks.h. */
#ifndef NTR_PROGRAM_BLOCK_TABLE_H
#define NTR_PROGRAM_BLOCK_TABLE_H

#include "program/block.h"
#include "program/image_timeline.h"
#include "program/views.h"

#define NTR_PAGE_BITS 12

#define NTR_BLOCKS_PER_CHUNK 1024 /* blocks in one allocation */
#define NTR_BLOCK_LINE       64         /* blocks are aligned to a cache line */

typedef struct ntr_blocks {
    ntr_block **table; /* hash table, open addressing */
    unsigned shift;    /* 64 - log2 of the number of slots */
    uint64_t generation, epoch;

    /* No block changes while the program is at `revision` and the position is in [unchanged_from, unchanged_until]. */
    const ntr_program *program;
    uint64_t revision, unchanged_from, unchanged_until;

    size_t count, limit;
    struct ntr_blocks_state *state; /* private */
    ntr_block none, undecided, no_table, loop, no_memory, full; /* returned when there is no block */
} ntr_blocks;

struct ntr_blocks_state {
    const ntr_allocator *allocator;
    ntr_views views;
    ntr_image_timeline timeline;
    uint64_t position, code_revision; /* position and program->code_revision for which the cache is valid */
    void **chunks; /* allocations of NTR_BLOCKS_PER_CHUNK blocks each, plus space for alignment */
    size_t chunk_count, chunk_capacity;
    ntr_block **pages; /* hash table by page, as large as `table`: the newest block that starts in each page */
    size_t taken; /* slots of `table` that are not empty */
    ntr_block_same *same; /* of ntr_blocks_divide; may be NULL */
    void *same_user;
};

static inline size_t ntr_blocks_hash(const ntr_blocks *blocks, uint32_t view, uint64_t address) {
    return (size_t)(((address >> 1) + ((uint64_t)view << 40)) * UINT64_C(0x9e3779b97f4a7c15) >> blocks->shift);
}

/* Creates the smallest table. Returns -1 when out of memory. */
int ntr_block_table_init(ntr_blocks *blocks);
void ntr_block_table_release(ntr_blocks *blocks);

/* Frees all blocks. */
void ntr_block_table_clear(ntr_blocks *blocks);

/* Returns the valid block of this view at `address`, or NULL. */
ntr_block *ntr_block_table_find(const ntr_blocks *blocks, uint32_t view, uint64_t address);

/* Returns space for one more block, zeroed, or NULL when out of memory. The block becomes valid by
 * ntr_block_table_keep. */
ntr_block *ntr_block_table_fresh(ntr_blocks *blocks);
ntr_block *ntr_block_table_keep(ntr_blocks *blocks, ntr_block *block);

/* Returns block `number` (less than blocks->count) since the last flush, including invalid blocks. */
static inline ntr_block *ntr_blocks_at(const ntr_blocks *blocks, size_t number) {
    uintptr_t chunk = (uintptr_t)blocks->state->chunks[number / NTR_BLOCKS_PER_CHUNK];
    ntr_block *first = (ntr_block *)((chunk + NTR_BLOCK_LINE - 1) & ~(uintptr_t)(NTR_BLOCK_LINE - 1));
    return &first[number % NTR_BLOCKS_PER_CHUNK];
}

/* Returns the slot of the newest block that starts in the page of `address`. */
ntr_block **ntr_blocks_page(const ntr_blocks *blocks, uint64_t address);

/* Empties the tables without freeing the blocks. */
void ntr_blocks_empty(ntr_blocks *blocks);

#endif
