/* When segments come and go as the position in the stream moves on. */
#ifndef NTR_PROGRAM_IMAGE_TIMELINE_H
#define NTR_PROGRAM_IMAGE_TIMELINE_H

#include "program/program.h"

/* From `position` on, `segment` is there or is not any more. */
typedef struct ntr_edge {
    uint64_t position;
    uint32_t segment;
} ntr_edge;

typedef struct ntr_image_timeline {
    ntr_edge *edges; /* by position */
    size_t count, capacity;
    size_t passed;   /* how many of them lie at or before the current position */
    size_t segments_seen;
} ntr_image_timeline;

/* Learn of the segments added since. 0, or -1 when out of memory. */
int ntr_image_timeline_update(ntr_image_timeline *timeline, const ntr_program *program, const ntr_allocator *allocator);

/* How many edges lie at or before `position`. */
size_t ntr_image_timeline_passed(const ntr_image_timeline *timeline, uint64_t position);

void ntr_image_timeline_release(ntr_image_timeline *timeline, const ntr_allocator *allocator);

#endif
