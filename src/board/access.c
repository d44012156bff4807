/* The program itself accesses trace registers.
 *
 * The pages of all components are watched by the GDB server (Z4). QEMU stops before a load or store to such a page. All
 * that was executed before is encoded; then the instruction is executed here: a store writes to the model, the register
 * of a load gets the value of the model, and the hart goes on behind it. So nothing has to be at the address in QEMU's
 * memory map, and what is there cannot be reached by the program. */
#include "board/remote.h"

#include "base/macros.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct load_store {
    bool is_word, stores, is_signed;
    unsigned reg, base;
    int32_t offset;
} load_store;

enum { OPCODE_LOAD = 0x03, OPCODE_STORE = 0x23, LW = 2, LWU = 6, C_LW = 2, C_SW = 6, X_SP = 2 };

static unsigned bits(uint32_t word, unsigned high, unsigned low) {
    return word >> low & ((1u << (high - low + 1)) - 1);
}

static unsigned short_register(uint32_t word, unsigned low) {
    return 8 + bits(word, low + 2, low);
}

/* C.LW, C.SW, C.LWSP and C.SWSP; other compressed forms have other widths. */
static load_store decode_short(uint32_t word) {
    const unsigned form = bits(word, 15, 13);
    const unsigned near = bits(word, 12, 10) << 3 | bits(word, 6, 6) << 2 | bits(word, 5, 5) << 6;
    const unsigned load_sp = bits(word, 12, 12) << 5 | bits(word, 6, 4) << 2 | bits(word, 3, 2) << 6;
    const unsigned store_sp = bits(word, 12, 9) << 2 | bits(word, 8, 7) << 6;
    if (form != C_LW && form != C_SW) return (load_store){0};
    if ((word & 3) == 0)
        return (load_store){true, form == C_SW, true, short_register(word, 2), short_register(word, 7), (int32_t)near};
    if (form == C_LW) return (load_store){true, false, true, bits(word, 11, 7), X_SP, (int32_t)load_sp};
    return (load_store){true, true, true, bits(word, 6, 2), X_SP, (int32_t)store_sp};
}

/* Registers are accessed by 32 bits: LW, LWU, SW and their compressed forms. */
static load_store decode(uint32_t word) {
    const unsigned opcode = word & 0x7f, width = bits(word, 14, 12), base = bits(word, 19, 15);
    const int32_t high = (int32_t)(word & 0xfe000000) >> 20; /* bits 11:5 of the offset of a store, with its sign */
    if ((word & 3) != 3) return decode_short(word);
    if (opcode == OPCODE_LOAD)
        return (load_store){width == LW || width == LWU, false, width == LW,
                            bits(word, 11, 7),           base,  (int32_t)word >> 20};
    if (opcode == OPCODE_STORE)
        return (load_store){width == LW, true, false, bits(word, 24, 20), base, high | (int32_t)bits(word, 11, 7)};
    return (load_store){0}; /* atomic, floating point, vector */
}

bool board_access_is(const ntr_board *board, const char *stop) {
    const char *at = strstr(stop, "awatch:");
    return board->remote->watches && at && board_is_component(board, strtoull(at + strlen("awatch:"), NULL, 16));
}

static ntr_status read_register(ntr_board *board, unsigned number, uint64_t *value) {
    TRY(board_remote_request(board, "p%x", number));
    return board_parse_value(board->remote->rsp.packet, value) ? NTR_OK : NTR_E_SYNTAX;
}

static ntr_status write_register(ntr_board *board, unsigned number, uint64_t value) {
    char text[2 * sizeof value + 1];
    board_print_value(text, value, board_machine_xlen(board) / 8);
    return board_remote_request(board, "P%x=%s", number, text);
}

static void refuse(ntr_board *board, unsigned hart, uint64_t pc) {
    if (!*board->error)
        snprintf(board->error, sizeof board->error,
                 "hart %u at 0x%" PRIx64 " accesses a trace register, but not by an aligned load or store of 32 bits: "
                 "it has no effect",
                 hart, pc);
}

static ntr_status answer(ntr_board *board, const load_store *access, uint64_t address) {
    uint64_t value = 0;
    uint32_t word = 0;
    if (access->stores) {
        TRY(read_register(board, access->reg, &value));
        board_register_write(board, address, (uint32_t)value); /* writes to reserved addresses are ignored */
        return NTR_OK;
    }
    board_register_read(board, address, &word);
    value = access->is_signed ? (uint64_t)(int64_t)(int32_t)word : word;
    return access->reg ? write_register(board, access->reg, value) : NTR_OK;
}

static ntr_status execute(ntr_board *board, unsigned hart, uint64_t pc, uint32_t word) {
    const load_store access = decode(word);
    const unsigned size = (word & 3) == 3 ? 4 : 2;
    uint64_t address = 0;
    if (access.is_word) TRY(read_register(board, access.base, &address));
    address += (uint64_t)(int64_t)access.offset;
    if (board_machine_xlen(board) == 32) address = (uint32_t)address;
    board_machine_insert(board, hart, pc, word, size);
    if (access.is_word && address % sizeof word == 0 && board_is_component(board, address))
        TRY(answer(board, &access, address));
    else
        refuse(board, hart, pc);
    return write_register(board, GDB_PC, pc + size);
}

ntr_status board_access_answer(ntr_board *board, const char *stop) {
    const unsigned hart = board_stop_hart(stop);
    uint64_t pc, low, high = 0;
    board_machine_paused(board);
    TRY(board_remote_request(board, "Hgp1.%x", hart + 1));
    TRY(read_register(board, GDB_PC, &pc));
    TRY(board_remote_request(board, "m%" PRIx64 ",2", pc)); /* the other half may be in a page that is not there */
    if (!board_parse_value(board->remote->rsp.packet, &low)) return NTR_E_SYNTAX;
    if ((low & 3) == 3) TRY(board_remote_request(board, "m%" PRIx64 ",2", pc + 2));
    if ((low & 3) == 3 && !board_parse_value(board->remote->rsp.packet, &high)) return NTR_E_SYNTAX;
    return execute(board, hart, pc, (uint32_t)(low | high << 16));
}
