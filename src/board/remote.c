#include "board/remote.h"
#include "base/allocator.h"
#include "base/macros.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The program itself accesses trace registers.
 *
 * The pages of all components are watched by the GDB server (Z4). QEMU stops before a load or store to such a page. All
 * that was executed before is encoded; then the instruction is executed here: a store writes to the model, the register
 * of a load gets the value of the model, and the hart goes on behind it. So nothing has to be at the address in QEMU's
 * memory map, and what is there cannot be reached by the program. */

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

static bool board_access_is(const ntr_board *board, const char *stop) {
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

static ntr_status board_access_answer(ntr_board *board, const char *stop) {
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

enum {
    XML_PART = 0xff0,
    XML_MAX = XML_PART << 10,
    GREET_PACKETS = 16,
    MHARTID = 0xf14,
    DEFAULT_CSRS = 66,
    STOP_BYTES = 256,
    WAIT_MS = 1
};
enum {
    UNANSWERED_MAX = 1 << 16
}; /* packets that may come before the answer to a request, before a stop reply, or without a pause */

bool board_remote_is_open(const ntr_board *board) {
    return board->remote && board->remote->rsp.link.fd >= 0;
}

/* ---- requests */

static bool is_stop(const board_remote *remote) {
    return strchr("TSWX", remote->rsp.packet[0]) && remote->rsp.packet[0];
}

/* Console output, and requests of semihosting. */
static bool is_for_client(const board_remote *remote) {
    const char *packet = remote->rsp.packet;
    return (packet[0] == 'O' && strcmp(packet, "OK") != 0) || (packet[0] == 'F' && remote->running);
}

static ntr_status forward(ntr_board *board) {
    const rsp_client *rsp = &board->remote->rsp;
    return board->filter ? board->forward(board->filter, rsp->packet, rsp->size) : NTR_OK;
}

static ntr_status take_stop(ntr_board *board);

static ntr_status give_up(board_remote *remote) {
    return link_break(&remote->rsp.link, "the server sends %d packets, and none is the answer", UNANSWERED_MAX);
}

ntr_status board_remote_ask(ntr_board *board, const char *data, size_t size) {
    board_remote *remote = board->remote;
    if (!board_remote_is_open(board)) return NTR_E_IO;
    TRY(rsp_send_data(&remote->rsp, data, size));
    for (unsigned i = 0; i < UNANSWERED_MAX; i++) {
        link_begin(&remote->rsp.link); /* what the server reports may have taken a debugger's time */
        TRY(rsp_receive(&remote->rsp));
        if (is_for_client(remote))
            TRY(forward(board));
        else if (remote->running && is_stop(remote))
            TRY(take_stop(board));
        else
            return NTR_OK;
    }
    return give_up(remote);
}

ntr_status board_remote_request(ntr_board *board, const char *format, ...) {
    char text[REMOTE_TEXT];
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return size < 0 || (size_t)size >= sizeof text ? NTR_E_LIMIT : board_remote_ask(board, text, (size_t)size);
}

/* ---- running */

ntr_status board_remote_resume(ntr_board *board, const char *data) {
    board_remote *remote = board->remote;
    if (!board_remote_is_open(board)) return NTR_E_IO;
    if (data != remote->resume) snprintf(remote->resume, sizeof remote->resume, "%s", data);
    remote->running = true;
    remote->interrupted = false;
    return rsp_send(&remote->rsp, data);
}

ntr_status board_remote_interrupt(ntr_board *board) {
    static const char interrupt[] = {3};
    if (!board_remote_is_open(board)) return NTR_E_IO;
    if (!board->remote->running) return NTR_OK;
    board->remote->interrupted = true;
    link_begin(&board->remote->rsp.link);
    return link_send(&board->remote->rsp.link, interrupt, sizeof interrupt);
}

/* Has the packet resumed the hart for one instruction? */
static bool steps(const char *resume, unsigned hart) {
    char one[32];
    if (*resume == 's' || *resume == 'S') return true;
    const char *at = strncmp(resume, "vCont", 5) == 0 ? strstr(resume, ";s") : NULL;
    snprintf(one, sizeof one, ";s:p1.%x", hart + 1);
    return at && (at[2] != ':' || strstr(resume, one));
}

static ntr_status deliver(ntr_board *board, const char *stop, size_t size) {
    if (!board->filter) return board->stopped(board, stop);
    board_machine_halted(board);
    return board->forward(board->filter, stop, size);
}

static ntr_status take_stop(ntr_board *board) {
    board_remote *remote = board->remote;
    char stop[STOP_BYTES];
    remote->running = false;
    const size_t size = remote->rsp.size < sizeof stop - 1 ? remote->rsp.size : sizeof stop - 1;
    memcpy(stop, remote->rsp.packet, size);
    stop[size] = 0;
    if (!board_access_is(board, stop)) return deliver(board, stop, size);
    const unsigned hart = board_stop_hart(stop);
    TRY(board_access_answer(board, stop));
    const bool stepped = steps(remote->resume, hart);
    if (!stepped && !remote->interrupted) {
        board_machine_continued(board);
        return board_remote_resume(board, remote->resume);
    }
    snprintf(stop, sizeof stop, "T%02xthread:p01.%02x;", stepped ? SIGNAL_TRAP : SIGNAL_INTERRUPT, hart + 1);
    return deliver(board, stop, strlen(stop));
}

static ntr_status take_packet(ntr_board *board) {
    board_remote *remote = board->remote;
    TRY(rsp_receive(&remote->rsp));
    if (is_for_client(remote)) return forward(board);
    return remote->running && is_stop(remote) ? take_stop(board) : NTR_OK; /* else it answers nothing */
}

/* QEMU stops when there is room for what its harts report. */
ntr_status board_remote_wait(ntr_board *board, uint32_t ms) {
    unsigned turns = 0;
    for (uint32_t waited = 0; board->remote->running && waited < ms;) {
        if (turns == UNANSWERED_MAX) return give_up(board->remote);
        if (rsp_comes(&board->remote->rsp, WAIT_MS))
            TRY(take_packet(board));
        else if (!board_remote_is_open(board))
            return NTR_E_IO;
        else
            waited += WAIT_MS;
        turns++;
        if (board->machine && board->remote->running) board_machine_run(board);
    }
    return board->remote->running ? NTR_E_IO : NTR_OK;
}

unsigned board_stop_signal(const char *stop) {
    const char digits[] = {stop[0] ? stop[1] : 0, stop[0] && stop[1] ? stop[2] : 0, 0};
    return (unsigned)strtoul(digits, NULL, 16);
}

unsigned board_stop_hart(const char *stop) {
    const char *at = strstr(stop, "thread:");
    if (!at) return 0;
    at += strlen("thread:");
    const char *dot = strchr(at, '.');
    const unsigned long number = strtoul(dot ? dot + 1 : at, NULL, 16);
    return number && number <= BOARD_HARTS ? (unsigned)number - 1 : 0;
}

ntr_status ntr_board_receive(ntr_board *board) {
    for (unsigned i = 0; i < UNANSWERED_MAX; i++) {
        if (!board_remote_is_open(board)) return NTR_E_IO;
        if (!rsp_comes(&board->remote->rsp, 0)) return board_remote_is_open(board) ? NTR_OK : NTR_E_IO;
        TRY(take_packet(board));
    }
    return link_break(&board->remote->rsp.link, "the server sends %d packets without a pause", UNANSWERED_MAX);
}

/* ---- the connection */

/* The numbers of CSRs. When it has been asked for them, QEMU gives registers one by one. */
static ntr_status find_csrs(ntr_board *board) {
    static const char name[] = "name=\"mhartid\"", number[] = "regnum=\"";
    board_remote *remote = board->remote;
    remote->csrs = DEFAULT_CSRS;
    TRY(board_remote_request(board, "qXfer:features:read:target.xml:0,%x", XML_PART));
    for (unsigned at = 0, found = 0; !found && at < XML_MAX; at += XML_PART) {
        TRY(board_remote_request(board, "qXfer:features:read:riscv-csr.xml:%x,%x", at, XML_PART));
        const char *place = strstr(remote->rsp.packet, name);
        if (place) place = strstr(place, number);
        if (place) remote->csrs = (unsigned)strtoul(place + strlen(number), NULL, 10) - MHARTID;
        found = place || remote->rsp.packet[0] != 'm';
    }
    return NTR_OK;
}

/* Packets that the server sends by itself come first: that it has stopped, because a client has connected. */
static ntr_status drop_unasked(ntr_board *board) {
    TRY(board_remote_request(board, "vMustReplyEmpty"));
    for (unsigned i = 0; i < GREET_PACKETS && board->remote->rsp.size; i++) TRY(rsp_receive(&board->remote->rsp));
    return NTR_OK;
}

/* QEMU removes all breakpoints at "?". */
ntr_status board_remote_watch(ntr_board *board) {
    ntr_system_component one;
    if (!board->machine) return NTR_OK;
    for (size_t i = 0; ntr_system_component_get(board->system, i, &one) == NTR_OK; i++)
        TRY(board_remote_request(board, "Z4,%llx,%x", (unsigned long long)one.base, NTR_COMPONENT_BYTES));
    board->remote->watches = true;
    return NTR_OK;
}

static ntr_status greet(ntr_board *board) {
    TRY(board_remote_request(board, "qSupported:multiprocess+;xmlRegisters=riscv"));
    TRY(find_csrs(board));
    return board_remote_watch(board);
}

ntr_status ntr_board_connect(ntr_board *board, const char *place) {
    if (board_remote_is_open(board)) return NTR_E_STATE;
    if (!board->remote) board->remote = ntr_alloc(board->config.allocator, 1, sizeof *board->remote);
    if (!board->remote) return NTR_E_MEMORY;
    *board->remote = (board_remote){.rsp.link.fd = -1};
    ntr_status status = link_open(&board->remote->rsp.link, place, false, REMOTE_TIMEOUT_MS);
    if (status == NTR_OK) status = drop_unasked(board);
    if (status == NTR_OK && board->machine) status = greet(board);
    board->error[0] = 0; /* of an attempt before */
    if (status == NTR_OK) return NTR_OK;
    snprintf(board->error, sizeof board->error, "%.190s", board->remote->rsp.link.error);
    ntr_board_disconnect(board);
    return status;
}

int ntr_board_connection(const ntr_board *board) {
    return board->remote ? board->remote->rsp.link.fd : -1;
}

void ntr_board_disconnect(ntr_board *board) {
    if (!board->remote) return;
    link_close(&board->remote->rsp.link);
    board->remote->running = false;
}
