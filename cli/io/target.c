#include "io/target.h"
#include "io/input.h"
#include "io/progress.h"
#include "options/diagnostics.h"

#include <signal.h>
#include <stdlib.h>

enum { TARGET_TOPOLOGY_MAX = 1 << 20, TIMEOUT_MAX = 3600000 };

const struct cli_option cli_connection_options[] = {
    CLI_STRING(0, "openocd", "HOST:PORT", struct cli_connection, openocd, "Tcl port of OpenOCD 0.12 or later (6666)"),
    CLI_STRING(0, "gdb", "HOST:PORT", struct cli_connection, gdb,
               "a GDB server: OpenOCD, QEMU, J-Link, probe-rs, pyOCD"),
    CLI_STRING(0, "mem", "FILE[@BASE]", struct cli_connection, mem,
               "registers mapped from /dev/mem or /dev/uioN on the target; with @BASE, from a file that begins at this "
               "address"),
    CLI_STRING(
        0, "exec", "COMMAND", struct cli_connection, exec,
        "a helper: reads lines 'r ADDRESS' and 'w ADDRESS VALUE', answers each with a value, 'ok' or 'error TEXT'"),
    CLI_FLAG(0, "dmi", struct cli_connection, direct,
             "OpenOCD: read trace memory with registers of the debug module, which must be the only one; faster"),
    CLI_FLAG(0, "any-version", struct cli_connection, any_version,
             "use components whose version is not 1.x as if it were (docs/boards.md)"),
    CLI_NUMBER(0, "timeout", "MS", struct cli_connection, timeout, 1, TIMEOUT_MAX, 0,
               "how long to wait for a register to change, and for an answer, in milliseconds (default 1000 and 5000)"),
    {0},
};

/* ---- the connection */

static unsigned kinds_given(const struct cli_connection *c, const char **kind, const char **place) {
    const char *const rows[][2] = {{"openocd", c->openocd}, {"gdb", c->gdb}, {"mem", c->mem}, {"exec", c->exec}};
    unsigned count = 0;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!rows[i][1]) continue;
        *kind = rows[i][0];
        *place = rows[i][1];
        count++;
    }
    return count;
}

bool cli_connection_given(const struct cli_connection *connection) {
    const char *kind, *place;
    return kinds_given(connection, &kind, &place) != 0;
}

/* A second signal does not end the command: what was enabled is disabled first. */
static void on_signal(int number) {
    (void)number;
    cli_progress_stop();
}

void cli_target_catch_stop(void) {
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP};

    cli_progress_catch(caught, sizeof caught / sizeof caught[0], on_signal);
}

static bool interrupted(void *user) {
    (void)user;
    return cli_progress_stopped();
}

int cli_connection_open(const struct cli_connection *connection, ntr_bus *bus) {
    char error[256] = "";
    ntr_bus_options options;

    ntr_bus_options_init(&options);
    if (kinds_given(connection, &options.kind, &options.place) != 1)
        return cli_fail("expected one of --openocd, --gdb, --mem and --exec");
    options.timeout_ms = (uint32_t)connection->timeout;
    options.direct = connection->direct;
    options.interrupted = interrupted;
    options.error = error;
    options.error_size = sizeof error;
    ntr_status status = ntr_bus_open(bus, &options);
    if (status == NTR_OK) return CLI_OK;
    return cli_fail("--%s %s: %s", options.kind, options.place, *error ? error : ntr_status_text(status));
}

/* ---- the target */

int cli_target_topology(struct cli_target *target, const char *path) {
    target->topology = cli_input_whole(path, TARGET_TOPOLOGY_MAX, &target->topology_size);
    target->topology_name = path;
    return target->topology ? CLI_OK : CLI_FAILED;
}

int cli_harts_parse(const struct cli_list *list, unsigned *harts) {
    uint64_t number;

    if (list->count > CLI_HARTS_MAX) return cli_fail("--hart: expected at most %d harts", CLI_HARTS_MAX);
    for (size_t i = 0; i < list->count; i++) {
        if (!cli_parse_number(list->items[i].value, &number) || number >= CLI_HARTS_MAX)
            return cli_fail("--hart: expected a number from 0 to %d, found '%s'", CLI_HARTS_MAX - 1,
                            list->items[i].value);
        harts[i] = (unsigned)number;
    }
    return CLI_OK;
}

int cli_target_make(struct cli_target *target, const struct cli_connection *connection, const struct cli_part *part,
                    void (*note)(void *user, const char *sentence), void *user) {
    static unsigned harts[CLI_HARTS_MAX];
    char error[256] = "";
    ntr_status status;
    ntr_target_config config;

    if (part && part->harts && cli_harts_parse(part->harts, harts) != CLI_OK) return CLI_FAILED;

    ntr_target_config_init(&config);
    config.topology = (ntr_bytes){(const uint8_t *)target->topology, target->topology_size};
    config.bus = target->bus;
    config.error = error;
    config.error_size = sizeof error;
    config.timeout_ms = (uint32_t)connection->timeout;
    config.any_version = connection->any_version != 0;
    config.self_hosted = connection->mem != NULL;
    config.harts = harts;
    config.hart_count = part && part->harts ? part->harts->count : 0;
    config.sink = part ? part->sink : NULL;
    config.interrupted = interrupted;
    config.note = note;
    config.user = user;
    status = ntr_target_new(&config, &target->target);
    if (target->target) return CLI_OK;
    return cli_fail("%s: %s", target->topology_name, *error ? error : ntr_status_text(status));
}

void cli_target_close(struct cli_target *target) {
    ntr_target_free(target->target);
    if (target->bus.close) target->bus.close(target->bus.user);
    free(target->topology);
    *target = (struct cli_target){0};
}
