/* One side of `ntrace diff`: a trace, or a list of program counters, as an execution to compare. */
#ifndef CLI_IO_DIFF_SIDE_H
#define CLI_IO_DIFF_SIDE_H

#include "io/images.h"
#include "io/lines.h"
#include "io/trace.h"
#include "options/selection.h"

#include <ntrace/decoder.h>
#include <ntrace/difference.h>

/* Must not be moved in memory while it is open. */
struct cli_side {
    const char *path;
    bool is_list;
    unsigned xlen; /* of the other side; 0: not known */
    struct cli_trace trace;
    const struct cli_window *window; /* events outside are ignored */
    struct cli_lines list;
    ntr_decoder *decoder;
    ntr_execution execution; /* input of ntr_comparison_config */
    ntr_event events[256];
    size_t at, count;
    ntr_status status;
    uint64_t reserved; /* messages that may be damaged (ntr_event_is_doubtful) */
    bool failed;       /* it could not be read to its end; the error has been reported */
    ntr_status (*take)(void *user, const ntr_event *event, uint64_t times); /* of what is compared; NULL: not wanted */
    void *take_user;
};

/* Opens a trace (`source` selects one source; negative: the only one) or a list of program counters. Both return
 * CLI_OK, or CLI_FAILED after reporting the error. */
int cli_side_open(struct cli_side *side, const char *path, const struct cli_stream *stream,
                  const struct cli_images *images, const struct cli_window *window, int source);
int cli_side_open_list(struct cli_side *side, const char *path, unsigned xlen);

/* Reports the number of gaps and of messages that may be damaged, as far as the trace was read. */
void cli_side_report(const struct cli_side *side, uint64_t gaps);

void cli_side_close(struct cli_side *side);

#endif
