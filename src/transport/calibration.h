/* The PIB's calibration patterns (trace-control section 8.6). */
#ifndef NTR_TRANSPORT_CALIBRATION_H
#define NTR_TRANSPORT_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

/* As numbers whose lowest bit is the first on the wire. */
#define CALIBRATION_1 0xff0055aau
#define CALIBRATION_2 0x33cc6666u
#define CALIBRATION_4 0x0ff05a5au
#define CALIBRATION_8 0xff0055aau
#define CALIBRATION_16 0xffff00005555aaaau

/* Recognises a pattern that came twice in a row, at whatever beat the recording began. */
typedef struct calibration_watch {
    uint64_t pattern;
    uint8_t pattern_bits; /* 32 or 64 */
    uint8_t width;        /* bits of a beat */
    bool on;              /* the pattern is being sent */
    uint64_t last;        /* the last pattern_bits bits */
    uint64_t run;         /* bits in a row that equal those one period before */
} calibration_watch;

void calibration_start(calibration_watch *watch, unsigned width, uint64_t pattern, unsigned pattern_bits);

/* Take a beat. Returns how often the pattern came when it just ended, else 0. */
uint64_t calibration_beat(calibration_watch *watch, unsigned beat);

/* How often the pattern came so far; 0 when it is not being sent. */
uint64_t calibration_times(const calibration_watch *watch);

#endif
