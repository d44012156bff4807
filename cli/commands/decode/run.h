/* One call of `ntrace decode` (decode.c). */
#ifndef CLI_COMMANDS_DECODE_RUN_H
#define CLI_COMMANDS_DECODE_RUN_H

#include "commands/shared/analysis.h"
#include "io/defects.h"
#include "io/images.h"
#include "io/output.h"
#include "io/trace.h"
#include "io/trace_index.h"
#include "options/options.h"
#include "options/selection.h"
#include "text/decode_output.h"
#include "text/quality.h"

#include <ntrace/decoder.h>
#include <ntrace/event_sorter.h>

enum { DECODE_EVENTS = 256 }; /* read at once: small enough for the L1 data cache */

struct decode_options {
    struct cli_stream stream;
    struct cli_images images;
    struct cli_selection selection;
    struct cli_result result;
    int output, strict, mid_stream, follow;
    int64_t channel, jobs;
    const char *debug_path, *partial, *shard, *index;
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
    struct cli_begin begin;
    unsigned jobs;
    ntr_event_sorter *sorter; /* NULL: events are printed in stream order */
    bool rated; /* --format json: `quality` is gathered, by one thread */
    struct cli_quality quality;
    uint64_t reserved; /* number of messages that may be damaged (ntr_event_is_doubtful) */
    bool any;          /* there is at least one event within the selection */
    bool part;         /* --from or --until is given */
    bool no_spans;     /* nothing is printed */
};

/* ---- decoder.c */

/* Opens the decoder of the trace, which is open, at the beginning of the selection. Returns CLI_OK, or CLI_FAILED after
 * reporting the error. */
int cli_decode_open(struct decode *d);

/* Returns the name of the document of --format json: "instructions", "counts", "text" or "events". */
const char *cli_decode_form(const struct decode *d);

/* Returns whether events are sorted by time: the trace has several sources and timestamps. */
bool cli_decode_sorts(const struct decode *d);

/* Feeds the next part of the input to the decoder. Returns false at the end of the input or after an error. */
bool cli_decode_feed(struct decode *d);

/* Reports a gap; counts messages that may be damaged. */
void cli_decode_inspect(struct decode *d, const ntr_event *event);

/* Reports why decoding stopped. `error` is empty, or a sentence. Returns the exit status. */
int cli_decode_error(const struct decode *d, ntr_status status, const char *error);

/* ---- totals.c */

/* Shows the totals of the selection. Returns the exit status so far. */
int cli_decode_show_totals(struct decode *d);

/* ---- events.c */

/* Shows the events of the trace, or with `answer` those of a partial answer, which was opened. Returns the exit status
 * so far. */
int cli_decode_show(struct decode *d, struct cli_analysis *answer);

/* Shows events, in the order of time if the trace has several sources and timestamps. */
void cli_decode_show_events(struct decode *d, struct cli_decode_output *output, const ntr_event *events, size_t count);

/* ---- events.c */

/* Shows the events of the answer. */
int cli_decode_answer(struct decode *d, struct cli_analysis *answer, struct cli_decode_output *output);

/* Runs the command with --partial, or for a partial answer. Returns the exit status. */
int cli_decode_partial(struct decode *d, const char *path);

#endif
