#include "io/input.h"
#include "options/command.h"
#include "options/diagnostics.h"
#include "options/encoder_options.h"

#include <ntrace/capture.h>
#include <ntrace/version.h>

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLUGIN "ntrace-qemu.so"

#ifndef NTRACE_PLUGIN_DIR
#define NTRACE_PLUGIN_DIR "/usr/local/lib/ntrace"
#endif

enum { TOPOLOGY_MAX = 1 << 20 }; /* bytes */

/* ---- options ------------------------------------------------------------------------------------------------------
 */

struct run_options {
    struct cli_encoder encoder;
    const char *qemu, *plugin, *sysroot, *cpu; /* NULL: found, or left to QEMU */
    struct cli_list qemu_options;
    const char *topology; /* JSON file; NULL: no trace system */
    const char *sink;
    const char *bundle;
    int compress;
};

static const struct cli_option run_table[] = {
    CLI_STRING('o', "output", "BUNDLE", struct run_options, bundle, "where the capture goes (default PROGRAM.ntrace)"),
    CLI_FLAG(0, "compress", struct run_options, compress, "compress the stream: trace.nex.zst"),
    {0},
};

static const struct cli_option guest_table[] = {
    CLI_STRING('L', "sysroot", "DIR", struct run_options, sysroot,
               "where dynamic programs find their libraries (default " NTR_CAPTURE_SYSROOT " when it exists)"),
    CLI_STRING(0, "cpu", "MODEL", struct run_options, cpu, "QEMU's CPU model, like rv64,zba=false"),
    CLI_STRING(0, "qemu", "FILE", struct run_options, qemu,
               "QEMU user mode (default qemu-riscv64 or qemu-riscv32, as the program needs)"),
    CLI_LIST(0, "qemu-option", "OPTION", struct run_options, qemu_options, "one more option for QEMU; repeatable"),
    CLI_STRING(0, "plugin", "FILE", struct run_options, plugin,
               "capture plugin (default: the one beside ntrace, or the installed one)"),
    {0},
};

static const struct cli_option system_table[] = {
    CLI_STRING(0, "system", "FILE", struct run_options, topology,
               "trace through the system that this topology (JSON) describes"),
    CLI_STRING(0, "sink", "NAME", struct run_options, sink, "keep what this sink holds (default: all of them)"),
    {0},
};

static const struct cli_group groups[] = {
    CLI_OWN("options", run_table),
    CLI_OWN("the program", guest_table),
    CLI_OWN("trace system", system_table),
    CLI_GROUP_ROWS("encoder", cli_encoder_rows, struct run_options, encoder),
    {0},
};

/* ---- signals: ntrace outlives the program -------------------------------------------------------------------------
 */

static volatile sig_atomic_t guest, early_signal;

/* A signal from the terminal reaches the program as well; any other is passed on, as soon as the program runs. */
static void pass_on(int signal, siginfo_t *info, void *context) {
    int kept = errno;

    (void)context;
    if (info->si_code != SI_KERNEL) {
        if (guest > 0)
            kill((pid_t)guest, signal);
        else
            early_signal = signal;
    }
    errno = kept;
}

static void catch_signals(void) {
    static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++) sigaction(passed_on[i], &action, NULL);
}

/* ---- configuration ------------------------------------------------------------------------------------------------
 */

struct run {
    const struct run_options *options;
    ntr_capture_config config;
    ntr_encoder_config encoder;
    char bundle[PATH_MAX], plugin[PATH_MAX];
    const char **qemu_options;
    char *topology;
    ntr_capture_session *session;
};

static bool plugin_in(char *path, size_t size, const char *folder) {
    int n = snprintf(path, size, "%s/" PLUGIN, folder);
    return n > 0 && (size_t)n < size && access(path, R_OK) == 0;
}

static int find_plugin(struct run *run) {
    char folder[PATH_MAX];

    run->config.plugin = run->options->plugin ? run->options->plugin : run->plugin;
    if (run->options->plugin) return CLI_OK;
    ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (n > 0) {
        folder[n] = 0;
        *strrchr(folder, '/') = 0;
        if (plugin_in(run->plugin, sizeof run->plugin, folder)) return CLI_OK;
    }
    if (plugin_in(run->plugin, sizeof run->plugin, NTRACE_PLUGIN_DIR)) return CLI_OK;
    return cli_fail("the capture plugin " PLUGIN " is neither in %s nor in " NTRACE_PLUGIN_DIR
                    " (was ntrace built with -Dqemu-plugin=enabled?)",
                    n > 0 ? folder : "the folder of ntrace");
}

/* The registers of a modelled system say how its encoders work. */
static int configure_system(struct run *run) {
    const struct cli_list *given = &run->options->encoder.list;
    size_t size;

    if (given->count)
        return cli_fail("--%s: with --system, the topology says how encoders work (\"set\")", given->items[0].name);
    run->topology = cli_input_whole(run->options->topology, TOPOLOGY_MAX, &size);
    if (!run->topology) return CLI_FAILED;
    run->config.topology = (ntr_bytes){(const uint8_t *)run->topology, size};
    run->config.topology_name = run->options->topology;
    run->config.sink = run->options->sink;
    return CLI_OK;
}

static int configure_encoder(struct run *run) {
    if (run->options->sink) return cli_fail("--sink: only with --system");
    ntr_encoder_config_init(&run->encoder);
    run->encoder.params.src_bits = 8; /* up to 256 threads */
    run->config.encoder = &run->encoder;
    return cli_encoder_configure(&run->options->encoder, &run->encoder);
}

static int configure_qemu(struct run *run) {
    const struct run_options *options = run->options;
    size_t count = options->qemu_options.count;

    run->config.qemu = options->qemu;
    run->config.sysroot = options->sysroot;
    run->config.cpu = options->cpu;
    run->qemu_options = calloc(count + 1, sizeof *run->qemu_options);
    if (!run->qemu_options) return cli_fail("out of memory");
    for (size_t i = 0; i < count; i++) run->qemu_options[i] = options->qemu_options.items[i].value;
    run->config.qemu_options = run->qemu_options;
    run->config.qemu_option_count = count;
    return CLI_OK;
}

static int configure(struct run *run, char **operands) {
    const struct run_options *options = run->options;
    const char *slash = strrchr(operands[0], '/'), *base = slash ? slash + 1 : operands[0];

    ntr_capture_config_init(&run->config);
    snprintf(run->bundle, sizeof run->bundle, "%s.ntrace", base);
    run->config.command = (const char *const *)operands;
    run->config.bundle = options->bundle ? options->bundle : run->bundle;
    run->config.compress = options->compress;
    run->config.tool = "ntrace " NTR_VERSION_TEXT;
    int status = options->topology ? configure_system(run) : configure_encoder(run);
    if (status == CLI_OK) status = configure_qemu(run);
    return status == CLI_OK ? find_plugin(run) : status;
}

/* ---- the capture --------------------------------------------------------------------------------------------------
 */

/* Start the program, and encode what it executes until it ends. */
static ntr_status watch(ntr_capture_session *session) {
    catch_signals();
    ntr_status status = ntr_capture_start(session);
    if (status != NTR_OK) return status;
    guest = ntr_capture_process(session);
    if (early_signal) kill((pid_t)guest, early_signal);
    do status = ntr_capture_step(session);
    while (status == NTR_NEED_MORE);
    guest = 0;
    return status;
}

static int capture(struct run *run) {
    const char *loss;

    run->session = ntr_capture_new(&run->config);
    if (!run->session) return cli_fail("out of memory");
    ntr_status status = watch(run->session);
    if (status == NTR_OK) status = ntr_capture_finish(run->session);
    for (size_t i = 0; (loss = ntr_capture_loss(run->session, i)); i++) cli_note("%s", loss);
    return status == NTR_OK ? ntr_capture_exit_status(run->session) : cli_fail("%s", ntr_capture_error(run->session));
}

static int run_run(const void *options, char **operands) {
    struct run run = {.options = options};

    int status = configure(&run, operands);
    if (status == CLI_OK) status = capture(&run);
    ntr_capture_free(run.session);
    free(run.qemu_options);
    free(run.topology);
    return status;
}

const struct cli_command cli_run = {
    .operands = "PROGRAM [ARGUMENT]...",
    .least = 1,
    .most = -1,
    .stop_at_operand = true,
    .groups = groups,
    .size = sizeof(struct run_options),
    .run = run_run,
    .about =
        "Run a RISC-V Linux program under QEMU user mode and trace it: static or dynamic, RV32 or RV64, with threads\n"
        "and signals. Every thread is a hart with a SRC of its own. The result is a bundle that holds the stream, its\n"
        "parameters, the program's files and the code bytes that ran, so it decodes anywhere.\n"
        "\n"
        "The trace is that of user mode: at each system call tracing stops (ProgTraceCorrelation, EVCODE=4) and "
        "starts\n"
        "again behind it (ProgTraceSync, SYNC=5). A signal handler appears as an exception or interrupt that leads\n"
        "straight to it. With --timestamps, a tick is one instruction retired by that hart.\n"
        "\n"
        "With --system, the harts' trace goes through a modelled trace system (docs/system.md) and the bundle holds "
        "what\n"
        "arrives in its sinks: the last bytes of a buffer that wrapped, gaps where a message buffer overflowed. A "
        "cycle\n"
        "of the system is one instruction of any hart.\n"
        "\n"
        "The exit status is the program's, as a shell reports it (128 + N when signal N killed it); 2 when there is "
        "no\n"
        "trace.",
    .examples = "  ntrace run ./hello\n"
                "  ntrace run --best -o sort.ntrace -- ./sort -n 1000\n"
                "  ntrace run --system soc.json -o soc.ntrace ./server\n"
                "  ntrace decode sort.ntrace --output branch",
};
