#include "program/image_timeline.h"

#include "base/allocator.h"

#include <stdlib.h>

static int by_position(const void *left, const void *right) {
    const ntr_edge *a = left, *b = right;
    if (a->position != b->position) return a->position < b->position ? -1 : 1;
    return (a->segment > b->segment) - (a->segment < b->segment);
}

static int add(ntr_image_timeline *timeline, const ntr_allocator *allocator, uint64_t position, size_t segment) {
    if (position == 0) return 0; /* valid from the beginning, or without end */
    if (ntr_reserve(allocator, (void **)&timeline->edges, &timeline->capacity, timeline->count + 1,
                    sizeof *timeline->edges))
        return -1;
    timeline->edges[timeline->count++] = (ntr_edge){position, (uint32_t)segment};
    return 0;
}

int ntr_image_timeline_update(ntr_image_timeline *timeline, const ntr_program *program,
                              const ntr_allocator *allocator) {
    size_t before = timeline->count;
    for (; timeline->segments_seen < program->segment_count; timeline->segments_seen++) {
        const ntr_segment *segment = &program->segments[timeline->segments_seen];
        if (add(timeline, allocator, segment->from, timeline->segments_seen) ||
            add(timeline, allocator, segment->until, timeline->segments_seen))
            return -1;
    }
    for (; timeline->images_seen < program->image_count; timeline->images_seen++) {
        const ntr_image *image = &program->images[timeline->images_seen];
        if (image->has_segments) continue;
        if (add(timeline, allocator, image->options.from, NTR_EDGE_NAMES) ||
            add(timeline, allocator, image->options.until, NTR_EDGE_NAMES))
            return -1;
    }
    if (timeline->count > before) qsort(timeline->edges, timeline->count, sizeof *timeline->edges, by_position);
    return 0;
}

size_t ntr_image_timeline_passed(const ntr_image_timeline *timeline, uint64_t position) {
    size_t low = 0, high = timeline->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (timeline->edges[middle].position <= position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void ntr_image_timeline_release(ntr_image_timeline *timeline, const ntr_allocator *allocator) {
    ntr_dealloc(allocator, timeline->edges);
    *timeline = (ntr_image_timeline){0};
}
