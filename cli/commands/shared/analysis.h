/* Decoding of one trace for the analysis commands (profile, coverage, flame, timeline, report, export).
 *
 * Usage: cli_analysis_open, cli_analysis_need for each kind of data, cli_analysis_run once, then read a->data. Call
 * cli_analysis_close in every case, also after an error. */
#ifndef CLI_COMMANDS_SHARED_ANALYSIS_H
#define CLI_COMMANDS_SHARED_ANALYSIS_H

#include "io/defects.h"
#include "io/shard.h"
#include "options/selection.h"
#include "io/source_text.h"
#include "io/tasks.h"
#include "io/trace.h"
#include "text/quality.h"

#include <ntrace/analyzer.h>
#include <ntrace/decoder.h>
#include <ntrace/export.h>
#include <ntrace/partial.h>

/* The options --partial, --shard and --index, of members with these names. */
#define CLI_PARTS(S)                                                                                                           \
    CLI_STRING(0, "partial", "FILE", S, partial,                                                                               \
               "write what the output needs as a partial answer to FILE, for 'ntrace combine', and nothing else"),             \
        CLI_STRING(0, "shard", "I/N", S, shard, "with --partial: decode only the I-th of N parts of the trace"),               \
        CLI_STRING(                                                                                                            \
            0, "index", "FILE", S, index,                                                                                      \
            "places of the stream where decoding can begin, for --shard and --from; made if the file does not exist or is of " \
            "another stream (default: that of the bundle)")

struct cli_analysis_options {
    struct cli_stream stream;
    struct cli_images images;
    struct cli_selection selection;
    int64_t jobs; /* number of threads; 0: choose automatically */
    int follow;   /* the input is live */
    const char *debug_path;
    const char *source_path;
    const char *partial; /* --partial: write a partial answer to this file, and no other output */
    const char *shard;   /* --shard: only a part */
    const char *index;   /* --index */
    bool join;           /* the input may be a part of a capture, */
    uint64_t join_at;    /* ... at this offset of the file */
    bool from_start;     /* decode everything before the part, too */
};
extern const struct cli_option cli_analysis_options[];

struct cli_analysis {
    const struct cli_analysis_options *options;
    const char *path;
    struct cli_trace trace;
    struct cli_defects defects;
    struct cli_window window;
    ntr_decoder_config config;
    ntr_decoder *decoder;
    struct cli_source_text text;
    struct cli_trace_facts facts;
    ntr_tasks *tasks;        /* NULL: not known */
    ntr_analysis data;       /* owned, except `program`, which belongs to `trace` */
    uint64_t gaps, reserved; /* numbers of gaps and of messages that may be damaged (ntr_event_is_doubtful) */
    bool part;               /* --from or --until is given */
    bool incomplete;         /* after cli_analysis_run: the trace has gaps or damage */
    unsigned threads;        /* that decode */
    bool any;                /* the decoder returned at least one event */
    unsigned take_needs;     /* what `take` needs: NTR_TAKE_* */
    unsigned join_except;    /* ntr_decoder_set_join_except */
    bool stacks_only;        /* the call tree is there for its stacks */
    const ntr_export *follower; /* the user of `take` is an export that may follow the call tree; else NULL */
    ntr_counts totals;       /* of counting decode, if a->data.totals points to it: nothing else is counted then */
    ntr_partial *answer;     /* the input is a partial answer, not a trace; else NULL */
    struct cli_analysis_options answer_options; /* of the capture of the partial answer */
    ntr_partial_gap first_gaps[NTR_PARTIAL_GAPS];
    ntr_partial_digest digest; /* --partial: of the bytes that were decoded */
    struct cli_events_file *events; /* --partial with all events: where they are kept; else NULL */
    struct cli_shard shard;    /* --shard; `count` 0: the whole trace */
    bool rated;                /* `quality` is gathered */
    struct cli_quality quality; /* after cli_analysis_quality */
    bool keep_time; /* attribute time in the tally if the trace has timestamps; set before cli_analysis_run */
};

/* Receives events in stream order (`take` of <ntrace/analyzer.h>). */
typedef ntr_status (*cli_take_events)(void *user, const ntr_event *events, size_t count);

/* Opens the trace and its program. `path` and `options` must outlive `a`. Returns CLI_OK, or CLI_FAILED after
 * reporting the error. */
int cli_analysis_open(struct cli_analysis *a, const char *path, const struct cli_analysis_options *options);

/* Allocates the members of a->data that `needs` (a set of NTR_NEEDS_*) selects. Returns CLI_OK, or CLI_FAILED after
 * reporting the error. */
int cli_analysis_need(struct cli_analysis *a, unsigned needs);

/* Decodes the trace to its end, or until SIGINT, and fills the members selected by cli_analysis_need. Also passes all
 * events to `take` unless it is NULL. Shows progress on a terminal. Returns the exit status so far (CLI_OK,
 * CLI_DEFECTS or CLI_FAILED). */
int cli_analysis_run(struct cli_analysis *a, cli_take_events take, void *user);

/* Gathers what the answer rests on, in a->quality. Call it before cli_analysis_run. Returns CLI_OK, or CLI_FAILED after
 * reporting the error. */
int cli_analysis_rate(struct cli_analysis *a);

/* Completes a->quality after cli_analysis_run; does nothing without cli_analysis_rate. */
void cli_analysis_quality(struct cli_analysis *a);

/* Ends a document of --format json (io/document.h) with the quality. */
void cli_analysis_end_document(struct cli_analysis *a, struct cli_output *out);

/* Returns whether several threads are used, for an export with NTR_NEEDS_STACKS that follows a call tree. */
bool cli_analysis_shares(struct cli_analysis *a);

/* Frees everything that `a` owns. */
void cli_analysis_close(struct cli_analysis *a);

/* ---- partial answers (partials.c, partials_write.c) */

/* Returns whether the input is a partial answer. */
bool cli_partials_seen(const char *path);

/* Opens a partial answer, and the program of its captures in a->trace. Returns CLI_OK, or CLI_FAILED after reporting
 * the error. */
int cli_partials_open(struct cli_analysis *a, const char *path);

/* Loads it into a->data, or passes its events to the analyzer, instead of decoding. `ordered`: events are wanted.
 * Returns as cli_analysis_run does before its summary. */
int cli_partials_load(struct cli_analysis *a, ntr_analyzer *analyzer, bool ordered);

/* --partial: prepares for writing, after the trace was opened; then writes a->data. Return CLI_OK, or CLI_FAILED after
 * reporting the error. */
int cli_partials_prepare(struct cli_analysis *a);
int cli_partials_write(struct cli_analysis *a);

/* A partial in a file. */
struct cli_partial_place {
    const char *path;
    uint64_t offset;
};

/* combine --redo: whether parts that began with a wrong guess are decoded again. */
struct cli_redo {
    bool on;
    const char *index; /* --index, or NULL */
};

/* Puts the parts of one capture together, which are sorted and complete, and writes the answer of the whole capture.
 * Returns CLI_OK, CLI_DEFECTS if there is a wrong guess (reported), or CLI_FAILED. */
int cli_partials_join(const struct cli_partial_place *parts, size_t count, const struct cli_redo *redo,
                      const ntr_output *output);

/* Frees a->answer_options. */
void cli_partials_release(struct cli_analysis *a);

/* Decodes the part of the trace that --shard selects. Returns as decoding the whole trace does. */
ntr_status cli_partials_decode_shard(struct cli_analysis *a, ntr_analyzer *analyzer);

/* ---- partial answers with all events (partials_events.c) */

/* Events in a temporary file, packed. */
struct cli_events_file;

/* Open and close; NULL after reporting the error. */
struct cli_events_file *cli_events_file_open(void);
void cli_events_file_close(struct cli_events_file *file);

/* A cli_take_events, whose `user` is the file. */
ntr_status cli_events_file_take(void *file, const ntr_event *events, size_t count);

/* Appends the events of a partial that was just opened. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_events_file_append(struct cli_events_file *file, ntr_partial *partial);

/* Writes them as the answer for this capture. Errors: those of ntr_partial_write_events. */
ntr_status cli_events_file_write(struct cli_events_file *file, const ntr_program *program,
                                 const ntr_partial_capture *capture, const ntr_output *output);

/* Passes the events of a->answer to the analyzer. Returns as cli_partials_load. */
int cli_events_load(struct cli_analysis *a, ntr_analyzer *analyzer);

/* ---- what is reported of events (analysis_gaps.c) */

/* Takes an event that is not a span (`other` of the analyzer): reports gaps, counts doubtful messages. */
void cli_analysis_other(void *user, const ntr_event *event);

/* Reports a gap: the first ones one by one. */
void cli_analysis_report_gap(struct cli_analysis *a, uint64_t offset, uint64_t message, int reason);

#endif
