/* What the models of Arm CoreSight components share: the software lock, claim tags and identification. */
#ifndef NTR_SYSTEM_CORESIGHT_H
#define NTR_SYSTEM_CORESIGHT_H

#include "system/component.h"

#define CORESIGHT_KEY 0xc5acce55u

enum { DEVTYPE_FUNNEL = 0x12, DEVTYPE_SINK = 0x21, DEVTYPE_FIFO = 0x32 };
enum { CLAIM_TAGS = 0xf };
enum {
    SG_LAST = 1,
    SG_DATA = 2,
    SG_LINK = 3,
    SG_TYPE = 3,
    SG_ENTRIES = TMC_PAGE / 4
}; /* entries of a table of pages */

typedef struct coresight_part {
    bool unlocked;
    uint32_t claims;
} coresight_part;

/* Defines the management registers. */
void coresight_rules(trace_component *component, uint32_t devtype);

/* Reads a management register. Returns false if it is another register. */
bool coresight_load(trace_component *component, coresight_part *part, ntr_register reg, uint32_t *word);

/* Writes a management register. Returns whether the write has had all its effect: it was one, or the component is
 * locked. */
bool coresight_store(const trace_component *component, coresight_part *part, ntr_register reg, uint32_t word);

/* ---- Formatter: bytes with trace IDs become frames of 16 bytes. */

typedef struct frame_formatter {
    uint8_t frame[TMC_FRAME];
    uint8_t at;      /* next byte of the frame, an even number */
    uint8_t id;      /* of the data that follow */
    bool named;      /* `id` was written not too long ago */
    bool holds;      /* `held` is a byte of `id` that is to be written at `at` */
    uint8_t held;
    uint8_t unnamed; /* frames since an ID was written */
} frame_formatter;

typedef void (*frame_sink)(void *user, const uint8_t frame[TMC_FRAME]);

void formatter_reset(frame_formatter *formatter);
void formatter_put(frame_formatter *formatter, uint8_t id, uint8_t byte, frame_sink sink, void *user);

/* Completes the frame with padding (ID 0). */
void formatter_flush(frame_formatter *formatter, frame_sink sink, void *user);

static inline bool formatter_empty(const frame_formatter *formatter) {
    return !formatter->at && !formatter->holds;
}

#endif
