/* Events in a partial (block kind 11, docs/partial.md): what the packing and the unpacking side share. Private.
 *
 * Idea: most spans are executed again and again, in the same order. A span without its position in the stream is a
 * *shape*; the shapes of a block are numbered. Both sides predict the next event from the last two shapes: as it was
 * when they were last seen one after the other. Only the number of right predictions, and then what was not predicted,
 * is in the file.
 *
 * Invariant: both sides make the same changes to their coder for each event; a block begins with an empty one, so that
 * blocks can be copied from file to file.
 *
 * Example: a loop of three spans runs 1,000 times. The first two rounds are six records, the others one number. */
#ifndef NTR_PARTIAL_EVENT_CODER_H
#define NTR_PARTIAL_EVENT_CODER_H

#include "partial/blocks.h"

/* What follows the number of predicted events in a record. */
enum { NTR_CODED_NONE, NTR_CODED_NEW, NTR_CODED_OTHER, NTR_CODED_SHAPES };

enum { NTR_CODER_BITS = 16, NTR_CODER_RUN_MAX = 1 << 30 };

/* A span, or code without image, but for its position. */
typedef struct ntr_event_shape {
    uint64_t address, last, target;
    uint32_t instructions, halfwords;
    uint32_t context; /* number */
    uint16_t src;
    uint8_t kind, end, flags, code;
} ntr_event_shape;

/* Where an event is, as differences from the one before. */
typedef struct ntr_event_step {
    uint64_t offset, message, time;
} ntr_event_step;

typedef struct ntr_predicted {
    ntr_event_step step;
    uint32_t shape; /* number + 1; 0: nothing */
} ntr_predicted;

typedef struct ntr_event_coder {
    const ntr_allocator *allocator;
    ntr_event_shape *shapes;
    size_t shape_count, shape_capacity;
    ntr_context *contexts;
    size_t context_count, context_capacity;
    ntr_predicted *predicted; /* 1 << NTR_CODER_BITS elements */
    uint32_t last[2];         /* shapes: number + 1 */
    ntr_event_step at;              /* position of the last event */
} ntr_event_coder;

/* Returns false when out of memory. */
bool ntr_event_coder_open(ntr_event_coder *coder, const ntr_allocator *allocator);
void ntr_event_coder_release(ntr_event_coder *coder);

/* A block begins. */
void ntr_event_coder_restart(ntr_event_coder *coder);

/* Add an element. Return its number, or SIZE_MAX when out of memory. */
size_t ntr_event_coder_shape(ntr_event_coder *coder, const ntr_event_shape *shape);
size_t ntr_event_coder_context(ntr_event_coder *coder, const ntr_context *context);

/* The place of the prediction of the next event. */
static inline ntr_predicted *ntr_event_coder_next(const ntr_event_coder *c) {
    const uint64_t key = (uint64_t)c->last[0] * 0x9e3779b97f4a7c15u ^ (uint64_t)c->last[1] * 0xc2b2ae3d27d4eb4fu;
    return &c->predicted[key >> (64 - NTR_CODER_BITS)];
}

/* The event was a span of this shape, `step` behind the one before. */
static inline void ntr_event_coder_moved(ntr_event_coder *c, const ntr_event_step *step, uint32_t shape) {
    *ntr_event_coder_next(c) = (ntr_predicted){*step, shape + 1};
    c->last[1] = c->last[0];
    c->last[0] = shape + 1;
    c->at.offset += step->offset;
    c->at.message += step->message;
    c->at.time += step->time;
}

static inline bool ntr_event_step_equal(const ntr_event_step *a, const ntr_event_step *b) {
    return a->offset == b->offset && a->message == b->message && a->time == b->time;
}

#endif
