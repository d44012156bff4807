/* The part of a trace that --src, --from and --until select, for commands that read messages without decoding. */
#ifndef CLI_IO_MESSAGE_WINDOW_H
#define CLI_IO_MESSAGE_WINDOW_H

#include "io/trace.h"
#include "options/selection.h"

#include <ntrace/clock.h>

struct cli_message_window {
    const struct cli_window *window;
    const struct cli_trace *trace;
    ntr_clock *clocks; /* indexed by source; NULL: no limit is a time */
};

/* `window` and `trace` must outlive the object. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_message_window_open(struct cli_message_window *window, const struct cli_window *selected,
                            const struct cli_trace *trace);
void cli_message_window_close(struct cli_message_window *window);

/* Returns whether the message is selected. Every message of the stream must be passed, in order. A limit by time does
 * not exclude a message of unknown time. Sets *behind if all following messages are behind the window. */
bool cli_message_window_has(struct cli_message_window *window, const ntr_message *message, bool *behind);

#endif
