/* History memos: from one block, the same outcomes always lead to the same block. What is executed on the way is
 * counted once and remembered.
 *
 * Idea: a memo is found by a block and the next outcomes. It stores the block reached and the totals of the path.
 *
 * Invariant: a path in a memo depends on nothing but its first block and the outcomes. It ends with the branch that
 * takes the last outcome, or earlier, before the first instruction that depends on more (for example on the return
 * stack).
 *
 * Example: from block B, outcomes 1, 1, 0, 1 lead over 5 blocks (one of them ends with a direct jump) to block F in 31
 * halfwords. The next time the walk is at B with the history 1101..., one look-up replaces 5 steps.
 *
 * The table has a fixed size; a new memo replaces any other memo in its place. */
#ifndef NTR_DECODER_HISTORY_MEMO_H
#define NTR_DECODER_HISTORY_MEMO_H

#include "decoder/walk.h"

/* Maximum number of outcomes in the key of a memo: with a stop-bit they fill 32 bits. */
#define NTR_HISTORY_MEMO_OUTCOMES 31

/* Initial number of outcomes in the key. Memos of a block are found by at most ntr_block.reach outcomes, which grows
 * only when a memo takes all outcomes of its key. Longer keys would store the same path many times. */
#define NTR_HISTORY_MEMO_FIRST 4

/* Two of them fill a cache line. */
typedef struct ntr_history_memo {
    ntr_block *from; /* NULL: the place is free */
    ntr_block *to;
    uint32_t outcomes; /* the outcomes of the key below a stop-bit; the first one is the most significant */
    uint32_t times;    /* with a count callback: how often it was walked since the last flush */
    uint16_t halfwords, instructions;
    uint8_t spans, taken, calls;
    uint8_t used; /* outcomes taken, each by a branch; 0: no branch can be memoised from here */
} ntr_history_memo;

_Static_assert(sizeof(ntr_history_memo) <= 32, "two memos are a cache line");

/* Allocate the table, or clear it when it refers to blocks that are not valid any more. Errors: NTR_E_MEMORY. */
ntr_status ntr_history_memos_prepare(ntr_decoder *d);
void ntr_history_memos_release(ntr_history_memos *history_memos, const ntr_allocator *allocator);

/* Follow the first `count` outcomes of `bits` (the next one in bit 63) from block `from` and store the memo at
 * `place`. */
void ntr_history_memo_learn(ntr_decoder *d, ntr_history_memo *place, ntr_block *from, uint64_t bits, unsigned count);

/* Calls `visit` for each block of the memo's path, and whether the block ended with a jump. */
typedef void ntr_history_memo_visit(ntr_decoder *d, void *user, ntr_block *block, bool taken);
void ntr_history_memo_follow(ntr_decoder *d, const ntr_history_memo *memo, ntr_history_memo_visit *visit, void *user);

/* Returns the memo for the next outcomes. `*missing` is 0 if it is there, else the number of outcomes with which
 * ntr_history_memo_learn makes it at this place. The history must not be empty. */
static inline ntr_history_memo *ntr_history_memo_find(const ntr_decoder *d, const ntr_walk_state *walk,
                                                      unsigned *missing) {
    unsigned reach = walk->block->reach ? walk->block->reach : NTR_HISTORY_MEMO_FIRST;
    unsigned count = walk->history.left < reach ? (unsigned)walk->history.left : reach;
    uint32_t outcomes = (uint32_t)(walk->history.bits >> (64 - count)) | UINT32_C(1) << count;
    uint64_t hash = ((uint64_t)(uintptr_t)walk->block >> 7 << 32 ^ outcomes) * UINT64_C(0x9e3779b97f4a7c15);
    ntr_history_memo *place = &d->history_memos.table[hash >> d->history_memos.shift];
    *missing = place->from != walk->block || place->outcomes != outcomes ? count : 0;
    return place;
}

#endif
