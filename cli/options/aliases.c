#include "options/aliases.h"
#include "options/point.h"
#include "options/words.h"

#include <string.h>

#define CLI_ALIAS(command, old, name, when) {command, old, name, CLI_ALIAS_##when},
#define CLI_COMMAND_ALIAS(old, command, option, value)
static const struct cli_alias aliases[] = {
#include "options/aliases.def"
};
#undef CLI_ALIAS
#undef CLI_COMMAND_ALIAS

#define CLI_ALIAS(command, old, name, when)
#define CLI_COMMAND_ALIAS(old, command, option, value) {#old, #command, option, value},
static const struct cli_command_alias command_aliases[] = {
#include "options/aliases.def"
    {0},
};
#undef CLI_ALIAS
#undef CLI_COMMAND_ALIAS

const struct cli_alias *cli_alias_at(size_t i) {
    return i < sizeof aliases / sizeof aliases[0] ? &aliases[i] : NULL;
}

const struct cli_alias *cli_alias_next(size_t *i, const char *command, const char *name, size_t length) {
    const struct cli_alias *alias;

    while ((alias = cli_alias_at((*i)++))) {
        if (strlen(alias->old) != length || memcmp(alias->old, name, length) != 0) continue;
        if (strcmp(alias->command, "*") == 0 || strcmp(alias->command, command) == 0) return alias;
    }
    return NULL;
}

/* Returns whether the text is HOST:PORT, and no path. */
static bool is_address(const char *text) {
    const char *colon = strrchr(text, ':');

    return colon && !strchr(text, '/') && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1);
}

bool cli_alias_applies(const struct cli_alias *alias, const char *words, const char *value) {
    switch (alias->when) {
    case CLI_ALIAS_WORD: return value && words && cli_choice_find(words, value, strlen(value)) >= 0;
    case CLI_ALIAS_POINT: return value && cli_is_point(value);
    case CLI_ALIAS_ADDRESS: return value && is_address(value);
    default: return true;
    }
}

const struct cli_command_alias *cli_command_alias_at(size_t i) {
    return i + 1 < sizeof command_aliases / sizeof command_aliases[0] ? &command_aliases[i] : NULL;
}

const struct cli_command_alias *cli_command_alias_find(const char *old) {
    const struct cli_command_alias *alias;

    for (size_t i = 0; (alias = cli_command_alias_at(i)); i++)
        if (strcmp(alias->old, old) == 0) return alias;
    return NULL;
}
