/* Converts levels over time to beats. */
#ifndef NTR_TRANSPORT_SAMPLER_H
#define NTR_TRANSPORT_SAMPLER_H

#include "transport/transports.h"

#include <ntrace/pins.h>

enum { SAMPLER_RUNS = 256, SAMPLER_BEATS = 256 };

typedef struct sampler {
    bool serial, clock_center;
    ntr_beat_sink sink;
    void *user;

    bool started;      /* the first levels were received */
    bool had_edge;     /* clocked: the first clock edge was received */
    bool clock;
    uint16_t data;
    uint64_t since;    /* time of the last change of `data` */
    uint16_t longest;  /* clocked: the data value that was stable for the longest time since the last clock edge */
    uint64_t longest_time;

    uint64_t ticks, beats; /* serial: `ticks` ticks are `beats` beats; both 0 while not known */
    uint64_t runs[SAMPLER_RUNS];
    size_t run_count;      /* runs are kept until the duration of a beat is known */
    bool first_level;      /* of runs[0] */

    size_t out_size;
    uint16_t out[SAMPLER_BEATS];
} sampler;

/* `beat_time`: duration of a beat in ticks; 0 means that it is measured. */
void sampler_start(sampler *pins, bool serial, bool clock_center, uint64_t beat_time, ntr_beat_sink sink, void *user);

/* Sets the levels from `time` on. `time` must not decrease. Errors: those of the sink. */
ntr_status sampler_levels(sampler *pins, uint64_t time, bool clock, uint16_t data);

/* Ends the recording at `time`. Errors: those of the sink. */
ntr_status sampler_end(sampler *pins, uint64_t time);

/* ---- Private part of the pin reader. The parsers of the two file formats feed one sampler. */

enum {
    TOKEN_MAX = 512, /* longer tokens are never names or values of trace pins */
    ID_MAX = 16,
    CLOCK_BIT = NTR_PINS_MAX,
    WIRES_MAX = NTR_PINS_MAX + 1,
};

/* A wire of the recording. Bit 0 of the wire is bit `target` of `levels`. */
typedef struct wire {
    char id[ID_MAX];
    uint8_t target, width;
} wire;

typedef struct vcd_parser {
    uint8_t state;       /* enum state in vcd_read.c */
    uint64_t line;
    uint8_t var_tokens;  /* tokens of the current declaration */
    uint64_t var_width;
    char var_id[ID_MAX];
    char var_name[TOKEN_MAX];
    wire wires[WIRES_MAX];
    size_t wire_count;
    unsigned declared;   /* number of wires in the recording, used or not */
    uint32_t vector;     /* value of which the identifier follows */
    bool value_waits;    /* `vector` is valid */
    char only_id[ID_MAX];
    uint64_t time;
    bool timed;          /* `time` is valid */
    size_t token_size;
    char token[TOKEN_MAX];
} vcd_parser;

typedef struct sample_parser {
    uint64_t at;      /* number of the sample */
    uint64_t value;
    uint8_t byte, bytes;
    uint8_t prefix;   /* number of matching bytes of the META line of sigrok */
    uint8_t channel[WIRES_MAX]; /* of each bit of the levels */
    bool started;
} sample_parser;

struct ntr_pin_reader {
    const ntr_transport *transport;
    ntr_pin_options options;
    sampler pins;
    uint32_t levels; /* the levels of the data pins; bit CLOCK_BIT is the clock */
    union {
        vcd_parser vcd;
        sample_parser samples;
    };
    char error[160];
};

ntr_status pin_reader_fail(ntr_pin_reader *reader, ntr_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reports that the levels change to `reader->levels` at `time`. Errors: those of the sink. */
ntr_status pin_reader_levels(ntr_pin_reader *reader, uint64_t time);

void vcd_start(ntr_pin_reader *reader);
ntr_status vcd_byte(ntr_pin_reader *reader, char byte);
ntr_status vcd_end(ntr_pin_reader *reader);

ntr_status samples_start(ntr_pin_reader *reader);
ntr_status samples_byte(ntr_pin_reader *reader, uint8_t byte);
ntr_status samples_end(ntr_pin_reader *reader);

#endif
