/* What debuggers send: answers of OpenOCD and of GDB servers, files that scripts have written, remote_bitbang and GDB
 * packets for the virtual board. */
#include "fuzz.h"

#include "board/remote.h"
#include "target/rsp.h"
#include "target/tcl.h"

#include <ntrace/board.h>
#include <ntrace/target.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char topology[] =
    "{\"components\":[{\"name\":\"t\",\"type\":\"encoder\",\"base\":4096,\"hart\":0,\"to\":\"r\"},"
    "{\"name\":\"r\",\"type\":\"ram\",\"base\":8192,\"preset\":\"maximal\"}]}";

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

/* ---- answers of OpenOCD: the parts of the input, divided by 0x1a */

static ntr_status next_answer(void *user, const char *command, char *result) {
    fuzz_tape *tape = user;
    size_t used = 0;
    fuzz_must(strlen(command) < 1024, "commands are short");
    while (tape->at < tape->size && tape->bytes[tape->at] != 0x1a) {
        const uint8_t byte = tape->bytes[tape->at++];
        if (used + 1 < TCL_RESULT) result[used++] = byte ? (char)byte : ' ';
    }
    result[used] = 0;
    if (tape->at == tape->size) return NTR_E_IO;
    tape->at++;
    return NTR_OK;
}

static void read_answers(const uint8_t *data, size_t size) {
    fuzz_tape tape = {data, size, 0};
    tcl_client *client = calloc(1, sizeof *client);
    uint32_t words[300];
    uint8_t bytes[64];
    bool halted;
    if (!client) return;
    client->run = next_answer;
    client->user = &tape;
    tcl_prepare(client);
    while (tape.at < tape.size) {
        const size_t before = tape.at;
        tcl_read32(client, 0x1000, words);
        tcl_write32(client, 0x1000, 1);
        client->direct = !client->direct;
        tcl_read_fifo(client, 0x2040, words, 3);
        tcl_read_memory(client, 0x80000001, bytes, 9);
        tcl_hart(client, NTR_BUS_HART_STATE, &halted);
        fuzz_must(memchr(client->error, 0, sizeof client->error) != NULL, "reasons end");
        if (tape.at == before) break;
    }
    free(client);
}

/* ---- answers of a GDB server: all bytes are there at once, then the connection ends */

static void read_packets(const uint8_t *data, size_t size) {
    rsp_client *client = calloc(1, sizeof *client);
    int ends[2];
    if (!client || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        free(client);
        return;
    }
    client->link.fd = ends[0];
    client->link.timeout_ms = 1;
    client->link.breaks = LINK_BREAKS; /* it is not made again */
    const ssize_t sent = send(ends[1], data, size < LINK_BUFFER ? size : LINK_BUFFER, MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(ends[1], SHUT_WR);
    client->no_ack = sent > 0 && data[0] & 1;
    for (ssize_t i = 0; i <= sent && client->link.fd >= 0; i++) {
        if (rsp_ask(client, i % 2 ? "m1000,4" : "qSupported") != NTR_OK) break;
        fuzz_must(client->size < RSP_PACKET && client->packet[client->size] == 0, "packets end");
    }
    fuzz_must(memchr(client->link.error, 0, sizeof client->link.error) != NULL, "reasons end");
    link_close(&client->link);
    close(ends[1]);
    free(client);
}

/* ---- the file of a script */

static void read_words(const uint8_t *data, size_t size) {
    ntr_bus bus;
    unsigned line;
    uint32_t words[4];
    uint8_t bytes[16];
    if (ntr_bus_words(&bus, (ntr_bytes){data, size}, NULL, &line) != NTR_OK) return;
    for (unsigned i = 0; i < 4; i++) {
        bus.read32(bus.user, 0x2000 + 4 * i, &words[0]);
        bus.write32(bus.user, 0x2028, i);
        bus.read_fifo(bus.user, 0x2040, words, i);
        bus.read_memory(bus.user, 0x80000000 + i, bytes, sizeof bytes);
    }
    fuzz_must(strlen(bus.error(bus.user)) < 100, "reasons end");
    bus.close(bus.user);
}

/* ---- the virtual board */

static ntr_status count_bytes(void *user, const uint8_t *bytes, size_t size) {
    fuzz_must(bytes != NULL && size > 0, "outputs have bytes");
    *(size_t *)user += size;
    return NTR_OK;
}

/* The server behind the board: all that it sends is there at once, then the connection ends. Returns its end, or -1. */
static int begin_server(ntr_board *board, const uint8_t *data, size_t size) {
    int ends[2];
    board->remote = calloc(1, sizeof *board->remote);
    if (!board->remote || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        free(board->remote);
        board->remote = NULL;
        return -1;
    }
    board->remote->rsp.link.fd = ends[0];
    board->remote->rsp.link.timeout_ms = 1;
    board->remote->rsp.link.breaks = LINK_BREAKS;
    board->remote->running = size && data[0] & 1;
    send(ends[1], data, size < LINK_BUFFER ? size : LINK_BUFFER, MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(ends[1], SHUT_WR);
    return ends[1];
}

static void serve(const uint8_t *data, size_t size) {
    ntr_board_config config;
    size_t sent = 0;
    bool quit;
    ntr_board_config_init(&config);
    config.topology = (ntr_bytes){(const uint8_t *)topology, sizeof topology - 1};
    config.ram = 0x80000000;
    config.ram_bytes = 0x10000;
    ntr_board *board;
    ntr_board_new(&config, &board);
    fuzz_must(board != NULL, "the topology is valid");
    uint8_t *answers = malloc(size + 1);
    ntr_gdb_filter *filter;
    ntr_gdb_filter_new(board, count_bytes, &sent, NULL, &filter);
    const int server = begin_server(board, data, size);
    if (answers && filter) {
        fuzz_must(ntr_board_bitbang(board, data, size, answers, &quit) <= size,
                  "at most one answer for each character");
        ntr_board_run(board, 3);
        ntr_board_receive(board);
        ntr_gdb_filter_client(filter, data, size);
        ntr_board_receive(board);
    }
    ntr_gdb_filter_free(filter);
    if (server >= 0) close(server);
    free(answers);
    ntr_board_free(board);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_answers(data, size);
    read_packets(data, size);
    read_words(data, size);
    serve(data, size);
    return 0;
}
