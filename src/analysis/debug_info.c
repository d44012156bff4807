#include <ntrace/debug_info.h>

#include "analysis/debug_units.h"
#include "analysis/dwarf.h"
#include "analysis/functions.h"
#include "analysis/go_lines.h"
#include "analysis/names.h"
#include "analysis/texts.h"
#include "base/allocator.h"
#include "program/program.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Debug information of one image of the program, opened on first use. */
typedef struct debug_image {
    bool opened;
    ntr_image_info info;
    ntr_dwarf *dwarf;   /* NULL: symbol table only */
    ntr_line_row *rows; /* rows of the file, with the load bias added */
    size_t row_count;
    bool rows_made;
} debug_image;

struct ntr_debug_info {
    const ntr_program *program;
    const ntr_allocator *allocator;
    const char *debug_path;
    ntr_damage damage;
    ntr_names names;
    ntr_texts places; /* names made of file and address, and of files of Go programs */
    debug_image *images;
    size_t image_count, image_capacity;
    pthread_mutex_t lock; /* look-ups by address: several tables of functions may use the object at the same time */
};

ntr_status ntr_debug_info_new(const ntr_program *program, const ntr_allocator *allocator, ntr_debug_info **out) {
    *out = NULL;
    ntr_debug_info *debug = ntr_alloc(allocator, 1, sizeof *debug);
    if (!debug) return NTR_E_MEMORY;
    debug->program = program;
    debug->allocator = allocator;
    debug->names.allocator = allocator;
    debug->names.most = ntr_limits_get(&program->limits, NTR_LIMIT_DEMANGLED_NAME);
    pthread_mutex_init(&debug->lock, NULL);
    debug->places.allocator = allocator;
    *out = debug;
    return NTR_OK;
}

void ntr_debug_info_free(ntr_debug_info *debug) {
    if (!debug) return;
    for (size_t i = 0; i < debug->image_count; i++) {
        ntr_dwarf_close(debug->images[i].dwarf);
        ntr_dealloc(debug->allocator, debug->images[i].rows);
    }
    ntr_dealloc(debug->allocator, debug->images);
    ntr_names_release(&debug->names);
    ntr_texts_release(&debug->places);
    pthread_mutex_destroy(&debug->lock);
    ntr_dealloc(debug->allocator, debug);
}

void ntr_debug_info_set_path(ntr_debug_info *debug, const char *path) {
    debug->debug_path = path;
}

const char *ntr_debug_info_damage(const ntr_debug_info *debug, size_t index) {
    return ntr_damage_line(&debug->damage, index);
}

static debug_image *image_at(ntr_debug_info *debug, size_t index) {
    if (index >= debug->image_count) {
        if (ntr_reserve(debug->allocator, (void **)&debug->images, &debug->image_capacity, index + 1,
                        sizeof *debug->images))
            return NULL;
        memset(debug->images + debug->image_count, 0, (index + 1 - debug->image_count) * sizeof *debug->images);
        debug->image_count = index + 1;
    }
    debug_image *image = &debug->images[index];
    if (!image->opened) {
        if (ntr_program_image(debug->program, index, &image->info) != NTR_OK) return NULL;
        if (image->info.path)
            image->dwarf = ntr_dwarf_open(&image->info, debug->debug_path, &debug->damage, &debug->program->limits,
                                          debug->allocator);
        image->opened = true;
    }
    return image;
}

/* Returns the image that names the code at `place`: the newest ELF file that contains it. Recorded code bytes are
 * images without a file and are used only when there is no file. */
static debug_image *find(ntr_debug_info *debug, ntr_place place) {
    size_t index;
    if (ntr_program_image_at(debug->program, place, &index) != NTR_OK) return NULL;
    return image_at(debug, index);
}

/* Names code without a symbol by file and address, "libc.so.6+0x27f10". Only a function of the unwind table has a
 * linkage name. */
static ntr_frame range_frame(ntr_debug_info *debug, ntr_place place, const debug_image *image) {
    char text[320];
    ntr_code_range range;
    ntr_frame frame = {.image = image->info.name};
    if (ntr_program_code_range(debug->program, place, &range) != NTR_OK) return frame;
    snprintf(text, sizeof text, "%.280s+0x%" PRIx64, range.file_name, range.address - range.bias);
    frame.function = ntr_texts_keep(&debug->places, text);
    frame.linkage = range.function ? frame.function : NULL;
    frame.image = range.image;
    frame.entry = range.address;
    frame.size = range.size;
    return frame;
}

static ntr_status make_rows(ntr_debug_info *debug, debug_image *image);

/* Returns the row that contains the address, or NULL. */
static const ntr_line_row *row_at(ntr_debug_info *debug, debug_image *image, uint64_t address) {
    size_t low = 0;
    if (!image->rows_made && make_rows(debug, image) != NTR_OK) return NULL;
    for (size_t high = image->row_count; low < high;) { /* the first row behind the address */
        size_t middle = low + (high - low) / 2;
        if (image->rows[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const ntr_line_row *row = low ? &image->rows[low - 1] : NULL;
    return row && address - row->address < row->size ? row : NULL;
}

static const char *name_of(ntr_debug_info *debug, const debug_image *image, const char *linkage) {
    const char *text = ntr_names_get(&debug->names, linkage);
    if (debug->names.large)
        ntr_damage_add(&debug->damage,
                       "%.120s: a name: expected at most %" PRIu64
                       " characters and parts when demangled (limit demangled-name), found more; it is shown mangled",
                       image->info.name ? image->info.name : "", debug->names.most);
    debug->names.large = false;
    return text;
}

static ntr_frame symbol_frame(ntr_debug_info *debug, ntr_place place, const debug_image *image) {
    ntr_symbol symbol;
    ntr_frame frame = {.image = image->info.name};
    if (ntr_program_symbol(debug->program, place, &symbol) != NTR_OK) return range_frame(debug, place, image);
    frame.linkage = symbol.name;
    frame.function = name_of(debug, image, symbol.name);
    frame.image = symbol.image;
    frame.entry = symbol.address;
    frame.size = symbol.size;
    return frame;
}

/* Converts a DWARF frame: adds the load bias of the image and demangles the name. */
static void finish_frame(ntr_debug_info *debug, const debug_image *image, ntr_frame *frame) {
    frame->image = image->info.name;
    if (frame->size) frame->entry += image->info.bias;
    /* Some compilers emit no linkage name for an inlined C++ function. */
    const char *text = name_of(debug, image, frame->linkage);
    if (text != frame->linkage || !frame->function) frame->function = text;
}

static size_t dwarf_frames(ntr_debug_info *debug, const debug_image *image, uint64_t address, ntr_frame *frames,
                           size_t capacity) {
    if (!image->dwarf) return 0;
    size_t count = ntr_dwarf_frames(image->dwarf, address - image->info.bias, frames, capacity);
    for (size_t i = 0; i < count; i++) finish_frame(debug, image, &frames[i]);
    return count;
}

static size_t find_frames(ntr_debug_info *debug, ntr_place place, ntr_frame *frames, size_t capacity) {
    debug_image *image = find(debug, place);
    if (!image || capacity == 0) return 0;
    size_t count = dwarf_frames(debug, image, place.address, frames, capacity);
    if (count) return count;
    frames[0] = symbol_frame(debug, place, image);
    const ntr_line_row *row = image->dwarf ? NULL : row_at(debug, image, place.address);
    if (row) {
        frames[0].file = row->file;
        frames[0].line = row->line;
    }
    return 1;
}

size_t ntr_debug_info_frames(ntr_debug_info *debug, ntr_place place, ntr_frame *frames, size_t capacity) {
    pthread_mutex_lock(&debug->lock);
    const size_t count = find_frames(debug, place, frames, capacity);
    pthread_mutex_unlock(&debug->lock);
    return count;
}

ntr_status ntr_debug_info_function(ntr_debug_info *debug, ntr_place place, ntr_frame *function) {
    ntr_frame frames[NTR_FRAMES_MAX];
    size_t count = ntr_debug_info_frames(debug, place, frames, NTR_FRAMES_MAX);
    if (count == 0 || !frames[count - 1].function) return NTR_END;
    *function = frames[count - 1];
    return NTR_OK;
}

ntr_validity ntr_debug_info_limit(const ntr_debug_info *debug, ntr_place place, uint64_t *first, uint64_t *last) {
    ntr_program_limit_names(debug->program, place, first, last);
    return ntr_program_validity(debug->program, place, place.address);
}

bool ntr_debug_info_file_bias(const ntr_debug_info *debug, ntr_place place, uint64_t *bias) {
    return ntr_program_file_bias(debug->program, place, bias);
}

const ntr_program *ntr_debug_info_program(const ntr_debug_info *debug) {
    return debug->program;
}

static ntr_status make_dwarf_rows(ntr_debug_info *debug, debug_image *image) {
    const ntr_line_row *rows;
    size_t count;
    ntr_status status = ntr_dwarf_lines(image->dwarf, &rows, &count);
    if (status) return status;
    image->rows = ntr_alloc(debug->allocator, count, sizeof *image->rows);
    if (!image->rows) return NTR_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        image->rows[i] = rows[i];
        image->rows[i].address += image->info.bias;
    }
    image->row_count = count;
    return NTR_OK;
}

static ntr_status make_rows(ntr_debug_info *debug, debug_image *image) {
    ntr_status status = image->dwarf ? make_dwarf_rows(debug, image)
                                     : ntr_go_lines(debug->program, (size_t)(image - debug->images), &debug->places,
                                                    debug->allocator, &image->rows, &image->row_count);
    image->rows_made = status == NTR_OK;
    return status;
}

ntr_status ntr_debug_info_lines(ntr_debug_info *debug, size_t index, const ntr_line_row **rows, size_t *count) {
    *rows = NULL;
    *count = 0;
    ntr_image_info info;
    if (ntr_program_image(debug->program, index, &info) != NTR_OK) return NTR_END;
    debug_image *image = image_at(debug, index);
    if (!image) return NTR_E_MEMORY;
    ntr_status status = image->rows_made ? NTR_OK : make_rows(debug, image);
    *rows = image->rows;
    *count = image->row_count;
    return status;
}

ntr_status ntr_debug_info_digests(ntr_debug_info *debug, size_t index,
                                  ntr_status (*visit)(void *user, const char *file, const uint8_t *md5), void *user) {
    ntr_image_info info;
    if (ntr_program_image(debug->program, index, &info) != NTR_OK) return NTR_END;
    debug_image *image = image_at(debug, index);
    if (!image) return NTR_E_MEMORY;
    return image->dwarf ? ntr_dwarf_digests(image->dwarf, visit, user) : NTR_OK;
}

const char *ntr_debug_info_path(ntr_debug_info *debug, size_t index, size_t number) {
    const debug_image *image = image_at(debug, index);
    return image && image->dwarf ? ntr_dwarf_path(image->dwarf, number) : NULL;
}

typedef struct visit_state {
    ntr_debug_info *debug;
    const debug_image *image;
    ntr_status (*visit)(void *user, const ntr_frame *function);
    void *user;
} visit_state;

static ntr_status visit_function(void *user, const ntr_frame *function) {
    const visit_state *state = user;
    ntr_frame frame = *function;
    finish_frame(state->debug, state->image, &frame);
    return state->visit(state->user, &frame);
}

ntr_status ntr_debug_info_functions(ntr_debug_info *debug, size_t index,
                                    ntr_status (*visit)(void *user, const ntr_frame *function), void *user) {
    ntr_image_info info;
    if (ntr_program_image(debug->program, index, &info) != NTR_OK) return NTR_END;
    debug_image *image = image_at(debug, index);
    if (!image) return NTR_E_MEMORY;
    visit_state state = {debug, image, visit, user};
    return image->dwarf ? ntr_dwarf_functions(image->dwarf, visit_function, &state) : NTR_OK;
}

typedef struct folded_state {
    ntr_debug_info *debug;
    const debug_image *image;
    ntr_status (*visit)(void *user, const ntr_frame *folded, const ntr_frame *kept);
    void *user;
} folded_state;

static ntr_status visit_folded(void *user, const ntr_frame *one, const ntr_frame *other) {
    const folded_state *state = user;
    ntr_frame folded = *one, kept = *other;
    finish_frame(state->debug, state->image, &folded);
    finish_frame(state->debug, state->image, &kept);
    return state->visit(state->user, &folded, &kept);
}

ntr_status ntr_debug_info_folded(ntr_debug_info *debug, size_t index,
                                 ntr_status (*visit)(void *user, const ntr_frame *folded, const ntr_frame *kept),
                                 void *user) {
    ntr_image_info info;
    if (ntr_program_image(debug->program, index, &info) != NTR_OK) return NTR_END;
    debug_image *image = image_at(debug, index);
    if (!image) return NTR_E_MEMORY;
    folded_state state = {debug, image, visit, user};
    return image->dwarf ? ntr_dwarf_folded(image->dwarf, visit_folded, &state) : NTR_OK;
}

/* ---- units ------------------------------------------------------------------------------------- */

typedef struct unit_visit {
    const ntr_allocator *allocator;
    uint64_t bias;
    ntr_status (*visit)(void *user, const ntr_debug_unit *unit);
    void *user;
} unit_visit;

/* Adds the load bias to the ranges of a unit. */
static ntr_status visit_unit(void *user, const ntr_debug_unit *given) {
    const unit_visit *v = user;
    ntr_debug_unit unit = *given;
    uint64_t(*ranges)[2] = ntr_alloc(v->allocator, unit.range_count + 1, sizeof *ranges);
    if (!ranges) return NTR_E_MEMORY;
    for (size_t i = 0; i < unit.range_count; i++)
        for (unsigned k = 0; k < 2; k++) ranges[i][k] = given->ranges[i][k] + v->bias;
    unit.ranges = (const uint64_t(*)[2])ranges;
    unit.bias = v->bias;
    ntr_status status = v->visit(v->user, &unit);
    ntr_dealloc(v->allocator, ranges);
    return status;
}

ntr_status ntr_debug_info_units(ntr_debug_info *debug, size_t index,
                                ntr_status (*visit)(void *user, const ntr_debug_unit *unit), void *user) {
    ntr_image_info info;
    if (ntr_program_image(debug->program, index, &info) != NTR_OK) return NTR_END;
    debug_image *image = image_at(debug, index);
    if (!image) return NTR_E_MEMORY;
    const unit_visit v = {debug->allocator, image->info.bias, visit, user};
    return image->dwarf ? ntr_dwarf_units(image->dwarf, visit_unit, (void *)&v) : NTR_OK;
}
