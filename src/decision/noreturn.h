/* Functions that never return. Compilers leave nothing behind a call of them: what follows belongs to another block. */
#ifndef NTR_DECISION_NORETURN_H
#define NTR_DECISION_NORETURN_H

#include <ntrace/debug_info.h>

/* Returns whether the function at `address` never returns: by its debug information, or without that by its symbol,
 * that of a function of the C and C++ libraries. `debug` may be NULL. */
bool ntr_never_returns(const ntr_program *program, ntr_debug_info *debug, uint64_t address);

#endif
