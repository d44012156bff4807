#include "commands/board/run.h"
#include "io/plugin.h"
#include "options/diagnostics.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { START_POLLS = 500, POLL_NANOSECONDS = 10000000 };

static int make_folder(struct board_machine_run *run) {
    const char *parent = getenv("TMPDIR");
    const int size =
        snprintf(run->folder, sizeof run->folder, "%s/ntrace-board-XXXXXX", parent && *parent ? parent : "/tmp");

    if (size < 0 || (size_t)size >= sizeof run->folder || !mkdtemp(run->folder)) {
        cli_fail("%s: %s", run->folder, size < 0 || errno == 0 ? "the path is too long for a socket" : strerror(errno));
        run->folder[0] = 0;
        return CLI_FAILED;
    }
    snprintf(run->socket, sizeof run->socket, "%s/gdb", run->folder);
    return CLI_OK;
}

/* The operands as machine_configure takes them: with "--" before the options of QEMU. */
static char **with_dashes(char **operands) {
    static char dashes[] = "--";
    size_t count = 0, used = 0;

    while (operands[count]) count++;
    char **copy = calloc(count + 2, sizeof *copy);
    if (!copy) return NULL;
    if (count && operands[0][0] != '-') copy[used++] = *operands++;
    copy[used++] = dashes;
    while (*operands) copy[used++] = *operands++;
    return copy;
}

static int configure(struct board_machine_run *run, const struct machine_options *options, char **operands,
                     ntr_capture_config *config) {
    char **copy = with_dashes(operands);

    if (!copy) return cli_fail("out of memory");
    const int status = machine_configure(options, NULL, copy, options->qemu, &run->machine, config);
    free(copy);
    return status;
}

/* The user starts QEMU. */
static int join(const ntr_capture_config *config, const char *program, const char *place, ntr_board *board) {
    char options[4 * PATH_MAX];

    if (ntr_board_join_machine(board, config, options, sizeof options) != NTR_OK)
        return cli_fail("--machine: %s", ntr_board_error(board));
    cli_note("options for %s: -S -gdb tcp:%s %s", program, place, options);
    return CLI_OK;
}

int board_machine_start(struct board_machine_run *run, const struct machine_options *options, char **operands,
                        const char *target, ntr_board *board) {
    ntr_capture_config config;

    ntr_capture_config_init(&config);
    if (target && operands[0])
        return cli_fail("%s: a machine at --target HOST:PORT has its firmware and options already", operands[0]);
    if (configure(run, options, operands, &config) != CLI_OK) return CLI_FAILED;
    for (size_t i = 0; i < config.qemu_option_count; i++)
        if (strcmp(config.qemu_options[i], "-icount") == 0 || strcmp(config.qemu_options[i], "-gdb") == 0 ||
            strcmp(config.qemu_options[i], "-s") == 0)
            return cli_fail("QEMU's option %s: the board controls the time and the GDB server of the machine",
                            config.qemu_options[i]);
    if (cli_plugin_find(run->machine.qemu.plugin, run->plugin, sizeof run->plugin) != CLI_OK) return CLI_FAILED;
    run->machine.config.plugin = run->plugin;
    if (target) return join(&config, run->machine.qemu.path, target, board);
    if (make_folder(run) != CLI_OK) return CLI_FAILED;
    config.qemu = run->machine.qemu.path;
    if (ntr_board_start_machine(board, &config, run->socket) == NTR_OK) return CLI_OK;
    return cli_fail("--machine: %s", ntr_board_error(board));
}

int board_machine_connect(const struct board_machine_run *run, const char *place, ntr_board *board) {
    ntr_status status = NTR_E_IO;

    if (run->socket[0]) place = run->socket;
    for (unsigned i = 0; status == NTR_E_IO && i < (run->socket[0] ? START_POLLS : 1); i++) {
        if (ntr_board_machine_ended(board)) return cli_fail("the machine has ended");
        status = ntr_board_connect(board, place);
        if (status == NTR_E_IO && run->socket[0]) nanosleep(&(struct timespec){0, POLL_NANOSECONDS}, NULL);
    }
    return status == NTR_OK
               ? CLI_OK
               : cli_fail("%s", status == NTR_E_SYNTAX ? "--target: expected HOST:PORT" : ntr_board_error(board));
}

void board_machine_close(struct board_machine_run *run) {
    machine_release(&run->machine);
    if (!run->folder[0]) return;
    unlink(run->socket);
    rmdir(run->folder);
    run->folder[0] = 0;
}
