/* Frame rules from the instructions of a function's prologue, as GDB's riscv_scan_prologue finds them. */
#ifndef NTR_UNWIND_PROLOGUE_H
#define NTR_UNWIND_PROLOGUE_H

#include "unwind/frame_rule.h"

/* Returns the rule at the end of the code [start, end) of a prologue, which begins at the function's entry. */
ntr_frame_rule ntr_prologue_rule(const ntr_program *program, const ntr_context *context, uint64_t position,
                                 uint64_t start, uint64_t end);

#endif
