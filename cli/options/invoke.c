#include "options/options.h"
#include "options/aliases.h"
#include "options/diagnostics.h"
#include "options/help.h"
#include "options/next.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool takes_programs(const struct cli_command *command) {
    for (const struct cli_group *group = command->groups; group->title; group++)
        for (const struct cli_option *o = cli_group_rows(group); o->kind != CLI_END; o++)
            if (o->letter == 'e') return true;
    return false;
}

static bool is_program(const char *path) {
    char magic[4] = "";
    struct stat about;

    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return false;
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    const bool same = fread(magic, 1, sizeof magic, file) == sizeof magic && memcmp(magic, "\177ELF", 4) == 0;
    fclose(file);
    return same;
}

/* Reports too many operands. A trace and its program are a frequent mistake: -e gives the program. */
static void report_operands(const struct cli_entry *entry, char **operands, int count) {
    const struct cli_command *command = entry->command;
    const int most = command->max_operands;

    if (most == 1 && count == 2 && takes_programs(command) && is_program(operands[0]) != is_program(operands[1])) {
        const int program = is_program(operands[1]);
        cli_note("unexpected operand '%s': it is a program (ELF); 'ntrace %s %s -e %s' takes it as one",
                 operands[program], entry->name, operands[!program], operands[program]);
        return;
    }
    cli_note("unexpected operand '%s'; usage: ntrace %s [OPTION]... %s", operands[most], entry->name,
             command->operands);
}

int cli_run_command(const struct cli_entry *entry, int argc, char **argv) {
    const struct cli_command *command = entry->command;
    enum cli_help help;

    cli_report_command(entry->name);
    void *options = calloc(1, command->size ? command->size : 1);
    if (!options) return cli_fail("out of memory");
    cli_options_init(command->groups, options);
    const struct cli_parse parse = {entry->name, command->groups, options};
    int count = cli_options_parse(&parse, argc, argv, command->stop_at_operand, &help);
    int status = CLI_FAILED;
    if (help) {
        (help == CLI_HELP_SCREEN ? cli_help_screen : cli_help_command)(entry, stdout);
        status = CLI_OK;
    } else if (count >= 0 && count < command->min_operands) {
        cli_note("%s; usage: ntrace %s [OPTION]... %s",
                 command->min_operands == 1 ? "missing operand" : "missing operands", entry->name, command->operands);
    } else if (count >= 0 && command->max_operands >= 0 && count > command->max_operands) {
        report_operands(entry, argv, count);
    } else if (count >= 0) {
        status = command->run(options, argv);
        if (status != CLI_FAILED) cli_next_step(command, options, argv);
    }
    cli_options_release(command->groups, options);
    free(options);
    return status;
}

bool cli_is_command(const char *name) {
    return cli_find_command(name) || cli_command_alias_find(name);
}

int cli_run_words(char **words) {
    const struct cli_command_alias *alias = cli_find_command(words[0]) ? NULL : cli_command_alias_find(words[0]);
    const struct cli_entry *entry = cli_find_command(alias ? alias->command : words[0]);
    int count = 0, used = 0;

    while (words[count]) count++;
    char **arguments = calloc((size_t)count + 3, sizeof *arguments);
    if (!arguments) return cli_fail("out of memory");
    if (alias) arguments[used++] = (char *)alias->option;
    if (alias) arguments[used++] = (char *)alias->value;
    for (int i = 1; i < count; i++) arguments[used++] = words[i];
    const int status = cli_run_command(entry, used, arguments);
    free(arguments);
    return status;
}
