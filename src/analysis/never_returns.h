/* Functions that never return to their caller. */
#ifndef NTR_ANALYSIS_NEVER_RETURNS_H
#define NTR_ANALYSIS_NEVER_RETURNS_H

#include <ntrace/debug_info.h>

/* Returns whether the function at `place` never returns: by its debug information, or without that by its symbol,
 * that of a function of the C and C++ libraries. `debug` may be NULL. */
bool ntr_never_returns(const ntr_program *program, ntr_debug_info *debug, ntr_place place);

/* Returns whether the function at `place` is one of the C library that gcc knows to return to its caller always, such
 * as strlen: a call of it does not end a block of gcov. */
bool ntr_always_returns(const ntr_program *program, ntr_place place);

#endif
