/* Names that were replaced and still work (aliases.def). */
#ifndef CLI_OPTIONS_ALIASES_H
#define CLI_OPTIONS_ALIASES_H

#include <stdbool.h>
#include <stddef.h>

enum cli_alias_when { CLI_ALIAS_ANY, CLI_ALIAS_WORD, CLI_ALIAS_POINT, CLI_ALIAS_ADDRESS };

struct cli_alias {
    const char *command, *old, *name;
    enum cli_alias_when when;
};

/* Returns the next alias for the name of `length` characters in `command`, starting at row *i, or NULL; *i is set to
 * the row after it. */
const struct cli_alias *cli_alias_next(size_t *i, const char *command, const char *name, size_t length);

/* Returns whether the alias applies to an option with this value, which may be NULL. `words`: "a|b|c" of the option
 * that it names, if that is a choice, else NULL. */
bool cli_alias_applies(const struct cli_alias *alias, const char *words, const char *value);

/* A command that was replaced by another one with an option. */
struct cli_command_alias {
    const char *old, *command, *option, *value;
};

/* Returns the replacement of the command `old`, or NULL. */
const struct cli_command_alias *cli_command_alias_find(const char *old);

/* Returns row `i` of the tables, or NULL at the end. */
const struct cli_alias *cli_alias_at(size_t i);
const struct cli_command_alias *cli_command_alias_at(size_t i);

#endif
