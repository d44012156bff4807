/* Private part of a board: memory, harts, debug module, JTAG. */
#ifndef NTR_BOARD_BOARD_H
#define NTR_BOARD_BOARD_H

#include "capture/sink_memory.h"

#include <ntrace/board.h>
#include <ntrace/ingress.h>

enum { BOARD_HARTS = 16, BOARD_REGISTERS = 32, BOARD_ERROR = 200 };

/* ---- hart.c */

typedef struct board_hart {
    struct ntr_board *board;
    unsigned number;
    ntr_classifier *classifier; /* NULL: nothing to execute */
    uint64_t *pcs;
    size_t count, at;
    bool halted, resume_ack, have_reset;
    uint32_t dcsr;
    uint64_t x[BOARD_REGISTERS];
} board_hart;

enum { DCSR_STEP = 1 << 2, DCSR_CAUSE_SHIFT = 6, CAUSE_EBREAK = 1, CAUSE_HALTREQ = 3, CAUSE_STEP = 4 };

ntr_status board_hart_load(board_hart *hart, const uint64_t *pcs, size_t count);
void board_hart_release(board_hart *hart);
void board_hart_halt(board_hart *hart, unsigned cause);
void board_hart_resume(board_hart *hart);
void board_hart_run(board_hart *hart, unsigned instructions);
uint64_t board_hart_pc(const board_hart *hart);

/* ---- debug_module.c */

typedef struct debug_module {
    uint32_t dmcontrol, command, abstractcs, sbcs;
    uint32_t data[4];
    uint32_t sbaddress[2], sbdata;
    bool sbpending;
} debug_module;

/* Debug module interface: a register by number. */
uint32_t debug_module_read(struct ntr_board *board, unsigned number);
void debug_module_write(struct ntr_board *board, unsigned number, uint32_t value);

/* ---- jtag.c */

typedef struct jtag_tap {
    uint8_t state;
    bool tck, tdo;
    uint32_t ir;
    uint64_t shift;
    unsigned length;
    uint64_t dmi; /* result of the last access: address, data, op */
} jtag_tap;

/* ---- machine.c: all do nothing when there is no machine */

void board_machine_free(struct ntr_board *board);

/* Encodes all that the machine has executed, if it is halted. */
void board_machine_drain(struct ntr_board *board);

/* The same for one part of it. Returns whether the machine runs. There is a machine. */
bool board_machine_run(struct ntr_board *board);

/* A debugger has continued it, or was told that it has stopped. */
void board_machine_resumed(struct ntr_board *board);
void board_machine_halted(struct ntr_board *board);

/* ---- */

struct ntr_board {
    ntr_board_config config;
    ntr_system *system;
    struct ntr_capture_memory memory;
    bool patched; /* memory was written: instructions may be breakpoints */
    board_hart harts[BOARD_HARTS];
    unsigned hart_count;
    struct board_machine *machine; /* or NULL */
    debug_module dm;
    jtag_tap tap;
    char error[BOARD_ERROR];
};

/* Returns whether the memory is that of config.ram. */
bool board_in_ram(const ntr_board *board, uint64_t address, size_t size);

/* Access trace registers, not memory. Errors: those of ntr_system_read32. */
ntr_status board_register_read(ntr_board *board, uint64_t address, uint32_t *value);
ntr_status board_register_write(ntr_board *board, uint64_t address, uint32_t value);

/* Accesses memory, not registers. Returns false where there is none. */
bool board_memory_read(const ntr_board *board, uint64_t address, uint8_t *out, size_t size);
bool board_memory_write(ntr_board *board, uint64_t address, const uint8_t *bytes, size_t size);

#endif
