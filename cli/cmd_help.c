#include "command.h"
#include "help.h"
#include "report.h"

#include <string.h>

static int help_run(const void *options, char **operands) {
    const char *topic = operands[0];

    (void)options;
    if (!topic) {
        cli_help_overview(stdout);
        return CLI_OK;
    }
    if (strcmp(topic, "dialects") == 0) {
        cli_help_dialects(stdout);
        return CLI_OK;
    }
    const struct cli_entry *entry = cli_find_command(topic);
    if (!entry) return cli_fail("no command or topic '%s'; 'ntrace --help' lists them", topic);
    cli_help_command(entry, stdout);
    return CLI_OK;
}

const struct cli_command cli_help = {
    .operands = "[COMMAND | dialects]",
    .least = 0,
    .most = 1,
    .groups = CLI_NO_OPTIONS,
    .run = help_run,
    .about = "Without operand: the list of commands. With a command: everything about it. 'dialects' lists the names\n"
             "that --dialect takes.",
};
