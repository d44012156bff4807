/* `ntrace help --as options`: every option of every command, one on each line, for tools/check_options. */
#include "options/aliases.h"
#include "options/help.h"

static const char *kind_of(const struct cli_option *o) {
    return o->kind == CLI_KIND_SET ? "flag" : o->argument == CLI_ARGUMENT_SWITCH ? "switch" : "value";
}

void cli_help_options(FILE *out) {
    static const char *const when[] = {"any", "word", "point", "address"};
    const struct cli_command_alias *command;
    const struct cli_alias *alias;

    for (const struct cli_entry *e = cli_commands; e->name; e++)
        for (const struct cli_group *g = cli_group_first(e->command->groups); g; g = cli_group_next(g))
            for (const struct cli_option *o = cli_group_rows(g); o->kind != CLI_END; o++)
                fprintf(out, "option\t%s\t%s\t%s\t%c\t%s\t%s\t%s\n", e->name, g->title, o->name,
                        o->letter ? o->letter : '-', kind_of(o), o->value ? o->value : "-", o->help);
    for (size_t i = 0; (alias = cli_alias_at(i)); i++)
        fprintf(out, "alias\t%s\t%s\t%s\t%s\n", alias->command, alias->old, alias->name, when[alias->when]);
    for (size_t i = 0; (command = cli_command_alias_at(i)); i++)
        fprintf(out, "command\t%s\t%s %s %s\n", command->old, command->command, command->option, command->value);
}
