/* The clients of a virtual board, and the time of its harts. */
#include "commands/board/run.h"
#include "io/target.h"
#include "options/options.h"
#include "io/progress.h"
#include "options/diagnostics.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SOCKET_BYTES = 65536, TICK_MS = 1, IDLE_MS = 200, TURN_MAX = 300, MACHINE_US = 20000 };

/* ---- JTAG */

static void end_client(struct board_run *run, struct cli_server *server) {
    cli_server_drop(server);
    run->ended = run->options->once;
}

/* A machine that the user starts may be there by now. */
static void begin_bitbang(struct board_run *run) {
    cli_server_accept(&run->bitbang);
    if (run->options->machine.name && ntr_board_connection(run->board) < 0)
        board_machine_connect(&run->machine, run->options->target, run->board);
}

static void serve_bitbang(struct board_run *run) {
    static uint8_t in[SOCKET_BYTES], out[SOCKET_BYTES];
    bool quit;
    const ssize_t n = recv(run->bitbang.client, in, sizeof in, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
        end_client(run, &run->bitbang);
        return;
    }
    const size_t answers = ntr_board_bitbang(run->board, in, (size_t)n, out, &quit);
    if (!cli_server_send(run->bitbang.client, out, answers) || quit) end_client(run, &run->bitbang);
}

/* ---- lines on standard input */

/* Copies the next word of a line. Returns what follows it. */
static const char *take_word(const char *at, char *word, size_t size) {
    at += strspn(at, " ");
    const size_t length = strcspn(at, " ");
    snprintf(word, size, "%.*s", (int)length, at);
    return at + length;
}

static ntr_status answer_line(struct board_run *run, const char *line, uint32_t *word) {
    char command[4], first[32], second[32];
    uint64_t address, value;

    take_word(take_word(take_word(line, command, sizeof command), first, sizeof first), second, sizeof second);
    if (!cli_parse_number(first, &address)) return NTR_E_SYNTAX;
    if (strcmp(command, "r") == 0) return ntr_board_read32(run->board, address, word);
    if (strcmp(command, "w") != 0 || !cli_parse_number(second, &value) || value > UINT32_MAX) return NTR_E_SYNTAX;
    return ntr_board_write32(run->board, address, (uint32_t)value);
}

static void serve_line(struct board_run *run) {
    uint32_t word = 0;
    const ntr_status status = answer_line(run, run->line, &word);

    if (status == NTR_E_RANGE)
        puts("error nothing is at this address");
    else if (status != NTR_OK)
        printf("error %s\n", ntr_status_text(status));
    else if (run->line[0] == 'r')
        printf("0x%08" PRIx32 "\n", word);
    else
        puts("ok");
    fflush(stdout);
}

static void serve_lines(struct board_run *run) {
    char bytes[BOARD_LINE_BYTES];
    const ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);

    if (n < 0 && errno == EINTR) return;
    if (n <= 0) run->ended = true;
    for (ssize_t i = 0; i < n; i++) {
        if (bytes[i] == '\n') {
            run->line[run->line_size] = 0;
            serve_line(run);
            run->line_size = 0;
        } else if (bytes[i] != '\r' && run->line_size + 1 < sizeof run->line) {
            run->line[run->line_size++] = bytes[i];
        }
    }
}

/* ---- GDB */

static ntr_status forward(void *user, const uint8_t *bytes, size_t size) {
    const struct board_run *run = user;
    return cli_server_send(run->gdb.client, bytes, size) ? NTR_OK : NTR_E_IO;
}

static void end_gdb(struct board_run *run) {
    ntr_gdb_filter_free(run->filter);
    run->filter = NULL;
    if (!run->options->machine.name) ntr_board_disconnect(run->board);
    end_client(run, &run->gdb);
}

/* Without a machine, a new client gets a new connection to the server behind. */
static void begin_gdb(struct board_run *run) {
    const bool connected = ntr_board_connection(run->board) >= 0;

    if (connected || board_machine_connect(&run->machine, run->options->target, run->board) == CLI_OK)
        ntr_gdb_filter_new(run->board, forward, run, NULL, &run->filter);
    if (!run->filter) end_gdb(run);
}

static void serve_gdb(struct board_run *run) {
    static uint8_t bytes[SOCKET_BYTES];
    const ssize_t n = recv(run->gdb.client, bytes, sizeof bytes, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0 || ntr_gdb_filter_client(run->filter, bytes, (size_t)n) != NTR_OK) end_gdb(run);
}

/* The GDB server has sent something, or has ended. */
static void serve_remote(struct board_run *run) {
    if (ntr_board_receive(run->board) == NTR_OK) return;
    if (run->filter)
        end_gdb(run);
    else if (run->options->machine.name)
        cli_note("the connection to the machine has ended");
}

/* ---- */

static uint64_t now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

/* Lets the harts execute as much as time has passed, a small part at a time: clients come first. Returns whether one
 * runs. */
static bool run_harts(struct board_run *run) {
    const uint64_t now = now_us();
    uint64_t instructions = (now - run->ran_until) * (uint64_t)run->options->rate / 1000;

    if (!instructions) return true;
    if (instructions > TURN_MAX) instructions = TURN_MAX;
    run->ran_until = now;
    if (!run->machine_ended && ntr_board_machine_ended(run->board)) {
        cli_note("the machine has ended; its trace can still be read");
        run->machine_ended = true;
    }
    const bool runs = ntr_board_run(run->board, (unsigned)instructions);
    if (!run->reported && *ntr_board_error(run->board)) {
        cli_note("%s", ntr_board_error(run->board));
        run->reported = true;
    }
    return runs;
}

/* What a machine executes is encoded while no client sends, and every MACHINE_US; QEMU waits as long as its memory is
 * full. */
static bool run_machine(struct board_run *run, bool busy) {
    if (busy && now_us() - run->ran_until < MACHINE_US) return true;
    const bool runs = run_harts(run);
    run->ran_until = now_us();
    return runs;
}

enum { BITBANG_LISTENER, BITBANG_CLIENT, GDB_LISTENER, GDB_CLIENT, QEMU, LINES, SOCKETS };

int board_serve(struct board_run *run) {
    bool busy = false;

    run->ran_until = now_us();
    while (!cli_progress_stopped() && !run->ended) {
        const bool runs = run->options->machine.name ? run_machine(run, busy) : run_harts(run);
        struct pollfd sockets[SOCKETS] = {
            {run->bitbang.client < 0 ? run->bitbang.listener : -1, POLLIN, 0},
            {run->bitbang.client, POLLIN, 0},
            {run->gdb.client < 0 ? run->gdb.listener : -1, POLLIN, 0},
            {run->gdb.client, POLLIN, 0},
            {ntr_board_connection(run->board), POLLIN, 0},
            {run->options->standard ? STDIN_FILENO : -1, POLLIN, 0},
        };
        const int ready = poll(sockets, SOCKETS, runs ? TICK_MS : IDLE_MS);
        if (ready < 0 && errno != EINTR) return cli_fail("poll: %s", strerror(errno));
        busy = ready > 0;
        if (sockets[BITBANG_LISTENER].revents) begin_bitbang(run);
        if (sockets[BITBANG_CLIENT].revents) serve_bitbang(run);
        if (sockets[GDB_LISTENER].revents) {
            cli_server_accept(&run->gdb);
            if (run->gdb.client >= 0) begin_gdb(run);
        }
        if (sockets[GDB_CLIENT].revents && run->filter) serve_gdb(run);
        if (sockets[QEMU].revents) serve_remote(run);
        if (sockets[LINES].revents) serve_lines(run);
    }
    return CLI_OK;
}
