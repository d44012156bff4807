#include "io/gdb_link.h"
#include "io/replay_input.h"
#include "options/options.h"
#include "options/diagnostics.h"

#include <ntrace/gdb.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct gdb_options {
    struct cli_replay_options replay;
    int use_stdio, persistent;
    const char *where, *gdb;
};

#define S struct gdb_options
static const struct cli_option gdb_table[] = {
    CLI_FLAG(0, "stdio", S, use_stdio,
             "speak the protocol on standard input and output: in GDB, target remote | ntrace gdb "
             "--stdio TRACE"),
    CLI_STRING(
        0, "listen", "[HOST:]PORT|PATH", S, where,
        "wait for a debugger at a TCP port (HOST: default 127.0.0.1; PORT 0: any) or at a Unix socket (a PATH has a slash)"),
    CLI_FLAG(0, "persistent", S, persistent, "with --listen: wait for the next debugger when one has gone"),
    CLI_STRING(
        0, "debugger", "FILE", S, gdb,
        "GDB to start (default: gdb-multiarch, riscv64-linux-gnu-gdb, riscv64-unknown-elf-gdb or gdb, the first that "
        "knows RISC-V)"),
    {0},
};
#undef S

static const struct cli_group groups[] = {
    CLI_OWN("options", gdb_table),
    CLI_GROUP("program", cli_image_options, struct gdb_options, replay.images),
    CLI_GROUP("debug information", cli_replay_options, struct gdb_options, replay),
    CLI_GROUP("stream", cli_stream_options, struct gdb_options, replay.stream),
    {0},
};

/* ---- one session */

struct gdb_session {
    struct cli_replay replay;
    struct cli_gdb_link link;
    char folder[PATH_MAX / 2]; /* for temporary files */
};

static uint32_t hart_of(const struct gdb_session *s, uint16_t src) {
    const ntr_bundle_source *source = cli_trace_source(&s->replay.trace, src);

    return source ? source->hart : src;
}

static const struct gdb_session *session_of(const void *link) {
    return (const struct gdb_session *)((const char *)link - offsetof(struct gdb_session, link));
}

static uint32_t hart_number(void *user, uint16_t src) {
    return hart_of(session_of(user), src);
}

static const char *source_name(void *user, uint16_t src) {
    const ntr_bundle_source *source = cli_trace_source(&session_of(user)->replay.trace, src);

    return source ? source->name : NULL;
}

/* Whether the other end of a socket may be on another machine. */
static bool is_network(int fd) {
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;

    return getpeername(fd, (struct sockaddr *)&address, &size) == 0 && address.ss_family != AF_UNIX;
}

static int serve(struct gdb_session *s, int in, int out) {
    ntr_gdb_config config;
    ntr_status status;

    s->link = (struct cli_gdb_link){.in = in, .out = out};
    s->replay.proceed = cli_gdb_link_proceed;
    s->replay.proceed_user = &s->link;
    ntr_gdb_config_init(&config);
    config.replay = s->replay.replay;
    config.program = s->replay.trace.program;
    config.debug = s->replay.debug;
    config.debug_path = s->replay.options->debug_path;
    config.write = cli_gdb_link_write;
    config.hart = hart_number;
    config.source_name = source_name;
    config.user = &s->link;
    config.folder = s->folder;
    config.serve_files = is_network(in);
    ntr_gdb *server;
    status = ntr_gdb_new(&config, &server);
    if (server) status = cli_gdb_link_serve(&s->link, server);
    ntr_gdb_free(server);
    cli_gdb_link_close(&s->link);
    if (status == NTR_E_IO && !*ntr_replay_error(s->replay.replay)) return CLI_OK; /* the debugger has gone */
    return status < 0 ? cli_fail("%s: %s", s->replay.stream_path, ntr_status_text(status)) : CLI_OK;
}

/* ---- where the debugger is */

static int serve_socket(struct gdb_session *s, const struct gdb_options *o) {
    int listener = cli_gdb_listen(o->where), status = listener < 0 ? CLI_FAILED : CLI_OK;

    while (status == CLI_OK) {
        int fd = cli_gdb_accept(listener, 0);
        if (fd < 0 && cli_end_signal()) break;
        if (fd < 0)
            status = cli_fail("--listen %s: %s", o->where, strerror(errno));
        else
            status = serve(s, fd, fd);
        if (!o->persistent || cli_end_signal()) break;
    }
    if (listener >= 0) close(listener);
    if (listener >= 0 && strchr(o->where, '/')) unlink(o->where);
    return status;
}

static bool is_limited(const ntr_image_options *o) {
    return o->has_scontext || o->has_hcontext || o->from || o->until;
}

/* The main file: the first one with code, in all contexts and at all times. GDB asks the server when there is none. */
static const char *program_of(const struct gdb_session *s) {
    static ntr_image_info info;

    for (size_t i = 0; ntr_program_image(s->replay.trace.program, i, &info) == NTR_OK; i++)
        if (info.path && info.high > info.low && !is_limited(&info.options)) return info.path;
    return NULL;
}

static int no_gdb(const struct gdb_options *o, const char *path) {
    if (o->gdb) return cli_fail("%s: is not a GDB that knows RISC-V", o->gdb);
    cli_note("found no GDB that knows RISC-V (Debian: apt-get install gdb-multiarch); elsewhere, type:");
    cli_gdb_print_setup(stderr, "    ");
    fprintf(stderr, "    file PROGRAM\n    target remote | ntrace gdb --stdio %s\n", path);
    return CLI_FAILED;
}

static int serve_child(struct gdb_session *s, const char *gdb, const char *socket, const char *script) {
    int listener = cli_gdb_listen(socket), status = CLI_FAILED, ended = 0;

    if (listener < 0) return CLI_FAILED;
    signal(SIGINT, SIG_IGN); /* ^C is for GDB, which passes it on */
    pid_t child = cli_gdb_launch(gdb, program_of(s), socket, script);
    if (child > 0) {
        int fd = cli_gdb_accept(listener, child);
        status = fd < 0 ? CLI_OK : serve(s, fd, fd);
        ended = cli_gdb_end(child);
        if (WIFEXITED(ended) && WEXITSTATUS(ended)) status = cli_fail("%s: exit status %d", gdb, WEXITSTATUS(ended));
    }
    close(listener);
    return status;
}

static int launch(struct gdb_session *s, const struct gdb_options *o, const char *path) {
    const char *gdb = cli_gdb_find(o->gdb);
    char socket[PATH_MAX], script[PATH_MAX];

    if (!gdb) return no_gdb(o, path);
    snprintf(socket, sizeof socket, "%s/gdb", s->folder);
    snprintf(script, sizeof script, "%s/ntrace.gdb", s->folder);
    int status = serve_child(s, gdb, socket, script);
    unlink(socket);
    unlink(script);
    return status;
}

static int make_folder(struct gdb_session *s) {
    const char *temporary = getenv("TMPDIR");
    const int size =
        snprintf(s->folder, sizeof s->folder, "%s/ntrace-gdb-XXXXXX", temporary && *temporary ? temporary : "/tmp");

    if (size > 0 && (size_t)size < sizeof s->folder && mkdtemp(s->folder)) return CLI_OK;
    return cli_fail("%s: cannot make a temporary folder: %s", s->folder, strerror(errno));
}

static int serve_somewhere(struct gdb_session *s, const struct gdb_options *o, const char *path) {
    if (o->use_stdio && !isatty(STDIN_FILENO)) signal(SIGINT, SIG_IGN); /* ^C is for the debugger, which passes it on */
    cli_end_signal_catch();
    if (make_folder(s) != CLI_OK) return CLI_FAILED;
    int status;
    if (o->use_stdio)
        status = serve(s, STDIN_FILENO, STDOUT_FILENO);
    else if (o->where)
        status = serve_socket(s, o);
    else
        status = launch(s, o, path);
    rmdir(s->folder);
    return status;
}

static int gdb_run(const void *options, char **operands) {
    const struct gdb_options *o = options;
    struct gdb_session s;

    if (o->use_stdio && o->where) return cli_fail("--stdio and --listen cannot be combined");
    if (!o->where && strcmp(operands[0], "-") == 0)
        return cli_fail("-: standard input has the trace, the debugger needs it, too: use --listen, or a file");
    if (o->persistent && !o->where) return cli_fail("--persistent needs --listen");
    int status = cli_replay_open(&s.replay, operands[0], &o->replay);
    if (status == CLI_OK) status = serve_somewhere(&s, o, operands[0]);
    if (status == CLI_OK) status = cli_replay_status(&s.replay);
    cli_replay_close(&s.replay);
    cli_end_signal_pass();
    return status;
}

const struct cli_command cli_gdb = {
    .operands = "TRACE",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .size = sizeof(struct gdb_options),
    .run = gdb_run,
    .about =
        "Lets a debugger walk through the recorded execution, forward and backward: breakpoints, step, next, finish,\n"
        "backtrace, and reverse-step, reverse-next, reverse-finish, reverse-continue. Every hart is a thread.\n"
        "\n"
        "Without --stdio and --listen, it starts a GDB that knows RISC-V and connects it. With them, any GDB, or a\n"
        "front end of it, can connect; in GDB, give 'set osabi none' before 'file'.\n"
        "\n"
        "A trace has no data: registers and memory are unavailable, except for the program counter, code, constants,\n"
        "and what GDB needs for backtraces. Nothing can be changed. 'monitor help' lists commands that GDB does not\n"
        "have: 'monitor goto 37%', 'monitor when', 'monitor next-gap' and others.\n"
        "\n"
        "The first search reads the trace once and makes an index in memory; later ones are fast in both directions.",
    .examples = "  ntrace gdb hello.ntrace\n"
                "  ntrace gdb capture.nex -e firmware.elf --src-bits 2\n"
                "  ntrace gdb --listen 3333 hello.ntrace",
};
