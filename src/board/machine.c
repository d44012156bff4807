/* A machine of QEMU whose instructions reach the encoders of the model: QEMU's plugin reports executed blocks through
 * shared memory (channel/channel.h), as for ntr_capture_start with a machine.
 *
 * Order. A debugger reads and writes trace registers between instructions. So all that a halted machine has reported is
 * encoded before an access to a register, and when the GDB server reports a stop, before the debugger sees that: a hart
 * that stops reports the rest of its last block first (CHANNEL_FOLLOW_HALT). */
#include "board/board.h"

#include "base/allocator.h"
#include "base/macros.h"
#include "base/config.h"
#include "capture/machine.h"
#include "capture/session.h"
#include "capture/spaces.h"
#include "capture/system.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct board_machine {
    struct ntr_capture session; /* without a bundle */
    char gdb[LINE_MAX]; /* option -gdb of QEMU */
    const char **options;
    bool running; /* a debugger has continued it */
};

static ntr_status fail(ntr_board *board, ntr_status status) {
    snprintf(board->error, sizeof board->error, "%.190s", board->machine->session.reason.text);
    return status;
}

/* The machine waits for a debugger, at the Unix socket that the caller names. */
static ntr_status add_options(ntr_board *board, struct board_machine *machine, const char *socket) {
    ntr_capture_config *config = &machine->session.config;
    const char *const mine[] = {"-S", "-gdb", machine->gdb};
    const size_t count = config->qemu_option_count;
    const int size = snprintf(machine->gdb, sizeof machine->gdb, "unix:%s,server=on,wait=off", socket);
    if (size < 0 || (size_t)size >= sizeof machine->gdb || strchr(socket, ',')) return NTR_E_SYNTAX;
    machine->options = ntr_alloc(board->config.allocator, count + NTR_COUNT(mine), sizeof *machine->options);
    if (!machine->options) return NTR_E_MEMORY;
    for (size_t i = 0; i < count; i++) machine->options[i] = config->qemu_options[i];
    for (size_t i = 0; i < NTR_COUNT(mine); i++) machine->options[count + i] = mine[i];
    config->qemu_options = machine->options;
    config->qemu_option_count = count + NTR_COUNT(mine);
    return NTR_OK;
}

static ntr_status open_harts(ntr_board *board, struct ntr_capture *session) {
    TRY(ntr_capture_source_open(&session->source, &session->reason));
    session->source.channel->head.machine = 1;
    session->source.channel->head.follow = CHANNEL_FOLLOW_HALT;
    TRY(ntr_capture_system_adopt(&session->system, board->system, board->config.allocator, &session->reason));
    const struct ntr_capture_target target = {.channel = session->source.channel,
                                              .config = &session->encoder,
                                              .stream = &session->stream,
                                              .system = session->system};
    TRY(ntr_capture_harts_init(&session->harts, &target, board->config.allocator));
    return ntr_capture_machine_init(&session->harts, false);
}

static ntr_status configure(ntr_board *board, const ntr_capture_config *config) {
    struct ntr_capture *session = &board->machine->session;
    if (ntr_config_load(&session->config, sizeof session->config, config) != NTR_OK || !config->machine ||
        ntr_config_load(&session->machine, sizeof session->machine, config->machine) != NTR_OK)
        return ntr_capture_fail(&session->reason, NTR_E_INVALID, "a machine needs its name and a capture plugin");
    session->config.allocator = board->config.allocator;
    session->stream.fd = session->log = -1;
    ntr_encoder_config_init(&session->encoder);
    session->encoder.params.xlen = (uint8_t)session->machine.xlen;
    session->encoder.mode = NTR_INST_MODE_HTM;
    return open_harts(board, session);
}

static ntr_status start(ntr_board *board, const ntr_capture_config *config, const char *socket) {
    TRY(configure(board, config));
    TRY(add_options(board, board->machine, socket));
    return ntr_capture_machine_start(&board->machine->session);
}

/* Without success, there is no machine; the reason is stored. */
static ntr_status made(ntr_board *board, ntr_status status) {
    if (status == NTR_OK) return NTR_OK;
    fail(board, status);
    if (!*board->error) snprintf(board->error, sizeof board->error, "%s", ntr_status_text(status));
    board_machine_free(board);
    return status;
}

static ntr_status begin(ntr_board *board) {
    if (board->machine) return NTR_E_STATE;
    board->machine = ntr_alloc(board->config.allocator, 1, sizeof *board->machine);
    return board->machine ? NTR_OK : NTR_E_MEMORY;
}

ntr_status ntr_board_join_machine(ntr_board *board, const ntr_capture_config *config, char *options, size_t size) {
    TRY(begin(board));
    ntr_status status = configure(board, config);
    if (status == NTR_OK) status = ntr_capture_machine_options(&board->machine->session, options, size);
    return made(board, status);
}

ntr_status ntr_board_start_machine(ntr_board *board, const ntr_capture_config *config, const char *socket) {
    TRY(begin(board));
    return made(board, config->qemu ? start(board, config, socket) : NTR_E_INVALID);
}

bool ntr_board_machine_ended(ntr_board *board) {
    if (!board->machine) return false;
    ntr_capture_guest_poll(&board->machine->session.guest);
    return board->machine->session.guest.ended;
}

void board_machine_free(ntr_board *board) {
    struct board_machine *machine = board->machine;
    if (!machine) return;
    struct ntr_capture *session = &machine->session;
    ntr_capture_guest_kill(&session->guest);
    ntr_capture_guest_reap(&session->guest);
    if (session->harts.channel) ntr_capture_harts_release(&session->harts);
    if (session->source.channel) ntr_capture_source_close(&session->source);
    ntr_capture_system_free(session->system);
    if (session->log >= 0) close(session->log);
    ntr_dealloc(board->config.allocator, machine->options);
    ntr_dealloc(board->config.allocator, machine);
    board->machine = NULL;
}

/* ---- while it executes */

void board_machine_drain(ntr_board *board) {
    if (!board->machine || board->machine->running) return;
    struct ntr_capture *session = &board->machine->session;
    while (ntr_capture_harts_drain(&session->harts, true)) continue;
    if (*session->reason.text && !*board->error) fail(board, NTR_OK);
}

bool board_machine_run(ntr_board *board) {
    struct ntr_capture *session = &board->machine->session;
    ntr_capture_harts_drain_part(&session->harts);
    if (*session->reason.text && !*board->error) fail(board, NTR_OK);
    return board->machine->running && !session->guest.ended;
}

void board_machine_continued(ntr_board *board) {
    if (board->machine) board->machine->running = true;
}

void board_machine_paused(ntr_board *board) {
    if (!board->machine) return;
    board->machine->running = false;
    board_machine_drain(board);
}

void board_machine_resumed(ntr_board *board) {
    if (!board->machine) return;
    board_machine_continued(board);
    for (unsigned i = 0; i < board->hart_count; i++) board->harts[i].halted = false;
}

void board_machine_halted(ntr_board *board) {
    if (!board->machine) return;
    board_machine_paused(board);
    for (unsigned i = 0; i < board->hart_count; i++) board->harts[i].halted = true;
    ntr_capture_machine_halt(&board->machine->session.harts);
}

void board_machine_halted_hart(ntr_board *board, unsigned hart) {
    if (!board->machine) return;
    board_machine_paused(board);
    ntr_capture_machine_halt_hart(&board->machine->session.harts, hart);
}

void board_machine_insert(ntr_board *board, unsigned hart, uint64_t pc, uint32_t instruction, unsigned bytes) {
    const uint8_t code[4] = {(uint8_t)instruction, (uint8_t)(instruction >> 8), (uint8_t)(instruction >> 16),
                             (uint8_t)(instruction >> 24)};
    ntr_capture_machine_insert(&board->machine->session.harts, hart, pc, code, bytes);
}

unsigned board_machine_xlen(const ntr_board *board) {
    return board->machine->session.encoder.params.xlen;
}
