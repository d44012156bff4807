/* What the outputs of decisions share. */
#ifndef NTR_EXPORT_DECISIONS_H
#define NTR_EXPORT_DECISIONS_H

#include "export/export.h"

#include <ntrace/decision.h>

/* Returns the state at the level of the output: "covered", "not-covered" or "not-determinable". */
const char *ntr_cover_state_name(unsigned state);
/* Returns "decision", "mcdc" or "masking". */
const char *ntr_cover_level_name(unsigned level);

static inline unsigned ntr_decision_state(const ntr_decision *d, ntr_decision_level level) {
    return level == NTR_LEVEL_DECISION ? d->decision_state : level == NTR_LEVEL_MASKING ? d->masking_state : d->state;
}

/* Returns whether a decision is part of a level: MC/DC is about decisions with several conditions. */
static inline bool ntr_decision_listed(const ntr_decision *d, ntr_decision_level level) {
    return level == NTR_LEVEL_DECISION || d->condition_count > 1;
}

#endif
