/* Parts of lines, for the rule of llvm-cov: how often each part of a line was executed.
 *
 * A part is straight code of one place (line and column). It was executed as often as its instructions, with two
 * exceptions in code that was not optimized:
 *
 * - A loop inside of one part is of a macro, which has the place of its name. The part was executed as often as it was
 *   entered, because llvm-cov does not count what is inside of macros.
 * - A part that is only a jump to the next instruction begins a loop without a condition before its body, for example
 *   `for (;;) {`. It was executed as often as the body. */
#ifndef NTR_ANALYSIS_LINE_PARTS_H
#define NTR_ANALYSIS_LINE_PARTS_H

#include "analysis/line_flow.h"

/* Sets `part` of all instructions. `first_of`: for each instruction, the first one of the same place in its function.
 * Errors: NTR_E_MEMORY. */
ntr_status ntr_line_parts_count(ntr_line_flow *flow, const uint32_t *first_of);

#endif
