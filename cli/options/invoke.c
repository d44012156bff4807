#include "options/options.h"
#include "options/diagnostics.h"
#include "options/help.h"

#include <stdbool.h>
#include <stdlib.h>

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
