/* A machine behind the virtual board: the debug module halts, steps and reads its harts, or a GDB client does, while
 * the program accesses trace registers. All answers and stops of the machine's GDB server are those of the input.
 *
 * Input: 1 byte: RV32 or RV64, does it run, checksums; 1 byte: number of operations; these, each of 1 byte and what it
 * needs; then all that the server sends. Its packets need no checksums where the first byte says so. */
#include "fuzz.h"

#include "board/control.h"
#include "board/remote.h"

#include <ntrace/board.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { OPERATIONS = 24, SENT_MAX = LINK_BUFFER, OPTIONS_BYTES = 4096 };
enum { MEMORY = 0x50000000 };

static const char topology[] =
    "{\"components\":[{\"name\":\"a\",\"type\":\"encoder\",\"base\":268435456,\"hart\":0,\"xlen\":%u,\"to\":\"f:0\"},"
    "{\"name\":\"b\",\"type\":\"encoder\",\"base\":268439552,\"hart\":1,\"xlen\":%u,\"to\":\"f:1\"},"
    "{\"name\":\"f\",\"type\":\"funnel\",\"base\":268443648,\"to\":\"r\"},"
    "{\"name\":\"r\",\"type\":\"ram\",\"base\":268447744,\"sram\":4096}]}";

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

static ntr_board *make_board(unsigned xlen) {
    static char text[sizeof topology + 8];
    char options[OPTIONS_BYTES];
    ntr_board_config config;
    ntr_capture_config capture;
    ntr_capture_machine_config machine;
    ntr_board_config_init(&config);
    const int size = snprintf(text, sizeof text, topology, xlen, xlen);
    config.topology = (ntr_bytes){(const uint8_t *)text, (size_t)size};
    config.ram = MEMORY;
    config.ram_bytes = 0x1000;
    ntr_capture_config_init(&capture);
    ntr_capture_machine_config_init(&machine);
    machine.name = "virt";
    machine.plugin = "/proc/self/exe"; /* a file; nothing loads it */
    machine.xlen = xlen;
    capture.machine = &machine;
    ntr_board *board;
    ntr_board_new(&config, &board);
    fuzz_must(board != NULL, "the topology is valid");
    const ntr_status status = ntr_board_join_machine(board, &capture, options, sizeof options);
    fuzz_must(status == NTR_OK, ntr_board_error(board));
    return board;
}

/* The server has sent everything, and its end is closed for writing. Returns its end. */
static int connect_server(ntr_board *board, uint8_t flags, ntr_bytes sent) {
    int ends[2];
    board->remote = calloc(1, sizeof *board->remote);
    fuzz_must(board->remote && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "a connection");
    board->remote->rsp.link.fd = ends[0];
    board->remote->rsp.link.timeout_ms = 1;
    board->remote->rsp.link.breaks = LINK_BREAKS; /* it is not made again */
    board->remote->rsp.no_ack = flags & 2;
    board->remote->running = flags & 4;
    board->remote->watches = true;
    board->remote->csrs = 66;
    for (unsigned i = 0; i < board->hart_count; i++) board->harts[i].halted = !(flags & 4);
    send(ends[1], sent.data, sent.size < SENT_MAX ? sent.size : SENT_MAX, MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(ends[1], SHUT_WR);
    return ends[1];
}

static ntr_status take_output(void *user, const uint8_t *bytes, size_t size) {
    (void)user;
    fuzz_must(bytes != NULL && size > 0, "outputs have bytes");
    return NTR_OK;
}

/* Operations of a GDB client. */
static void ask_as_client(ntr_board *board, fuzz_tape *tape) {
    static const char *const packets[] = {"$?#3f", "$vCont;c#a8",     "$vCont;s:p1.2#00",         "\003",
                                          "$g#67", "$m10000000,4#00", "$M10000000,4:01000000#00", "$D#44",
                                          "$s#73"};
    ntr_gdb_filter *filter;
    ntr_gdb_filter_new(board, take_output, NULL, NULL, &filter);
    if (!filter) return;
    for (unsigned left = fuzz_byte(tape) % 4; left; left--) {
        const char *packet = packets[fuzz_byte(tape) % (sizeof packets / sizeof *packets)];
        if (ntr_gdb_filter_client(filter, (const uint8_t *)packet, strlen(packet)) != NTR_OK) break;
        ntr_board_receive(board);
    }
    ntr_gdb_filter_free(filter);
}

static void access_register(board_hart *hart, bool write, fuzz_tape *tape) {
    const unsigned number = (unsigned)fuzz_number(tape, 2);
    uint64_t value = write ? fuzz_number(tape, 8) : 0;
    fuzz_must(board_control_register(hart, number, write, fuzz_byte(tape) & 1 ? 32 : 64, &value) <= CMDERR_BUS,
              "cmderr has a value for each failure");
}

static void operate(ntr_board *board, fuzz_tape *tape) {
    const unsigned operation = fuzz_byte(tape);
    board_hart *hart = &board->harts[operation >> 7];
    uint64_t value;
    uint32_t word;
    switch (operation % 10) {
    case 0: board_control_halt(hart); break;
    case 1: board_control_resume(hart); break;
    case 2:
        value = DCSR_STEP;
        board_control_register(hart, REG_DCSR, true, 32, &value);
        board_control_resume(hart);
        break;
    case 3: access_register(hart, false, tape); break;
    case 4: access_register(hart, true, tape); break;
    case 5: board_control_read(board, fuzz_number(tape, 4), &word); break;
    case 6: board_control_write(board, fuzz_number(tape, 4), (uint32_t)fuzz_number(tape, 4)); break;
    case 7: board_control_reset(board); break;
    case 8: ask_as_client(board, tape); break;
    default: ntr_board_receive(board); break;
    }
}

static void check(const ntr_board *board) {
    fuzz_must(memchr(board->error, 0, sizeof board->error) &&
                  memchr(board->remote->rsp.link.error, 0, sizeof board->remote->rsp.link.error),
              "reasons end");
    fuzz_must(!board->pausing && !board->stepping, "nothing is left half done");
    fuzz_must(board->breakpoints.patch_count <= BOARD_PATCHES && board->breakpoints.selected < BOARD_TRIGGERS,
              "breakpoints fit their tables");
    fuzz_must(memchr(board->remote->rsp.packet, 0, sizeof board->remote->rsp.packet), "packets end");
    fuzz_must(!board_remote_is_open(board) || !board->filter, "the client has left");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_tape tape = {data, size, 0};
    const uint8_t flags = fuzz_byte(&tape);
    const unsigned count = fuzz_byte(&tape) % OPERATIONS;
    ntr_bytes operations = fuzz_part(&tape, (size_t)count * 2);
    fuzz_tape script = {operations.data, operations.size, 0};
    ntr_board *board = make_board(flags & 1 ? 64 : 32);
    const int server = connect_server(board, flags, fuzz_rest(&tape));
    for (unsigned i = 0; i < count; i++) {
        operate(board, &script);
        check(board);
    }
    close(server);
    ntr_board_free(board);
    return 0;
}
