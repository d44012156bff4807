/* The run of a hart: blocks that were executed and not given to its encoder yet. A run collects blocks as long as they
 * need no message; the encoder then takes all of them in one call (encoder/run.h). */
#ifndef NTR_CAPTURE_RUN_H
#define NTR_CAPTURE_RUN_H

#include "capture/state.h"

enum { NTR_CAPTURE_RUN_HALFWORDS = 1 << 14 }; /* a longer run is given to the encoder */

/* Returns how many more branches the run can hold. */
static inline unsigned ntr_capture_run_room(const struct ntr_capture_hart *hart) {
    return hart->run.branches < hart->branches ? (unsigned)hart->branches - hart->run.branches : 0;
}

/* A run begins at this address, with a block of so many instructions: the encoder sends what waits for the address
 * (ntr_enc_begin_run). */
void ntr_capture_run_begin(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint64_t iaddr,
                           uint64_t instructions);

/* Gives the run to the encoder. The run ends with the block `code` and this itype; `code` NULL: it ends between two
 * blocks, with NTR_ITYPE_NONE. */
void ntr_capture_run_push(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, const ntr_code_block *code,
                          unsigned itype);
void ntr_capture_run_flush(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart);

/* Tracing of the hart stops at address `next` (NTR_ADDRESS_UNKNOWN: where the last block leads): flush the run, then
 * send ProgTraceCorrelation. The next block starts tracing again. */
void ntr_capture_run_stop(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint64_t next);

#endif
