/* Where a framer stands (ntr_framer.mode), for those who read ahead of it. */
#ifndef NTR_WIRE_FRAMING_H
#define NTR_WIRE_FRAMING_H

#include "wire/mdo.h"

#include <ntrace/framer.h>

/* From INSIDE on the framer is inside a slice; after INSIDE in one that will be a defect. */
enum {
    NTR_FRAMER_BETWEEN, /* after MSEO 11 or at the start: idle, or the first byte of a message */
    NTR_FRAMER_SEEKING, /* looking for the first MSEO 11 of a stream that was cut in front */
    NTR_FRAMER_INSIDE,
    NTR_FRAMER_BAD_SEQUENCE,
    NTR_FRAMER_BAD_RESERVED,
};

/* Pass 0xff between messages; returns how many bytes of the span are left then. */
static inline size_t ntr_framer_skip_idle(ntr_framer *framer) {
    while (framer->at < framer->size && framer->data[framer->at] == NTR_IDLE) {
        framer->at++;
        framer->idle++;
    }
    return framer->size - framer->at;
}

#endif
