/* Memoised history: from one block, the next outcomes lead to another block; what runs on the way is learned once.
 *
 * A stride is pure: where it leads and what it counts follows from the block and the outcomes alone. It ends with
 * the branch that takes the last of its outcomes, or earlier, before the first instruction that needs to know more
 * (the return stack, say). The table is bounded; a stride gives way to any other that falls on its place. */
#ifndef NTR_DECODER_HISTORY_MEMO_H
#define NTR_DECODER_HISTORY_MEMO_H

#include "decoder/walk.h"

/* Outcomes that a stride is looked up by, at most: with a stop-bit they fill 32 bits. */
#define NTR_HISTORY_MEMO_OUTCOMES 31

/* So many at first: a block's strides are looked up by no more outcomes than one of them ever took (ntr_block.reach),
 * or there would be many for the same way. */
#define NTR_HISTORY_MEMO_FIRST 4

/* Two of them a cache line. */
typedef struct ntr_history_memo {
    ntr_block *from;   /* NULL: free */
    ntr_block *to;
    uint32_t outcomes; /* that it is looked up by, above them a stop-bit; the first one is the most significant */
    uint32_t times;    /* it was walked, where somebody wants to be told (told.c) */
    uint16_t halfwords, instructions;
    uint8_t spans, taken, calls;
    uint8_t used;      /* outcomes it takes, each by a branch; 0: there is nothing pure at `from` */
} ntr_history_memo;

_Static_assert(sizeof(ntr_history_memo) <= 32, "two strides are a cache line");

/* Have the table, and nothing in it that leads through a block that died. Errors: NTR_E_MEMORY. */
ntr_status ntr_history_memos_prepare(ntr_decoder *d);
void ntr_history_memos_release(ntr_history_memos *history_memos, const ntr_allocator *allocator);

/* Learn the stride of the `count` first outcomes of `bits` (the next one in bit 63) and put it at `place`. */
void ntr_history_memo_learn(ntr_decoder *d, ntr_history_memo *place, ntr_block *from, uint64_t bits, unsigned count);

/* Call `visit` for each block of the stride and whether it jumped. */
typedef void ntr_history_memo_visit(ntr_decoder *d, void *user, ntr_block *block, bool taken);
void ntr_history_memo_follow(ntr_decoder *d, const ntr_history_memo *memo, ntr_history_memo_visit *visit, void *user);

/* ---- told.c: for those who want to know what ran, not only how much of it */

/* Block `b` was walked d->times times, behind straight code walk->run. */
void ntr_count_step(ntr_decoder *d, const ntr_walk_state *walk, ntr_block *b, const ntr_step *step);
/* The stride was walked d->times times; those that have not been told are in `times`. */
void ntr_count_history_memo(ntr_decoder *d, ntr_history_memo *memo);
/* Tell of what is in `times` of the stride. */
void ntr_count_flush_memo(ntr_decoder *d, ntr_history_memo *memo);

/* The next outcomes' stride, learned if new. There must be an outcome. */
static inline ntr_history_memo *ntr_history_memo_get(ntr_decoder *d, const ntr_walk_state *walk) {
    unsigned reach = walk->block->reach ? walk->block->reach : NTR_HISTORY_MEMO_FIRST;
    unsigned count = walk->history.left < reach ? (unsigned)walk->history.left : reach;
    uint32_t outcomes = (uint32_t)(walk->history.bits >> (64 - count)) | UINT32_C(1) << count;
    uint64_t hash = ((uint64_t)(uintptr_t)walk->block >> 7 << 32 ^ outcomes) * UINT64_C(0x9e3779b97f4a7c15);
    ntr_history_memo *place = &d->history_memos.table[hash >> d->history_memos.shift];
    if (place->from != walk->block || place->outcomes != outcomes)
        ntr_history_memo_learn(d, place, walk->block, walk->history.bits, count);
    return place;
}

#endif
