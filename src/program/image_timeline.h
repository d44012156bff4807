/* Stream positions at which segments, and images that have names alone, become valid or invalid. */
#ifndef NTR_PROGRAM_IMAGE_TIMELINE_H
#define NTR_PROGRAM_IMAGE_TIMELINE_H

#include "program/program.h"

#define NTR_EDGE_NAMES UINT32_MAX

/* At `position`, `segment` becomes valid or invalid; NTR_EDGE_NAMES: an image that has names alone. */
typedef struct ntr_edge {
    uint64_t position;
    uint32_t segment;
} ntr_edge;

typedef struct ntr_image_timeline {
    ntr_edge *edges; /* sorted by position */
    size_t count, capacity;
    size_t passed;   /* number of edges at or before the current position */
    size_t segments_seen, images_seen;
} ntr_image_timeline;

/* Adds the edges of new segments and images. Returns 0, or -1 when out of memory. */
int ntr_image_timeline_update(ntr_image_timeline *timeline, const ntr_program *program, const ntr_allocator *allocator);

/* Returns the number of edges at or before `position`. */
size_t ntr_image_timeline_passed(const ntr_image_timeline *timeline, uint64_t position);

void ntr_image_timeline_release(ntr_image_timeline *timeline, const ntr_allocator *allocator);

#endif
