#include "io/atomic_file.h"
#include "options/options.h"
#include "options/help.h"
#include "options/diagnostics.h"

#include <ntrace/version.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CLI_TASK(first, title)
#define CLI_COMMAND(name, summary) extern const struct cli_command cli_##name;
#include "commands/commands.def"
#undef CLI_COMMAND

static const struct cli_entry commands[] = {
#define CLI_COMMAND(name, summary) {#name, summary, &cli_##name},
#include "commands/commands.def"
#undef CLI_COMMAND
    {0},
};
#undef CLI_TASK

static const struct cli_task tasks[] = {
#define CLI_COMMAND(name, summary)
#define CLI_TASK(first, title) {#first, title},
#include "commands/commands.def"
#undef CLI_COMMAND
#undef CLI_TASK
    {0},
};

static int unknown_command(const char *name) {
    for (const struct cli_entry *e = cli_commands; e->name; e++) {
        if (cli_looks_like(name, e->name)) return cli_fail("no command '%s'; did you mean '%s'?", name, e->name);
    }
    return cli_fail("no command '%s'; 'ntrace --help' lists them", name);
}

static int dispatch(int argc, char **argv) {
    if (argc < 2) {
        cli_help_overview(stderr);
        return CLI_FAILED;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("ntrace " NTR_VERSION_TEXT);
        return CLI_OK;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        cli_help_overview(stdout);
        return CLI_OK;
    }
    if (cli_is_command(argv[1])) return cli_run_words(argv + 1);
    if (argv[1][0] == '-') return cli_fail("unknown option '%s'; see 'ntrace --help'", argv[1]);
    return unknown_command(argv[1]);
}

/* Flushes stdout, which help texts and lists use, and reports an error of writing it. */
static int close_standard_output(int status) {
    bool failed = ferror(stdout) != 0;

    if (fflush(stdout) == 0 && !failed) return status;
    return errno == EPIPE ? status : cli_fail("standard output: %s", strerror(errno));
}

/* A file that is opened later must not get the number of a standard stream that the caller has closed: messages and
 * answers would be written into it. What stands there refuses what the stream is for, as a closed one does. */
static void occupy_standard_streams(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) (void)!open("/", O_PATH);
}

int main(int argc, char **argv) {
    occupy_standard_streams();
    cli_commands = commands;
    cli_tasks = tasks;
    /* Ignore signals that report failed writes. A closed pipe is then EPIPE, which ends the output silently; an
     * exceeded file size limit is EFBIG, which is reported. A command that starts another program resets both to
     * SIG_DFL in it. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    cli_atomic_file_catch_faults();
    return close_standard_output(cli_doubted_status(dispatch(argc, argv)));
}
