/* GDB servers in the place of QEMU that do not come to an end: the board gives up. */
#include "../test.h"

#include "board/remote.h"

#include <ntrace/board.h>
#include <ntrace/capture.h>

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static ntr_board *new_board(void) {
    static const char topology[] =
        "{\"components\":[{\"name\":\"a\",\"type\":\"encoder\",\"base\":268435456,\"hart\":0,\"to\":\"r\"},"
        "{\"name\":\"r\",\"type\":\"ram\",\"base\":268439552,\"sram\":4096}]}";
    ntr_board_config config;
    ntr_board_config_init(&config);
    config.topology = (ntr_bytes){(const uint8_t *)topology, strlen(topology)};
    ntr_board *board;
    ntr_board_new(&config, &board);
    assert_non_null(board);
    return board;
}

static void end(ntr_board *board, pid_t server) {
    ntr_board_free(board);
    kill(server, SIGKILL);
    assert_int_equal(waitpid(server, NULL, 0), server);
}

/* A server that sends `text` so many times (0: without end), then `last`. */
static pid_t serve(ntr_board *board, const char *text, unsigned times, const char *last) {
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    const pid_t server = fork();
    if (server == 0) {
        for (unsigned i = 0; !times || i < times; i++)
            if (send(ends[1], text, strlen(text), MSG_NOSIGNAL) < 0) _exit(0);
        send(ends[1], last, strlen(last), MSG_NOSIGNAL);
        for (;;) pause();
    }
    close(ends[1]);
    board->remote = calloc(1, sizeof *board->remote);
    assert_non_null(board->remote);
    board->remote->rsp.link.fd = ends[0];
    board->remote->rsp.link.timeout_ms = 60000;
    board->remote->rsp.no_ack = true;
    return server;
}

static void test_output_before_answer(void **state) {
    (void)state;
    ntr_board *board = new_board();
    const pid_t server = serve(board, "$O41#00", 1000, "$OK#00");
    assert_int_equal(board_remote_request(board, "Hg1"), NTR_OK);
    assert_string_equal(board->remote->rsp.packet, "OK");
    end(board, server);
}

static void test_endless_output(void **state) {
    static const char why[] = "the server sends 65536 packets, and none is the answer";
    (void)state;
    for (unsigned waits = 0; waits < 2; waits++) { /* for an answer, for a stop reply */
        ntr_board *board = new_board();
        const pid_t server = serve(board, "$O41#00$O42#00$O43#00$O44#00", 0, "");
        board->remote->running = waits;
        assert_int_equal(waits ? board_remote_wait(board, 60000) : board_remote_request(board, "Hg1"), NTR_E_IO);
        assert_string_equal(board->remote->rsp.link.error, why);
        assert_false(board_remote_is_open(board));
        end(board, server);
    }
}

/* The machine runs, and nobody waits for anything. The server may be slower than the board at first. */
static void test_output_without_a_pause(void **state) {
    static char many[1 << 16];
    ntr_status status;
    (void)state;
    for (size_t i = 0; i + 7 < sizeof many; i += 7) memcpy(many + i, "$O41#00", 7);
    ntr_board *board = new_board();
    const pid_t server = serve(board, many, 0, "");
    board->remote->running = true;
    do status = ntr_board_receive(board);
    while (status == NTR_OK);
    assert_int_equal(status, NTR_E_IO);
    assert_string_equal(board->remote->rsp.link.error, "the server sends 65536 packets without a pause");
    assert_false(board_remote_is_open(board));
    end(board, server);
}

/* Answers each request: nothing, or a part of a description that has no end. */
static void describe(int client) {
    char request[512];
    for (;;) {
        const ssize_t size = recv(client, request, sizeof request - 1, 0);
        if (size <= 0) _exit(0);
        request[size] = 0;
        if (!strchr(request, '$')) continue; /* an acknowledgement */
        const char *answer = strstr(request, "$qXfer") ? "+$mx#e5" : "+$#00";
        if (send(client, answer, strlen(answer), MSG_NOSIGNAL) < 0) _exit(0);
    }
}

static void test_endless_description(void **state) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    char options[4096], place[32];
    ntr_capture_config capture;
    ntr_capture_machine_config machine;
    (void)state;
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(listener >= 0 && bind(listener, (const struct sockaddr *)&at, size) == 0 && listen(listener, 1) == 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &size), 0);
    snprintf(place, sizeof place, "127.0.0.1:%u", ntohs(at.sin_port));
    const pid_t server = fork();
    if (server == 0) describe(accept(listener, NULL, NULL));
    close(listener);
    ntr_board *board = new_board();
    ntr_capture_config_init(&capture);
    ntr_capture_machine_config_init(&machine);
    machine.name = "virt";
    machine.plugin = "/proc/self/exe"; /* a file; nothing loads it */
    machine.xlen = 64;
    capture.machine = &machine;
    assert_int_equal(ntr_board_join_machine(board, &capture, options, sizeof options), NTR_OK);
    assert_int_equal(ntr_board_connect(board, place), NTR_OK);
    assert_int_equal(board->remote->csrs, 66); /* those of QEMU */
    end(board, server);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_output_before_answer), TEST(test_endless_output),
                                       TEST(test_output_without_a_pause), TEST(test_endless_description)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
