#include "options/command.h"
#include "options/help.h"
#include "options/diagnostics.h"

#include <ntrace/version.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLI_COMMAND(name, summary) extern const struct cli_command cli_##name;
#include "commands/commands.def"
#undef CLI_COMMAND

const struct cli_entry cli_commands[] = {
#define CLI_COMMAND(name, summary) {#name, summary, &cli_##name},
#include "commands/commands.def"
#undef CLI_COMMAND
    {0},
};

const struct cli_entry *cli_find_command(const char *name) {
    for (const struct cli_entry *e = cli_commands; e->name; e++) {
        if (strcmp(e->name, name) == 0) return e;
    }
    return NULL;
}

int cli_run_command(const struct cli_entry *entry, int argc, char **argv) {
    const struct cli_command *command = entry->command;
    bool help;

    cli_report_command(entry->name);
    void *options = calloc(1, command->size ? command->size : 1);
    if (!options) return cli_fail("out of memory");
    cli_options_init(command->groups, options);
    int count = cli_options_parse(command->groups, options, argc, argv, command->stop_at_operand, &help);
    int status = CLI_FAILED;
    if (help) {
        cli_help_command(entry, stdout);
        status = CLI_OK;
    } else if (count >= 0 && count < command->min_operands) {
        cli_note("%s; usage: ntrace %s [OPTION]... %s",
                 command->min_operands == 1 ? "missing operand" : "missing operands", entry->name, command->operands);
    } else if (count >= 0 && command->max_operands >= 0 && count > command->max_operands) {
        cli_note("unexpected operand '%s'; usage: ntrace %s [OPTION]... %s", argv[command->max_operands], entry->name,
                 command->operands);
    } else if (count >= 0) {
        status = command->run(options, argv);
    }
    cli_options_release(command->groups, options);
    free(options);
    return status;
}

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
    const struct cli_entry *entry = cli_find_command(argv[1]);
    if (entry) return cli_run_command(entry, argc - 2, argv + 2);
    if (argv[1][0] == '-') return cli_fail("unknown option '%s'; see 'ntrace --help'", argv[1]);
    return unknown_command(argv[1]);
}

/* Flushes stdout, which help texts and lists use, and reports an error of writing it. */
static int close_standard_output(int status) {
    bool failed = ferror(stdout) != 0;

    if (fflush(stdout) == 0 && !failed) return status;
    return errno == EPIPE ? status : cli_fail("standard output: %s", strerror(errno));
}

int main(int argc, char **argv) {
    /* Ignore signals that report failed writes. A closed pipe is then EPIPE, which ends the output silently; an
     * exceeded file size limit is EFBIG, which is reported. A command that starts another program resets both to
     * SIG_DFL in it. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    return close_standard_output(dispatch(argc, argv));
}
