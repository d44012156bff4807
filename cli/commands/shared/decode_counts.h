/* Totals of a trace, and of the part of it that --from and --until select (decode --show count). */
#ifndef CLI_COMMANDS_SHARED_DECODE_COUNTS_H
#define CLI_COMMANDS_SHARED_DECODE_COUNTS_H

#include "io/message_window.h"
#include "io/output.h"
#include "io/trace_index.h"
#include "options/options.h"

#include <ntrace/decoder.h>

void cli_write_counts(struct cli_output *out, enum cli_format format, const ntr_counts *counts);

struct cli_part_counts {
    const struct cli_window *events;
    struct cli_window messages;
    struct cli_message_window selected;
    ntr_reader reader;
    ntr_counts counts;
    bool many, behind; /* many sources; all further events are behind the part */
};

/* `begin`: where the bytes begin. `window` and `trace` must outlive the object. Returns CLI_OK, or CLI_FAILED after
 * reporting the error. */
int cli_part_counts_open(struct cli_part_counts *part, const struct cli_window *window, const struct cli_trace *trace,
                         const struct cli_begin *begin, bool mid_stream);
void cli_part_counts_close(struct cli_part_counts *part);

/* Counts the messages of the next bytes of the stream. */
bool cli_part_counts_bytes(struct cli_part_counts *part, ntr_bytes piece, bool last);

/* Counts the event, if it is in the part. Returns whether it is. */
bool cli_part_counts_event(struct cli_part_counts *part, const ntr_event *event);

#endif
