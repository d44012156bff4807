/* Block cache: basic blocks of a program, and links between them. Used by the decoder, the encoder and the counters.
 *
 * A block extends from an address to the first instruction that is not linear. It ends earlier (NTR_BLOCK_CUT, flow
 * linear) at NTR_BLOCK_HALFWORDS_MAX halfwords, or where no image has the next instruction. A LUI or AUIPC is never
 * separated from a register jump that follows it. A block belongs to one view: the code visible to a set of contexts.
 *
 *     if (ntr_blocks_full(blocks)) ... read the counters, then ntr_blocks_flush(blocks);
 *     ntr_blocks_seek(blocks, offset);                        before each message, because images may be time-limited
 *     if (generation != blocks->generation) view = ntr_blocks_view(blocks, &context);
 *     ntr_block *block = ntr_blocks_get(blocks, view, pc);    lookup by address
 *     ... block->halfwords == 0: no block, see ntr_block_status
 *     block = ntr_blocks_fall(blocks, block);                 next block; follows a pointer after the first lookup
 *     block = ntr_blocks_jump(blocks, block, address);        the same for direct jumps and register jumps
 *
 * Blocks are valid memory until ntr_blocks_flush. When code changes, ntr_blocks_seek invalidates its blocks: links and
 * lookups do not return them any more, but pointers to them can still be read. `epoch` changes when blocks were
 * invalidated, `generation` when all views were invalidated.
 * A cache is not thread-safe. Each thread has a cache of its own over the same program. */
#ifndef NTR_PROGRAM_BLOCKS_H
#define NTR_PROGRAM_BLOCKS_H

#include "program/block_table.h"

/* A view without any code: there were too many contexts since the last flush (NTR_E_LIMIT). */
#define NTR_VIEW_NONE 0x7fffu

/* Returns a cache, or NULL when out of memory. `program` must outlive it. `limit` is the number of blocks (128 bytes
 * each) from which ntr_blocks_full returns true; 0 means 512 Ki. At four times this number, lookups of new blocks
 * result in NTR_E_LIMIT. */
ntr_blocks *ntr_blocks_new(const ntr_program *program, const ntr_allocator *allocator, size_t limit);
void ntr_blocks_free(ntr_blocks *blocks);

/* Blocks are divided where functions change (ntr_block_divide). Call it before the first look-up. */
void ntr_blocks_divide(ntr_blocks *blocks, ntr_block_same *same, void *user);

/* Returns the view of a context, a small number. NULL: unknown context. */
uint32_t ntr_blocks_view(ntr_blocks *blocks, const ntr_context *context);

/* Returns a view that only this source uses, for callers that count per source. ntr_blocks_owner returns the context
 * and the source of such a view. */
uint32_t ntr_blocks_own_view(ntr_blocks *blocks, uint16_t src, const ntr_context *context);
const ntr_context *ntr_blocks_owner(const ntr_blocks *blocks, uint32_t view, uint16_t *src);

/* Returns whether the number of blocks has reached the limit: read the counters and call ntr_blocks_flush. */
bool ntr_blocks_full(const ntr_blocks *blocks);

/* Removes and frees all blocks. */
void ntr_blocks_flush(ntr_blocks *blocks);

/* Slow paths of the inline functions below. */
ntr_block *ntr_blocks_find(ntr_blocks *blocks, uint32_t view, uint64_t address);
ntr_block *ntr_blocks_link(ntr_blocks *blocks, ntr_block *from, ntr_block **link, uint64_t address);

/* Returns whether no block is invalidated when the walk continues at this stream offset. */
static inline bool ntr_blocks_is_unchanged(const ntr_blocks *blocks, uint64_t position) {
    return position >= blocks->unchanged_from && position <= blocks->unchanged_until &&
           blocks->revision == blocks->program->revision;
}

/* Invalidates blocks of images that were added, and of images that become valid or invalid between the previous
 * position and this one. */
void ntr_blocks_catch_up(ntr_blocks *blocks, uint64_t position);

/* Sets the stream offset. It may be lower than the previous one. */
static inline void ntr_blocks_seek(ntr_blocks *blocks, uint64_t position) {
    if (!ntr_blocks_is_unchanged(blocks, position)) ntr_blocks_catch_up(blocks, position);
}

/* Returns the block that starts at `address`. Never NULL. */
static inline ntr_block *ntr_blocks_get(ntr_blocks *blocks, uint32_t view, uint64_t address) {
    ntr_block *block = blocks->table[ntr_blocks_hash(blocks, view, address)];
    return block && block->key == address && block->view == view ? block : ntr_blocks_find(blocks, view, address);
}

/* Returns the block after this one, in the same view. */
static inline ntr_block *ntr_blocks_fall(ntr_blocks *blocks, ntr_block *block) {
    return block->fall->key == block->next ? block->fall : ntr_blocks_link(blocks, block, &block->fall, block->next);
}

/* Returns the block at `address`, the target of this block's jump, in the same view. */
static inline ntr_block *ntr_blocks_jump(ntr_blocks *blocks, ntr_block *block, uint64_t address) {
    return block->taken->key == address ? block->taken : ntr_blocks_link(blocks, block, &block->taken, address);
}

/* Returns the block after this block's branch. Selects the link without a conditional jump. */
static inline ntr_block *ntr_blocks_branch(ntr_blocks *blocks, ntr_block *block, bool taken) {
    ntr_block **link = taken ? &block->taken : &block->fall, *to = *link;
    uint64_t address = taken ? block->target : block->next;
    return to->key == address ? to : ntr_blocks_link(blocks, block, link, address);
}

#endif
