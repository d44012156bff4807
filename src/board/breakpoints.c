/* Breakpoints of the debug module in a machine of QEMU, which has no Debug Mode: an EBREAK would raise an exception.
 * Triggers, and EBREAK instructions that the debugger has written, are breakpoints of the GDB server while the machine
 * runs. */
#include "board/breakpoints.h"
#include "board/remote.h"

#include "base/macros.h"

#include <string.h>

enum { TSELECT = 0x7a0, TDATA1 = 0x7a1, TDATA2 = 0x7a2, TINFO = 0x7a4 };
enum {
    MCONTROL = 2,
    MC_LOAD = 1 << 0,
    MC_STORE = 1 << 1,
    MC_EXECUTE = 1 << 2,
    MC_MODES = 1 << 6 | 1 << 4 | 1 << 3,
    MC_ACTION_DEBUG = 1 << 12
};
enum { EBREAK = 0x00100073, EBREAK_LOW = 0x0073, SHORT_EBREAK = 0x9002 };

/* WARL: what is not supported reads as 0. dmode is always 1. */
static uint64_t legal_tdata1(uint64_t value, unsigned xlen) {
    const uint64_t kept = value & (MC_LOAD | MC_STORE | MC_EXECUTE | MC_MODES | MC_ACTION_DEBUG);
    return (uint64_t)MCONTROL << (xlen - 4) | (uint64_t)1 << (xlen - 5) | kept;
}

bool board_trigger_csr(board_breakpoints *points, unsigned number, unsigned xlen, bool write, uint64_t *value) {
    const unsigned at = points->selected;
    if (number == TSELECT) {
        if (write && *value < BOARD_TRIGGERS)
            points->selected = (unsigned)*value;
        else if (!write)
            *value = at;
    } else if (number == TDATA1) {
        if (write)
            points->triggers[at].tdata1 = *value;
        else
            *value = legal_tdata1(points->triggers[at].tdata1, xlen);
    } else if (number == TDATA2) {
        if (write)
            points->triggers[at].tdata2 = *value;
        else
            *value = points->triggers[at].tdata2;
    } else if (number == TINFO) {
        if (!write) *value = 1 << MCONTROL;
    } else {
        return false;
    }
    return true;
}

/* An EBREAK may lie in two words: its first half is noted, and insert() looks whether the second one follows. */
void board_breakpoints_note(board_breakpoints *points, uint64_t address, uint32_t value) {
    for (unsigned i = 0; i < 2; i++, value >>= 16) {
        const uint16_t half = (uint16_t)value;
        const uint64_t at = address + 2 * i;
        if ((half == SHORT_EBREAK || half == EBREAK_LOW) && points->patch_count < BOARD_PATCHES &&
            !board_breakpoints_patched(points, at))
            points->patches[points->patch_count++] = at;
    }
}

bool board_breakpoints_patched(const board_breakpoints *points, uint64_t pc) {
    for (unsigned i = 0; i < points->patch_count; i++)
        if (points->patches[i] == pc) return true;
    return false;
}

static ntr_status is_ebreak(ntr_board *board, uint64_t address, bool *is) {
    uint64_t value;
    TRY(board_remote_request(board, "m%llx,4", (unsigned long long)address));
    *is = board_parse_value(board->remote->rsp.packet, &value) && (value == EBREAK || (uint16_t)value == SHORT_EBREAK);
    return NTR_OK;
}

/* Removes those that the debugger has replaced by other instructions. */
static ntr_status look_at_patches(ntr_board *board) {
    board_breakpoints *points = &board->breakpoints;
    for (unsigned i = 0; i < points->patch_count;) {
        bool is;
        TRY(is_ebreak(board, points->patches[i], &is));
        if (is)
            i++;
        else
            points->patches[i] = points->patches[--points->patch_count];
    }
    return NTR_OK;
}

/* The digit of a Z packet; 0: the trigger is off. */
static unsigned kind_of(uint64_t tdata1) {
    enum { EXECUTE = 1, WATCH_WRITE, WATCH_READ, WATCH_BOTH };
    if (!(tdata1 & MC_MODES) || !(tdata1 & MC_ACTION_DEBUG)) return 0;
    if (tdata1 & MC_EXECUTE) return EXECUTE;
    if (tdata1 & MC_STORE) return tdata1 & MC_LOAD ? WATCH_BOTH : WATCH_WRITE;
    return tdata1 & MC_LOAD ? WATCH_READ : 0;
}

static ntr_status change(ntr_board *board, char verb) {
    const board_breakpoints *points = &board->breakpoints;
    for (unsigned i = 0; i < BOARD_TRIGGERS; i++) {
        const unsigned kind = kind_of(points->triggers[i].tdata1);
        if (kind)
            TRY(board_remote_request(board, "%c%u,%llx,4", verb, kind, (unsigned long long)points->triggers[i].tdata2));
    }
    for (unsigned i = 0; i < points->patch_count; i++)
        TRY(board_remote_request(board, "%c0,%llx,2", verb, (unsigned long long)points->patches[i]));
    return NTR_OK;
}

ntr_status board_breakpoints_insert(ntr_board *board) {
    TRY(look_at_patches(board));
    board->breakpoints.inserted = true;
    return change(board, 'Z');
}

ntr_status board_breakpoints_remove(ntr_board *board) {
    if (!board->breakpoints.inserted) return NTR_OK;
    board->breakpoints.inserted = false;
    return change(board, 'z');
}
