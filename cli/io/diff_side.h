/* One side of a comparison: an execution as steps that do not depend on how it was cut into messages.
 *
 * A step is straight code up to where flow went elsewhere (pieces that only messages divided are joined), a gap,
 * or a stop; for a list of program counters, one instruction. One source at a time. */
#ifndef CLI_IO_DIFF_SIDE_H
#define CLI_IO_DIFF_SIDE_H

#include "io/images.h"
#include "io/lines.h"
#include "io/trace.h"

#include <ntrace/decoder.h>

struct cli_step {
    enum cli_step_kind { CLI_STEP_RUN, CLI_STEP_GAP, CLI_STEP_STOP, CLI_STEP_PC, CLI_STEP_END } kind;
    uint8_t end; /* run: ntr_end */
    bool timed;  /* `time` is of the very moment the run ended: every encoder sends a message there */
    uint64_t address, target, instructions, time;
    uint64_t offset, message; /* where the trace tells it; a list: the line as `message` */
    ntr_context context;
};

struct cli_side {
    const char *path;
    bool is_list, expand; /* a list of program counters; a trace that is compared with one */
    struct cli_trace trace;
    struct cli_lines list;
    ntr_decoder *decoder;
    ntr_event events[256];
    size_t at, count;
    ntr_status status;
    struct cli_step pending; /* straight code that may go on */
    bool have_pending;
    uint64_t timed_message; /* the message that told the last moment: one that tells several tells none */
    ntr_context context;
    uint64_t pc, left; /* expand: what is left of the run */
    struct cli_step run;
    uint64_t gaps, reserved; /* events, messages */
    bool failed;
};

/* Both return CLI_OK, or CLI_FAILED after telling why. */
int cli_side_open(struct cli_side *side, const char *path, const struct cli_stream *stream,
                  const struct cli_images *images, int source);
int cli_side_open_list(struct cli_side *side, const char *path);
void cli_side_report(const struct cli_side *side); /* what is odd in the trace, as far as it was read */
void cli_side_close(struct cli_side *side);

/* The next step; CLI_STEP_END again and again at the end, also after a failure (`failed`, told). `program` gives
 * the lengths of instructions when runs are expanded. */
struct cli_step cli_side_next(struct cli_side *side);

#endif
