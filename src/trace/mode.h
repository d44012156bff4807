#ifndef NTR_TRACE_MODE_H
#define NTR_TRACE_MODE_H

#include "message/sets.h"

/* The trace mode of a source, as far as its messages show it. It is unknown again after ProgTraceCorrelation: the
 * encoder may be configured differently when it starts again. */
typedef enum ntr_mode { NTR_MODE_UNKNOWN, NTR_MODE_BTM, NTR_MODE_HTM } ntr_mode;

/* Returns the mode after message `m`, given the mode before it. */
static inline uint8_t ntr_mode_follow(uint8_t mode, const ntr_message *m) {
    const uint64_t btm = ntr_tcodes_of_role(NTR_ROLE_BRANCH) & ntr_tcodes_with(NTR_FLAG_DIRECT);
    if (ntr_tcode_in(btm, m->tcode)) return NTR_MODE_BTM;
    bool history = NTR_HAS(m, HIST) || (NTR_HAS(m, RCODE) && m->rcode != NTR_RCODE_ICNT);
    return history ? NTR_MODE_HTM : mode;
}

/* Returns the TCODEs of flow that cannot show another mode than this one. */
static inline uint64_t ntr_mode_tcodes(uint8_t mode) {
    const uint64_t flow = ntr_tcodes_of_flow(),
                   btm = ntr_tcodes_of_role(NTR_ROLE_BRANCH) & ntr_tcodes_with(NTR_FLAG_DIRECT);
    const uint64_t htm = ntr_tcodes_of_role(NTR_ROLE_RESOURCE) | ntr_tcodes_with_field(NTR_FIELD_HIST);
    switch (mode) {
    case NTR_MODE_BTM: return flow & ~htm;
    case NTR_MODE_HTM: return flow & ~btm;
    default: return flow & ~(btm | htm);
    }
}

#endif
