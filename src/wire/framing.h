/* The modes of a framer (ntr_framer.mode), for code that reads ahead in its piece. */
#ifndef NTR_WIRE_FRAMING_H
#define NTR_WIRE_FRAMING_H

#include "wire/mdo.h"

#include <ntrace/framer.h>

/* In the modes from INSIDE on the framer is inside a slice; in those after INSIDE the slice has a defect. */
enum {
    NTR_FRAMER_BETWEEN, /* after MSEO 11 or at the start: idle, or the first byte of a message */
    NTR_FRAMER_SEEKING, /* looking for the first MSEO 11 of a stream that was cut in front */
    NTR_FRAMER_INSIDE,
    NTR_FRAMER_BAD_SEQUENCE,
    NTR_FRAMER_BAD_RESERVED,
};

/* Pass over 0xff between messages. Returns the number of bytes left in the piece. */
static inline size_t ntr_framer_skip_idle(ntr_framer *framer) {
    while (framer->at < framer->size && framer->data[framer->at] == NTR_IDLE) {
        framer->at++;
        framer->idle++;
    }
    return framer->size - framer->at;
}

#endif
