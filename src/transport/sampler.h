/* Levels over time in, beats out. */
#ifndef NTR_TRANSPORT_SAMPLER_H
#define NTR_TRANSPORT_SAMPLER_H

#include "transport/transports.h"

enum { SAMPLER_RUNS = 256, SAMPLER_BEATS = 256 };

typedef struct sampler {
    bool serial, clock_center;
    ntr_beat_sink sink;
    void *user;

    bool started;      /* the first levels came */
    bool had_edge;     /* clocked: a beat has begun */
    bool clock;
    uint16_t data;
    uint64_t since;    /* when `data` came */
    uint16_t longest;  /* clocked: what stood longest since the clock's last edge */
    uint64_t longest_time;

    uint64_t ticks, beats; /* serial: so many ticks make so many beats; 0: not known yet */
    uint64_t runs[SAMPLER_RUNS];
    size_t run_count;      /* kept until the time of a beat is known */
    bool first_level;      /* of runs[0] */

    size_t out_size;
    uint16_t out[SAMPLER_BEATS];
} sampler;

/* `beat_time` 0: find it. */
void sampler_start(sampler *pins, bool serial, bool clock_center, uint64_t beat_time, ntr_beat_sink sink, void *user);

/* From `time` on (never decreasing) the levels are these. */
ntr_status sampler_levels(sampler *pins, uint64_t time, bool clock, uint16_t data);

/* The recording ends at `time`. */
ntr_status sampler_end(sampler *pins, uint64_t time);

#endif
