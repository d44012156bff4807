/* Converts levels over time to beats. */
#ifndef NTR_TRANSPORT_SAMPLER_H
#define NTR_TRANSPORT_SAMPLER_H

#include "transport/transports.h"

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

#endif
