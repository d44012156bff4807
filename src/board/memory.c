/* What the bus of the board reaches: memory, and the trace registers of the components. */
#include "board/board.h"

bool board_in_ram(const ntr_board *board, uint64_t address, size_t size) {
    const uint64_t offset = address - board->config.ram;
    return address >= board->config.ram && offset < board->config.ram_bytes && size <= board->config.ram_bytes - offset;
}

bool board_is_component(const ntr_board *board, uint64_t address) {
    ntr_system_component one;
    const uint64_t page = address & ~(uint64_t)(NTR_COMPONENT_BYTES - 1);
    for (size_t i = 0; ntr_system_component_get(board->system, i, &one) == NTR_OK; i++)
        if (one.base == page) return true;
    return false;
}

static bool in_program(const ntr_board *board, uint64_t address, size_t size) {
    uint8_t byte;
    if (!board->config.program || address > UINT64_MAX - size) return false;
    return ntr_program_read(board->config.program, ntr_place_at(NULL, NTR_POSITION_ANY, address), &byte, 1) &&
           ntr_program_read(board->config.program, ntr_place_at(NULL, NTR_POSITION_ANY, address + size - 1), &byte, 1);
}

bool board_memory_read(const ntr_board *board, uint64_t address, uint8_t *out, size_t size) {
    if (!board_in_ram(board, address, size) && !in_program(board, address, size)) return false;
    ntr_capture_memory_read(&board->memory, address, out, size);
    return true;
}

bool board_memory_write(ntr_board *board, uint64_t address, const uint8_t *bytes, size_t size) {
    if (!board_in_ram(board, address, size) && !in_program(board, address, size)) return false;
    if (board->memory.count >= BOARD_MEMORY_MAX >> 16) return false;
    return ntr_capture_memory_write(&board->memory, address, bytes, size);
}

ntr_status board_register_read(ntr_board *board, uint64_t address, uint32_t *value) {
    board_machine_drain(board);
    const ntr_status status = ntr_system_read32(board->system, address, value);
    if (status == NTR_OK && board->config.accessed) board->config.accessed(board->config.user, false, address, *value);
    return status;
}

ntr_status board_register_write(ntr_board *board, uint64_t address, uint32_t value) {
    board_machine_drain(board);
    const ntr_status status = ntr_system_write32(board->system, address, value);
    if (status == NTR_OK && board->config.accessed) board->config.accessed(board->config.user, true, address, value);
    return status;
}
