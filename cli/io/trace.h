/* A trace to read: the input, and what the options (or the bundle) say of it. */
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
    ntr_params params; /* final after cli_trace_program or the first message: --auto looks at the stream first */
    ntr_reader reader;
    bool settled;   /* `params` are final, `reader` is ready */
    uint8_t *ahead; /* of the stream, read ahead and not given out yet */
    size_t ahead_size;
    bool ahead_last;
    bool failed;                                        /* the input could not be read to its end; it has been told */
    void (*tap)(void *user, ntr_bytes span, bool last); /* NULL, or who else wants the bytes that messages come from */
    void *tap_user;
};

/* `path`: a file, "-", or a bundle's folder, whose parameters hold where the options say nothing. Returns CLI_OK,
 * or CLI_FAILED after telling why. */
int cli_trace_open(struct cli_trace *trace, const char *path, const struct cli_stream *stream);

/* A decoder of the trace; NULL after telling why there is none. */
ntr_decoder *cli_trace_decoder(const struct cli_trace *trace, const ntr_decoder_config *config);

/* Load the bundle's images, then those of the options; params.xlen follows. `required`: complain when there are
 * none. Returns as above. */
int cli_trace_program(struct cli_trace *trace, const struct cli_images *images, const struct cli_stream *stream,
                      bool required);

/* The next bytes, for those who want no messages (cli_input_next). False with `failed` set, after telling why. */
bool cli_trace_feed(struct cli_trace *trace, ntr_bytes *span, bool *last);

/* Whether messages bear times. What neither options nor a bundle tell, the stream's next bytes do; they stay the next.
 * False also with `failed` set. Not between messages. */
bool cli_trace_stamped(struct cli_trace *trace);

/* Where more of the stream has to be read for it. */
ntr_status cli_trace_read_on(struct cli_trace *trace, ntr_message *message);

/* The next message: NTR_OK, or NTR_END at the end of the input (or where it could not be read on: `failed`).
 * Its bytes live until the next call. */
static inline ntr_status cli_trace_message(struct cli_trace *trace, ntr_message *message) {
    ntr_status status = trace->settled && !trace->failed ? ntr_reader_next(&trace->reader, message) : NTR_NEED_MORE;
    return status == NTR_NEED_MORE ? cli_trace_read_on(trace, message) : status;
}

/* The next message with a defect; the good ones before it are only counted (ntr_reader_check). Returns as above. */
ntr_status cli_trace_defect(struct cli_trace *trace, ntr_message_mix *mix, ntr_message *message);

/* Whether messages of more than one source may come. */
bool cli_trace_many_sources(const struct cli_trace *trace);

/* For the end of a line that tells of many gaps: what else may be wrong, or "". */
const char *cli_trace_hint(const struct cli_trace *trace);

/* Tell how many messages had a reserved TCODE, if any. */
void cli_trace_reserved(const struct cli_trace *trace, uint64_t reserved);

/* What totals of an execution say at their end: how many gaps and reserved messages, if any. The exit status for them. */
int cli_trace_totals(const struct cli_trace *trace, const ntr_counts *counts);

/* The exit status, given what the command found: no better than the input was. `any`: there were messages. */
int cli_trace_status(const struct cli_trace *trace, bool any, int status);

void cli_trace_close(struct cli_trace *trace);

#endif
