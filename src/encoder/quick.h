/* The quick way through the encoder: a block that only counts, when nothing else is going on.
 *
 * Most blocks end in a branch or in nothing that needs a message. Whoever knows that a block is consistent
 * with the one before (the classifier) may offer it here; what is not that simple goes through ntr_encoder_push. */
#ifndef NTR_ENCODER_QUICK_H
#define NTR_ENCODER_QUICK_H

#include "encoder/state.h"

/* Does the state of the encoder allow it? To be asked again whenever anything but a quick block has happened. */
static inline bool ntr_enc_is_quiet(const ntr_encoder *e) {
    return e->simple && e->active && e->pending.kind == PENDING_NONE &&
           !(e->sync_wanted | e->periodic_due | e->closing | e->off_after_cycle | e->down);
}

/* Count a block that ends in nothing (`taken` < 0) or in a branch. False: not done, push it. */
static inline bool ntr_enc_quick(ntr_encoder *e, uint32_t halfwords, int taken) {
    if (!e->quiet || e->icnt + halfwords >= e->icnt_full) return false;
    if (taken >= 0) {
        if (e->patterns || e->hist >= e->hist_full) return false;
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
