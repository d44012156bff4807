#include "options/command.h"
#include "options/encoder_options.h"
#include "options/diagnostics.h"
#include "capture/bundle.h"
#include "capture/elf.h"
#include "capture/guest.h"
#include "capture/harts.h"
#include "capture/system.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct run_options {
    struct cli_encoder encoder;
    struct run_guest_options guest;
    struct run_system_options system;
    const char *bundle;
    int compress;
};

static const struct cli_option run_table[] = {
    CLI_STRING('o', "output", "BUNDLE", struct run_options, bundle, "where the capture goes (default PROGRAM.ntrace)"),
    CLI_FLAG(0, "compress", struct run_options, compress, "compress the stream: trace.nex.zst"),
    {0},
};

static const struct cli_group groups[] = {
    CLI_OWN("options", run_table),
    CLI_GROUP("the program", run_guest_rows, struct run_options, guest),
    CLI_GROUP("trace system", run_system_rows, struct run_options, system),
    CLI_GROUP_ROWS("encoder", cli_encoder_rows, struct run_options, encoder),
    {0},
};

/* Everything one run works with. */
struct run {
    const struct run_options *options;
    char **command;
    struct run_elf elf;
    ntr_encoder_config config;
    char bundle_name[PATH_MAX], stream_path[PATH_MAX];
    ntr_bundle *bundle;
    struct run_stream *stream;
    struct run_system *system; /* or NULL */
    struct channel *channel;
    int channel_file;
    struct run_harts harts;
    struct run_guest guest;
};

/* ---- before ----------------------------------------------------------------------------------------------- */

static int inspect(struct run *run) {
    const char *path = run->command[0];

    if (!run_elf_read(path, &run->elf))
        return cli_fail("%s: %s", path, errno ? strerror(errno) : "expected a RISC-V ELF program");
    if (!run->elf.is_riscv) return cli_fail("%s: expected a RISC-V program, found one for another machine", path);
    return CLI_OK;
}

/* The system's registers say how its encoders work. */
static int configure_system(struct run *run) {
    const struct cli_list *given = &run->options->encoder.list;

    if (given->count)
        return cli_fail("--%s: with --system, the topology says how encoders work (\"set\")", given->items[0].name);
    run->system = run_system_new(&run->options->system, run->elf.xlen, run->stream, &run->config);
    return run->system ? CLI_OK : CLI_FAILED;
}

static int configure(struct run *run) {
    ntr_encoder_config_init(&run->config);
    if (run->options->system.topology) return configure_system(run);
    if (run->options->system.sink) return cli_fail("--sink: only with --system");
    run->config.params.src_bits = 8; /* room for threads */
    run->config.sink = run_stream_put;
    run->config.sink_user = run->stream;
    if (cli_encoder_configure(&run->options->encoder, &run->config) != CLI_OK) return CLI_FAILED;
    run->config.params.xlen = (uint8_t)run->elf.xlen;
    return CLI_OK;
}

static const char *stream_name(const struct run *run) {
    return run->options->compress ? "trace.nex.zst" : "trace.nex";
}

static int create_bundle(struct run *run) {
    const char *slash = strrchr(run->command[0], '/'), *base = slash ? slash + 1 : run->command[0];

    snprintf(run->bundle_name, sizeof run->bundle_name, run->options->bundle ? "%s" : "%s.ntrace",
             run->options->bundle ? run->options->bundle : base);
    run->bundle = ntr_bundle_new(NULL);
    if (!run->bundle) return cli_fail("out of memory");
    if (ntr_bundle_create(run->bundle, run->bundle_name) != NTR_OK)
        return cli_fail("%s", ntr_bundle_error(run->bundle));
    snprintf(run->stream_path, sizeof run->stream_path, "%s/%s", ntr_bundle_folder(run->bundle), stream_name(run));
    return run_stream_open(run->stream, run->stream_path, run->options->compress);
}

/* A limit to the size of files (ulimit -f) counts for memory as well, however little of it is used: it must not be in
 * the way where it need not be. */
static int resize_channel(const struct run *run) {
    struct rlimit limit, lifted;
    bool limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < sizeof *run->channel;

    lifted = (struct rlimit){limit.rlim_max, limit.rlim_max};
    if (limited) setrlimit(RLIMIT_FSIZE, &lifted);
    int failed = ftruncate(run->channel_file, sizeof *run->channel);
    int why = errno;
    if (limited) setrlimit(RLIMIT_FSIZE, &limit);
    errno = why;
    return failed;
}

static int make_channel(struct run *run) {
    run->channel_file = memfd_create("ntrace", MFD_CLOEXEC);
    if (run->channel_file < 0 || resize_channel(run))
        return cli_fail("shared memory of %zu MiB, most of it never used: %s", sizeof *run->channel >> 20,
                        strerror(errno));
    void *memory =
        mmap(NULL, sizeof *run->channel, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, run->channel_file, 0);
    if (memory == MAP_FAILED) return cli_fail("shared memory: %s", strerror(errno));
    run->channel = memory;
    run->channel->head = (struct channel_head){
        .magic = CHANNEL_MAGIC, .size = sizeof *run->channel, .reader = (uint32_t)getpid(), .blocks = 1};
    return run_harts_init(&run->harts, run->channel, &run->config, run->stream, run->system) == NTR_OK
               ? CLI_OK
               : cli_fail("out of memory");
}

/* ---- during ------------------------------------------------------------------------------------------------ */

/* As long as whole batches come, the rest is left alone: lines of memory that both sides use go back and forth. */
static void watch(struct run *run) {
    const struct timespec nap = {.tv_nsec = 200000};

    while (!run->guest.ended) {
        if (run_harts_drain(&run->harts, false)) continue;
        nanosleep(&nap, NULL);
        if (run_harts_drain(&run->harts, false)) continue;
        if (!run_harts_drain(&run->harts, true)) run_harts_look(&run->harts);
        if (run->harts.failure != NTR_OK) run_guest_kill(&run->guest);
        run_guest_poll(&run->guest);
    }
    while (run_harts_drain(&run->harts, true)) continue;
}

static bool is_fault(int signal) {
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGTRAP;
}

/* ---- after ----------------------------------------------------------------------------------------------------- */

static int check_capture(const struct run *run) {
    if (!atomic_load(&run->channel->head.attached)) return cli_fail("QEMU ended without the capture plugin");
    if (run->harts.failure != NTR_OK && run->system && *run_system_error(run->system))
        return cli_fail("%s", run_system_error(run->system));
    if (run->harts.failure != NTR_OK) return cli_fail("encoding failed: %s", ntr_status_text(run->harts.failure));
    return CLI_OK;
}

static int finish(struct run *run) {
    struct run_report report = {&run->harts,  &run->guest,     &run->harts.code,
                                run->command, run->command[0], stream_name(run), run->elf.xlen};

    run_harts_finish(&run->harts, is_fault(run->guest.signal));
    int status = run->system ? run_system_finish(run->system) : CLI_OK;
    if (run_stream_close(run->stream) != CLI_OK || status != CLI_OK) return CLI_FAILED;
    if (check_capture(run) != CLI_OK) return CLI_FAILED;
    if (!run_code_finish(&run->harts.code)) return cli_fail("out of memory");
    return run_bundle_finish(run->bundle, &report);
}

static int run_program(struct run *run) {
    if (inspect(run) != CLI_OK || configure(run) != CLI_OK) return CLI_FAILED;
    if (create_bundle(run) != CLI_OK || make_channel(run) != CLI_OK) return CLI_FAILED;
    if (run_guest_start(&run->guest, &run->options->guest, run->command, run->elf.xlen, run->elf.is_dynamic,
                        run->channel_file) != CLI_OK)
        return CLI_FAILED;
    watch(run);
    run_guest_end(&run->guest);
    return finish(run) == CLI_OK ? run->guest.status : CLI_FAILED;
}

static int run_run(const void *options, char **operands) {
    struct run run = {.options = options, .command = operands, .channel_file = -1};

    run.stream = calloc(1, sizeof *run.stream);
    int status = run.stream ? run_program(&run) : cli_fail("out of memory");
    if (run.channel) {
        run_harts_release(&run.harts);
        munmap(run.channel, sizeof *run.channel);
    }
    if (run.channel_file >= 0) close(run.channel_file);
    run_system_free(run.system);
    ntr_bundle_free(run.bundle);
    if (run.stream) run_stream_release(run.stream);
    free(run.stream);
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
        "With --system, the harts' trace goes through a modelled trace system (docs/system.md) and the bundle holds what\n"
        "arrives in its sinks: the last bytes of a buffer that wrapped, gaps where a message buffer overflowed. A cycle\n"
        "of the system is one instruction of any hart.\n"
        "\n"
        "The exit status is the program's, as a shell tells it (128 + N when signal N killed it); 2 when there is no\n"
        "trace.",
    .examples = "  ntrace run ./hello\n"
                "  ntrace run --best -o sort.ntrace -- ./sort -n 1000\n"
                "  ntrace run --system soc.json -o soc.ntrace ./server\n"
                "  ntrace decode sort.ntrace --output branch",
};
