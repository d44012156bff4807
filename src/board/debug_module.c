/* A RISC-V debug module (Debug Specification 0.13): harts that halt and resume, abstract access to registers, and
 * system bus access of 32 bits. No other width is supported, because trace registers have no other. */
#include "board/board.h"
#include "board/control.h"

enum {
    DM_DATA0 = 0x04,
    DM_DMCONTROL = 0x10,
    DM_DMSTATUS = 0x11,
    DM_HARTINFO = 0x12,
    DM_ABSTRACTCS = 0x16,
    DM_COMMAND = 0x17,
    DM_SBCS = 0x38,
    DM_SBADDRESS0 = 0x39,
    DM_SBADDRESS1 = 0x3a,
    DM_SBDATA0 = 0x3c,
    DM_HALTSUM0 = 0x40,
};
enum { DATA_COUNT = 2, CMDERR_SHIFT = 8, CMDERR_MASK = 7 << CMDERR_SHIFT };
enum {
    SB_READ_ON_ADDRESS = 1 << 20,
    SB_ACCESS_SHIFT = 17,
    SB_ACCESS_MASK = 7 << SB_ACCESS_SHIFT,
    SB_INCREMENT = 1 << 16,
    SB_READ_ON_DATA = 1 << 15,
    SB_ERROR_SHIFT = 12,
    SB_ERROR_MASK = 7 << SB_ERROR_SHIFT,
    SB_ERROR_ADDRESS = 2,
    SB_ERROR_ALIGNMENT = 3,
    SB_ERROR_SIZE = 4,
    SB_ACCESS_32 = 2
};
enum { DMACTIVE = 1, NDMRESET = 1 << 1, ACKHAVERESET = 1 << 28, RESUMEREQ = 1 << 30 };
#define HALTREQ (1u << 31)

/* ---- harts */

static unsigned hart_mask(const ntr_board *board) {
    unsigned mask = 0;
    while (mask + 1 < board->hart_count) mask = mask << 1 | 1;
    return mask;
}

static board_hart *selected(ntr_board *board) {
    const unsigned number = board->dm.dmcontrol >> 16 & 0x3ff;
    return number < board->hart_count ? &board->harts[number] : NULL;
}

static uint32_t both(bool condition, unsigned low) {
    return condition ? 3u << low : 0; /* any and all: one hart is selected */
}

static uint32_t dmstatus(ntr_board *board) {
    const board_hart *hart = selected(board);
    const uint32_t fixed = 2 | 1 << 7; /* version 0.13, authenticated */
    if (!hart) return fixed | both(true, 14);
    return fixed | both(hart->halted, 8) | both(!hart->halted, 10) | both(hart->resume_ack, 16) |
           both(hart->have_reset, 18);
}

static uint32_t haltsum(const ntr_board *board) {
    uint32_t sum = 0;
    for (unsigned i = 0; i < board->hart_count; i++) sum |= (uint32_t)board->harts[i].halted << i;
    return sum;
}

/* ndmreset of a machine: while it is 1, all harts are halted; then those run for which no halt is requested. */
static void reset_machine(ntr_board *board, bool before, bool now, bool halts) {
    if (now && !before) board_control_reset(board);
    if (now || !before) return;
    for (unsigned i = 0; i < board->hart_count && !halts; i++) board_control_resume(&board->harts[i]);
}

/* A GDB client, if there is one, controls the harts of a machine. */
static void control_hart(ntr_board *board, board_hart *hart, uint32_t value) {
    const bool controls = board_control_is(board);
    if (board->machine && !controls) return;
    if (value & HALTREQ)
        controls ? board_control_halt(hart) : board_hart_halt(hart, CAUSE_HALTREQ);
    else if (value & RESUMEREQ && hart->halted)
        controls ? board_control_resume(hart) : board_hart_resume(hart);
    if (value & RESUMEREQ) hart->resume_ack = true;
}

static void write_dmcontrol(ntr_board *board, uint32_t value) {
    debug_module *dm = &board->dm;
    if (!(value & DMACTIVE)) {
        *dm = (debug_module){0};
        return;
    }
    const bool before = dm->dmcontrol & NDMRESET;
    dm->dmcontrol = DMACTIVE | (value & NDMRESET) | (value >> 16 & hart_mask(board)) << 16;
    board_hart *hart = selected(board);
    if (!hart) return;
    if (value & ACKHAVERESET) hart->have_reset = false;
    if (board_control_is(board)) reset_machine(board, before, value & NDMRESET, value & HALTREQ);
    control_hart(board, hart, value);
}

/* ---- abstract commands */

static bool read_register(const board_hart *hart, unsigned number, uint64_t *value) {
    *value = 0;
    if (number >= REG_X0 && number < REG_X0 + BOARD_REGISTERS)
        *value = hart->x[number - REG_X0];
    else if (number == REG_MISA)
        *value = 0x8000000000141105; /* RV64IMACSU */
    else if (number == REG_DCSR)
        *value = hart->dcsr;
    else if (number == REG_DPC)
        *value = board_hart_pc(hart);
    else
        return false;
    return true;
}

/* The program counter follows the recorded execution. */
static bool write_register(board_hart *hart, unsigned number, uint64_t value) {
    if (number > REG_X0 && number < REG_X0 + BOARD_REGISTERS)
        hart->x[number - REG_X0] = value;
    else if (number == REG_DCSR)
        hart->dcsr = (hart->dcsr & ~0xf004u) | (uint32_t)(value & 0xf004);
    else
        return number == REG_X0 || number == REG_DPC;
    return true;
}

static void put_data(debug_module *dm, uint64_t value, unsigned size) {
    dm->data[0] = (uint32_t)value;
    if (size == 3) dm->data[1] = (uint32_t)(value >> 32);
}

static unsigned execute(ntr_board *board, uint32_t command) {
    board_hart *hart = selected(board);
    debug_module *dm = &board->dm;
    const unsigned size = command >> 20 & 7, number = command & 0xffff;
    uint64_t value = dm->data[0] | (uint64_t)dm->data[1] << 32;
    if (command >> 24 || (size != 2 && size != 3) || command & 0xc0000) return CMDERR_NOTSUP;
    if (!hart || !hart->halted) return CMDERR_HALT;
    if (!(command >> 17 & 1)) return 0;
    if (board_control_is(board)) {
        const unsigned failure = board_control_register(hart, number, command >> 16 & 1, size == 2 ? 32 : 64, &value);
        if (!failure && !(command >> 16 & 1)) put_data(dm, value, size);
        return failure;
    }
    if (command >> 16 & 1) return write_register(hart, number, size == 2 ? (uint32_t)value : value) ? 0 : CMDERR_NOTSUP;
    if (!read_register(hart, number, &value)) return CMDERR_NOTSUP;
    put_data(dm, value, size);
    return 0;
}

static void write_command(ntr_board *board, uint32_t command) {
    if (board->dm.abstractcs & CMDERR_MASK) return;
    board->dm.abstractcs = execute(board, command) << CMDERR_SHIFT;
}

/* ---- system bus */

static uint64_t sb_address(const debug_module *dm) {
    return dm->sbaddress[0] | (uint64_t)dm->sbaddress[1] << 32;
}

static unsigned sb_error_of(ntr_status status) {
    return status == NTR_OK ? 0 : status == NTR_E_INVALID ? SB_ERROR_ALIGNMENT : SB_ERROR_ADDRESS;
}

static void sb_access(ntr_board *board, bool write) {
    debug_module *dm = &board->dm;
    unsigned error = SB_ERROR_SIZE;
    if (dm->sbcs & SB_ERROR_MASK) return;
    if ((dm->sbcs & SB_ACCESS_MASK) >> SB_ACCESS_SHIFT == SB_ACCESS_32)
        error = sb_error_of(write ? ntr_board_write32(board, sb_address(dm), dm->sbdata)
                                  : ntr_board_read32(board, sb_address(dm), &dm->sbdata));
    dm->sbcs |= error << SB_ERROR_SHIFT;
    if (error || !(dm->sbcs & SB_INCREMENT)) return;
    const uint64_t next = sb_address(dm) + 4;
    dm->sbaddress[0] = (uint32_t)next;
    dm->sbaddress[1] = (uint32_t)(next >> 32);
}

static uint32_t read_sbdata(ntr_board *board) {
    const uint32_t value = board->dm.sbdata;
    if (board->dm.sbcs & SB_READ_ON_DATA) sb_access(board, false);
    return value;
}

static void write_sbcs(debug_module *dm, uint32_t value) {
    const uint32_t kept = SB_READ_ON_ADDRESS | SB_ACCESS_MASK | SB_INCREMENT | SB_READ_ON_DATA;
    dm->sbcs = (value & kept) | (dm->sbcs & SB_ERROR_MASK & ~value);
}

/* ---- registers */

uint32_t debug_module_read(ntr_board *board, unsigned number) {
    debug_module *dm = &board->dm;
    const uint32_t sb_fixed = 1u << 29 | 64u << 5 | 1 << 2; /* version 1, addresses of 64 bits, accesses of 32 */
    if (number >= DM_DATA0 && number < DM_DATA0 + DATA_COUNT) return dm->data[number - DM_DATA0];
    switch (number) {
    case DM_DMCONTROL: return dm->dmcontrol;
    case DM_DMSTATUS: return dmstatus(board);
    case DM_ABSTRACTCS: return dm->abstractcs | DATA_COUNT;
    case DM_SBCS: return dm->sbcs | sb_fixed;
    case DM_SBADDRESS0: return dm->sbaddress[0];
    case DM_SBADDRESS1: return dm->sbaddress[1];
    case DM_SBDATA0: return read_sbdata(board);
    case DM_HALTSUM0: return haltsum(board);
    default: return 0;
    }
}

void debug_module_write(ntr_board *board, unsigned number, uint32_t value) {
    debug_module *dm = &board->dm;
    if (number == DM_DMCONTROL) write_dmcontrol(board, value);
    if (!(dm->dmcontrol & DMACTIVE)) return;
    if (number >= DM_DATA0 && number < DM_DATA0 + DATA_COUNT) dm->data[number - DM_DATA0] = value;
    switch (number) {
    case DM_ABSTRACTCS: dm->abstractcs &= ~(value & CMDERR_MASK); break;
    case DM_COMMAND: write_command(board, value); break;
    case DM_SBCS: write_sbcs(dm, value); break;
    case DM_SBADDRESS0:
        dm->sbaddress[0] = value;
        if (dm->sbcs & SB_READ_ON_ADDRESS) sb_access(board, false);
        break;
    case DM_SBADDRESS1: dm->sbaddress[1] = value; break;
    case DM_SBDATA0:
        dm->sbdata = value;
        sb_access(board, true);
        break;
    default: break;
    }
}
