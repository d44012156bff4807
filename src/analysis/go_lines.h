/* Lines of a Go program without DWARF, from the table of its runtime (program/go_table.h). The line of inlined code is
 * that of the source of the inlined function. */
#ifndef NTR_ANALYSIS_GO_LINES_H
#define NTR_ANALYSIS_GO_LINES_H

#include "analysis/texts.h"

#include <ntrace/debug_info.h>

/* Stores the rows of image `index`, sorted by address, with the load bias, in a new array; none, and NULL, when it has
 * no such table. Damaged functions are left out. `texts` keeps the names of files. Errors: NTR_E_MEMORY. */
ntr_status ntr_go_lines(const ntr_program *program, size_t index, ntr_texts *texts, const ntr_allocator *allocator,
                        ntr_line_row **rows, size_t *count);

#endif
