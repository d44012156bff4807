/* Fast path of the encoder for blocks that only add to I-CNT and HIST.
 *
 * Most blocks end without a jump or in a branch, and need no message. A caller that knows that the block follows the
 * previous one (the classifier) calls ntr_enc_quick first, and ntr_encoder_push if it returns false.
 * Invariant: if ntr_enc_quick returns true, the state of the encoder is the same as after ntr_encoder_push. */
#ifndef NTR_ENCODER_QUICK_H
#define NTR_ENCODER_QUICK_H

#include "encoder/state.h"

/* Returns true if the state of the encoder allows the fast path. ntr_enc_result stores the answer in `quiet` after
 * every other call, as only those change it. */
static inline bool ntr_enc_is_quiet(const ntr_encoder *e) {
    return e->simple && e->active && e->pending.kind == PENDING_NONE && !e->counted_return &&
           !(e->sync_wanted | e->periodic_due | e->closing | e->off_after_cycle | e->down);
}

/* Counts a block that ends without a jump (`taken` < 0) or in a branch (`taken` 0 or 1). Returns false, without
 * effect, if the block needs ntr_encoder_push. */
static inline bool ntr_enc_quick(ntr_encoder *e, uint32_t halfwords, int taken) {
    if (!e->quiet || e->icnt + halfwords >= e->icnt_full) return false;
    if (taken >= 0) {
        if (e->patterns || e->splits_quickly || e->hist >= e->hist_full) return false;
        e->hist = e->hist << 1 | (unsigned)taken;
    }
    e->icnt += halfwords;
    e->stats.halfwords += halfwords;
    e->stats.blocks++;
    e->stats.cycles++;
    e->follow_known = false;
    return true;
}

#endif
