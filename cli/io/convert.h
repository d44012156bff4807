/* The two sides of 'ntrace convert': a file to N-Trace bytes, and N-Trace bytes to files. */
#ifndef CLI_IO_CONVERT_H
#define CLI_IO_CONVERT_H

#include "io/input.h"
#include "options/options.h"
#include "io/output.h"

#include <ntrace/pins.h>

struct convert_options {
    const char *from, *to, *path;
    int vcd, vcd_in, vcd_out;
    int64_t samples; /* channels; 0: no raw samples */
    const char *clock, *data;
    int clock_center;
    int64_t beat_ticks, beat_ns;
    int64_t id; /* -1: not given */
    const char *ids;
    int64_t start, limit, wp, access; /* -1: not given */
    int wrapped;
    int aligned, cut;
    int64_t atb_bytes, sync_every, idle_every, calibrate;
};

/* ---- output: one file, or one for each trace ID */

#define CONVERT_IDS 128

struct convert_sink {
    ntr_transport_writer *writer;
    ntr_vcd_writer *vcd; /* NULL: beats are packed */
    unsigned held, held_bits;
    unsigned beat_bits;
    bool rest;
    char *path; /* made for this ID, or NULL */
    struct cli_output file;
};

struct convert_output {
    const struct convert_options *options;
    const ntr_transport *transport;
    bool each;                               /* the path has a % for the ID */
    int only;                                /* the one ID that has come so far; -1: none */
    struct convert_sink *sinks[CONVERT_IDS]; /* all but the first only with `each` */
};

/* Returns CLI_OK, or CLI_FAILED after telling why. */
int convert_output_open(struct convert_output *output, const struct convert_options *options,
                        const ntr_transport *transport);

/* Bytes of the stream `id`. NTR_OK, or an error that has been told. */
ntr_status convert_output_put(struct convert_output *output, unsigned id, const uint8_t *bytes, size_t size);

/* Finish with the exit status so far; returns the final one. */
int convert_output_close(struct convert_output *output, int status);

/* ---- input */

struct convert_input {
    const ntr_transport *transport;
    struct cli_input file;
    ntr_pin_reader *pins; /* NULL: the file holds packed beats */
    ntr_transport_reader *reader;
    int held;       /* half a 16-bit beat */
    unsigned id;    /* given to a stream without one */
    int64_t only;   /* the only one taken of several; -1: all */
    ntr_bytes span; /* read and not yet converted */
    bool last;      /* no span follows this one */
    bool ended;
    uint64_t taken;    /* bytes of messages that came out of it */
    char *names;       /* of the data pins */
    uint64_t notes[8]; /* how many of each kind came */
    struct convert_output *output;
};

/* Returns CLI_OK, or CLI_FAILED after telling why. */
int convert_input_open(struct convert_input *input, const struct convert_options *options,
                       const ntr_transport *transport, const char *path, unsigned id, struct convert_output *output);

/* Convert the next part; `ended` is set after the last one. Returns CLI_OK, or CLI_FAILED after telling why. */
int convert_input_step(struct convert_input *input);

/* Returns the exit status that the losses make. */
int convert_input_close(struct convert_input *input);

#endif
