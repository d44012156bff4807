/* A hart, block by block. What the last block did is known when the next one begins: whether its branch was taken,
 * where its jump went, whether a trap ended it early. So every call here concerns the last block of the hart. */
#ifndef NTR_CAPTURE_HART_H
#define NTR_CAPTURE_HART_H

#include "capture/state.h"

/* Block `number` begins; hart->entry says whether it is the first one of a signal handler. */
void ntr_capture_hart_begin(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t number);

/* The last block ran to its end, and block `number` follows (0: not known). */
void ntr_capture_hart_complete(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t number);

/* Of a machine: the last block becomes the one that was executed (hart.c); `next` (0: not known) follows it. */
void ntr_capture_hart_settle(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint64_t next);

/* The last block was left after its first `retired` instructions: the next one trapped. Returns its address. */
uint64_t ntr_capture_hart_complete_part(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart,
                                        unsigned retired);

/* Its last block is being executed: all before it is given to the encoder, which traces from the block on if it did
 * not. Only with an encoder. */
void ntr_capture_hart_reach(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart);

/* The hart executes code that the source does not report, behind its last block, which has been completed. */
void ntr_capture_hart_insert(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart,
                             const ntr_code_block *code);

/* The classifier gives what it holds to the encoder, so that a run may follow. */
void ntr_capture_hart_hand_over(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart);

/* The block is executed `count` times; all but the last time it branches to itself. */
void ntr_capture_hart_repeat(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t number,
                             uint64_t count);

#endif
