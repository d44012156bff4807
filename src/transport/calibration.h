/* Calibration patterns of the PIB (trace-control section 8.6). */
#ifndef NTR_TRANSPORT_CALIBRATION_H
#define NTR_TRANSPORT_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

/* The least significant bit is transmitted first. */
#define CALIBRATION_1  0xff0055aau
#define CALIBRATION_2  0x33cc6666u
#define CALIBRATION_4  0x0ff05a5au
#define CALIBRATION_8  0xff0055aau
#define CALIBRATION_16 0xffff00005555aaaau

/* Detects a pattern that is repeated at least twice. The recording may begin at any beat of the pattern.
 *
 * Idea: count the bits that equal the bit one pattern period earlier. After a full period of such bits the input is
 * periodic; it is the calibration pattern when the last period equals the pattern rotated by whole beats. */
typedef struct calibration_watch {
    uint64_t pattern;
    uint8_t pattern_bits; /* 32 or 64 */
    uint8_t width;        /* bits of a beat */
    bool on;              /* the pattern is being received */
    uint64_t last;        /* the last pattern_bits bits */
    uint64_t run;         /* number of consecutive bits that equal the bit one period earlier */
} calibration_watch;

void calibration_start(calibration_watch *watch, unsigned width, uint64_t pattern, unsigned pattern_bits);

/* Processes one beat. Returns the number of repetitions when the pattern ended with this beat, otherwise 0. */
uint64_t calibration_beat(calibration_watch *watch, unsigned beat);

/* Returns the number of repetitions so far, or 0 when no pattern is being received. */
uint64_t calibration_times(const calibration_watch *watch);

#endif
