/* The connection to the GDB server that executes the program: QEMU, or another simulator.
 *
 * One user at a time: a GDB client behind an ntr_gdb_filter or, while there is none, the debug module (control.h).
 * Requests wait for their answers. A stop reply comes by itself: it goes to the user, unless the machine has stopped at
 * an access of the program to a trace register (remote.c). That is answered from the model, and the last resume packet
 * is sent again. */
#ifndef NTR_BOARD_REMOTE_H
#define NTR_BOARD_REMOTE_H

#include "board/board.h"
#include "target/rsp.h"

enum { REMOTE_TEXT = 1024, REMOTE_TIMEOUT_MS = 5000, SIGNAL_INTERRUPT = 2, SIGNAL_TRAP = 5, GDB_PC = 32 };

typedef struct board_remote {
    rsp_client rsp;
    bool running;     /* it was resumed, and no stop reply has come */
    bool interrupted; /* and was asked to stop since */
    bool watches;     /* accesses of the program to trace registers stop the machine */
    bool physical;    /* QEMU: memory packets have physical addresses */
    char resume[REMOTE_TEXT]; /* the packet that has resumed it */
    unsigned csrs;    /* number of CSR 0 in "p" packets; of the privilege mode: one less */
} board_remote;

bool board_remote_is_open(const ntr_board *board);

/* Sends a request and waits for its answer, in remote->rsp.packet. Errors: NTR_E_IO. */
ntr_status board_remote_ask(ntr_board *board, const char *data, size_t size);
ntr_status __attribute__((format(printf, 2, 3))) board_remote_request(ntr_board *board, const char *format, ...);

/* Sends a packet that resumes the machine. */
ntr_status board_remote_resume(ntr_board *board, const char *data);

/* Has the server watch the pages of all components, in a machine. */
ntr_status board_remote_watch(ntr_board *board);

/* Asks it to stop. */
ntr_status board_remote_interrupt(ntr_board *board);

/* Waits for its stop reply. Errors: NTR_E_IO, also when it still runs after so many milliseconds. */
ntr_status board_remote_wait(ntr_board *board, uint32_t ms);

/* The signal of a stop reply, and the hart that it names; 0 if none. */
unsigned board_stop_signal(const char *stop);
unsigned board_stop_hart(const char *stop);

#endif
