/* Which file names the code at a place, and the symbols of it: files, code that was recorded over them, and images of
 * names only. Does not change the program, so any number of threads may use it. */
#include "program/program.h"

#include <ntrace/program_files.h>
#include <string.h>

/* Returns the newest file that is visible at the place and contains its address; NULL when there is none. */
static const ntr_image_layer *file_at(const ntr_program *program, ntr_place place) {
    const ntr_image_map *map = &program->image_map;
    const ntr_span *span = ntr_spans_find(&map->files, place.address);
    uint32_t at = span ? span->value : NTR_SPANS_NONE;
    while (at != NTR_SPANS_NONE && !ntr_image_is_visible(&program->images[map->layers[at].image], place))
        at = map->layers[at].below;
    return at == NTR_SPANS_NONE ? NULL : &map->layers[at];
}

/* The bytes of an image at the address, or NULL: also below those of others, which the map leaves out. */
static const ntr_segment *segment_of(const ntr_program *program, uint32_t image, uint64_t address) {
    size_t low = 0, high = program->segment_count;

    while (low < high) { /* segments are in the order of their images */
        const size_t middle = low + (high - low) / 2;
        if (program->segments[middle].image < image)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < program->segment_count && program->segments[low].image == image; low++)
        if (program->segments[low].first <= address && address <= program->segments[low].last)
            return &program->segments[low];
    return NULL;
}

/* How many bytes are equal to those of a file? Zeros say nothing: they were not executed. */
struct equal_bytes {
    size_t equal, known;
};

static struct equal_bytes count_equal(const uint8_t *bytes, const uint8_t *there, size_t size) {
    struct equal_bytes n = {0, 0};
    for (size_t i = 0; i < size; i++) {
        n.known += bytes[i] != 0;
        n.equal += bytes[i] != 0 && bytes[i] == there[i];
    }
    return n;
}

/* Code bytes without a file where a file of another context has nearly the same ones around the address, as firmware
 * that runs in two modes, some of its code changed: the file names them. Bytes that were not executed are zeros and say
 * nothing. Reduces the window to these bytes. NULL: there is no such file. */
static const ntr_image_layer *same_bytes(const ntr_program *program, ntr_place place, ntr_code_window *window) {
    enum { EACH_SIDE = 64, LEAST_KNOWN = 8 }; /* a common prologue has fewer equal bytes */
    place.context = NULL;
    const ntr_image_layer *layer = file_at(program, place);
    const ntr_segment *segment = layer ? segment_of(program, layer->image, place.address) : NULL;
    if (!segment) return NULL;
    uint64_t first = window->first > segment->first ? window->first : segment->first;
    uint64_t last = window->first + window->size - 1 < segment->last ? window->first + window->size - 1 : segment->last;
    if (place.address - first > EACH_SIDE) first = place.address - EACH_SIDE;
    if (last - place.address > EACH_SIDE) last = place.address + EACH_SIDE;
    const uint8_t *bytes = window->bytes + (first - window->first), *there = segment->bytes + (first - segment->first);
    const size_t count = (size_t)(last - first + 1);
    const struct equal_bytes n = count_equal(bytes, there, count);
    if (n.known < LEAST_KNOWN || n.equal < n.known - n.known / 4) return NULL;
    *window = (ntr_code_window){.first = first, .bytes = bytes, .size = count, .image = window->image};
    return layer;
}

/* What recorded bytes are compared with, as long as names do not change: a part of the code around an address. */
enum { CHANGE_BYTES = 512 };

/* Reduces the range to the addresses around `address` for which is_changed has the same result. */
static void limit_change(const ntr_image *file, uint64_t address, uint64_t *first, uint64_t *last) {
    const uint64_t begin = address & ~(uint64_t)(CHANGE_BYTES - 1), end = address | (CHANGE_BYTES - 1);
    if (*first < begin) *first = begin;
    if (*last > end) *last = end;
    ntr_symbols_limit(&file->symbols, address, first, last);
}

/* Are the bytes that were recorded over a file other code than that of the file? A function that was patched keeps its
 * name. When more than a quarter of the recorded bytes in it, and of all of it, are others, something else was written
 * over it, and the file does not name that. */
static bool is_changed(const ntr_program *program, ntr_place place, const ntr_code_window *window, uint32_t number) {
    enum { LEAST_KNOWN = 8 }; /* a jump that was written over the first instructions has fewer */
    const ntr_segment *segment = segment_of(program, number, place.address);
    uint8_t whole[CHANGE_BYTES];
    if (!segment) return true; /* memory of the file without bytes */
    uint64_t first = segment->first, last = segment->last;
    limit_change(&program->images[number], place.address, &first, &last);
    const uint64_t low = window->first > first ? window->first : first;
    const uint64_t high = window->first + window->size - 1 < last ? window->first + window->size - 1 : last;
    const struct equal_bytes part = count_equal(window->bytes + (low - window->first),
                                                segment->bytes + (low - segment->first), (size_t)(high - low + 1));
    if (part.known < LEAST_KNOWN || part.equal >= part.known - part.known / 4) return false;
    place.address = first;
    const size_t size = ntr_program_read(program, place, whole, (size_t)(last - first + 1));
    const struct equal_bytes all = count_equal(whole, segment->bytes + (first - segment->first), size);
    return all.equal < all.known - all.known / 4;
}

/* Returns the file that names code without a file, which was recorded over it; NULL: there is none, or it is other
 * code. */
static const ntr_image_layer *file_under(const ntr_program *program, ntr_place place, const ntr_code_window *window) {
    const ntr_image_layer *layer = file_at(program, place);
    if (!layer || ntr_symbols_at(&program->images[window->image].symbols, place.address)) return NULL;
    if (program->images[window->image].is_patch) return layer;
    return is_changed(program, place, window, layer->image) ? NULL : layer;
}

/* Returns the newest image of names only that has one for the place, or NULL. */
static const ntr_image *names_at(const ntr_program *program, ntr_place place) {
    const ntr_image_map *map = &program->image_map;
    for (size_t i = map->name_count; i-- > 0;) {
        const ntr_image *image = &program->images[map->names[i]];
        if (ntr_image_is_visible(image, place) && ntr_symbols_at(&image->symbols, place.address)) return image;
    }
    return NULL;
}

ntr_status ntr_program_image_at(const ntr_program *program, ntr_place place, size_t *index) {
    ntr_code_window window;
    place.address = ntr_program_cut(program, place.address);
    const ntr_image_layer *file = program->recorded ? NULL : file_at(program, place);
    if (file) {
        *index = file->image;
        return NTR_OK;
    }
    const bool has_code = ntr_program_window(program, place, &window);
    const bool recorded = has_code && !program->images[window.image].path;
    file = recorded ? file_under(program, place, &window) : file_at(program, place);
    const ntr_image *names;
    if (file)
        *index = file->image;
    else if (!has_code)
        return NTR_END;
    else if (recorded && !file_at(program, place) && (file = same_bytes(program, place, &window)))
        *index = file->image;
    else if (!program->images[window.image].path && (names = names_at(program, place)))
        *index = (size_t)(names - program->images);
    else
        *index = window.image;
    return NTR_OK;
}

ntr_place ntr_program_image_place(const ntr_program *program, size_t index, uint64_t address) {
    const ntr_image *image = &program->images[index];
    const ntr_image_options *o = &image->options;
    const bool bound = o->has_scontext || o->has_hcontext || o->has_prv; /* else its code may be recorded for a mode */
    return ntr_place_at(bound ? &image->context : NULL, o->from, address);
}

/* ---- names ---------------------------------------------------------------------------------------------------- */

static ntr_status store_symbol(const ntr_program *program, const ntr_image *image, const ntr_name *name,
                               ntr_symbol *symbol) {
    *symbol = (ntr_symbol){
        .name = name->name,
        .image = image->name,
        .address = name->address,
        .size = name->size,
        .function = name->function,
        .number = (uint64_t)(image - program->images),
    };
    return NTR_OK;
}

/* Returns the image that names the code at `place`, or NULL. Code without a name lies over what a file has there:
 * bytes that were executed, perhaps patched; the names stay, if it is the same code. */
static const ntr_image *naming_image(const ntr_program *program, ntr_place place, ntr_code_window *window) {
    if (!ntr_program_window(program, place, window)) return NULL;
    const ntr_image *image = &program->images[window->image];
    if (image->path) return image;
    const ntr_image_layer *layer = file_at(program, place);
    if (!layer) {
        layer = same_bytes(program, place, window);
        return layer ? &program->images[layer->image] : image;
    }
    layer = file_under(program, place, window);
    if (!layer) return image;
    const ntr_image *file = &program->images[layer->image];
    window->first = file->low;
    window->size = file->last - file->low + 1;
    return file;
}

static bool is_bss(const ntr_image *image, uint64_t address) {
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there is an array when its count is not 0 */
    return image->bss_first <= address && address <= image->bss_last && image->bss_last;
}

/* Returns the newest file with memory at `place` that has no bytes in the file, or NULL. */
static const ntr_image *bss_at(const ntr_program *program, ntr_place place) {
    for (size_t i = program->image_count; i-- > 0;) {
        const ntr_image *image = &program->images[i];
        if (is_bss(image, place.address) && ntr_image_is_visible(image, place)) return image;
    }
    return NULL;
}

/* Reduces the range to addresses that are in the same memory without bytes as `address`, or like it in none. */
static void limit_bss(const ntr_program *program, uint64_t address, uint64_t *first, uint64_t *last) {
    for (size_t i = 0; i < program->image_count; i++) {
        const ntr_image *image = &program->images[i];
        if (!image->bss_last) continue;
        if (address < image->bss_first && *last >= image->bss_first) *last = image->bss_first - 1;
        if (address > image->bss_last && *first <= image->bss_last) *first = image->bss_last + 1;
        if (!is_bss(image, address)) continue;
        if (*first < image->bss_first) *first = image->bss_first;
        if (*last > image->bss_last) *last = image->bss_last;
        ntr_symbols_limit(&image->symbols, address, first, last);
    }
}

ntr_status ntr_program_symbol(const ntr_program *program, ntr_place place, ntr_symbol *symbol) {
    ntr_code_window window;
    const uint64_t address = place.address = ntr_program_cut(program, place.address);
    const ntr_image *image = naming_image(program, place, &window);
    if (!image) image = bss_at(program, place);
    const ntr_name *named = image ? ntr_symbols_at(&image->symbols, address) : NULL;
    if (named) return store_symbol(program, image, named, symbol);
    const ntr_image_map *map = &program->image_map;
    for (size_t i = map->name_count; i-- > 0;) {
        image = &program->images[map->names[i]];
        if (!ntr_image_is_visible(image, place)) continue;
        const ntr_name *name = ntr_symbols_at(&image->symbols, address);
        if (name) return store_symbol(program, image, name, symbol);
    }
    return NTR_END;
}

void ntr_program_limit_names(const ntr_program *program, ntr_place place, uint64_t *first, uint64_t *last) {
    const ntr_image_map *map = &program->image_map;
    ntr_code_window window;
    const uint64_t address = place.address = ntr_program_cut(program, place.address);
    (void)ntr_spans_limit(&map->files, address, first, last);
    (void)ntr_spans_limit(&program->map, address, first, last); /* code without bytes has no name, also inside a file */
    const ntr_image *image = naming_image(program, place, &window);
    const ntr_image_layer *file = file_at(program, place);
    if (image && file && !program->images[window.image].path)
        limit_change(&program->images[file->image], address, first, last);
    limit_bss(program, address, first, last);
    if (!image) image = bss_at(program, place);
    if (image) ntr_symbols_limit(&image->symbols, address, first, last);
    if (image && ntr_symbols_at(&image->symbols, address)) return;
    for (size_t i = map->name_count; i-- > 0;) {
        image = &program->images[map->names[i]];
        if (!ntr_image_is_visible(image, place)) continue;
        ntr_symbols_limit(&image->symbols, address, first, last);
        if (ntr_symbols_at(&image->symbols, address)) return;
    }
}

bool ntr_program_file_bias(const ntr_program *program, ntr_place place, uint64_t *bias) {
    size_t index;
    if (ntr_program_image_at(program, place, &index) != NTR_OK) return false;
    const ntr_image *image = &program->images[index];
    *bias = image->options.bias;
    return image->path && !image->generated;
}

ntr_status ntr_program_code_range(const ntr_program *program, ntr_place place, ntr_code_range *range) {
    ntr_code_window window;
    const uint64_t address = place.address = ntr_program_cut(program, place.address);
    const ntr_image *image = naming_image(program, place, &window);
    if (!image) return NTR_END;
    uint64_t first = window.first, last = window.first + window.size - 1;
    bool function = false;
    if (!image->path || ntr_symbols_at(&image->symbols, address)) return NTR_END;
    ntr_symbols_range(&image->symbols, address, &first, &last, &function);
    const char *slash = strrchr(image->name, '/');
    *range = (ntr_code_range){.image = image->name,
                              .file_name = slash && slash[1] ? slash + 1 : image->name,
                              .bias = image->options.bias,
                              .address = first,
                              .size = last - first + 1,
                              .function = function};
    return NTR_OK;
}

ntr_status ntr_program_find_in(const ntr_program *program, const char *file, const char *name, size_t *index,
                               ntr_symbol *symbol) {
    while (*index < program->image_count) {
        const ntr_image *image = &program->images[(*index)++];
        const ntr_name *found = strcmp(image->name, file) == 0 ? ntr_symbols_named(&image->symbols, name) : NULL;
        if (found) return store_symbol(program, image, found, symbol);
    }
    return NTR_END;
}

ntr_status ntr_program_find(const ntr_program *program, const char *name, ntr_symbol *symbol) {
    for (size_t i = program->image_count; i-- > 0;) {
        const ntr_name *found = ntr_symbols_named(&program->images[i].symbols, name);
        if (found) return store_symbol(program, &program->images[i], found, symbol);
    }
    return NTR_END;
}
