/* Block cache: straight runs of code, classified once, and where they lead.
 *
 * For those who walk code: decoder, encoder, counting consumers. A block runs from an address up to and
 * including the first instruction that is not linear, or is cut before that (NTR_BLOCK_CUT, flow linear) at
 * NTR_BLOCK_HALFWORDS_MAX or where no image has the next instruction. It lies in one view: what one set of
 * contexts sees. A LUI or AUIPC and the register jump behind it are never cut apart.
 *
 *     if (ntr_blocks_full(blocks)) ... settle counters, then ntr_blocks_flush(blocks);
 *     ntr_blocks_seek(blocks, offset);                        before each message: images come and go
 *     if (generation != blocks->generation) view = ntr_blocks_view(blocks, &context);
 *     ntr_block *block = ntr_blocks_get(blocks, view, pc);    anywhere
 *     ... block->halfwords == 0: nothing there, ntr_block_status tells why
 *     block = ntr_blocks_fall(blocks, block);                 a pointer, once known
 *     block = ntr_blocks_jump(blocks, block, address);        the same, for direct and for register jumps
 *
 * Blocks stay where they are until ntr_blocks_flush; nothing else frees one. A block whose code changed dies
 * in ntr_blocks_seek: no link and no look-up leads to it any more, but it can still be read. `epoch` changes
 * whenever blocks died, `generation` whenever all views became void.
 * One thread at a time; each thread has a cache of its own over the same program. */
#ifndef NTR_PROGRAM_BLOCKS_H
#define NTR_PROGRAM_BLOCKS_H

#include "program/block_table.h"
#include "program/blocks_change.h"

/* A view that shows nothing: there were too many contexts since the last flush (NTR_E_LIMIT). */
#define NTR_VIEW_NONE 0x7fffu

/* `program` must outlive the cache. `limit`: ntr_blocks_full tells so from this many blocks (128 bytes each)
 * on; 0: 512 Ki. A walk that goes on to four times as many gets NTR_E_LIMIT. NULL: out of memory. */
ntr_blocks *ntr_blocks_new(const ntr_program *program, const ntr_allocator *allocator, size_t limit);
void ntr_blocks_free(ntr_blocks *blocks);

/* What this context sees, as a small number (NULL: unknown context). */
uint32_t ntr_blocks_view(ntr_blocks *blocks, const ntr_context *context);

/* A view that nobody else has, for those whose counters are not to be mixed; and whose it is. */
uint32_t ntr_blocks_own_view(ntr_blocks *blocks, uint16_t src, const ntr_context *context);
const ntr_context *ntr_blocks_owner(const ntr_blocks *blocks, uint32_t view, uint16_t *src);

/* Time to settle counters and flush. */
bool ntr_blocks_full(const ntr_blocks *blocks);

/* Forget and free everything. */
void ntr_blocks_flush(ntr_blocks *blocks);

/* A block for the first `halfwords` halfwords of `block`, which must end where an instruction ends: to count
 * walks that stopped inside. Or no block, as ntr_blocks_get. */
ntr_block *ntr_blocks_part(ntr_blocks *blocks, const ntr_block *block, unsigned halfwords);

/* What the inline functions below do when they do not know. */
ntr_block *ntr_blocks_find(ntr_blocks *blocks, uint32_t view, uint64_t address);
ntr_block *ntr_blocks_link(ntr_blocks *blocks, ntr_block *from, ntr_block **link, uint64_t address);

/* Whether nothing changes when the walk goes on at this stream offset. */
static inline bool ntr_blocks_is_calm(const ntr_blocks *blocks, uint64_t position) {
    return position >= blocks->calm_from && position <= blocks->calm_until &&
           blocks->revision == blocks->program->revision;
}

/* The walk goes on at this stream offset; it may lie before the last one. */
static inline void ntr_blocks_seek(ntr_blocks *blocks, uint64_t position) {
    if (!ntr_blocks_is_calm(blocks, position)) ntr_blocks_catch_up(blocks, position);
}

/* The block that starts at `address`. Never NULL. */
static inline ntr_block *ntr_blocks_get(ntr_blocks *blocks, uint32_t view, uint64_t address) {
    ntr_block *block = blocks->table[ntr_blocks_hash(blocks, view, address)];
    return block && block->key == address && block->view == view ? block : ntr_blocks_find(blocks, view, address);
}

/* The block behind this one, in the same view. */
static inline ntr_block *ntr_blocks_fall(ntr_blocks *blocks, ntr_block *block) {
    return block->fall->key == block->next ? block->fall : ntr_blocks_link(blocks, block, &block->fall, block->next);
}

/* The block at `address`, to which this one jumped; in the same view. */
static inline ntr_block *ntr_blocks_jump(ntr_blocks *blocks, ntr_block *block, uint64_t address) {
    return block->taken->key == address ? block->taken : ntr_blocks_link(blocks, block, &block->taken, address);
}

/* The block behind this one's branch; no jump depends on which way it went. */
static inline ntr_block *ntr_blocks_branch(ntr_blocks *blocks, ntr_block *block, bool taken) {
    ntr_block **link = taken ? &block->taken : &block->fall, *to = *link;
    uint64_t address = taken ? block->target : block->next;
    return to->key == address ? to : ntr_blocks_link(blocks, block, link, address);
}

#endif
