#include "transport/sampler.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line may be idle for hours. Longer idle times are shortened to this number of beats, which is enough to find the
 * alignment. */
enum { IDLE_MAX = 4096 };

void sampler_start(sampler *pins, bool serial, bool clock_center, uint64_t beat_time, ntr_beat_sink sink, void *user) {
    memset(pins, 0, sizeof *pins);
    pins->serial = serial;
    pins->clock_center = clock_center;
    pins->ticks = beat_time;
    pins->beats = beat_time ? 1 : 0;
    pins->sink = sink;
    pins->user = user;
}

static ntr_status flush(sampler *pins) {
    const size_t size = pins->out_size;
    pins->out_size = 0;
    return size ? pins->sink(pins->user, pins->out, size) : NTR_OK;
}

static ntr_status give(sampler *pins, uint16_t beat) {
    pins->out[pins->out_size++] = beat;
    return pins->out_size == SAMPLER_BEATS ? flush(pins) : NTR_OK;
}

/* ---- parallel: one beat per edge of the clock (trace-control section 8.3)
 *
 * Data and clock change at the same time, but a recording may show them in different samples. The data value that is
 * stable for the longest time between two edges is the right one in either case. */

static void keep_longest(sampler *pins, uint64_t time) {
    if (time - pins->since < pins->longest_time) return;
    pins->longest = pins->data;
    pins->longest_time = time - pins->since;
}

static ntr_status clock_edge(sampler *pins, uint64_t time) {
    const bool complete = pins->had_edge;
    pins->had_edge = true;
    if (pins->clock_center) return give(pins, pins->data);
    keep_longest(pins, time);
    pins->longest_time = 0;
    pins->since = time;
    return complete ? give(pins, pins->longest) : NTR_OK;
}

static ntr_status clocked_levels(sampler *pins, uint64_t time, bool clock, uint16_t data) {
    if (clock != pins->clock) TRY(clock_edge(pins, time));
    if (data != pins->data) {
        keep_longest(pins, time);
        pins->since = time;
    }
    return NTR_OK;
}

/* ---- serial: a run of constant level is converted to a number of beats */

static int by_size(const void *a, const void *b) {
    const uint64_t one = *(const uint64_t *)a, two = *(const uint64_t *)b;
    return (one > two) - (one < two);
}

static uint64_t beats_of(const sampler *pins, uint64_t ticks) {
    return (2 * ticks * pins->beats + pins->ticks) / (2 * pins->ticks);
}

/* Measures the duration of a beat. The shortest runs are one beat long. Longer runs improve the estimate
 * ticks / beats, in order of their length. Runs of more than LONGEST beats are not used because their number of beats
 * could be wrong by one. The first run is incomplete and is not used. */
static void find_beat_time(sampler *pins) {
    enum { LONGEST = 10 };
    uint64_t sorted[SAMPLER_RUNS];
    if (pins->run_count < 2) return;
    const size_t count = pins->run_count - 1;
    memcpy(sorted, pins->runs + 1, count * sizeof sorted[0]);
    qsort(sorted, count, sizeof sorted[0], by_size);
    pins->ticks = sorted[0] < UINT32_MAX ? sorted[0] : UINT32_MAX;
    pins->beats = 1;
    for (size_t i = 1; i < count; i++) {
        const uint64_t beats = sorted[i] < UINT32_MAX ? beats_of(pins, sorted[i]) : LONGEST + 1;
        if (beats > LONGEST) break;
        pins->ticks += sorted[i];
        pins->beats += beats;
    }
}

static ntr_status give_run(sampler *pins, uint64_t ticks, bool level) {
    const uint64_t idle_ticks = IDLE_MAX * pins->ticks / pins->beats;
    uint64_t beats = ticks > idle_ticks ? IDLE_MAX : beats_of(pins, ticks);
    for (; beats; beats--) TRY(give(pins, level));
    return NTR_OK;
}

static ntr_status give_kept_runs(sampler *pins) {
    find_beat_time(pins);
    if (!pins->beats) return NTR_OK;
    for (size_t i = 0; i < pins->run_count; i++) TRY(give_run(pins, pins->runs[i], pins->first_level ^ (i & 1)));
    pins->run_count = 0;
    return NTR_OK;
}

static ntr_status take_run(sampler *pins, uint64_t ticks) {
    if (pins->beats) return give_run(pins, ticks, pins->data & 1);
    if (!pins->run_count) pins->first_level = pins->data & 1;
    pins->runs[pins->run_count++] = ticks;
    return pins->run_count == SAMPLER_RUNS ? give_kept_runs(pins) : NTR_OK;
}

static ntr_status serial_levels(sampler *pins, uint64_t time, uint16_t data) {
    if (data == pins->data) return NTR_OK;
    if (time == pins->since) return NTR_OK; /* zero duration */
    TRY(take_run(pins, time - pins->since));
    pins->since = time;
    return NTR_OK;
}

/* ---- both */

ntr_status sampler_levels(sampler *pins, uint64_t time, bool clock, uint16_t data) {
    if (!pins->started) {
        pins->started = true;
        pins->since = time;
    } else if (pins->serial) {
        TRY(serial_levels(pins, time, data));
    } else {
        TRY(clocked_levels(pins, time, clock, data));
    }
    pins->clock = clock;
    pins->data = data;
    return NTR_OK;
}

ntr_status sampler_end(sampler *pins, uint64_t time) {
    if (pins->serial && pins->started) {
        if (!pins->beats) TRY(give_kept_runs(pins));
        if (pins->beats) TRY(give_run(pins, time - pins->since, pins->data & 1));
    } else if (pins->had_edge && !pins->clock_center) {
        keep_longest(pins, time);
        TRY(give(pins, pins->longest));
    }
    return flush(pins);
}

ntr_status pin_reader_fail(ntr_pin_reader *reader, ntr_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->error, sizeof reader->error, format, arguments);
    va_end(arguments);
    return status;
}

ntr_status pin_reader_levels(ntr_pin_reader *reader, uint64_t time) {
    return sampler_levels(&reader->pins, time, reader->levels >> CLOCK_BIT & 1, (uint16_t)reader->levels);
}
