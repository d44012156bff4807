/* A trace that a command reads: its input, and its parameters from the options or the bundle. */
#ifndef CLI_IO_TRACE_H
#define CLI_IO_TRACE_H

#include "io/images.h"
#include "io/input.h"
#include "io/progress.h"
#include "options/stream_options.h"

#include <ntrace/bundle.h>
#include <ntrace/decoder.h>
#include <ntrace/reader.h>

struct cli_trace {
    struct cli_input input;
    struct cli_progress progress;
    ntr_bundle *bundle;              /* NULL: a raw stream */
    ntr_program *program;            /* after cli_trace_program */
    const struct cli_stream *stream; /* the options */
    ntr_params params; /* final after cli_trace_program or the first message, because --auto reads the stream first */
    ntr_reader reader;
    bool settled;   /* `params` are final, `reader` is ready */
    uint8_t *ahead; /* bytes of the stream that were read ahead */
    size_t ahead_size;
    bool ahead_last;
    bool failed;                                        /* the input could not be read to its end; a message said why */
    void (*tap)(void *user, ntr_bytes span, bool last); /* NULL, or a function that gets the same bytes */
    void *tap_user;
};

/* `path`: a file, "-", or the folder of a bundle. Options override the parameters of the bundle. Returns CLI_OK, or
 * CLI_FAILED after a message. */
int cli_trace_open(struct cli_trace *trace, const char *path, const struct cli_stream *stream);

/* A decoder of the trace; NULL after a message. */
ntr_decoder *cli_trace_decoder(const struct cli_trace *trace, const ntr_decoder_config *config);

/* Load the images of the bundle, then those of the options, and set params.xlen from them. `required`: no image is an
 * error. Returns CLI_OK, or CLI_FAILED after a message. */
int cli_trace_program(struct cli_trace *trace, const struct cli_images *images, const struct cli_stream *stream,
                      bool required);

/* The next bytes of the stream, for commands that read no messages. False after a message; `failed` is set. */
bool cli_trace_feed(struct cli_trace *trace, ntr_bytes *span, bool *last);

/* Whether messages carry timestamps. If neither options nor a bundle say it, the next bytes of the stream decide; they are
 * read again later. Call it before the first message. False also after a failure (`failed`). */
bool cli_trace_stamped(struct cli_trace *trace);

/* The part of cli_trace_message that reads more of the stream. */
ntr_status cli_trace_read_on(struct cli_trace *trace, ntr_message *message);

/* The next message: NTR_OK, or NTR_END at the end of the input and after a failure (`failed`). Its bytes live until the
 * next call. */
static inline ntr_status cli_trace_message(struct cli_trace *trace, ntr_message *message) {
    ntr_status status = trace->settled && !trace->failed ? ntr_reader_next(&trace->reader, message) : NTR_NEED_MORE;
    return status == NTR_NEED_MORE ? cli_trace_read_on(trace, message) : status;
}

/* The next message with a defect; messages without one are only counted (ntr_reader_check). Returns as above. */
ntr_status cli_trace_defect(struct cli_trace *trace, ntr_message_mix *mix, ntr_message *message);

/* Whether the stream may have messages of more than one source. */
bool cli_trace_many_sources(const struct cli_trace *trace);

/* The end of a message about gaps: "; ..." with a possible reason, or "". */
const char *cli_trace_hint(const struct cli_trace *trace);

/* Report the number of messages with a reserved TCODE, if there are any. */
void cli_trace_reserved(const struct cli_trace *trace, uint64_t reserved);

/* Report the gaps and the reserved messages of an execution, if there are any. Returns the exit status for them. */
int cli_trace_totals(const struct cli_trace *trace, const ntr_counts *counts);

/* The exit status of a command that found `status`: worse when the input was damaged. `any`: there were messages. */
int cli_trace_status(const struct cli_trace *trace, bool any, int status);

void cli_trace_close(struct cli_trace *trace);

#endif
