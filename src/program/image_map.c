#include "program/image_map.h"

#include "base/allocator.h"

/* State of laying a file over the files before it. */
typedef struct file_overlay {
    ntr_image_map *map;
    const ntr_allocator *allocator;
    bool everywhere; /* files below it are never used */
    uint32_t index;
} file_overlay;

static uint32_t lay_file(void *user, uint32_t below) {
    file_overlay *state = user;
    ntr_image_map *map = state->map;
    if (map->layer_count >= NTR_SPANS_NONE || ntr_reserve(state->allocator, (void **)&map->layers, &map->layer_capacity,
                                                          map->layer_count + 1, sizeof *map->layers))
        return NTR_SPANS_NONE;
    map->layers[map->layer_count] = (ntr_image_layer){state->index, state->everywhere ? NTR_SPANS_NONE : below};
    return (uint32_t)map->layer_count++;
}

int ntr_image_map_add_file(ntr_image_map *map, const ntr_allocator *allocator, uint64_t first, uint64_t last,
                           bool everywhere, uint32_t index) {
    file_overlay state = {map, allocator, everywhere, index};
    size_t before = map->layer_count;
    if (!ntr_spans_overlay(&map->files, allocator, first, last, lay_file, &state)) return 0;
    map->layer_count = before; /* the map is unchanged and does not refer to the new layers */
    return -1;
}

int ntr_image_map_add_names(ntr_image_map *map, const ntr_allocator *allocator, uint32_t index) {
    if (ntr_reserve(allocator, (void **)&map->names, &map->name_capacity, map->name_count + 1, sizeof *map->names))
        return -1;
    map->names[map->name_count++] = index;
    return 0;
}

void ntr_image_map_release(ntr_image_map *map, const ntr_allocator *allocator) {
    ntr_spans_release(&map->files, allocator);
    ntr_dealloc(allocator, map->layers);
    ntr_dealloc(allocator, map->names);
    *map = (ntr_image_map){0};
}
