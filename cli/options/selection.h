/* --src, --from, --to: a part of the trace. */
#ifndef CLI_OPTIONS_SELECTION_H
#define CLI_OPTIONS_SELECTION_H

#include "options/options.h"

#include <ntrace/message.h>

struct cli_selection {
    int64_t source; /* -1: all */
    const char *from, *to;
};

extern const struct cli_option cli_selection_options[];

enum cli_unit { CLI_UNIT_NONE, CLI_UNIT_MESSAGE, CLI_UNIT_BYTE, CLI_UNIT_TIME };

struct cli_point {
    enum cli_unit unit;
    uint64_t value;
};

struct cli_window {
    struct cli_point from, to; /* both inclusive */
    bool one_source;
    uint16_t source;
};

/* Returns CLI_OK, or CLI_FAILED after telling why. */
int cli_selection_window(const struct cli_selection *selection, struct cli_window *window);

/* The same for those that see messages only, without the decoder's clock: limits by time are refused. */
int cli_selection_messages(const struct cli_selection *selection, struct cli_window *window);

bool cli_window_is_whole(const struct cli_window *window);

/* Where something with this message number, byte offset and time lies: before the window, in it, behind it.
 * `time` NULL: not known; then a limit by time does not exclude it. */
enum cli_place { CLI_BEFORE = -1, CLI_INSIDE = 0, CLI_BEHIND = 1 };
enum cli_place cli_window_place(const struct cli_window *window, uint64_t message, uint64_t offset,
                                const uint64_t *time);

/* Whether the message belongs to the window. Sets *behind when nothing more will. */
bool cli_window_message(const struct cli_window *window, const ntr_message *message, bool *behind);

#endif
