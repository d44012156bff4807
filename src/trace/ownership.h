/* Ownership messages. N-Trace 1.0 section 6.1. */
#ifndef NTR_TRACE_OWNERSHIP_H
#define NTR_TRACE_OWNERSHIP_H

#include <ntrace/context.h>
#include <ntrace/params.h>

/* Values of FORMAT, the low bits of PROCESS: what changed, and the meaning of CONTEXT. */
enum { NTR_FORMAT_PRIVILEGE = 0, NTR_FORMAT_RESERVED = 1, NTR_FORMAT_SCONTEXT = 2, NTR_FORMAT_HCONTEXT = 3 };

/* Positions of the fields in PROCESS: FORMAT[1:0], PRV[3:2], V[4], CONTEXT above. */
enum { NTR_PROCESS_PRV = 2, NTR_PROCESS_V = 4, NTR_PROCESS_CONTEXT = 5 };

/* Returns FORMAT of a PROCESS value. */
static inline unsigned ntr_ownership_format(uint64_t process) {
    return process & 3;
}

/* Apply PROCESS to the context. Returns false, and changes nothing, when FORMAT is reserved. */
bool ntr_ownership_follow(const ntr_params *params, ntr_context *context, uint64_t process);

#endif
