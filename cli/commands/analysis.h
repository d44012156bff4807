/* What a trace answers: decoded once, into what the caller needs of it. */
#ifndef CLI_COMMANDS_ANALYSIS_H
#define CLI_COMMANDS_ANALYSIS_H

#include "io/defects.h"
#include "options/selection.h"
#include "io/source_text.h"
#include "io/trace.h"
#include "io/trace_facts.h"

#include <ntrace/decoder.h>
#include <ntrace/export.h>

struct cli_analysis_options {
    struct cli_stream stream;
    struct cli_images images;
    int64_t src;  /* -1: every source */
    int64_t jobs; /* 0: not told */
    const char *debug_path;
    const char *source_path;
};
extern const struct cli_option cli_analysis_options[];

struct cli_analysis {
    const struct cli_analysis_options *options;
    const char *path;
    struct cli_trace trace;
    struct cli_defects defects;
    ntr_decoder_config config;
    ntr_decoder *decoder;
    struct cli_source_text text;
    struct cli_trace_facts facts;
    ntr_analysis answers; /* owns what it points to, but for the program */
    uint64_t gaps, reserved; /* of these messages only a number is told */
    bool any;
    bool keep_time; /* in the tally, if messages bear any; to be set before cli_analysis_run */
};

/* Takes events in stream order; anything but NTR_OK stops the decoding. */
typedef ntr_status (*cli_take_events)(void *user, const ntr_event *events, size_t count);

/* Open the trace and its program. Returns CLI_OK, or CLI_FAILED after telling why. */
int cli_analysis_open(struct cli_analysis *a, const char *path, const struct cli_analysis_options *options);

/* Have the members of a->answers made that `needs` (NTR_NEEDS_*) names. Returns as above. */
int cli_analysis_need(struct cli_analysis *a, unsigned needs);

/* Decode to the end, or to Ctrl-C, into what is needed; events also go to `take` (may be NULL). Progress on a
 * terminal. Returns the exit status so far. */
int cli_analysis_run(struct cli_analysis *a, cli_take_events take, void *user);

void cli_analysis_close(struct cli_analysis *a);

#endif
