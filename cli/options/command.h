/* A command: what main.c, help, the man page and shell completion know of it.
 *
 * To add one: a line in commands.def, `const struct cli_command cli_<name>` in cmd_<name>.c, the file in
 * cli/meson.build. */
#ifndef CLI_OPTIONS_COMMAND_H
#define CLI_OPTIONS_COMMAND_H

#include "options/options.h"

struct cli_command {
    const char *operands;           /* usage: "TRACE" */
    int min_operands, max_operands; /* number of operands; max_operands -1: unlimited */
    bool stop_at_operand;           /* the first operand ends the options (run: PROGRAM ARGS...) */
    const struct cli_group *groups; /* ends with a zero row */
    size_t size;                    /* of the struct that the options fill */
    /* `options` points to that struct; `operands` ends with NULL. Returns the exit status (report.h). */
    int (*run)(const void *options, char **operands);
    const char *about;    /* paragraphs, divided by blank lines; a line that starts with a blank is shown as it is */
    const char *examples; /* lines shown as they are, or NULL */
};

#define CLI_NO_OPTIONS ((const struct cli_group[]){{0}})

struct cli_entry {
    const char *name;
    const char *summary;
    const struct cli_command *command;
};

/* Every command, in the order of commands.def; ends with a NULL name. */
extern const struct cli_entry cli_commands[];

const struct cli_entry *cli_find_command(const char *name);

#endif
