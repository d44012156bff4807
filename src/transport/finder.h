/* Finds N-Trace messages in a stream of bits that may begin or break off at any beat.
 *
 * A message can start at any beat. After an interruption neither the byte boundary nor the message boundary is known.
 *
 * Idea: run the automaton of the framing (N-Trace 1.0 section 2) on all positions at which the stream may be, as a set
 * of states. A bit that is not allowed in a state removes the state from the set. Invariant: the set contains the true
 * state of an undamaged stream. When a single state is left, it is the true one, so the alignment is found at the
 * first bit at which it is determined, with four bytes of memory.
 *
 * Example: at most 14 consecutive ones belong to one message: six MDO bits, MSEO 11 of the last byte and its six MDO
 * bits. After 14 ones only the state "outside a message" is left, whatever the state was before. */
#ifndef NTR_TRANSPORT_FINDER_H
#define NTR_TRANSPORT_FINDER_H

#include "transport/transports.h"

#include <ntrace/message.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- A set of states of a small automaton, as a bit mask. Readers use it to find the alignment of a stream: they
 * follow all states in which the stream may be, and each received bit removes those in which the bit is not allowed. */

#define STATE(state) (1u << (state))

/* Returns the state that follows `state` after `bit`, or the state `dead` when `bit` is not allowed. */
typedef unsigned (*next_state)(unsigned state, unsigned bit);

/* Returns the successors of all states in `states`, without the state `dead`. */
static inline uint32_t states_step(uint32_t states, unsigned bit, next_state next, unsigned dead) {
    uint32_t after = 0;
    for (; states; states &= states - 1) after |= STATE(next((unsigned)__builtin_ctz(states), bit));
    return after & ~STATE(dead);
}

/* ---- Calibration patterns of the PIB (trace-control section 8.6). */

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

/* ---- The finder. */

typedef struct message_finder {
    uint32_t states;  /* set of states in which the stream may be */
    uint8_t width;    /* bits of a beat: 1, 2, 4 or 8 */
    bool aligned;     /* a complete message was received since the last loss */
    bool complete;    /* the current message was received from its first bit */
    bool too_long;    /* the current message exceeds NTR_MESSAGE_BYTES_MAX */
    uint8_t byte_bits; /* number of bits in `byte` */
    uint8_t byte;
    uint16_t holdoff; /* bits to skip before messages are delivered: a calibration pattern is recognized first */
    uint16_t size;
    uint64_t message_position;
    calibration_watch calibration;
    uint8_t bytes[NTR_MESSAGE_BYTES_MAX];
} message_finder;

/* `pattern` is the calibration pattern, least significant bit transmitted first; `pattern_bits` is its period. */
void finder_start(message_finder *finder, unsigned width, ntr_begin begin, uint64_t pattern, unsigned pattern_bits);

/* Processes one beat that began at `position`. Complete messages go to the sink of `reader`.
 * Errors: those of the sink. */
ntr_status finder_beat(message_finder *finder, ntr_transport_reader *reader, unsigned beat, uint64_t position);

/* Reports an interruption of the stream with the note LOST and `reason`, and starts the search again. */
void finder_break(message_finder *finder, ntr_transport_reader *reader, ntr_status reason, uint64_t position);

/* Reports a message boundary known from the transport. `damaged`: the boundary is not at a byte boundary. */
void finder_boundary(message_finder *finder, ntr_transport_reader *reader, bool damaged);

/* Ends the input. */
void finder_end(message_finder *finder, ntr_transport_reader *reader);

#endif
