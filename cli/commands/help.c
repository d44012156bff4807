#include "options/aliases.h"
#include "options/options.h"
#include "options/help.h"
#include "options/diagnostics.h"

#include <string.h>

struct help_options {
    int as;
};

enum { AS_TEXT, AS_MAN, AS_BASH, AS_OPTIONS };

static const struct cli_option table[] = {
    CLI_CHOICE(
        0, "as", "text|man|bash|options", struct help_options, as, AS_TEXT,
        "what to print: text (default), man (source of the man page), bash (completion script for all commands) or "
        "options (all options of all commands, with tabs between the columns)"),
    {0},
};

static const struct cli_group groups[] = {CLI_OWN("options", table), {0}};

static int help_run(const void *options, char **operands) {
    const struct help_options *o = options;
    const char *topic = operands[0];

    if (o->as == AS_BASH || o->as == AS_OPTIONS) {
        (o->as == AS_BASH ? cli_bash_completion : cli_help_options)(stdout);
    } else if (!topic) {
        (o->as == AS_MAN ? cli_man_overview : cli_help_overview)(stdout);
    } else if (strcmp(topic, "dialects") == 0) {
        cli_help_dialects(stdout);
    } else {
        const struct cli_command_alias *alias = cli_command_alias_find(topic);
        const struct cli_entry *entry = cli_find_command(alias ? alias->command : topic);
        if (!entry) return cli_fail("no command or topic '%s'; 'ntrace --help' lists them", topic);
        (o->as == AS_MAN ? cli_man_command : cli_help_command)(entry, stdout);
    }
    return CLI_OK;
}

const struct cli_command cli_help = {
    .operands = "[COMMAND | dialects]",
    .min_operands = 0,
    .max_operands = 1,
    .groups = groups,
    .size = sizeof(struct help_options),
    .run = help_run,
    .about = "Without operand, prints the list of commands. With the name of a command, prints its description and\n"
             "options. 'dialects' lists the names that --dialect accepts.",
};
