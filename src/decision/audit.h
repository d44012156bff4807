/* Compares how often decisions were evaluated with how often the source evaluates them (flow.h). */
#ifndef NTR_DECISION_AUDIT_H
#define NTR_DECISION_AUDIT_H

#include "decision/code_map.h"

/* Sets the reason of the copies, in optimized code, of which it is not certain that every evaluation was seen. Errors:
 * NTR_E_MEMORY. */
ntr_status ntr_audit(ntr_code_map *map);

#endif
