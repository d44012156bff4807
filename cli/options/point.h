/* A point of a trace: N or #N (message), @N (byte offset), t:N (time). */
#ifndef CLI_OPTIONS_POINT_H
#define CLI_OPTIONS_POINT_H

#include <stdbool.h>
#include <stdint.h>

/* Returns whether the text is meant as a point: "12", "#12", "@12", "t:12", and no name. */
bool cli_is_point(const char *text);

enum cli_unit { CLI_UNIT_NONE, CLI_UNIT_MESSAGE, CLI_UNIT_BYTE, CLI_UNIT_TIME };

struct cli_point {
    enum cli_unit unit;
    uint64_t value;
};

/* Reads the value of --`option`; NULL: no limit, CLI_UNIT_NONE. Returns CLI_OK, or CLI_FAILED after reporting the
 * error. */
int cli_point_parse(const char *option, const char *text, struct cli_point *point);

#endif
