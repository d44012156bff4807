/* Which messages change the flow of a source, and which say nothing of it. */
#ifndef NTR_TRACE_FLOW_MESSAGES_H
#define NTR_TRACE_FLOW_MESSAGES_H

#include "message/sets.h"
#include "message/values.h"

/* N-Trace 1.0 section 6.4. Returns whether the message says that messages of the flow were lost. An Error with a
 * vendor-defined ETYPE says nothing of the flow; if some of it was lost, the next synchronizing message has SYNC 7.
 * Where there are data messages, ECODE may say that only these were lost (docs/dialects.md section 5.2). */
static inline bool ntr_flow_was_lost(const ntr_dialect *dialect, const ntr_message *m) {
    enum { ECODE_DATA = 1 << 1 };
    if (!ntr_has_role(m->tcode, NTR_ROLE_LOSS)) return false;
    if (ntr_value_flags(NTR_MESSAGES_ANY, NTR_FIELD_ETYPE, m->etype) & NTR_VALUE_VENDOR) return false;
    return !(dialect && dialect->data_loss && m->ecode == ECODE_DATA);
}

/* Returns whether the flow goes on after a message of this role as if it had not come: a RepeatBranch may follow it, as
 * it may follow the branch message before (OQ-2). */
static inline bool ntr_leaves_flow_alone(const ntr_dialect *dialect, const ntr_message *m, unsigned role) {
    switch (role) {
    case NTR_ROLE_FIELDS:
    case NTR_ROLE_CONTEXT:
    case NTR_ROLE_DATA:
    case NTR_ROLE_ACCESS:
    case NTR_ROLE_WATCHPOINT:
    case NTR_ROLE_TRAP_VALUE:
    case NTR_ROLE_ACQUISITION: return true;
    case NTR_ROLE_LOSS: return !ntr_flow_was_lost(dialect, m);
    default: return false;
    }
}

#endif
