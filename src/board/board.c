#include "base/bytes.h"
#include "board/board.h"

#include "base/allocator.h"
#include "base/config.h"
#include "base/macros.h"

#include <string.h>

enum { LOAD_CHUNK = 4096, GAP_STEP = 16, IDLE_CYCLES = 16 };

/* ---- memory */

static bool sink_read(void *user, uint64_t address, uint8_t *out, size_t size) {
    return board_memory_read(user, address, out, size);
}

static bool sink_write(void *user, uint64_t address, const uint8_t *bytes, size_t size) {
    return board_memory_write(user, address, bytes, size);
}

/* Copies the code and data of the program to memory. */
static ntr_status load_image(ntr_board *board, const ntr_image_info *info) {
    uint8_t bytes[LOAD_CHUNK];
    if (info->high - info->low > BOARD_MEMORY_MAX) return NTR_E_LIMIT;
    for (uint64_t at = info->low; at < info->high;) {
        const size_t got =
            ntr_program_read(board->config.program, ntr_place_at(NULL, NTR_POSITION_ANY, at), bytes, sizeof bytes);
        if (got && !ntr_capture_memory_write(&board->memory, at, bytes, got)) return NTR_E_MEMORY;
        at += got ? got : GAP_STEP;
    }
    return NTR_OK;
}

static ntr_status load(ntr_board *board) {
    ntr_image_info info;
    for (size_t i = 0; board->config.program && ntr_program_image(board->config.program, i, &info) == NTR_OK; i++)
        TRY(load_image(board, &info));
    return NTR_OK;
}

/* ---- life */

static void count_harts(ntr_board *board) {
    ntr_system_component one;
    board->hart_count = 1;
    for (size_t i = 0; ntr_system_component_get(board->system, i, &one) == NTR_OK; i++)
        if (one.hart >= (int)board->hart_count && one.hart < BOARD_HARTS) board->hart_count = (unsigned)one.hart + 1;
    for (unsigned i = 0; i < BOARD_HARTS; i++)
        board->harts[i] = (board_hart){.board = board,
                                       .number = i,
                                       .halted = true,
                                       .have_reset = true,
                                       .dcsr = 0x40000003 | CAUSE_HALTREQ << DCSR_CAUSE_SHIFT};
}

static ntr_status build(ntr_board *board) {
    ntr_status status;
    ntr_system_config config;
    ntr_system_config_init(&config);
    config.topology = board->config.topology;
    config.memory_read = sink_read;
    config.memory_write = sink_write;
    config.user = board;
    config.allocator = board->config.allocator;
    config.error = board->config.error;
    config.error_size = board->config.error_size;
    status = ntr_system_new(&config, &board->system);
    if (!board->system) return status;
    count_harts(board);
    board->memory.allocator = board->config.allocator;
    return load(board);
}

ntr_status ntr_board_new(const ntr_board_config *given, ntr_board **out) {
    *out = NULL;
    ntr_board_config config;
    ntr_status status = ntr_config_load(&config, sizeof config, given);
    if (status != NTR_OK) return status;
    ntr_board *board = ntr_alloc(config.allocator, 1, sizeof *board);
    if (!board) return NTR_E_MEMORY;
    board->config = config;
    board->stopped = board_control_stopped;
    status = build(board);
    if (status == NTR_OK)
        *out = board;
    else
        ntr_board_free(board);
    return status;
}

void ntr_board_free(ntr_board *board) {
    if (!board) return;
    ntr_board_disconnect(board);
    ntr_dealloc(board->config.allocator, board->remote);
    board_machine_free(board);
    for (unsigned i = 0; i < BOARD_HARTS; i++) board_hart_release(&board->harts[i]);
    ntr_system_free(board->system);
    ntr_capture_memory_release(&board->memory);
    ntr_dealloc(board->config.allocator, board);
}

ntr_system *ntr_board_system(ntr_board *board) {
    return board->system;
}

const char *ntr_board_error(const ntr_board *board) {
    return board->error;
}

/* ---- harts */

ntr_status ntr_board_execute(ntr_board *board, unsigned hart, const uint64_t *pcs, size_t count) {
    if (hart >= board->hart_count) return NTR_E_RANGE;
    if (!board->config.program || !count) return NTR_E_INVALID;
    return board_hart_load(&board->harts[hart], pcs, count);
}

bool ntr_board_run(ntr_board *board, unsigned instructions) {
    bool any = board->machine && board_machine_run(board);
    for (unsigned i = 0; i < board->hart_count && !board->machine; i++) {
        any |= !board->harts[i].halted;
        board_hart_run(&board->harts[i], instructions);
    }
    ntr_system_step(board->system, any && !board->machine ? instructions : IDLE_CYCLES);
    return any;
}

/* ---- the system bus */

ntr_status ntr_board_read32(ntr_board *board, uint64_t address, uint32_t *value) {
    uint8_t bytes[4];
    const ntr_status status = board_register_read(board, address, value);
    if (status != NTR_E_RANGE) return status;
    if (board_control_is(board) && !board_in_ram(board, address, sizeof bytes))
        return board_control_read(board, address, value);
    if (!board_memory_read(board, address, bytes, sizeof bytes)) return NTR_E_RANGE;
    *value = ntr_little_32(bytes);
    return NTR_OK;
}

ntr_status ntr_board_write32(ntr_board *board, uint64_t address, uint32_t value) {
    const uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
    const ntr_status status = board_register_write(board, address, value);
    if (status != NTR_E_RANGE) return status;
    if (board_control_is(board) && !board_in_ram(board, address, sizeof bytes))
        return board_control_write(board, address, value);
    if (!board_memory_write(board, address, bytes, sizeof bytes)) return NTR_E_RANGE;
    board->patched = true;
    return NTR_OK;
}
