/* Block chain: follow blocks that are known to lead to each other.
 *
 * Every block has a link (ntr_capture_link) that holds its size and the numbers of the blocks that followed it before
 * without need of a message: the fall-through or jump target in next[0], the target of its taken branch in next[1].
 * Idea: a word equal to next[0] or next[1] of the last block says everything that the encoder has to count, so the run
 * grows by additions alone; neither addresses nor instructions are looked at. A call that the encoder remembers is one
 * more entry on its return stack, and a return to the newest entry needs no message either. Other register jumps end
 * the run: the encoder gets it, and a new one begins. Blocks that use the return stack have no `next`, so that the test
 * for it fails and most blocks need no other test.
 *
 * Invariant: a link is filled in only for blocks that agree with memory as it is now. When code changes, all links are
 * cleared; hart.c learns them again. A block of a whole machine may be executed in several address spaces: its link is
 * valid in the space where it was learned last. Privilege mode and context are the same throughout a run.
 *
 * Example: a loop of the blocks 4 (branch to 6), 5, 6 (jump to 4) makes the words 4 5 6 4 6 4 5 6. After one round, the
 * links are 4: next {5, 6}; 5: next {6}; 6: next {4}. The word 6 after 4 equals next[1] of block 4: the branch was
 * taken, HIST gets a 1, and I-CNT grows by the size of block 4. */
#ifndef NTR_CAPTURE_BLOCK_CHAIN_H
#define NTR_CAPTURE_BLOCK_CHAIN_H

#include "capture/state.h"

/* Block `number` led to block `next` without a message (0: it needed one). `taken`: through its branch. */
void ntr_capture_chain_learn(struct ntr_capture_harts *harts, uint32_t number, const struct ntr_capture_block *block,
                             uint32_t next, bool taken);

/* Follow words as long as the chain knows them. Returns the first one that is not known. */
const uint32_t *ntr_capture_chain_follow(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart,
                                         const uint32_t *words, const uint32_t *end);

/* The last block is block `number`, which branches to itself, `count` times or fewer. Returns how many executions were
 * added to the run; 0: the chain does not know the loop, or the run is full. */
uint64_t ntr_capture_chain_repeat(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t number,
                                  uint64_t count);

#endif
