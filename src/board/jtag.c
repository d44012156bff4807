/* JTAG: the TAP state machine of IEEE 1149.1, and the debug transport module of the RISC-V Debug Specification.
 *
 * The machine moves on rising edges of TCK; data registers shift on them too. TDO changes and registers are updated on
 * falling edges. */
#include "board/board.h"

enum {
    RESET,
    IDLE,
    SELECT_DR,
    CAPTURE_DR,
    SHIFT_DR,
    EXIT1_DR,
    PAUSE_DR,
    EXIT2_DR,
    UPDATE_DR,
    SELECT_IR,
    CAPTURE_IR,
    SHIFT_IR,
    EXIT1_IR,
    PAUSE_IR,
    EXIT2_IR,
    UPDATE_IR,
    STATES
};
enum {
    IR_BITS = 5,
    IR_IDCODE = 0x01,
    IR_DTMCS = 0x10,
    IR_DMI = 0x11,
    ABITS = 7,
    DMI_BITS = ABITS + 34,
    SCAN_BITS = 32
};
enum { OP_READ = 1, OP_WRITE = 2, DTM_VERSION = 1, TMS = 2, TDI = 1, TCK = 4, DMI_RESETS = 3 << 16 };

static const uint8_t next_state[STATES][2] = {
    [RESET] = {IDLE, RESET},
    [IDLE] = {IDLE, SELECT_DR},
    [SELECT_DR] = {CAPTURE_DR, SELECT_IR},
    [CAPTURE_DR] = {SHIFT_DR, EXIT1_DR},
    [SHIFT_DR] = {SHIFT_DR, EXIT1_DR},
    [EXIT1_DR] = {PAUSE_DR, UPDATE_DR},
    [PAUSE_DR] = {PAUSE_DR, EXIT2_DR},
    [EXIT2_DR] = {SHIFT_DR, UPDATE_DR},
    [UPDATE_DR] = {IDLE, SELECT_DR},
    [SELECT_IR] = {CAPTURE_IR, RESET},
    [CAPTURE_IR] = {SHIFT_IR, EXIT1_IR},
    [SHIFT_IR] = {SHIFT_IR, EXIT1_IR},
    [EXIT1_IR] = {PAUSE_IR, UPDATE_IR},
    [PAUSE_IR] = {PAUSE_IR, EXIT2_IR},
    [EXIT2_IR] = {SHIFT_IR, UPDATE_IR},
    [UPDATE_IR] = {IDLE, SELECT_DR},
};

static void reset(jtag_tap *tap) {
    tap->state = RESET;
    tap->ir = IR_IDCODE;
}

static void load(jtag_tap *tap, uint64_t value, unsigned length) {
    tap->shift = value;
    tap->length = length;
}

static void capture_dr(jtag_tap *tap) {
    switch (tap->ir) {
    case IR_IDCODE: load(tap, NTR_BOARD_IDCODE, SCAN_BITS); break;
    case IR_DTMCS: load(tap, DTM_VERSION | ABITS << 4, SCAN_BITS); break;
    case IR_DMI: load(tap, tap->dmi, DMI_BITS); break;
    default: load(tap, 0, 1); break; /* BYPASS */
    }
}

/* Performs an access; its result is captured by the next scan. */
static void update_dmi(ntr_board *board) {
    jtag_tap *tap = &board->tap;
    const unsigned address = (unsigned)(tap->shift >> 34), op = tap->shift & 3;
    uint32_t data = (uint32_t)(tap->shift >> 2);
    if (op == OP_READ) data = debug_module_read(board, address);
    if (op == OP_WRITE) debug_module_write(board, address, data);
    if (op == OP_READ || op == OP_WRITE) tap->dmi = (uint64_t)address << 34 | (uint64_t)data << 2;
}

static void update_dr(ntr_board *board) {
    if (board->tap.ir == IR_DMI) update_dmi(board);
    if (board->tap.ir == IR_DTMCS && board->tap.shift & DMI_RESETS) board->tap.dmi = 0;
}

static void rise(ntr_board *board, bool tms, bool tdi) {
    jtag_tap *tap = &board->tap;
    if (tap->state == CAPTURE_DR) capture_dr(tap);
    if (tap->state == CAPTURE_IR) load(tap, 1, IR_BITS);
    if (tap->state == SHIFT_DR || tap->state == SHIFT_IR)
        tap->shift = tap->shift >> 1 | (uint64_t)tdi << (tap->length - 1);
    tap->state = next_state[tap->state][tms];
    if (tap->state == RESET) reset(tap);
}

static void fall(ntr_board *board) {
    jtag_tap *tap = &board->tap;
    if (tap->state == SHIFT_DR || tap->state == SHIFT_IR) tap->tdo = tap->shift & 1;
    if (tap->state == UPDATE_IR) tap->ir = (uint32_t)tap->shift & ((1u << IR_BITS) - 1);
    if (tap->state == UPDATE_DR) update_dr(board);
}

static void set_pins(ntr_board *board, unsigned pins) {
    const bool tck = pins & TCK;
    if (tck && !board->tap.tck) rise(board, pins & TMS, pins & TDI);
    if (!tck && board->tap.tck) fall(board);
    board->tap.tck = tck;
}

size_t ntr_board_bitbang(ntr_board *board, const uint8_t *in, size_t size, uint8_t *out, bool *quit) {
    size_t answers = 0;
    *quit = false;
    if (!board->tap.ir) reset(&board->tap);
    for (size_t i = 0; i < size && !*quit; i++) {
        if (in[i] >= '0' && in[i] <= '7')
            set_pins(board, in[i] - '0');
        else if (in[i] == 'R')
            out[answers++] = board->tap.tdo ? '1' : '0';
        else if (in[i] == 't' || in[i] == 'u')
            reset(&board->tap); /* TRST */
        else if (in[i] == 'Q')
            *quit = true;
    }
    return answers;
}
