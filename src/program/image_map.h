/* Which images a search by address has to consider: files by the range of their addresses, and images that have only
 * names. Bundles of programs that generate code have tens of thousands of images, nearly all of them fragments of code
 * without a file; no search visits them one by one. */
#ifndef NTR_PROGRAM_IMAGE_MAP_H
#define NTR_PROGRAM_IMAGE_MAP_H

#include "program/spans.h"

/* The files that contain an address, as a linked list from the newest to the oldest. */
typedef struct ntr_image_layer {
    uint32_t image;
    uint32_t below; /* NTR_SPANS_NONE: no other */
} ntr_image_layer;

typedef struct ntr_image_map {
    ntr_spans files; /* value: index of the top layer */
    ntr_image_layer *layers;
    size_t layer_count, layer_capacity;
    uint32_t *names; /* images without code but with symbols, in the order of addition */
    size_t name_count, name_capacity;
} ntr_image_map;

/* Adds image number `index`: a file with code at [first, last], or an image that has only names. `everywhere`: it is
 * used in every context. Return 0, or -1 when out of memory. */
int ntr_image_map_add_file(ntr_image_map *map, const ntr_allocator *allocator, uint64_t first, uint64_t last,
                           bool everywhere, uint32_t index);
int ntr_image_map_add_names(ntr_image_map *map, const ntr_allocator *allocator, uint32_t index);

void ntr_image_map_release(ntr_image_map *map, const ntr_allocator *allocator);

#endif
