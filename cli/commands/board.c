#include "commands/board/run.h"
#include "io/debug_files.h"
#include "io/input.h"
#include "io/lines.h"
#include "io/target.h"
#include "options/options.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BOARD_TOPOLOGY_MAX = 1 << 20, RATE = 1000 };

#define S struct board_options
static const struct cli_option board_table[] = {
    CLI_NUMBER(0, "bitbang", "PORT", S, bitbang, 0, UINT16_MAX, -1,
               "serve OpenOCD's remote_bitbang (JTAG) on this port; 0: any free port"),
    CLI_NUMBER(0, "gdb-port", "PORT", S, gdb, 0, UINT16_MAX, -1, "serve GDB on this port, in front of --target"),
    CLI_STRING(
        0, "target", "HOST:PORT", S, target,
        "GDB server that executes the program, for example QEMU's; with --machine, the place where you start it"),
    CLI_LIST(0, "pc", "[HART=]FILE", S, pcs,
             "program counters that the hart (default 0) executes again and again; one 0x... per line"),
    CLI_NUMBER(0, "rate", "N", S, rate, 1, 100000, RATE,
               "thousand instructions that a hart executes in a second (default 1000)"),
    CLI_STRING(0, "ram", "ADDRESS:SIZE", S, ram, "memory besides that of the program, for buffers of RAM sinks"),
    CLI_STRING(0, "bind", "ADDRESS", S, listen, "listen on this address, IPv4 or IPv6 (default 127.0.0.1)"),
    CLI_FLAG(
        0, "stdio", S, standard,
        "serve lines 'r ADDRESS' and 'w ADDRESS VALUE' on standard input and output, as 'ntrace capture --exec' sends "
        "them"),
    CLI_FLAG(0, "halted", S, halted, "the harts are halted at first; a debugger resumes them"),
    CLI_STRING(0, "log", "FILE", S, log,
               "write each access to a trace register: 'r ADDRESS VALUE' or 'w ADDRESS VALUE'"),
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
            if (!grown)
                status = cli_fail("out of memory");
            else
                pcs = grown;
        }
        if (status == CLI_OK && pcs && (!cli_line_pc(text, length, false, &pcs[count++]) || pcs[count - 1] & 1))
            status = cli_fail("%s: line %" PRIu64 ": expected an even program counter (0x...)", lines.input.name,
                              lines.number);
    }
    if (lines.failed) status = CLI_FAILED;
    cli_lines_close(&lines);
    const ntr_status loaded = status == CLI_OK ? ntr_board_execute(run->board, (unsigned)hart, pcs, count) : NTR_OK;
    free(pcs);
    if (loaded == NTR_OK) return status;
    return cli_fail("--pc %s: %s", value,
                    loaded == NTR_E_INVALID ? "expected program counters, and a program (-e)"
                    : loaded == NTR_E_RANGE ? "the topology has no such hart"
                                            : ntr_status_text(loaded));
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
    run->program = cli_program_new();
    if (!run->program) return cli_fail("out of memory");
    if (cli_images_load(&run->options->images, NULL, run->program) != CLI_OK) return CLI_FAILED;
    config.topology = (ntr_bytes){(const uint8_t *)run->topology, size};
    config.program = run->program;
    config.halted = run->options->halted != 0;
    if (run->options->log && cli_output_open(&run->log, run->options->log) != CLI_OK) return CLI_FAILED;
    config.accessed = run->options->log ? log_access : NULL;
    config.user = &run->log;
    config.error = error;
    config.error_size = sizeof error;
    status = ntr_board_new(&config, &run->board);
    if (!run->board) return cli_fail("%s: %s", path, *error ? error : ntr_status_text(status));
    for (size_t i = 0; i < run->options->pcs.count; i++)
        if (load_pcs(run, run->options->pcs.items[i].value) != CLI_OK) return CLI_FAILED;
    return CLI_OK;
}

static int open_all(struct board_run *run, char **operands) {
    const struct board_options *o = run->options;

    if (o->bitbang < 0 && o->gdb < 0 && !o->standard)
        return cli_fail("expected --bitbang PORT, --gdb-port PORT and --target HOST:PORT, or --stdio");
    if (!o->machine.name && (o->gdb >= 0) != (o->target != NULL))
        return cli_fail("--gdb-port and --target belong together");
    if (o->machine.name && o->gdb < 0 && o->bitbang < 0)
        return cli_fail("--machine needs --gdb-port PORT or --bitbang PORT: a debugger starts the machine");
    if (o->machine.name && o->pcs.count) return cli_fail("--machine executes its firmware; --pc is not used");
    if (!o->machine.name && operands[1]) return cli_fail("%s: a firmware needs --machine", operands[1]);
    if (make_board(run, operands[0]) != CLI_OK) return CLI_FAILED;
    cli_target_catch_stop();
    if (o->machine.name &&
        board_machine_start(&run->machine, &o->machine, operands + 1, o->target, run->board) != CLI_OK)
        return CLI_FAILED;
    if (o->bitbang >= 0 && cli_server_open(&run->bitbang, "remote_bitbang", o->listen, (uint16_t)o->bitbang) != CLI_OK)
        return CLI_FAILED;
    if (o->gdb >= 0 && cli_server_open(&run->gdb, "GDB", o->listen, (uint16_t)o->gdb) != CLI_OK) return CLI_FAILED;
    return CLI_OK;
}

static int board_run(const void *options, char **operands) {
    struct board_run run = {
        .options = options, .bitbang = {.listener = -1, .client = -1}, .gdb = {.listener = -1, .client = -1}};

    int status = open_all(&run, operands);
    if (status == CLI_OK) status = board_serve(&run);
    ntr_gdb_filter_free(run.filter);
    cli_server_close(&run.bitbang);
    cli_server_close(&run.gdb);
    ntr_board_free(run.board);
    board_machine_close(&run.machine);
    if (run.log.buffer) status = cli_output_close(&run.log, status);
    cli_program_close(run.program);
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
    .about =
        "A virtual board with the trace hardware of a topology, for debuggers that take it for a real one. Scripts\n"
        "and firmware that configure trace can be written and tested with it before there is silicon.\n"
        "\n"
        "With --bitbang, OpenOCD reaches a JTAG TAP and a RISC-V debug module, whose system bus access leads to the\n"
        "trace registers and the memory of the program; its harts execute recorded program counters (--pc).\n"
        "\n"
        "With --gdb-port and --target, the command stands between GDB and the GDB server of a simulator: packets that\n"
        "access trace registers are answered by the model, all others pass.\n"
        "\n"
        "With --machine, the command starts QEMU itself, and the harts of the machine are those of the model: the\n"
        "program that the debugger controls, through --gdb-port or --bitbang, is the one that is traced. The machine waits\n"
        "for a debugger. Loads and stores of the program reach the trace registers, too. With --target HOST:PORT, the user\n"
        "starts QEMU; the command shows the options that it needs.\n"
        "\n"
        "With --stdio, it is a helper for 'ntrace probe --exec' and 'ntrace capture --exec'.\n"
        "\n"
        "The ports are open on the loopback interface only, unless --bind is given. The command ends when it is\n"
        "interrupted.",
    .examples = "  ntrace board soc.json --bitbang 9824 -e firmware.elf --pc firmware.pc\n"
                "  openocd -f examples/board/openocd.cfg\n"
                "  ntrace board soc.json --gdb-port 1235 --target localhost:1234\n"
                "  ntrace board soc.json --gdb-port 1235 --machine virt firmware.elf\n"
                "  ntrace board soc.json --bitbang 9824 --machine virt --target localhost:1234",
};
