/* Description of a command, used by main.c, the help text, the man page and the shell completion.
 *
 * To add a command: add a line to commands/commands.def, define `const struct cli_command cli_<name>` in
 * commands/<name>.c, and add the file to cli/meson.build. */
#ifndef CLI_OPTIONS_COMMAND_H
#define CLI_OPTIONS_COMMAND_H

#include "options/options.h"

struct cli_command {
    const char *operands;           /* operands in the usage line: "TRACE" */
    int min_operands, max_operands; /* number of operands; max_operands -1: unlimited */
    bool stop_at_operand;           /* the first operand ends the options (run: PROGRAM ARGS...) */
    const struct cli_group *groups; /* ends with a zero row */
    size_t size;                    /* size of the struct that holds the values of the options */
    /* `options` points to that struct; `operands` ends with NULL. Returns the exit status (diagnostics.h). */
    int (*run)(const void *options, char **operands);
    const char *about;    /* paragraphs, separated by blank lines; a line that starts with a blank is not wrapped */
    const char *examples; /* lines, not wrapped; or NULL */
};

struct cli_entry {
    const char *name;
    const char *summary;
    const struct cli_command *command;
};

/* All commands in the order of commands.def; the name of the last row is NULL. */
extern const struct cli_entry cli_commands[];

/* Returns the command `name`, or NULL. */
const struct cli_entry *cli_find_command(const char *name);

/* Parses the options and operands argv[0 .. argc) and runs the command. argv[argc] must be writable. Returns the exit
 * status. */
int cli_run_command(const struct cli_entry *entry, int argc, char **argv);

#endif
