#include "board/breakpoints.h"
#include "board/control.h"
#include "board/remote.h"

#include "base/macros.h"

#include <stdio.h>
#include <string.h>

enum { REG_F0 = 0x1020, REG_LAST = 0x103f, GDB_F0 = 33, STEP_MS = 1000, DCSR_PRV = 3 };

bool board_control_is(const ntr_board *board) {
    return board->machine && !board->filter && board_remote_is_open(board);
}

/* ---- stopping and going on */

/* Stops all harts for a moment. A stop at a breakpoint that comes first halts its hart. */
static ntr_status pause_all(ntr_board *board) {
    if (!board->remote->running) return NTR_OK;
    board->pausing = true;
    ntr_status status = board_remote_interrupt(board);
    if (status == NTR_OK) status = board_remote_wait(board, REMOTE_TIMEOUT_MS);
    board->pausing = false;
    return status;
}

/* Resumes the harts that are not halted. */
static ntr_status go_on(ntr_board *board) {
    char packet[REMOTE_TEXT];
    size_t used = (size_t)snprintf(packet, sizeof packet, "vCont");
    bool any = false;
    if (board->remote->running) return NTR_OK;
    for (unsigned i = 0; i < board->hart_count; i++) {
        if (board->harts[i].halted) continue;
        used += (size_t)snprintf(packet + used, sizeof packet - used, ";c:p1.%x", i + 1);
        any = true;
    }
    if (!any) return NTR_OK;
    TRY(board_breakpoints_insert(board));
    board_machine_continued(board);
    return board_remote_resume(board, packet);
}

static ntr_status read_pc(ntr_board *board, unsigned hart, uint64_t *pc) {
    TRY(board_remote_request(board, "Hgp1.%x", hart + 1));
    TRY(board_remote_request(board, "p%x", GDB_PC));
    return board_parse_value(board->remote->rsp.packet, pc) ? NTR_OK : NTR_E_SYNTAX;
}

static void set_halted(board_hart *hart, unsigned cause) {
    hart->halted = true;
    hart->dcsr = (hart->dcsr & ~(7u << DCSR_CAUSE_SHIFT)) | cause << DCSR_CAUSE_SHIFT;
    board_machine_halted_hart(hart->board, hart->number);
}

ntr_status board_control_stopped(ntr_board *board, const char *stop) {
    board_hart *hart = &board->harts[board_stop_hart(stop)];
    uint64_t pc = 0;
    board_machine_paused(board);
    if (*stop == 'W' || *stop == 'X') {
        for (unsigned i = 0; i < board->hart_count; i++) set_halted(&board->harts[i], CAUSE_HALTREQ);
        return NTR_OK;
    }
    TRY(board_breakpoints_remove(board));
    if (board_stop_signal(stop) == SIGNAL_TRAP && !hart->halted) {
        TRY(read_pc(board, hart->number, &pc));
        set_halted(hart, board->stepping                                      ? CAUSE_STEP
                         : board_breakpoints_patched(&board->breakpoints, pc) ? CAUSE_EBREAK
                                                                              : CAUSE_TRIGGER);
    }
    return board->pausing || board->stepping ? NTR_OK : go_on(board);
}

/* One instruction of one hart. It may sleep. */
static ntr_status step(ntr_board *board, board_hart *hart) {
    char packet[32];
    snprintf(packet, sizeof packet, "vCont;s:p1.%x", hart->number + 1);
    board->stepping = true;
    hart->halted = false;
    board_machine_continued(board);
    ntr_status status = board_remote_resume(board, packet);
    if (status == NTR_OK && board_remote_wait(board, STEP_MS) != NTR_OK) {
        status = board_remote_interrupt(board);
        if (status == NTR_OK) status = board_remote_wait(board, REMOTE_TIMEOUT_MS);
    }
    board->stepping = false;
    if (!hart->halted) set_halted(hart, CAUSE_STEP);
    return status;
}

/* A failure of the connection: the harts stay as they were, and the reason is shown. */
static void note(ntr_board *board, ntr_status status) {
    if (status != NTR_OK && !*board->error)
        snprintf(board->error, sizeof board->error, "the machine: %.180s",
                 *board->remote->rsp.link.error ? board->remote->rsp.link.error : ntr_status_text(status));
}

static ntr_status halt(board_hart *hart) {
    TRY(pause_all(hart->board));
    if (!hart->halted) set_halted(hart, CAUSE_HALTREQ);
    return go_on(hart->board);
}

void board_control_halt(board_hart *hart) {
    if (!hart->halted) note(hart->board, halt(hart));
}

static ntr_status resume(board_hart *hart) {
    TRY(pause_all(hart->board));
    if (hart->dcsr & DCSR_STEP)
        TRY(step(hart->board, hart));
    else
        hart->halted = false;
    return go_on(hart->board);
}

void board_control_resume(board_hart *hart) {
    hart->resume_ack = true;
    if (hart->halted) note(hart->board, resume(hart));
}

ntr_status board_control_release(ntr_board *board) {
    if (!board_remote_is_open(board)) return NTR_OK;
    TRY(pause_all(board));
    for (unsigned i = 0; i < board->hart_count; i++)
        if (!board->harts[i].halted) set_halted(&board->harts[i], CAUSE_HALTREQ);
    if (!board->remote->physical) return NTR_OK;
    board->remote->physical = false;
    return board_remote_request(board, "Qqemu.PhyMemMode:0");
}

static ntr_status reset(ntr_board *board) {
    static const char command[] = "system_reset";
    char hex[2 * sizeof command];
    for (size_t i = 0; i + 1 < sizeof command; i++) snprintf(hex + 2 * i, 3, "%02x", (unsigned)command[i]);
    TRY(pause_all(board));
    return board_remote_request(board, "qRcmd,%s", hex);
}

void board_control_reset(ntr_board *board) {
    note(board, reset(board));
    for (unsigned i = 0; i < board->hart_count; i++) {
        if (!board->harts[i].halted) set_halted(&board->harts[i], CAUSE_HALTREQ);
        board->harts[i].have_reset = true;
    }
}

/* ---- registers */

static ntr_status access_register(board_hart *hart, unsigned gdb, bool write, unsigned bits, uint64_t *value,
                                  bool *there) {
    ntr_board *board = hart->board;
    char text[2 * sizeof *value + 1];
    TRY(pause_all(board));
    TRY(board_remote_request(board, "Hgp1.%x", hart->number + 1));
    if (write) {
        board_print_value(text, *value, board_machine_xlen(board) / 8);
        TRY(board_remote_request(board, "P%x=%s", gdb, text));
        *there = strcmp(board->remote->rsp.packet, "OK") == 0;
    } else {
        TRY(board_remote_request(board, "p%x", gdb));
        *there = board_parse_value(board->remote->rsp.packet, value);
        if (bits == 32) *value = (uint32_t)*value;
    }
    return go_on(board);
}

static unsigned gdb_number(const ntr_board *board, unsigned number) {
    if (number == REG_DPC) return GDB_PC;
    if (number >= REG_F0) return GDB_F0 + number - REG_F0;
    return number >= REG_X0 ? number - REG_X0 : board->remote->csrs + number;
}

static unsigned access_dcsr(board_hart *hart, bool write, uint64_t *value) {
    uint64_t mode = DCSR_PRV;
    bool there = false;
    if (write) {
        hart->dcsr = (hart->dcsr & ~0xf004u) | (uint32_t)(*value & 0xf004);
        return 0;
    }
    const ntr_status status = access_register(hart, hart->board->remote->csrs - 1, false, 32, &mode, &there);
    *value = (hart->dcsr & ~(uint32_t)DCSR_PRV) | (there ? (uint32_t)mode & DCSR_PRV : DCSR_PRV);
    return status == NTR_OK ? 0 : CMDERR_BUS;
}

unsigned board_control_register(board_hart *hart, unsigned number, bool write, unsigned bits, uint64_t *value) {
    const unsigned xlen = board_machine_xlen(hart->board);
    bool there = false;
    if (number > REG_LAST || bits > xlen) return CMDERR_NOTSUP;
    if (number == REG_DCSR) return access_dcsr(hart, write, value);
    ntr_status status =
        write ? pause_all(hart->board) : NTR_OK; /* breakpoints are changed while they are not inserted */
    const bool is_trigger =
        status == NTR_OK && board_trigger_csr(&hart->board->breakpoints, number, xlen, write, value);
    if (is_trigger)
        status = go_on(hart->board);
    else if (status == NTR_OK)
        status = access_register(hart, gdb_number(hart->board, number), write, bits, value, &there);
    note(hart->board, status);
    return status != NTR_OK ? CMDERR_BUS : there || is_trigger ? 0 : CMDERR_EXCEPTION;
}

/* ---- memory */

static ntr_status begin_memory(ntr_board *board) {
    TRY(pause_all(board));
    if (board->remote->physical) return NTR_OK;
    board->remote->physical = true;
    return board_remote_request(board, "Qqemu.PhyMemMode:1");
}

ntr_status board_control_read(ntr_board *board, uint64_t address, uint32_t *value) {
    uint64_t all = 0;
    TRY(begin_memory(board));
    TRY(board_remote_request(board, "m%llx,4", (unsigned long long)address));
    const bool there = board_parse_value(board->remote->rsp.packet, &all);
    *value = (uint32_t)all;
    TRY(go_on(board));
    return there ? NTR_OK : NTR_E_RANGE;
}

ntr_status board_control_write(ntr_board *board, uint64_t address, uint32_t value) {
    char text[2 * sizeof value + 1];
    board_print_value(text, value, sizeof value);
    TRY(begin_memory(board));
    TRY(board_remote_request(board, "M%llx,4:%s", (unsigned long long)address, text));
    const bool there = strcmp(board->remote->rsp.packet, "OK") == 0;
    board_breakpoints_note(&board->breakpoints, address, value);
    TRY(go_on(board));
    return there ? NTR_OK : NTR_E_RANGE;
}
