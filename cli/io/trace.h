/* A trace as the input of a command: a raw stream or a bundle, with parameters from the options, the bundle or
 * --auto. */
#ifndef CLI_IO_TRACE_H
#define CLI_IO_TRACE_H

#include "io/fit.h"
#include "io/images.h"
#include "io/input.h"
#include "io/perf.h"
#include "io/progress.h"
#include "options/selection.h"
#include "options/stream_options.h"

#include <ntrace/bundle.h>
#include <ntrace/container.h>
#include <ntrace/decoder.h>
#include <ntrace/export.h>
#include <ntrace/frames.h>
#include <ntrace/reader.h>

#include <limits.h>

struct cli_trace {
    struct cli_input input;
    struct cli_progress progress;
    ntr_bundle *bundle;              /* NULL for a raw stream */
    ntr_perf_data *perf;             /* NULL, or perf.data */
    ntr_program *program;            /* set by cli_trace_program */
    ntr_frames *frames;              /* NULL, or the frames that the stream was in */
    ntr_container container;         /* of a raw stream in a file of a producer's tool; else its `name` is NULL */
    const struct cli_stream *stream; /* the options */
    const struct cli_images *images; /* the options of cli_trace_open; may be NULL */
    const char *index_file;          /* --index, or NULL; set it after cli_trace_open */
    ntr_params params; /* final after cli_trace_program or the first message (--auto) */
    ntr_reader reader;
    bool whole; /* all of it will be decoded: a gap is told to cli_trace_explains. Set it before cli_trace_program */
    bool as_given; /* assume no parameter that is not given; set it after cli_trace_open */
    bool no_names; /* do not read the names of the bundle's files; set it after cli_trace_open */
    bool params_final; /* `params` are final, `reader` is ready */
    uint8_t *converted; /* the last piece as bytes of the stream, when the container changes them */
    uint8_t *ahead; /* bytes that were read ahead; cli_trace_feed returns them */
    size_t ahead_size,
        beginning; /* `beginning`: bytes of `ahead` from the start of the stream, also behind the reading */
    bool ahead_last, beginning_last;
    int only; /* number of the one source that is read, plus 1; 0: all. Set it before cli_trace_program */
    ntr_bytes rest; /* of the last piece that cli_trace_read has fed; `rest_last`: no bytes follow */
    bool rest_last;
    struct cli_fit fit; /* of the programs of -e; set by cli_trace_program */
    bool failed; /* the input could not be read to its end; reported */
    void (*tap)(void *user, ntr_bytes piece, bool last); /* NULL, or called with the bytes of each feed */
    void *tap_user;
};

/* Opens a file, standard input ("-"), a bundle or perf.data. Options override the parameters of the bundle and of
 * perf.data. `images`: the options for its files, which inference uses; may be NULL. Returns CLI_OK, or CLI_FAILED
 * after reporting the error. */
int cli_trace_open(struct cli_trace *trace, const char *path, const struct cli_stream *stream,
                   const struct cli_images *images);

/* Returns a new decoder for the trace, or NULL after reporting the error. The caller frees it. */
ntr_decoder *cli_trace_decoder(const struct cli_trace *trace, const ntr_decoder_config *config);

/* Returns whether a tick is an instruction of the hart, so that the times of two harts cannot be compared. */
bool cli_trace_has_own_clocks(const struct cli_trace *trace);

/* Returns whether the bytes of the stream are not those of the input: `input` is then a temporary file with them. */
static inline bool cli_trace_is_copy(const struct cli_trace *trace) {
    return trace->perf || trace->frames;
}

/* Loads the images of the bundle, then those of the options, and sets params.xlen from them. If `required`, it is an
 * error when there is no image. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_trace_program(struct cli_trace *trace, const struct cli_images *images, const struct cli_stream *stream,
                      bool required);

/* Reads the next bytes of the stream, for commands that do not read messages. Returns false after an error (`failed` is
 * set). */
bool cli_trace_feed(struct cli_trace *trace, ntr_bytes *piece, bool *last);

/* The same for threads (`read` of ntr_parallel_work), `user` being the trace. NTR_NEED_MORE: after an error, or when an
 * end was requested. */
ntr_status cli_trace_read(void *user, uint8_t *to, size_t capacity, size_t *got, bool *last);

/* The same for one thread, also of a live input. */
ntr_status cli_trace_copy(void *user, uint8_t *to, size_t capacity, size_t *got, bool *last);

/* Returns whether messages carry timestamps. If neither options nor the bundle specify it, the next bytes of the stream
 * are examined; they are read again later. Call it before the first message. Returns false also after an error
 * (`failed`). */
bool cli_trace_stamped(struct cli_trace *trace);

/* The decode has a gap: judges the fit where it is open. Returns whether the program is not the one that ran, which was
 * reported. `user`: the trace. */
bool cli_trace_explains(void *user);

/* Sets `fit` also for a program that is not of -e. Call it after cli_trace_program and before the first message.
 * Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_trace_fit(struct cli_trace *trace);

/* Returns CLI_FAILED after reporting it if the window is one of times, and no message of the beginning of the stream
 * has one; otherwise CLI_OK. Call it before the first message. */
int cli_trace_check_window(struct cli_trace *trace, const struct cli_window *window);

/* Returns whether the stream has synchronizing messages at so short distances that several threads can decode it at the
 * same time. The first 2 MiB are examined, as by cli_trace_stamped. */
bool cli_trace_divides(struct cli_trace *trace);

/* The part of cli_trace_message that is not inlined: reads more of the stream. */
ntr_status cli_trace_read_on(struct cli_trace *trace, ntr_message *message);

/* Reads the next message. Returns NTR_OK, or NTR_END at the end of the input and after an error (`failed`). The bytes
 * of the message are valid until the next call. */
static inline ntr_status cli_trace_message(struct cli_trace *trace, ntr_message *message) {
    ntr_status status = NTR_NEED_MORE;

    if (trace->params_final && !trace->failed) status = ntr_reader_next(&trace->reader, message);
    return status == NTR_NEED_MORE ? cli_trace_read_on(trace, message) : status;
}

/* Reads up to the next damaged message; other messages are only counted in `mix` (ntr_reader_check). Returns as
 * cli_trace_message. */
ntr_status cli_trace_defect(struct cli_trace *trace, ntr_message_mix *mix, ntr_message *message);

/* Returns whether the stream may have messages of more than one source. */
bool cli_trace_many_sources(const struct cli_trace *trace);

/* Returns what the bundle says of a source of messages, or NULL. */
const ntr_bundle_source *cli_trace_source(const struct cli_trace *trace, uint16_t src);

/* Returns a hint to append to a message about gaps ("; ..."), or "". */
const char *cli_trace_hint(const struct cli_trace *trace);

/* Reports the number of messages that may be damaged (ntr_event_is_doubtful), if there are any. */
void cli_trace_reserved(const struct cli_trace *trace, uint64_t reserved);

/* Reports gaps and such messages, if there are any. Returns CLI_DEFECTS if there are gaps, otherwise
 * CLI_OK. */
int cli_trace_totals(struct cli_trace *trace, const ntr_counts *counts);

/* Returns the exit status of a command: `status`, or a worse one if the input is damaged or, with `any` false, contains
 * no messages (reported). */
int cli_trace_status(const struct cli_trace *trace, bool any, int status);

/* The same for a command that shows a part of the trace; `any`: the part contains something. An empty part is no
 * defect, but is reported. */
int cli_trace_part_status(const struct cli_trace *trace, const struct cli_window *window, bool any, int status);

void cli_trace_close(struct cli_trace *trace);

/* ---- Origin of a trace for reports: program, machine, tool and date of the capture, and its losses, from the bundle.
 */

struct cli_trace_facts {
    ntr_fact facts[10];
    ntr_fact *warning; /* that the program is another one; NULL, or empty: it is not known to be */
    char path[PATH_MAX]; /* of the stream, from the root on */
    char command[1024]; /* truncated if longer */
    const char **losses;
};

/* Sets the members `facts` and `losses` of `analysis`; they are valid as long as `facts` and `trace`. A raw stream has
 * only its name. */
void cli_trace_facts_find(struct cli_trace_facts *facts, const struct cli_trace *trace, ntr_analysis *analysis);

/* The trace was decoded: its fit is judged. */
void cli_trace_facts_judged(struct cli_trace_facts *facts, const struct cli_trace *trace);
void cli_trace_facts_release(struct cli_trace_facts *facts);

#endif
