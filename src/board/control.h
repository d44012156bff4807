/* The harts of a machine, as the debug module controls them: halt, resume, single steps, registers, memory and
 * breakpoints by requests to QEMU's GDB server.
 *
 * That server stops and resumes all harts at once. `halted` of each board_hart says what the debugger has asked for;
 * when one of them is to be changed or read while others run, all are stopped for a moment. */
#ifndef NTR_BOARD_CONTROL_H
#define NTR_BOARD_CONTROL_H

#include "board/board.h"

void board_control_halt(board_hart *hart);
void board_control_resume(board_hart *hart); /* for one instruction if dcsr.step is set */
void board_control_reset(ntr_board *board);  /* all harts are halted then */

/* Accesses a register; the number is that of an abstract command. Returns 0 or a value of cmderr. */
unsigned board_control_register(board_hart *hart, unsigned number, bool write, unsigned bits, uint64_t *value);

/* The debug module gives the machine to a GDB client: all harts stop. */
ntr_status board_control_release(ntr_board *board);

#endif
