/* A machine of QEMU whose instructions reach the encoders of the model: QEMU's plugin reports executed blocks through shared
 * memory (channel/channel.h), as for ntr_capture_start with a machine.
 *
 * Order. A debugger reads and writes trace registers between instructions. So all that a halted machine has reported is
 * encoded before an access to a register, and when the GDB server reports a stop, before the debugger sees that: a hart that stops
 * reports the rest of its last block first (CHANNEL_FOLLOW_HALT). */
#include "board/board.h"

#include "base/allocator.h"
#include "base/array.h"
#include "base/config.h"
#include "base/try.h"
#include "capture/machine.h"
#include "capture/session.h"
#include "capture/spaces.h"
#include "capture/system.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct board_machine {
    struct ntr_capture_session session; /* without a bundle */
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

static ntr_status open_harts(ntr_board *board, struct ntr_capture_session *session) {
    TRY(ntr_capture_source_open(&session->source, &session->reason));
    session->source.channel->head.machine = 1;
    session->source.channel->head.follow = CHANNEL_FOLLOW_HALT;
    TRY(ntr_capture_system_adopt(&session->system, board->system, board->config.allocator, &session->reason));
    const struct ntr_capture_target target = {.channel = session->source.channel, .config = &session->encoder,
                                              .stream = &session->stream, .system = session->system};
    TRY(ntr_capture_harts_init(&session->harts, &target, board->config.allocator));
    return ntr_capture_machine_init(&session->harts, false);
}

static ntr_status start(ntr_board *board, const ntr_capture_config *config, const char *socket) {
    struct ntr_capture_session *session = &board->machine->session;
    if (ntr_config_load(&session->config, sizeof session->config, config) != NTR_OK || !config->machine || !config->qemu ||
        ntr_config_load(&session->machine, sizeof session->machine, config->machine) != NTR_OK)
        return ntr_capture_fail(&session->reason, NTR_E_INVALID, "a machine needs its name, a capture plugin and QEMU");
    session->config.allocator = board->config.allocator;
    session->stream.fd = session->log = -1;
    ntr_encoder_config_init(&session->encoder);
    session->encoder.params.xlen = (uint8_t)session->machine.xlen;
    session->encoder.mode = NTR_INST_MODE_HTM;
    TRY(add_options(board, board->machine, socket));
    TRY(open_harts(board, session));
    return ntr_capture_machine_start(session);
}

ntr_status ntr_board_start_machine(ntr_board *board, const ntr_capture_config *config, const char *socket) {
    if (board->machine) return NTR_E_STATE;
    board->machine = ntr_alloc(board->config.allocator, 1, sizeof *board->machine);
    if (!board->machine) return NTR_E_MEMORY;
    const ntr_status status = start(board, config, socket);
    if (status == NTR_OK) return NTR_OK;
    fail(board, status);
    if (!*board->error) snprintf(board->error, sizeof board->error, "%s", ntr_status_text(status));
    board_machine_free(board);
    return status;
}

bool ntr_board_machine_ended(ntr_board *board) {
    if (!board->machine) return false;
    ntr_capture_guest_poll(&board->machine->session.guest);
    return board->machine->session.guest.ended;
}

void board_machine_free(ntr_board *board) {
    struct board_machine *machine = board->machine;
    if (!machine) return;
    struct ntr_capture_session *session = &machine->session;
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
    struct ntr_capture_session *session = &board->machine->session;
    while (ntr_capture_harts_drain(&session->harts, true)) continue;
    if (*session->reason.text && !*board->error) fail(board, NTR_OK);
}

bool board_machine_run(ntr_board *board) {
    struct ntr_capture_session *session = &board->machine->session;
    ntr_capture_harts_drain_part(&session->harts);
    if (*session->reason.text && !*board->error) fail(board, NTR_OK);
    return board->machine->running && !session->guest.ended;
}

/* What the debug module shows. */
static void set_running(ntr_board *board, bool running) {
    board->machine->running = running;
    for (unsigned i = 0; i < board->hart_count; i++) board->harts[i].halted = !running;
}

void board_machine_resumed(ntr_board *board) {
    if (board->machine) set_running(board, true);
}

void board_machine_halted(ntr_board *board) {
    if (!board->machine) return;
    set_running(board, false);
    board_machine_drain(board);
    ntr_capture_machine_halt(&board->machine->session.harts);
}
