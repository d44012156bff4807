/* Ownership messages. N-Trace 1.0 section 6.1. */
#ifndef NTR_TRACE_OWNERSHIP_H
#define NTR_TRACE_OWNERSHIP_H

#include <ntrace/context.h>

/* FORMAT, the low bits of PROCESS: what changed, and what CONTEXT is. */
enum { NTR_FORMAT_PRIVILEGE = 0, NTR_FORMAT_RESERVED = 1, NTR_FORMAT_SCONTEXT = 2, NTR_FORMAT_HCONTEXT = 3 };

/* The bits of PROCESS: FORMAT[1:0], PRV[3:2], V[4], CONTEXT above. */
enum { NTR_PROCESS_PRV = 2, NTR_PROCESS_V = 4, NTR_PROCESS_CONTEXT = 5 };

/* FORMAT of the PROCESS field. */
static inline unsigned ntr_ownership_format(uint64_t process) {
    return process & 3;
}

/* Bring the context up to date. False: FORMAT is reserved, and nothing changed. */
bool ntr_ownership_follow(ntr_context *context, uint64_t process);

#endif
