/* What Ownership messages say. N-Trace 1.0 section 5. */
#ifndef NTR_TRACE_OWNERSHIP_H
#define NTR_TRACE_OWNERSHIP_H

#include <ntrace/context.h>

enum { NTR_OWNERSHIP_PRIVILEGE = 0, NTR_OWNERSHIP_SCONTEXT = 2, NTR_OWNERSHIP_HCONTEXT = 3 };

/* FORMAT of the PROCESS field. */
static inline unsigned ntr_ownership_format(uint64_t process) {
    return process & 3;
}

/* Bring the context up to date. False: FORMAT is reserved, and nothing changed. */
bool ntr_ownership_follow(ntr_context *context, uint64_t process);

#endif
