#ifndef NTR_TRACE_MODE_H
#define NTR_TRACE_MODE_H

#include "message/sets.h"

/* Which trace mode the messages of a source give away, whether its flow is known there or not. A stop, once it has been
 * followed, makes it unknown again: what comes behind may have been set up anew. */
typedef enum ntr_mode { NTR_MODE_UNKNOWN, NTR_MODE_BTM, NTR_MODE_HTM } ntr_mode;

static inline uint8_t ntr_mode_follow(uint8_t mode, const ntr_message *m) {
    const uint64_t btm = ntr_tcodes_of_role(NTR_ROLE_BRANCH) & ntr_tcodes_with(NTR_IS_DIRECT);
    if (ntr_tcode_in(btm, m->tcode)) return NTR_MODE_BTM;
    bool history = NTR_HAS(m, HIST) || (NTR_HAS(m, RCODE) && m->rcode != NTR_RCODE_ICNT);
    return history ? NTR_MODE_HTM : mode;
}

#endif
