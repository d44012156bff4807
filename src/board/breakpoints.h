/* Breakpoints of the debug module in a machine. */
#ifndef NTR_BOARD_BREAKPOINTS_H
#define NTR_BOARD_BREAKPOINTS_H

#include "board/board.h"

/* CSRs of triggers: tselect, tdata1, tdata2, tinfo. Returns false for others. */
bool board_trigger_csr(board_breakpoints *points, unsigned number, unsigned xlen, bool write, uint64_t *value);

/* A word of memory was written. */
void board_breakpoints_note(board_breakpoints *points, uint64_t address, uint32_t value);

ntr_status board_breakpoints_insert(ntr_board *board);
ntr_status board_breakpoints_remove(ntr_board *board);

/* Is there an EBREAK that the debugger has written? */
bool board_breakpoints_patched(const board_breakpoints *points, uint64_t pc);

#endif
