/* Private part of a board: memory, harts, debug module, JTAG. */
#ifndef NTR_BOARD_BOARD_H
#define NTR_BOARD_BOARD_H

#include "capture/sink_memory.h"

#include <ntrace/board.h>
#include <ntrace/ingress.h>

enum { BOARD_MEMORY_MAX = 64 << 20 }; /* bytes */

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

enum {
    DCSR_STEP = 1 << 2,
    DCSR_CAUSE_SHIFT = 6,
    CAUSE_EBREAK = 1,
    CAUSE_TRIGGER = 2,
    CAUSE_HALTREQ = 3,
    CAUSE_STEP = 4
};

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

/* Abstract commands: numbers of registers, values of cmderr. */
enum { REG_MISA = 0x301, REG_DCSR = 0x7b0, REG_DPC = 0x7b1, REG_X0 = 0x1000 };
enum { CMDERR_NOTSUP = 2, CMDERR_EXCEPTION = 3, CMDERR_HALT = 4, CMDERR_BUS = 5 };

/* Debug module interface: a register by number. */
uint32_t debug_module_read(struct ntr_board *board, unsigned number);
void debug_module_write(struct ntr_board *board, unsigned number, uint32_t value);

/* ---- breakpoints.c, of the debug module in a machine */

enum { BOARD_TRIGGERS = 4, BOARD_PATCHES = 64 };

/* What stops a hart: triggers of type 2 (mcontrol), and EBREAK instructions that the debugger has written. */
typedef struct board_breakpoints {
    unsigned selected;
    struct {
        uint64_t tdata1, tdata2;
    } triggers[BOARD_TRIGGERS];
    uint64_t patches[BOARD_PATCHES]; /* addresses where an EBREAK was written */
    unsigned patch_count;
    bool inserted; /* in the GDB server */
} board_breakpoints;

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

/* A debugger has continued all harts, or sees that they are halted. */
void board_machine_resumed(struct ntr_board *board);
void board_machine_halted(struct ntr_board *board);
void board_machine_halted_hart(struct ntr_board *board, unsigned hart);

/* The machine executes, or has stopped for a moment: what it has executed is encoded. */
void board_machine_continued(struct ntr_board *board);
void board_machine_paused(struct ntr_board *board);

/* The hart has stopped; the board executes its next instruction, of so many bytes. */
void board_machine_insert(struct ntr_board *board, unsigned hart, uint64_t pc, uint32_t instruction, unsigned bytes);

/* There is a machine. */
unsigned board_machine_xlen(const struct ntr_board *board);

/* ---- control.c: the rest is in control.h */

/* Returns whether the debug module controls harts of a machine. While a GDB client is connected it does not. */
bool board_control_is(const struct ntr_board *board);

/* Accesses 32 bits of the machine's memory. Errors: NTR_E_RANGE, NTR_E_IO. */
ntr_status board_control_read(struct ntr_board *board, uint64_t address, uint32_t *value);
ntr_status board_control_write(struct ntr_board *board, uint64_t address, uint32_t value);

/* The machine has stopped by itself, or was interrupted. */
ntr_status board_control_stopped(struct ntr_board *board, const char *stop);

/* ---- values in packets: the bytes of a register or of memory, the lowest first, as hexadecimal digits */

bool board_parse_value(const char *hex, uint64_t *value); /* at most 8 bytes; false: it is no value */
void board_print_value(char *hex, uint64_t value, unsigned bytes); /* room for 2 * bytes + 1 characters */

/* ---- */

struct ntr_board {
    ntr_board_config config;
    ntr_system *system;
    struct ntr_capture_memory memory;
    bool patched; /* memory was written: instructions may be breakpoints */
    board_hart harts[BOARD_HARTS];
    unsigned hart_count;
    struct board_machine *machine; /* or NULL */
    struct board_remote *remote;   /* NULL: no connection was ever made */
    struct ntr_gdb_filter *filter; /* of the GDB client; NULL: there is none */
    /* The users of the connection (remote.h): the debug module takes stop replies, a filter all that is for its client.
     */
    ntr_status (*stopped)(struct ntr_board *board, const char *stop);
    ntr_status (*forward)(struct ntr_gdb_filter *filter, const char *data, size_t size);
    board_breakpoints breakpoints; /* of the debug module in a machine */
    bool pausing, stepping; /* the debug module waits for the machine to stop; for one instruction */
    debug_module dm;
    jtag_tap tap;
    char error[BOARD_ERROR];
};

/* Returns whether the memory is that of config.ram. */
bool board_in_ram(const ntr_board *board, uint64_t address, size_t size);

/* Returns whether the address is in the page of a component. */
bool board_is_component(const ntr_board *board, uint64_t address);

/* Access trace registers, not memory. Errors: those of ntr_system_read32. */
ntr_status board_register_read(ntr_board *board, uint64_t address, uint32_t *value);
ntr_status board_register_write(ntr_board *board, uint64_t address, uint32_t value);

/* Accesses memory, not registers. Returns false where there is none. */
bool board_memory_read(const ntr_board *board, uint64_t address, uint8_t *out, size_t size);
bool board_memory_write(ntr_board *board, uint64_t address, const uint8_t *bytes, size_t size);

#endif
