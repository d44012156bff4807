/* Finding N-Trace messages in a stream of bits that may begin, or break, anywhere.
 *
 * A message can start at any beat, so after a cut neither the byte nor the message boundary is known. The
 * aligner follows every place the stream could be at, all at once, as a set of states of one small
 * automaton (N-Trace 1.0 section 2); bits that a place does not allow remove it. When one place is left,
 * it is the right one: alignment comes at the earliest bit at which it can be known, in four bytes of
 * memory. 14 ones in a row always settle it: no more can stand inside a message. */
#ifndef NTR_TRANSPORT_FINDER_H
#define NTR_TRANSPORT_FINDER_H

#include "transport/calibration.h"
#include "transport/transports.h"

#include <ntrace/message.h>

typedef struct message_finder {
    uint32_t places;  /* set of states the stream may be in */
    uint8_t width;    /* bits of a beat: 1, 2, 4 or 8 */
    bool aligned;     /* a whole message came since the last loss */
    bool whole;       /* the message being read was seen from its first bit */
    bool too_long;
    uint8_t byte_bits;
    uint8_t byte;
    uint16_t quiet;   /* bits until messages are believed: long enough to recognise calibration */
    uint16_t size;
    uint64_t message_position;
    calibration_watch calibration;
    uint8_t bytes[NTR_MESSAGE_BYTES_MAX];
} message_finder;

/* `pattern_bits` is the period of the calibration pattern `pattern` (lowest bit first on the wire). */
void finder_start(message_finder *finder, unsigned width, ntr_begin begin, uint64_t pattern, unsigned pattern_bits);

/* Take a beat that began at `position`; whole messages go to the reader's sink. */
ntr_status finder_beat(message_finder *finder, ntr_transport_reader *reader, unsigned beat, uint64_t position);

/* The stream is interrupted here by something the caller knows of. */
void finder_break(message_finder *finder, ntr_transport_reader *reader, ntr_status reason, uint64_t position);

/* The transport itself says that a message ends here; `damaged`: with bits that make no byte. */
void finder_boundary(message_finder *finder, ntr_transport_reader *reader, bool damaged);

/* Nothing follows. */
void finder_end(message_finder *finder, ntr_transport_reader *reader);

#endif
