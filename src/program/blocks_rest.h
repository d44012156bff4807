/* What the parts of the block cache share. */
#ifndef NTR_PROGRAM_BLOCKS_REST_H
#define NTR_PROGRAM_BLOCKS_REST_H

#include "program/blocks.h"
#include "program/image_timeline.h"
#include "program/views.h"

#define NTR_PAGE_BITS 12

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

/* Where the newest block that starts in the page of `address` stands, or would. */
ntr_block **ntr_blocks_page(const ntr_blocks *blocks, uint64_t address);

/* Forget all blocks, but keep them. */
void ntr_blocks_empty(ntr_blocks *blocks);

#endif
