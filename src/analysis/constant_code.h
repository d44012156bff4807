/* Functions whose calls a compiler may leave out, because all of them do the same: nothing, and return a constant. */
#ifndef NTR_ANALYSIS_CONSTANT_CODE_H
#define NTR_ANALYSIS_CONSTANT_CODE_H

#include <ntrace/program.h>

/* Returns whether the code of a function does nothing but load constants and return. */
bool ntr_code_is_constant(const ntr_program *program, ntr_place entry, uint64_t size);

#endif
