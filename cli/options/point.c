#include "options/point.h"
#include "options/diagnostics.h"
#include "options/words.h"

#include <string.h>

static const struct {
    const char *prefix;
    enum cli_unit unit;
} units[] = {
    {"#", CLI_UNIT_MESSAGE},
    {"@", CLI_UNIT_BYTE},
    {"t:", CLI_UNIT_TIME},
    {"", CLI_UNIT_MESSAGE},
};

bool cli_is_point(const char *text) {
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t length = strlen(units[i].prefix);
        if (length && strncmp(text, units[i].prefix, length) == 0) return true;
    }
    return *text >= '0' && *text <= '9';
}

int cli_point_parse(const char *option, const char *text, struct cli_point *point) {
    *point = (struct cli_point){CLI_UNIT_NONE, 0};
    if (!text) return CLI_OK;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t length = strlen(units[i].prefix);
        if (strncmp(text, units[i].prefix, length) != 0) continue;
        if (!cli_parse_number(text + length, &point->value)) break;
        point->unit = units[i].unit;
        return CLI_OK;
    }
    return cli_fail("--%s: expected N or #N (message), @N (byte offset) or t:N (time), found '%s'", option, text);
}
