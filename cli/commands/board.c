#include "commands/board_machine.h"
#include "io/images.h"
#include "io/input.h"
#include "io/lines.h"
#include "io/output.h"
#include "io/server.h"
#include "io/target.h"
#include "options/command.h"
#include "options/diagnostics.h"

#include <ntrace/board.h>

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BOARD_TOPOLOGY_MAX = 1 << 20, SOCKET_BYTES = 65536, TICK_MS = 1, IDLE_MS = 200, LINE_BYTES = 256, TURN_MAX = 300, RATE = 1000,
       MACHINE_US = 20000 };

struct board_options {
    struct cli_images images;
    struct machine_options machine;
    struct cli_list pcs;
    const char *qemu, *listen, *ram, *log;
    int64_t bitbang, gdb, rate; /* ports -1: not given */
    int once, standard, halted;
};

#define S struct board_options
static const struct cli_option board_table[] = {
    CLI_NUMBER(0, "bitbang", "PORT", S, bitbang, 0, UINT16_MAX, -1,
               "serve OpenOCD's remote_bitbang (JTAG) on this port; 0: any free port"),
    CLI_NUMBER(0, "gdb", "PORT", S, gdb, 0, UINT16_MAX, -1, "serve GDB on this port, in front of the server of --qemu"),
    CLI_STRING(0, "qemu", "HOST:PORT", S, qemu,
               "GDB server that executes the program, for example of QEMU; with --machine, also the program QEMU to be started"),
    CLI_LIST(0, "pc", "[HART=]FILE", S, pcs,
             "the hart (default 0) executes these program counters of the program again and again: one 0x... per line"),
    CLI_NUMBER(0, "rate", "N", S, rate, 1, 100000, RATE, "thousand instructions that a hart executes in a second (default 1000)"),
    CLI_STRING(0, "ram", "ADDRESS:SIZE", S, ram, "memory besides that of the program, for buffers of RAM sinks"),
    CLI_STRING(0, "listen", "ADDRESS", S, listen, "listen on this IPv4 address (default 127.0.0.1)"),
    CLI_FLAG(0, "stdio", S, standard,
             "serve lines 'r ADDRESS' and 'w ADDRESS VALUE' on standard input and output, as 'ntrace capture --exec' sends "
             "them"),
    CLI_FLAG(0, "halted", S, halted, "the harts are halted at first; a debugger resumes them"),
    CLI_STRING(0, "log", "FILE", S, log, "write each access to a trace register: 'r ADDRESS VALUE' or 'w ADDRESS VALUE'"),
    CLI_FLAG(0, "once", S, once, "end when the first client has disconnected"),
    {0},
};
#undef S

static const struct cli_group groups[] = {
    CLI_OWN("options", board_table),
    CLI_GROUP_ROWS("machine", machine_board_rows, struct board_options, machine),
    CLI_GROUP("program", cli_image_options, struct board_options, images),
    {0},
};

struct board_run {
    const struct board_options *options;
    char *topology;
    ntr_program *program;
    ntr_board *board;
    struct board_machine_run machine;
    struct cli_server bitbang, gdb;
    struct cli_output log; /* open if log.buffer is not NULL */
    ntr_gdb_filter *filter;
    uint64_t ran_until; /* microseconds */
    bool ended, reported, machine_ended;
    char line[LINE_BYTES]; /* incomplete line of standard input */
    size_t line_size;
};

/* ---- making the board */

static int load_pcs(struct board_run *run, const char *value) {
    struct cli_lines lines;
    uint64_t hart = 0, *pcs = NULL;
    size_t count = 0, capacity = 0, length;
    const char *equals = strchr(value, '='), *text;
    char number[8] = "0";
    int status = CLI_OK;

    if (equals && (size_t)(equals - value) < sizeof number) {
        memcpy(number, value, (size_t)(equals - value));
        number[equals - value] = 0;
    }
    const bool numbered = equals && cli_parse_number(number, &hart);
    if (cli_lines_open(&lines, numbered ? equals + 1 : value) != CLI_OK) return CLI_FAILED;
    while (status == CLI_OK && cli_lines_next(&lines, &text, &length)) {
        if (length == 0 || *text == '#') continue;
        if (count == capacity) {
            capacity = capacity ? 2 * capacity : 4096;
            uint64_t *grown = realloc(pcs, capacity * sizeof *pcs);
            if (!grown) status = cli_fail("out of memory");
            else pcs = grown;
        }
        if (status == CLI_OK && pcs && (!cli_line_pc(text, length, false, &pcs[count++]) || pcs[count - 1] & 1))
            status = cli_fail("%s: line %" PRIu64 ": expected an even program counter (0x...)", lines.input.name, lines.number);
    }
    if (lines.failed) status = CLI_FAILED;
    cli_lines_close(&lines);
    const ntr_status loaded = status == CLI_OK ? ntr_board_execute(run->board, (unsigned)hart, pcs, count) : NTR_OK;
    free(pcs);
    if (loaded == NTR_OK) return status;
    return cli_fail("--pc %s: %s", value, loaded == NTR_E_INVALID ? "expected program counters, and a program (-e)"
                                          : loaded == NTR_E_RANGE ? "the topology has no such hart" : ntr_status_text(loaded));
}

static int parse_ram(const char *text, ntr_board_config *config) {
    char first[40];
    const char *colon = strchr(text, ':');

    if (colon && (size_t)(colon - text) < sizeof first) {
        memcpy(first, text, (size_t)(colon - text));
        first[colon - text] = 0;
        if (cli_parse_number(first, &config->ram) && cli_parse_number(colon + 1, &config->ram_bytes)) return CLI_OK;
    }
    return cli_fail("--ram: expected ADDRESS:SIZE, found '%s'", text);
}

static void log_access(void *user, bool wrote, uint64_t address, uint32_t value) {
    struct cli_output *log = user;

    cli_output_print(log, "%c 0x%" PRIx64 " 0x%08" PRIx32 "\n", wrote ? 'w' : 'r', address, value);
}

static int make_board(struct board_run *run, const char *path) {
    char error[256] = "";
    size_t size;
    ntr_status status;
    ntr_board_config config;

    ntr_board_config_init(&config);
    if (run->options->ram && parse_ram(run->options->ram, &config) != CLI_OK) return CLI_FAILED;
    run->topology = cli_input_whole(path, BOARD_TOPOLOGY_MAX, &size);
    if (!run->topology) return CLI_FAILED;
    run->program = ntr_program_new(NULL);
    if (!run->program) return cli_fail("out of memory");
    if (cli_images_load(&run->options->images, run->program) != CLI_OK) return CLI_FAILED;
    config.topology = (ntr_bytes){(const uint8_t *)run->topology, size};
    config.program = run->program;
    config.halted = run->options->halted != 0;
    if (run->options->log && cli_output_open(&run->log, run->options->log) != CLI_OK) return CLI_FAILED;
    config.accessed = run->options->log ? log_access : NULL;
    config.user = &run->log;
    config.error = error;
    config.error_size = sizeof error;
    run->board = ntr_board_new(&config, &status);
    if (!run->board) return cli_fail("%s: %s", path, *error ? error : ntr_status_text(status));
    for (size_t i = 0; i < run->options->pcs.count; i++)
        if (load_pcs(run, run->options->pcs.items[i].value) != CLI_OK) return CLI_FAILED;
    return CLI_OK;
}

/* ---- JTAG */

static void end_client(struct board_run *run, struct cli_server *server) {
    cli_server_drop(server);
    run->ended = run->options->once;
}

/* A machine that the user starts may be there by now. */
static void begin_bitbang(struct board_run *run) {
    cli_server_accept(&run->bitbang);
    if (run->options->machine.name && ntr_board_connection(run->board) < 0)
        board_machine_connect(&run->machine, run->options->qemu, run->board);
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

    if (status == NTR_E_RANGE) puts("error nothing is at this address");
    else if (status != NTR_OK) printf("error %s\n", ntr_status_text(status));
    else if (run->line[0] == 'r') printf("0x%08" PRIx32 "\n", word);
    else puts("ok");
    fflush(stdout);
}

static void serve_lines(struct board_run *run) {
    char bytes[LINE_BYTES];
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

    if (connected || board_machine_connect(&run->machine, run->options->qemu, run->board) == CLI_OK)
        run->filter = ntr_gdb_filter_new(run->board, forward, run, NULL);
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
    if (run->filter) end_gdb(run);
    else if (run->options->machine.name) cli_note("the connection to the machine has ended");
}

/* ---- */

static uint64_t now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

/* Lets the harts execute as much as time has passed, a small part at a time: clients come first. Returns whether one runs. */
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

/* What a machine executes is encoded while no client sends, and every MACHINE_US; QEMU waits as long as its memory is full. */
static bool run_machine(struct board_run *run, bool busy) {
    if (busy && now_us() - run->ran_until < MACHINE_US) return true;
    const bool runs = run_harts(run);
    run->ran_until = now_us();
    return runs;
}

enum { BITBANG_LISTENER, BITBANG_CLIENT, GDB_LISTENER, GDB_CLIENT, QEMU, LINES, SOCKETS };

static int serve(struct board_run *run) {
    bool busy = false;

    run->ran_until = now_us();
    while (!cli_target_stopped() && !run->ended) {
        const bool runs = run->options->machine.name ? run_machine(run, busy) : run_harts(run);
        struct pollfd sockets[SOCKETS] = {
            {run->bitbang.client < 0 ? run->bitbang.listener : -1, POLLIN, 0}, {run->bitbang.client, POLLIN, 0},
            {run->gdb.client < 0 ? run->gdb.listener : -1, POLLIN, 0},         {run->gdb.client, POLLIN, 0},
            {ntr_board_connection(run->board), POLLIN, 0}, {run->options->standard ? STDIN_FILENO : -1, POLLIN, 0},
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

static int open_all(struct board_run *run, char **operands) {
    const struct board_options *o = run->options;

    if (o->bitbang < 0 && o->gdb < 0 && !o->standard)
        return cli_fail("expected --bitbang PORT, --gdb PORT and --qemu HOST:PORT, or --stdio");
    if (!o->machine.name && (o->gdb >= 0) != (o->qemu != NULL)) return cli_fail("--gdb and --qemu belong together");
    if (o->machine.name && o->gdb < 0 && o->bitbang < 0)
        return cli_fail("--machine needs --gdb PORT or --bitbang PORT: a debugger starts the machine");
    if (o->machine.name && o->pcs.count) return cli_fail("--machine executes its firmware; --pc is not used");
    if (!o->machine.name && operands[1]) return cli_fail("%s: a firmware needs --machine", operands[1]);
    if (make_board(run, operands[0]) != CLI_OK) return CLI_FAILED;
    if (o->machine.name && board_machine_start(&run->machine, &o->machine, operands + 1, o->qemu, run->board) != CLI_OK)
        return CLI_FAILED;
    if (o->bitbang >= 0 && cli_server_open(&run->bitbang, "remote_bitbang", o->listen, (uint16_t)o->bitbang) != CLI_OK)
        return CLI_FAILED;
    if (o->gdb >= 0 && cli_server_open(&run->gdb, "GDB", o->listen, (uint16_t)o->gdb) != CLI_OK) return CLI_FAILED;
    return CLI_OK;
}

static int board_run(const void *options, char **operands) {
    struct board_run run = {.options = options, .bitbang = {.listener = -1, .client = -1}, .gdb = {.listener = -1, .client = -1}};

    cli_target_catch_stop();
    int status = open_all(&run, operands);
    if (status == CLI_OK) status = serve(&run);
    ntr_gdb_filter_free(run.filter);
    cli_server_close(&run.bitbang);
    cli_server_close(&run.gdb);
    ntr_board_free(run.board);
    board_machine_close(&run.machine);
    if (run.log.buffer) status = cli_output_close(&run.log, status);
    ntr_program_free(run.program);
    free(run.topology);
    return status;
}

const struct cli_command cli_board = {
    .operands = "TOPOLOGY [FIRMWARE] [-- QEMU OPTIONS]",
    .min_operands = 1,
    .max_operands = -1,
    .groups = groups,
    .size = sizeof(struct board_options),
    .run = board_run,
    .about = "A virtual board with the trace hardware of a topology, for debuggers that take it for a real one. Scripts\n"
             "and firmware that configure trace can be written and tested with it before there is silicon.\n"
             "\n"
             "With --bitbang, OpenOCD reaches a JTAG TAP and a RISC-V debug module, whose system bus access leads to the\n"
             "trace registers and the memory of the program; its harts execute recorded program counters (--pc).\n"
             "\n"
             "With --gdb and --qemu, the command stands between GDB and the GDB server of a simulator: packets that\n"
             "access trace registers are answered by the model, all others pass.\n"
             "\n"
             "With --machine, the command starts QEMU itself, and the harts of the machine are those of the model: the\n"
             "program that the debugger controls, through --gdb or --bitbang, is the one that is traced. The machine waits\n"
             "for a debugger. Loads and stores of the program reach the trace registers, too. With --qemu HOST:PORT, the user\n"
             "starts QEMU; the command shows the options that it needs.\n"
             "\n"
             "With --stdio, it is a helper for 'ntrace probe --exec' and 'ntrace capture --exec'.\n"
             "\n"
             "The ports are open on the loopback interface only, unless --listen is given. The command ends when it is\n"
             "interrupted.",
    .examples = "  ntrace board soc.json --bitbang 9824 -e firmware.elf --pc firmware.pc\n"
                "  openocd -f examples/board/openocd.cfg\n"
                "  ntrace board soc.json --gdb 1235 --qemu localhost:1234\n"
                "  ntrace board soc.json --gdb 1235 --machine virt firmware.elf\n"
                "  ntrace board soc.json --bitbang 9824 --machine virt --qemu localhost:1234",
};
