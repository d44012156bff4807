/* One call of `ntrace decode` (decode.c), and of its partial answers (decode_partial.c). */
#ifndef CLI_COMMANDS_DECODE_RUN_H
#define CLI_COMMANDS_DECODE_RUN_H

#include "commands/analysis.h"
#include "io/defects.h"
#include "io/images.h"
#include "io/output.h"
#include "io/trace.h"
#include "options/result.h"
#include "options/selection.h"
#include "text/decode_output.h"

#include <ntrace/decoder.h>
#include <ntrace/event_sorter.h>

struct decode_options {
    struct cli_stream stream;
    struct cli_images images;
    struct cli_selection selection;
    struct cli_result result;
    int output, strict, mid_stream, follow;
    int64_t channel, jobs;
    const char *debug_path, *partial, *shard;
};

/* State of one run of the command. */
struct decode {
    const struct decode_options *options;
    struct cli_trace trace;
    struct cli_window window;
    struct cli_output out;
    struct cli_defects defects;
    ntr_decoder_config config;
    ntr_decoder *decoder;
    unsigned jobs;
    ntr_event_sorter *sorter; /* NULL: events are printed in stream order */
    uint64_t reserved; /* number of messages with a reserved TCODE */
    bool any;          /* the decoder returned at least one event */
    bool part;         /* --from or --to is given */
    bool no_spans;     /* nothing is printed */
};

/* Shows the events of the trace, or with `answer` those of a partial answer, which was opened. Returns the exit status so far. */
int cli_decode_show(struct decode *d, struct cli_analysis *answer);

/* Shows the events of the answer. */
int cli_decode_answer(struct decode *d, struct cli_analysis *answer, struct cli_decode_output *output);

/* Shows events, in the order of time if the trace has several sources and timestamps. */
void cli_decode_show_events(struct decode *d, struct cli_decode_output *output, const ntr_event *events, size_t count);

/* Runs the command with --partial, or for a partial answer. Returns the exit status. */
int cli_decode_partial(struct decode *d, const char *path);

#endif
