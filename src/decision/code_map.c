#include "decision/code_map.h"

#include "base/allocator.h"
#include "base/macros.h"
#include "program/program.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- images */

static int compare_images(const void *a, const void *b) {
    const ntr_map_image *x = a, *y = b;
    NTR_COMPARE_BY(low);
    return (x->high < y->high) - (x->high > y->high);
}

/* Is `inside` a part of the place of `outside`, and newer: the code that is found there? */
static bool is_over(const ntr_code_map *map, const ntr_map_image *inside, const ntr_map_image *outside) {
    size_t found;
    return outside->low <= inside->low && inside->high <= outside->high &&
           ntr_program_image_at(map->program, ntr_program_image_place(map->program, outside->number, inside->low),
                                &found) == NTR_OK &&
           map->first_image[found] == inside->number;
}

/* Returns the image that has some of the addresses of `image`, and is neither inside nor around it; NULL: none. */
static const ntr_map_image *conflict_of(const ntr_code_map *map, const ntr_map_image *image) {
    for (size_t i = 0; i < map->image_count; i++) {
        const ntr_map_image *other = &map->images[i];
        const bool apart = image->low >= other->high || other->low >= image->high;
        if (!apart && !is_over(map, image, other) && !is_over(map, other, image)) return other;
    }
    return NULL;
}

/* An image of names has no code: its range is that of its lines. */
static ntr_status limit(ntr_map_image *image, ntr_debug_info *debug) {
    const ntr_line_row *rows;
    size_t count;
    if (image->low < image->high) return NTR_OK;
    TRY(ntr_debug_info_lines(debug, image->number, &rows, &count));
    if (!count) return NTR_OK;
    image->low = rows[0].address;
    for (size_t i = 0; i < count; i++)
        if (rows[i].address + rows[i].size > image->high) image->high = rows[i].address + rows[i].size;
    return NTR_OK;
}

/* Names an image whose decisions are missing. */
static ntr_status leave_out(ntr_decisions *d, const ntr_program *program, const ntr_map_image *image,
                            const ntr_map_image *other) {
    ntr_image_info left, kept;
    char why[290];
    if (ntr_program_image(program, image->number, &left) || ntr_program_image(program, other->number, &kept))
        return NTR_OK;
    snprintf(why, sizeof why, "%.200s has code at the same addresses", kept.name);
    return ntr_sources_leave_out(d, left.name, why);
}

/* Sorts the images by address, the one around others before them. */
static void sort_images(ntr_code_map *map) {
    if (map->image_count) qsort(map->images, map->image_count, sizeof *map->images, compare_images);
    for (size_t i = 1; i < map->image_count; i++) {
        size_t around = i;
        while (around && map->images[around - 1].high <= map->images[i].low) around = map->images[around - 1].around;
        map->images[i].around = around;
    }
}

ntr_status ntr_code_map_choose(ntr_code_map *map, ntr_decisions *decisions, const ntr_source_options *options,
                               ntr_debug_info *debug) {
    ntr_image_info info;
    size_t count = 0;
    map->first_image = ntr_program_first_images(map->program, map->allocator);
    while (ntr_program_image(map->program, count, &info) == NTR_OK) count++;
    map->images = ntr_alloc(map->allocator, count + 1, sizeof *map->images);
    if (!map->first_image || !map->images) return NTR_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        if (ntr_program_image(map->program, i, &info) != NTR_OK || !info.path || map->first_image[i] != i) continue;
        ntr_map_image image = {.low = info.low, .high = info.high, .number = i};
        TRY(limit(&image, debug));
        if (image.low == image.high) continue;
        const ntr_map_image *other = conflict_of(map, &image);
        if (!other)
            map->images[map->image_count++] = image;
        else if (ntr_sources_known(decisions, options, debug, i))
            TRY(leave_out(decisions, map->program, &image, other));
    }
    sort_images(map);
    return NTR_OK;
}

const ntr_map_image *ntr_code_map_image(const ntr_code_map *map, uint64_t address) {
    size_t low = 0, high = map->image_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map->images[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    while (low && address >= map->images[low - 1].high) low = map->images[low - 1].around;
    return low ? &map->images[low - 1] : NULL;
}

ntr_place ntr_code_map_place(const ntr_code_map *map, uint64_t address) {
    const ntr_map_image *image = ntr_code_map_image(map, address);
    return image ? ntr_program_image_place(map->program, image->number, address) : ntr_place_at(NULL, 0, address);
}

bool ntr_code_map_describes(const ntr_code_map *map, ntr_place place) {
    const ntr_map_image *image = ntr_code_map_image(map, place.address);
    size_t found;
    return image && ntr_program_image_at(map->program, place, &found) == NTR_OK &&
           map->first_image[found] == image->number;
}

bool ntr_code_map_differs(const ntr_code_map *map, ntr_place place) {
    ntr_code_window window;
    ntr_insn insn;
    if (ntr_program_window(map->program, place, &window) && map->program->images[window.image].path) return false;
    if (ntr_program_insn(map->program, place, &insn) != NTR_OK) return true;
    return ntr_program_bits(map->program, place, insn.size) !=
           ntr_program_bits(map->program, ntr_code_map_place(map, place.address), insn.size);
}

/* ---- branches and calls */

static int compare_branches(const void *a, const void *b) {
    const ntr_decision_branch *x = a, *y = b;
    NTR_COMPARE_BY(address);
    NTR_COMPARE_BY(copy);
    return 0;
}

static size_t slot_of(const ntr_code_map *map, uint64_t address) {
    return (size_t)((address >> 1) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & map->slot_mask;
}

static int compare_calls(const void *a, const void *b) {
    const ntr_counted_call *x = a, *y = b;
    NTR_COMPARE_BY(address);
    NTR_COMPARE_BY(id);
    return 0;
}

ntr_status ntr_code_map_index(ntr_code_map *map) {
    size_t size = 64;
    if (map->call_count) qsort(map->calls, map->call_count, sizeof *map->calls, compare_calls);
    while (size < map->branch_count * 4) size *= 2;
    if (map->branch_count) qsort(map->branches, map->branch_count, sizeof *map->branches, compare_branches);
    map->slots = ntr_alloc(map->allocator, size, sizeof *map->slots);
    if (!map->slots) return NTR_E_MEMORY;
    map->slot_mask = size - 1;
    for (size_t i = 0; i < map->branch_count; i++) {
        if (i && map->branches[i - 1].address == map->branches[i].address) continue;
        size_t at = slot_of(map, map->branches[i].address);
        while (map->slots[at]) at = (at + 1) & map->slot_mask;
        map->slots[at] = i + 1;
    }
    return NTR_OK;
}

size_t ntr_code_map_functions_below(const ntr_code_map *map, uint64_t address) {
    size_t low = 0, high = map->function_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map->functions[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t ntr_code_map_call_at(const ntr_code_map *map, uint64_t address) {
    size_t low = 0, high = map->call_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map->calls[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const ntr_decision_branch *ntr_code_map_find(const ntr_code_map *map, uint64_t address) {
    for (size_t at = slot_of(map, address); map->slots[at]; at = (at + 1) & map->slot_mask)
        if (map->branches[map->slots[at] - 1].address == address) return &map->branches[map->slots[at] - 1];
    return NULL;
}

void ntr_code_map_release(ntr_code_map *map) {
    for (size_t i = 0; i < map->copy_count; i++) {
        ntr_dealloc(map->allocator, map->copies[i].vectors);
        ntr_dealloc(map->allocator, map->copies[i].witnessed);
        ntr_dealloc(map->allocator, map->copies[i].grouping);
    }
    ntr_dealloc(map->allocator, map->copies);
    ntr_dealloc(map->allocator, map->branches);
    ntr_dealloc(map->allocator, map->calls);
    ntr_dealloc(map->allocator, map->functions);
    ntr_dealloc(map->allocator, map->slots);
    ntr_dealloc(map->allocator, map->ranges.items);
    ntr_dealloc(map->allocator, map->images);
    ntr_dealloc(map->allocator, map->first_image);
}
