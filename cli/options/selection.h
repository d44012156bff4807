/* Options --src, --from and --until: select a part of the trace. */
#ifndef CLI_OPTIONS_SELECTION_H
#define CLI_OPTIONS_SELECTION_H

#include "options/options.h"
#include "options/point.h"

#include <ntrace/event.h>
#include <ntrace/message.h>

struct cli_selection {
    int64_t source; /* -1: all */
    const char *from, *to;
};

extern const struct cli_option cli_selection_options[];
extern const struct cli_option cli_selection_range_options[]; /* --from and --until */

struct cli_window {
    struct cli_point from, to; /* both inclusive */
    const char *from_text, *to_text; /* as given; NULL: no such limit */
    bool one_source;
    uint16_t source;
};

/* Parses the options into a window. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_selection_window(const struct cli_selection *selection, struct cli_window *window);

/* As cli_selection_window, for a command that knows no times: a limit by time is an error. */
int cli_selection_messages(const struct cli_selection *selection, struct cli_window *window);

/* Returns whether the window has a limit, and whether it is the whole trace: no limit, all sources. */
bool cli_window_is_part(const struct cli_window *window);
bool cli_window_is_whole(const struct cli_window *window);

/* Reports that nothing of the trace `name` is within the window, and what was asked for. */
void cli_window_report_empty(const struct cli_window *window, const char *name);

/* Returns whether the position with this message number, byte offset and time is before, inside or behind the window.
 * If the time is not known (`time` NULL), a limit by time does not exclude the position. */
enum cli_place { CLI_BEFORE = -1, CLI_INSIDE = 0, CLI_BEHIND = 1 };
enum cli_place cli_window_place(const struct cli_window *window, uint64_t message, uint64_t offset,
                                const uint64_t *time);

/* The same for an event. Events of several sources are not in order of time. */
enum cli_place cli_window_event(const struct cli_window *window, const ntr_event *event);

#endif
