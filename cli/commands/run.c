#include "commands/run/crash.h"
#include "commands/shared/run_machine.h"
#include "io/input.h"
#include "io/plugin.h"
#include "io/recognize.h"
#include "options/options.h"
#include "options/diagnostics.h"
#include "options/stream_options.h"

#include <ntrace/bundle.h>
#include <ntrace/capture.h>
#include <ntrace/version.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void put(const ntr_capture_result *result) {
    double bits = result->instructions ? 8.0 * (double)result->bytes / (double)result->instructions : 0;
    const bool next = !result->pid && result->instructions; /* nothing to see in a trace without instructions */
    char process[320] = "";

    if (result->pid) snprintf(process, sizeof process, "pid %d, %s, ", result->pid, result->process);
    const char *command = result->signal ? "; next: ntrace view --at end " : "; next: ntrace profile ";
    cli_note("%s: %s%" PRIu64 " instructions, %" PRIu64 " bytes, %.3g bits an instruction%s%s", result->bundle, process,
             result->instructions, result->bytes, bits, next ? command : "", next ? result->bundle : "");
}

/* One line on standard error for each bundle, that of the first process last: "8.1.ntrace: pid 81, sh, ...". */
static void cli_run_summary(const ntr_capture *session) {
    ntr_capture_result result = {.size = sizeof result};

    for (size_t i = 1; ntr_capture_result_at(session, i, &result); i++) put(&result);
    if (!ntr_capture_result_at(session, 0, &result)) return;
    cli_run_crash(&result);
    put(&result);
}

enum { TOPOLOGY_MAX = 1 << 20, TEST_NAME_MAX = 4096 }; /* bytes; the latter is that of capture.json */

/* ---- options ------------------------------------------------------------------------------------------------------
 */

struct run_options {
    struct cli_encoder encoder;
    struct machine_options machine;
    const char *qemu, *plugin, *sysroot, *cpu; /* NULL: use the default */
    struct cli_list qemu_options;
    const char *topology; /* JSON file; NULL: no trace system */
    const char *sink;
    const char *bundle;
    int compress, no_compress, follow_fork, quiet;
    const char *start_at, *stop_at, *test;
    uint64_t skip, max_size;
    int data;
    const char *data_range;
};

static const struct cli_option run_table[] = {
    CLI_STRING('o', "output", "BUNDLE", struct run_options, bundle,
               "name of the bundle to write (default PROGRAM.ntrace; of a machine, machine.ntrace)"),
    CLI_FLAG(0, "follow-fork", struct run_options, follow_fork,
             "trace child processes too, each into a bundle of its own: NAME.PID.ntrace beside NAME.ntrace"),
    CLI_STRING(0, "start-at", "PLACE", struct run_options, start_at,
               "begin to trace when PLACE is reached: an address (0x...) or a symbol"),
    CLI_STRING(0, "stop-at", "PLACE", struct run_options, stop_at,
               "stop tracing when PLACE is reached after the beginning; the program continues"),
    CLI_NUMBER(0, "skip", "N", struct run_options, skip, 0, INT64_MAX, 0, "do not trace the first N instructions"),
    CLI_MEBIBYTES(0, "max-size", "N", struct run_options, max_size, 1, 1 << 30, 0,
                  "keep the last N MiB of the stream (of its file, with --compress); NG: GiB"),
    CLI_FLAG(0, "data", struct run_options, data, "trace loads and stores too (dialect nexus-data)"),
    CLI_STRING(0, "data-range", "FIRST-LAST|SYMBOL", struct run_options, data_range,
               "trace only loads and stores at these addresses, or of an object of the program, of a library, or of "
               "the firmware or kernel of a machine"),
    CLI_FLAG(0, "compress", struct run_options, compress,
             "compress the stream with zstd: trace.nex.zst (default: if it has more than 1 MiB)"),
    CLI_FLAG(0, "no-compress", struct run_options, no_compress, "do not compress the stream: trace.nex"),
    CLI_STRING(0, "test", "NAME", struct run_options, test,
               "name of the test that is executed: coverage shows which tests cover a line or a vector"),
    CLI_FLAG('q', "quiet", struct run_options, quiet, "do not print a summary at the end"),
    {0},
};

static const struct cli_option guest_table[] = {
    CLI_STRING('L', "sysroot", "DIR", struct run_options, sysroot,
               "folder with the files of the system: the libraries of dynamic programs (default " NTR_CAPTURE_SYSROOT
               " if it exists)"),
    CLI_STRING(0, "cpu", "MODEL", struct run_options, cpu, "CPU model of QEMU, for example rv64,zba=false"),
    CLI_STRING(
        0, "qemu", "FILE", struct run_options, qemu,
        "QEMU to start (default qemu-riscv64 or qemu-riscv32, depending on the program, from PATH if it takes plugins,"
        " else from the cache of tools/fetch_qemu; for a machine, qemu-system-riscv64 or -riscv32 of version"
        " 10.0 or 11.1)"),
    CLI_LIST(0, "qemu-option", "OPTION", struct run_options, qemu_options, "pass OPTION to QEMU (repeatable)"),
    CLI_STRING(0, "plugin", "FILE", struct run_options, plugin,
               "capture plugin (default: in the folder of ntrace, or the installed one)"),
    {0},
};

static const struct cli_option system_table[] = {
    CLI_STRING(
        't', "topology", "FILE", struct run_options, topology,
        "trace through a modelled trace system; FILE is its topology (JSON, docs/system.md); its memory is written when "
        "the program ends, and lost if ntrace is killed"),
    CLI_STRING(0, "sink", "NAME", struct run_options, sink, "keep only the contents of sink NAME (default: all sinks)"),
    {0},
};

static const struct cli_group groups[] = {
    CLI_OWN("options", run_table),
    CLI_OWN("QEMU", guest_table),
    CLI_GROUP_ROWS("whole machines", machine_rows, struct run_options, machine),
    CLI_OWN("trace system", system_table),
    CLI_GROUP_ROWS("encoder", machine_encoder_rows, struct run_options, encoder),
    {0},
};

/* ---- signals: ntrace ends after the program -----------------------------------------------------------------------
 */

static volatile sig_atomic_t guest, early_signal, kill_wanted, interrupted;

/* The second SIGINT or SIGTERM within some seconds ends a program that does not end by itself. Two that come at the
 * same time are one: some senders signal the process and its group. */
static void count_signal(int signal) {
    enum { SAME = 200, TOGETHER = 3000 }; /* milliseconds */
    static int64_t last[2] = {-TOGETHER, -TOGETHER};
    struct timespec t;

    if (signal != SIGINT && signal != SIGTERM) return;
    interrupted = 1;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int64_t now = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000, passed = now - last[signal == SIGTERM];
    if (passed >= SAME && passed < TOGETHER) kill_wanted = 1;
    last[signal == SIGTERM] = now;
}

/* Forwards a signal to the program, or remembers it until the program has started. Signals from the terminal
 * (SI_KERNEL) reach the program without ntrace, because both are in the same process group. */
static void forward_signal(int signal, siginfo_t *info, void *context) {
    int saved_errno = errno;

    (void)context;
    count_signal(signal);
    if (info->si_code != SI_KERNEL) {
        if (guest > 0)
            kill((pid_t)guest, signal);
        else
            early_signal = signal;
    }
    errno = saved_errno;
}

static void catch_signals(void) {
    static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    struct sigaction action = {.sa_sigaction = forward_signal, .sa_flags = SA_SIGINFO | SA_RESTART};

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++) sigaction(forwarded[i], &action, NULL);
}

/* ---- configuration ------------------------------------------------------------------------------------------------
 */

struct run {
    const struct run_options *options;
    ntr_capture_config config;
    ntr_encoder_config encoder;
    struct machine machine;
    char bundle[PATH_MAX], plugin[PATH_MAX], search[4 * PATH_MAX];
    const char **qemu_options;
    char *topology;
    ntr_capture *session;
};

static int find_plugin(struct run *run) {
    run->config.plugin = run->options->plugin ? run->options->plugin : run->plugin;
    if (run->options->plugin) return CLI_OK;
    if (run->options->machine.name) return cli_plugin_find(run->machine.qemu.plugin, run->plugin, sizeof run->plugin);
    int status = cli_plugin_find("ntrace-qemu-1.so", run->plugin, sizeof run->plugin); /* the others are beside it */
    if (status == CLI_OK) *strrchr(run->plugin, '/') = 0;
    run->config.plugin = NULL;
    run->config.plugin_dir = run->plugin;
    return status;
}

/* Configures the capture for a modelled system. The topology, not the command line, configures its encoders. */
static int configure_system(struct run *run) {
    const struct cli_list *given = &run->options->encoder.list;
    size_t size;

    if (run->options->machine.name) {
        if (machine_system_options(&run->options->encoder) != CLI_OK) return CLI_FAILED;
        if (run->options->machine.clock)
            return cli_fail("--clock: not allowed with --topology, which has a clock of its own (docs/system.md)");
    } else if (given->count) {
        return cli_fail("--%s: not allowed with --topology; the topology configures the encoders (\"set\")",
                        given->items[0].name);
    }
    run->topology = cli_input_whole(run->options->topology, TOPOLOGY_MAX, &size);
    if (!run->topology) return CLI_FAILED;
    run->config.topology = (ntr_bytes){(const uint8_t *)run->topology, size};
    run->config.topology_name = run->options->topology;
    run->config.sink = run->options->sink;
    return CLI_OK;
}

static int configure_encoder(struct run *run) {
    if (run->options->sink) return cli_fail("--sink requires --topology");
    const struct cli_encoder *given = &run->options->encoder;
    ntr_capture_encoder_defaults(&run->encoder, sizeof run->encoder);
    run->config.widen_src = !cli_encoder_gives(given, "src-bits") && !cli_encoder_gives(given, "dialect");
    run->config.encoder = &run->encoder;
    if (run->options->machine.name) machine_encoder_defaults(&run->options->machine, given, &run->encoder);
    int status = cli_encoder_configure(given, &run->encoder);
    /* A message that repeats histories comes long after the branches that are in it. */
    bool repeats = cli_encoder_gives(given, "repeated-history") || cli_encoder_gives(given, "best");
    if (run->encoder.params.timestamps == NTR_TIMESTAMPS_ON && !repeats) run->encoder.repeated_history = false;
    return status;
}

/* ---- data trace */

static int configure_data(struct run *run) {
    const struct run_options *options = run->options;
    const char *range = options->data_range, *dash = range ? strchr(range, '-') : NULL;
    char first[32] = "";

    run->config.accesses = options->data || range;
    run->config.access_last = UINT64_MAX;
    if (!run->config.accesses) return CLI_OK;
    if (!run->config.encoder) return cli_fail("--data cannot be combined with --topology");
    const ntr_dialect *dialect = run->encoder.params.dialect;
    if (!dialect || !(dialect->messages & NTR_MESSAGES_DATA))
        run->encoder.params.dialect = ntr_dialect_find("nexus-data");
    if (!range) return CLI_OK;
    if (dash && (size_t)(dash - range) < sizeof first) memcpy(first, range, (size_t)(dash - range));
    if (dash && cli_parse_number(first, &run->config.access_first) &&
        cli_parse_number(dash + 1, &run->config.access_last) && run->config.access_first <= run->config.access_last)
        return CLI_OK;
    if (*range >= '0' && *range <= '9')
        return cli_fail("--data-range: expected FIRST-LAST, or a symbol, found '%s'", range);
    run->config.access_symbol = range;
    return CLI_OK;
}

static int configure_qemu(struct run *run) {
    const struct run_options *options = run->options;
    size_t count = options->qemu_options.count;

    run->config.qemu = options->qemu;
    run->config.qemu_search = cli_qemu_search(false, run->search, sizeof run->search);
    run->config.sysroot = options->sysroot;
    run->config.cpu = options->cpu;
    run->qemu_options = calloc(count + 1, sizeof *run->qemu_options);
    if (!run->qemu_options) return cli_fail("out of memory");
    for (size_t i = 0; i < count; i++) run->qemu_options[i] = options->qemu_options.items[i].value;
    run->config.qemu_options = run->qemu_options;
    run->config.qemu_option_count = count;
    return CLI_OK;
}

static int configure_machine(struct run *run, char **operands) {
    const struct run_options *options = run->options;

    int status =
        machine_configure(&options->machine, &options->encoder, operands, options->qemu, &run->machine, &run->config);
    if (status == CLI_OK) status = options->topology ? configure_system(run) : configure_encoder(run);
    if (status == CLI_OK) status = configure_data(run);
    run->config.qemu = run->machine.qemu.path;
    run->config.cpu = options->cpu;
    if (status == CLI_OK) status = find_plugin(run);
    run->machine.config.plugin = run->config.plugin;
    return status;
}

/* Options of machines say nothing about a program, and a trace is none. */
static int check_program_options(const struct run_options *o, const char *program) {
    const char *given = machine_option_given(&o->machine);
    const struct cli_recognized r = cli_recognize(program);

    if (given)
        return cli_fail("--%s: only for machines; --machine virt runs one, and the operand is then its firmware",
                        given);
    if (r.is_trace)
        return cli_fail("%s: expected a program, found %s; 'ntrace decode %s' reads it", program, r.what, program);
    const bool script = strcmp(r.what, "a script") == 0;
    if (*r.what && !r.is_elf && !script && access(program, X_OK) != 0)
        return cli_fail("%s: expected a program, found %s%s%s", program, r.what, *r.next ? "; " : "", r.next);
    return CLI_OK;
}

static int configure(struct run *run, char **operands) {
    const struct run_options *options = run->options;
    const char *name = options->machine.name ? "machine" : operands[0];
    if (!name) return cli_fail("expected a program, or --machine");
    if (!options->machine.name && check_program_options(options, name) != CLI_OK) return CLI_FAILED;
    if (options->test && strlen(options->test) > TEST_NAME_MAX)
        return cli_fail("--test: expected at most %d bytes, found %zu", TEST_NAME_MAX, strlen(options->test));
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;

    ntr_capture_config_init(&run->config);
    snprintf(run->bundle, sizeof run->bundle, "%s.ntrace", base);
    run->config.command = (const char *const *)operands;
    run->config.bundle = options->bundle ? options->bundle : run->bundle;
    run->config.compress = options->compress && !options->no_compress;
    run->config.compress_large = !options->no_compress;
    run->config.start_at = options->start_at;
    run->config.stop_at = options->stop_at;
    run->config.max_size = options->max_size << 20;
    run->config.skip = options->skip;
    run->config.follow_fork = options->follow_fork;
    run->config.search = getenv("PATH");
    run->config.test = options->test;
    run->config.tool = "ntrace " NTR_VERSION_TEXT;
    if (options->machine.name) return configure_machine(run, operands);
    int status = options->topology ? configure_system(run) : configure_encoder(run);
    if (status == CLI_OK) status = configure_data(run);
    if (status == CLI_OK) status = configure_qemu(run);
    return status == CLI_OK ? find_plugin(run) : status;
}

/* ---- the capture --------------------------------------------------------------------------------------------------
 */

/* Starts the program and encodes its execution until it ends. */
static ntr_status trace_program(ntr_capture *session) {
    catch_signals();
    ntr_status status = ntr_capture_start(session);
    if (status != NTR_OK) return status;
    guest = ntr_capture_process(session);
    if (early_signal) kill((pid_t)guest, early_signal);
    do {
        status = ntr_capture_step(session);
        if (kill_wanted) ntr_capture_kill(session);
        kill_wanted = 0;
    } while (status == NTR_NEED_MORE);
    guest = 0;
    return status;
}

static bool is_empty(const ntr_capture *session) {
    ntr_capture_result result = {.size = sizeof result};

    for (size_t i = 0; ntr_capture_result_at(session, i, &result); i++)
        if (result.instructions) return false;
    return true;
}

/* A trace without an instruction is no success, whatever the program returned. */
static int fail_empty(const struct run *run) {
    const struct run_options *o = run->options;
    const bool chosen = o->start_at || o->skip, dynamic = !o->machine.name && !chosen;

    return cli_fail("%s: nothing was traced%s", run->config.bundle,
                    chosen    ? ": tracing began at no place that was reached (--start-at, --skip)"
                    : dynamic ? ": the program executed no instruction; if its dynamic linker was not found, --sysroot "
                                "names the folder that has its libraries"
                              : "");
}

static int capture(struct run *run) {
    const char *loss;

    ntr_capture_new(&run->config, &run->session);
    if (!run->session) return cli_fail("out of memory");
    ntr_status status = trace_program(run->session);
    const bool replaces = ntr_bundle_seen(run->config.bundle);
    if (status == NTR_OK) status = ntr_capture_finish(run->session);
    if (status == NTR_OK && replaces && !run->options->quiet)
        cli_note("%s: the earlier bundle of this name is now %s.old", run->config.bundle, run->config.bundle);
    for (size_t i = 0; (loss = ntr_capture_loss(run->session, i)); i++) cli_note("%s", loss);
    if (status == NTR_OK && !run->options->quiet) cli_run_summary(run->session);
    if (status == NTR_OK && is_empty(run->session)) return fail_empty(run);
    if (status == NTR_OK) return ntr_capture_exit_status(run->session);
    return cli_fail("%s%s", ntr_capture_error(run->session), interrupted ? "; the run was interrupted" : "");
}

static int run_run(const void *options, char **operands) {
    struct run run = {.options = options};

    int status = configure(&run, operands);
    if (status == CLI_OK) status = capture(&run);
    ntr_capture_free(run.session);
    free(run.qemu_options);
    machine_release(&run.machine);
    free(run.topology);
    return status;
}

const struct cli_command cli_run = {
    .operands = "PROGRAM [ARGUMENT]...",
    .min_operands = 0,
    .max_operands = -1,
    .stop_at_operand = true,
    .groups = groups,
    .size = sizeof(struct run_options),
    .run = run_run,
    .about =
        "Runs a RISC-V Linux program under QEMU user mode and traces it. The program may be static or dynamic,\n"
        "RV32 or RV64, and may use threads and signals. Every thread is a hart with its own SRC. The result is\n"
        "a bundle that holds the stream, its parameters, the files of the program and the executed code; it can\n"
        "be decoded on any machine.\n"
        "\n"
        "PROGRAM may also be a script with a RISC-V interpreter, or a name that is looked for in PATH and in the\n"
        "folders of programs below the sysroot. A program that replaces itself by another one (execve) is traced\n"
        "on, into the same bundle. With --follow-fork, each child process has a bundle of its own. The last line\n"
        "on standard error names the bundle.\n"
        "\n"
        "Only user mode is traced: tracing stops at each system call (ProgTraceCorrelation, EVCODE=4) and\n"
        "resumes after it (ProgTraceSync, SYNC=5). The start of a signal handler appears as an exception or\n"
        "interrupt. With --timestamps, one tick is one instruction retired by the hart.\n"
        "\n"
        "With --topology, the trace passes through a modelled trace system (docs/system.md), and the bundle holds\n"
        "the contents of its sinks: only the most recent bytes of a buffer that wrapped, and gaps where a\n"
        "message buffer overflowed. One cycle of the system is one instruction of any hart.\n"
        "\n"
        "With --machine, a whole machine of QEMU 10 runs instead of a program: PROGRAM is its firmware, and options\n"
        "of QEMU follow behind --. All privilege modes, traps, resets and address spaces of every hart are traced\n"
        "(docs/machines.md). Ctrl-C ends the run and completes the bundle; the exit status is that of the machine.\n"
        "\n"
        "The exit status is that of the program, as a shell reports it (128 + N if signal N ended it), or 2 if\n"
        "no trace could be captured.",
    .examples = "  ntrace run ./hello\n"
                "  ntrace run --best -o sort.ntrace -- ./sort -n 1000\n"
                "  ntrace run --follow-fork --sysroot /srv/riscv64 -- bash build.sh\n"
                "  ntrace run --topology soc.json -o soc.ntrace ./server\n"
                "  ntrace run --machine virt --kernel Image --initrd root.cpio --append console=ttyS0 --memory 512M\n"
                "  ntrace decode sort.ntrace --show branch",
};
