#include "commands/complete.h"
#include "options/aliases.h"
#include "options/options.h"
#include "options/help.h"
#include "options/diagnostics.h"

#include <string.h>

struct help_options {
    int as;
};

enum { AS_TEXT, AS_MAN, AS_BASH, AS_ZSH, AS_FISH, AS_OPTIONS, AS_COMPLETE };

static const struct cli_option table[] = {
    CLI_CHOICE(
        0, "as", "text|man|bash|zsh|fish|options|complete", struct help_options, as, AS_TEXT,
        "text (default); man: source of the man page; bash, zsh, fish: completion script of that shell; options: "
        "all options of all commands, with tabs between the columns; complete: what the last of the words after "
        "-- can be"),
    {0},
};

static const struct cli_group groups[] = {CLI_OWN("options", table), {0}};

/* Suggests a command or a topic. */
static int unknown(const char *topic) {
    const char *name;

    for (const struct cli_entry *e = cli_commands; e->name; e++)
        if (cli_looks_like(topic, e->name))
            return cli_fail("no command or topic '%s'; did you mean '%s'?", topic, e->name);
    for (size_t i = 0; (name = cli_help_topic_name(i)); i++)
        if (cli_looks_like(topic, name)) return cli_fail("no command or topic '%s'; did you mean '%s'?", topic, name);
    return cli_fail("no command or topic '%s'; 'ntrace --help' lists them", topic);
}

static int explain(const char *topic, bool as_man) {
    const struct cli_command_alias *alias = cli_command_alias_find(topic);
    const struct cli_entry *entry = cli_find_command(alias ? alias->command : topic);

    if (strcmp(topic, "dialects") == 0)
        cli_help_dialects(stdout);
    else if (entry)
        (as_man ? cli_man_command : cli_help_command)(entry, stdout);
    else if (!cli_help_topic(topic, stdout))
        return unknown(topic);
    return CLI_OK;
}

static int help_run(const void *options, char **operands) {
    const struct help_options *o = options;
    void (*const scripts[])(FILE *) = {[AS_BASH] = cli_bash_completion,
                                       [AS_ZSH] = cli_zsh_completion,
                                       [AS_FISH] = cli_fish_completion,
                                       [AS_OPTIONS] = cli_help_options};

    if (o->as == AS_COMPLETE) return cli_complete(operands);
    if (operands[0] && operands[1])
        return cli_fail("unexpected operand '%s'; usage: ntrace help [COMMAND | TOPIC]", operands[1]);
    if (o->as >= AS_BASH) {
        scripts[o->as](stdout);
        return CLI_OK;
    }
    if (operands[0]) return explain(operands[0], o->as == AS_MAN);
    (o->as == AS_MAN ? cli_man_overview : cli_help_overview)(stdout);
    return CLI_OK;
}

const struct cli_command cli_help = {
    .operands = "[COMMAND | TOPIC]",
    .min_operands = 0,
    .max_operands = -1,
    .groups = groups,
    .size = sizeof(struct help_options),
    .run = help_run,
    .about =
        "Without operand, prints the list of commands. With the name of a command, prints its description and\n"
        "options. Blocks of options that many commands share are topics: program, stream, window, encoder and limits.\n"
        "The topic 'dialects' lists the names that --dialect accepts.",
    .examples = "  ntrace help decode\n"
                "  ntrace help stream\n"
                "  ntrace help dialects\n"
                "  ntrace help --as zsh >~/.zfunc/_ntrace",
};
