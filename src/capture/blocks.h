/* The table of blocks: what the source says about a block, classified once and checked against memory. */
#ifndef NTR_CAPTURE_BLOCKS_H
#define NTR_CAPTURE_BLOCKS_H

#include "capture/state.h"

/* The block, which the hart executes now: its bytes are in memory from here on. When they differ from what memory held,
 * tracing of all harts stops first, so that no message spans old and new code. Returns NULL when out of memory. */
struct ntr_capture_block *ntr_capture_block_at(struct ntr_capture_harts *harts, const struct ntr_capture_hart *hart,
                                               uint32_t number);

/* The same, without a look at memory. */
struct ntr_capture_block *ntr_capture_block_code(struct ntr_capture_harts *harts, uint32_t number);

/* Classify the first `instructions` instructions of a block. */
void ntr_capture_block_part(struct ntr_capture_harts *harts, uint32_t number, unsigned instructions,
                            ntr_code_block *part);

/* The block without its first `skip` instructions; it ends after `instructions` instructions of the whole block (0: at
 * its end). Returns false when nothing is left. */
bool ntr_capture_block_tail(struct ntr_capture_harts *harts, uint32_t number, unsigned skip, unsigned instructions,
                            ntr_code_block *part);

/* Bytes of the instruction that begins with this byte. */
static inline unsigned ntr_capture_length_at(const uint8_t *bytes) {
    return *bytes % 4 == 3 ? 4 : 2;
}

/* The trace of every hart stops; it begins again with the next block. All messages up to here are in the stream. */
void ntr_capture_stop_all(struct ntr_capture_harts *harts);

#endif
