/* Passes through lines: how often each line was executed, by the rule of gcov, or by that of llvm-cov: the count of a
 * line is the executions of its part that was executed most often (line_parts.h).
 *
 * The code of a function is a graph of blocks (line_graph.h), to which gcc adds some that have no code
 * (line_codeless.h). A block belongs to the greatest of its lines. A pass through a line is a path in the graph of the
 * line's blocks: the number of passes is the number of entries from other blocks, plus the number of cycles that lie
 * wholly inside the line. A line to which no block belongs, or none that was executed, counts as often as the blocks
 * that contain it are executed: optimized code has several copies of a line.
 *
 * Example: `while (n--);` is two blocks, the test and the jump back. 1 entry and 5 cycles are 6 passes. With a body on
 * another line, the same 5 rounds leave the line and come back: 6 entries.
 *
 * Arcs come from outcomes of branches, jumps and straight code. An interrupt, a signal or a system call between two
 * instructions does not end a pass: the arc between them has the executions that both have. */
#ifndef NTR_ANALYSIS_LINE_PASSES_H
#define NTR_ANALYSIS_LINE_PASSES_H

#include "analysis/line_flow.h"

/* Sets `passes` and `only_end` of the instructions of the flow of image `index`. Errors: NTR_E_MEMORY. */
ntr_status ntr_line_passes_count(ntr_line_flow *flow, ntr_debug_info *debug, const ntr_line_counts *counts,
                                 size_t index);

#endif
