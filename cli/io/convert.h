/* Input and output of `ntrace convert`: a recording to N-Trace bytes, and N-Trace bytes to recordings. */
#ifndef CLI_IO_CONVERT_H
#define CLI_IO_CONVERT_H

#include "io/input.h"
#include "options/options.h"
#include "options/stream_options.h"
#include "io/output.h"

#include <ntrace/framer.h>
#include <ntrace/pins.h>

#include <string.h>

struct convert_options {
    const char *from, *to, *path;
    int vcd, vcd_in, vcd_out;
    int64_t samples; /* number of channels of raw samples; 0: the input is not raw samples */
    const char *clock, *data;
    int clock_center;
    int64_t beat_ticks, beat_ns;
    int64_t id; /* -1: not given */
    const char *ids;
    int64_t start, limit, wp, access; /* -1: not given */
    int wrapped;
    int aligned, cut;
    struct cli_tmc tmc;
    int64_t atb_bytes, sync_every, idle_every, calibrate;
};

/* Returns whether the input is the memory of a TMC, whose frames are read in order. */
static inline bool convert_from_tmc(const struct convert_options *o) {
    return o->from && strcmp(o->from, "tmc") == 0;
}

/* ---- output: one file, or one file per trace ID */

#define CONVERT_IDS 128

struct convert_sink {
    ntr_transport_writer *writer;
    ntr_vcd_writer *vcd; /* NULL: write packed beats */
    unsigned held, held_bits; /* incomplete byte of packed beats, and its number of bits */
    unsigned beat_bits;
    bool idle; /* level of an idle pin */
    uint64_t taken; /* bytes of the stream */
    char *path; /* file name for this ID, to be freed; or NULL */
    struct cli_output file;
};

struct convert_output {
    const struct convert_options *options;
    const ntr_transport *transport;
    bool per_id;                               /* one file per trace ID: the path contains a % */
    int only;                                /* ID of the data so far; -1: none yet */
    struct convert_sink *sinks[CONVERT_IDS]; /* indexed by ID if `per_id`, otherwise only the first one is used */
};

/* Returns CLI_OK, or CLI_FAILED after reporting the error. */
int convert_output_open(struct convert_output *output, const struct convert_options *options,
                        const ntr_transport *transport);

/* Writes bytes of the stream with trace ID `id`. Returns NTR_OK, or an error after reporting it. */
ntr_status convert_output_put(struct convert_output *output, unsigned id, const uint8_t *bytes, size_t size);

/* Completes the files, or removes them if `status` is CLI_FAILED. Returns the exit status. */
int convert_output_close(struct convert_output *output, int status);

/* ---- input */

/* The messages of one trace ID, by their MSEO. */
struct convert_framing {
    ntr_framer framer;
    uint64_t messages, wrong; /* slices that are messages, and those that are none */
    uint64_t first_wrong;     /* offset in the stream of messages */
};

struct convert_input {
    const ntr_transport *transport;
    struct cli_input file;
    ntr_pin_reader *pins; /* NULL: the file holds packed beats */
    ntr_transport_reader *reader;
    int held;       /* first byte of an incomplete 16-bit beat; -1: none */
    unsigned id;    /* ID assigned to an input without IDs */
    int64_t only;   /* the ID to keep; -1: all */
    ntr_bytes piece; /* bytes read and not yet converted */
    bool last;      /* `piece` is the last one */
    bool ended;
    uint64_t taken;    /* number of message bytes produced */
    char *names;       /* names of the data pins; `pins` points into it */
    uint64_t notes[9]; /* number of notes of each kind (ntr_note_kind) */
    bool cut;          /* the stream may begin inside of a message */
    struct convert_framing *framings[CONVERT_IDS]; /* by trace ID; without IDs the first one */
    struct convert_output *output;
};

/* Returns CLI_OK, or CLI_FAILED after reporting the error. */
int convert_input_open(struct convert_input *input, const struct convert_options *options,
                       const ntr_transport *transport, const char *path, unsigned id, struct convert_output *output);

/* Converts the next part of the input. Sets `ended` after the last one. Returns CLI_OK, or CLI_FAILED after reporting
 * the error. */
int convert_input_step(struct convert_input *input);

/* Reports what was lost and frees the input. Returns CLI_OK, CLI_DEFECTS if data was lost, or CLI_FAILED. */
int convert_input_close(struct convert_input *input);

#endif
