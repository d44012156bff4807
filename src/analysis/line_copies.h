/* Copies of functions that were inlined into code without optimization (always_inline). llvm-cov counts their lines as
 * those of the function, not as those of the code around the copy. */
#ifndef NTR_ANALYSIS_LINE_COPIES_H
#define NTR_ANALYSIS_LINE_COPIES_H

#include "analysis/line_flow.h"

/* Sets `copy` and `depth` of the code of LLVM that was not optimized, and the `source` of the first instruction of each
 * function and copy: optimized, or unknown. */
void ntr_line_copies_find(ntr_line_flow *flow, ntr_debug_info *debug, const ntr_program *program, size_t image);

/* Stores the instructions of functions of LLVM: those of one function or copy follow each other, by address. Free them
 * with ntr_dealloc. Errors: NTR_E_MEMORY. */
ntr_status ntr_line_copies_sort(const ntr_line_flow *flow, ntr_line_insn ***insns, size_t *count);

/* Returns whether two instructions are of the same function or copy. */
bool ntr_line_copies_same(const ntr_line_insn *a, const ntr_line_insn *b);

/* Describes the function of an instruction, or the inlined one of which its copy is. Returns false if it is not
 * known. */
bool ntr_line_copies_frame(ntr_debug_info *debug, const ntr_program *program, size_t image, const ntr_line_insn *insn,
                           ntr_frame *frame);

#endif
