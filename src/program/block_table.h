/* The table behind the block cache: blocks in chunks that never move, found by address and by page. For the parts of
 * the cache; walkers use blocks.h. */
#ifndef NTR_PROGRAM_BLOCK_TABLE_H
#define NTR_PROGRAM_BLOCK_TABLE_H

#include "program/block.h"
#include "program/image_timeline.h"
#include "program/views.h"

#define NTR_PAGE_BITS 12

typedef struct ntr_blocks {
    ntr_block **table; /* open addressing */
    unsigned shift;    /* 64 - log2 of its size */
    uint64_t generation, epoch;

    /* While the program is at `revision` and the position in [calm_from, calm_until], nothing changes. */
    const ntr_program *program;
    uint64_t revision, calm_from, calm_until;

    size_t count, limit;
    struct ntr_blocks_rest *rest; /* private */
    ntr_block none, no_memory, full; /* given out where there is no block */
} ntr_blocks;

struct ntr_blocks_rest {
    const ntr_allocator *allocator;
    ntr_views views;
    ntr_image_timeline timeline;
    uint64_t position, remade; /* where, and of which program, the cache is true */
    void **chunks;             /* CHUNK blocks each, and room to align them */
    size_t chunk_count, chunk_capacity;
    ntr_block **pages;         /* the newest block that starts in each page; hashed, as large as the table */
    size_t taken;              /* slots of the table that are not empty */
};

static inline size_t ntr_blocks_hash(const ntr_blocks *blocks, uint32_t view, uint64_t address) {
    return (size_t)(((address >> 1) + ((uint64_t)view << 40)) * UINT64_C(0x9e3779b97f4a7c15) >> blocks->shift);
}

/* The smallest table. Returns -1 when out of memory. */
int ntr_block_table_init(ntr_blocks *blocks);
void ntr_block_table_release(ntr_blocks *blocks);

/* Free all blocks. */
void ntr_block_table_clear(ntr_blocks *blocks);

/* The live block of this view at `address`, or NULL. Parts differ by their length as well; 0: any. */
ntr_block *ntr_block_table_find(const ntr_blocks *blocks, uint32_t view, uint64_t address, unsigned halfwords);

/* Room for one more block, zeroed; NULL when out of memory. It counts once it is kept. */
ntr_block *ntr_block_table_fresh(ntr_blocks *blocks);
ntr_block *ntr_block_table_keep(ntr_blocks *blocks, ntr_block *block);

/* The number-th block since the last flush, dead ones and parts included; number < blocks->count. */
ntr_block *ntr_blocks_at(const ntr_blocks *blocks, size_t number);

/* Where the newest block that starts in the page of `address` stands, or would. */
ntr_block **ntr_blocks_page(const ntr_blocks *blocks, uint64_t address);

/* Forget all blocks, but keep them. */
void ntr_blocks_empty(ntr_blocks *blocks);

#endif
