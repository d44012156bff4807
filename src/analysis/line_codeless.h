/* Blocks of gcc that have no code.
 *
 * gcov counts the graph that gcc has before it makes code. Without optimization, most blocks of this graph are in the
 * code. Those that are not change the counts of lines where they lie between two blocks of one line, because control
 * leaves the line and comes back:
 *
 * - Where a variable ends whose class has a destructor, gcc notes that its memory is free. The note belongs to no line.
 *   It is a block of its own if several ways meet behind it, or lead on from it: `break`, `return` and the end of a
 *   scope share the call of a destructor, and a number in a register says where to go on.
 * - The jump of the only `return` of a function is behind this note.
 * - Calls of destructors between an exception and its handler, and the end of a handler, are followed by such blocks.
 * - Where the two ways to the value of `a && b` meet, the block has the line of the last operand.
 *
 * The code of each of these is what gcc 12 makes of it. gcc 14 has more of these blocks. Where the code is not like
 * that, nothing is assumed. */
#ifndef NTR_ANALYSIS_LINE_CODELESS_H
#define NTR_ANALYSIS_LINE_CODELESS_H

#include "analysis/line_graph.h"

/* Sets `also`, `more`, `no_line`, `to_handler` and `apart` in the graph. */
void ntr_line_codeless_find(ntr_pass_graph *g);

/* Returns whether an instruction is the number of a way out of a scope. The calls of destructors follow it. */
bool ntr_line_codeless_is_way(const ntr_pass_graph *g, uint32_t insn);

/* Returns whether an instruction is the jump of the only `return` of a function. It has a place of its own, to which
 * other code does not belong. */
bool ntr_line_codeless_leads_out(const ntr_pass_graph *g, uint32_t insn);

#endif
