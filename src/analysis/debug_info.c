#include <ntrace/debug_info.h>

#include "analysis/dwarf.h"
#include "analysis/names.h"
#include "base/allocator.h"

#include <string.h>

/* What is known of one image of the program; opened when first asked for. */
typedef struct source_image {
    bool opened;
    ntr_image_info info;
    ntr_dwarf *dwarf;   /* NULL: symbol table only */
    ntr_line_row *rows; /* the file's rows with the bias added */
    size_t row_count;
    bool rows_made;
} source_image;

struct ntr_debug_info {
    const ntr_program *program;
    const ntr_allocator *allocator;
    const char *debug_path;
    ntr_names names;
    source_image *images;
    size_t image_count, image_capacity;
};

ntr_debug_info *ntr_debug_info_new(const ntr_program *program, const ntr_allocator *allocator) {
    ntr_debug_info *source = ntr_alloc(allocator, 1, sizeof *source);
    if (!source) return NULL;
    source->program = program;
    source->allocator = allocator;
    source->names.allocator = allocator;
    return source;
}

void ntr_debug_info_free(ntr_debug_info *source) {
    if (!source) return;
    for (size_t i = 0; i < source->image_count; i++) {
        ntr_dwarf_close(source->images[i].dwarf);
        ntr_dealloc(source->allocator, source->images[i].rows);
    }
    ntr_dealloc(source->allocator, source->images);
    ntr_names_release(&source->names);
    ntr_dealloc(source->allocator, source);
}

void ntr_debug_info_set_path(ntr_debug_info *source, const char *path) {
    source->debug_path = path;
}

static source_image *image_at(ntr_debug_info *source, size_t index) {
    if (index >= source->image_count) {
        if (ntr_reserve(source->allocator, (void **)&source->images, &source->image_capacity, index + 1,
                        sizeof *source->images))
            return NULL;
        memset(source->images + source->image_count, 0, (index + 1 - source->image_count) * sizeof *source->images);
        source->image_count = index + 1;
    }
    source_image *image = &source->images[index];
    if (!image->opened) {
        if (ntr_program_image(source->program, index, &image->info) != NTR_OK) return NULL;
        if (image->info.path)
            image->dwarf = ntr_dwarf_open(image->info.path, source->debug_path, source->allocator);
        image->opened = true;
    }
    return image;
}

static bool binds(const ntr_image_options *to, const ntr_context *context) {
    if (!context) return true;
    if (to->has_scontext && context->has_scontext && to->scontext != context->scontext) return false;
    if (to->has_hcontext && context->has_hcontext && to->hcontext != context->hcontext) return false;
    return !to->has_prv || context->prv == NTR_PRV_UNKNOWN || (to->prv == context->prv && to->v == context->v);
}

/* The image with the names of `address`: the newest ELF file there. Recorded code bytes are images without
 * a file and come second. */
static source_image *find(ntr_debug_info *source, const ntr_context *context, uint64_t address) {
    size_t best = 0;
    bool found = false, best_has_file = false;
    ntr_image_info info;
    for (size_t i = 0; ntr_program_image(source->program, i, &info) == NTR_OK; i++) {
        if (address < info.low || address >= info.high || !binds(&info.options, context)) continue;
        if (found && best_has_file && !info.path) continue;
        best = i;
        best_has_file = info.path != NULL;
        found = true;
    }
    return found ? image_at(source, best) : NULL;
}

static ntr_frame symbol_frame(ntr_debug_info *source, const ntr_context *context, const source_image *image,
                              uint64_t address) {
    ntr_symbol symbol;
    ntr_frame frame = {.image = image->info.name};
    if (ntr_program_symbol(source->program, context, address, &symbol) != NTR_OK) return frame;
    /* Code behind the end of a function is not that function: a stripped library exports only some. */
    if (symbol.size && address - symbol.address >= symbol.size) return frame;
    frame.linkage = symbol.name;
    frame.function = ntr_names_get(&source->names, symbol.name);
    frame.image = symbol.image;
    frame.entry = symbol.address;
    frame.size = symbol.size;
    return frame;
}

/* What DWARF says of a frame, for the place the image was loaded at and for people. */
static void finish_frame(ntr_debug_info *source, const source_image *image, ntr_frame *frame) {
    frame->image = image->info.name;
    if (frame->size) frame->entry += image->info.bias;
    /* An inlined C++ function has no linkage name of its own in some compilers' output. */
    const char *text = ntr_names_get(&source->names, frame->linkage);
    if (text != frame->linkage || !frame->function) frame->function = text;
}

static size_t dwarf_frames(ntr_debug_info *source, const source_image *image, uint64_t address, ntr_frame *frames,
                           size_t capacity) {
    if (!image->dwarf) return 0;
    size_t count = ntr_dwarf_frames(image->dwarf, address - image->info.bias, frames, capacity);
    for (size_t i = 0; i < count; i++) finish_frame(source, image, &frames[i]);
    return count;
}

size_t ntr_debug_info_frames(ntr_debug_info *source, const ntr_context *context, uint64_t address, ntr_frame *frames,
                         size_t capacity) {
    source_image *image = find(source, context, address);
    if (!image || capacity == 0) return 0;
    size_t count = dwarf_frames(source, image, address, frames, capacity);
    if (count) return count;
    frames[0] = symbol_frame(source, context, image, address);
    return 1;
}

ntr_status ntr_debug_info_function(ntr_debug_info *source, const ntr_context *context, uint64_t address,
                               ntr_frame *function) {
    ntr_frame frames[NTR_FRAMES_MAX];
    size_t count = ntr_debug_info_frames(source, context, address, frames, NTR_FRAMES_MAX);
    if (count == 0 || !frames[count - 1].function) return NTR_END;
    *function = frames[count - 1];
    return NTR_OK;
}

static ntr_status make_rows(ntr_debug_info *source, source_image *image) {
    const ntr_line_row *rows;
    size_t count;
    ntr_status status = ntr_dwarf_lines(image->dwarf, &rows, &count);
    if (status) return status;
    image->rows = ntr_alloc(source->allocator, count, sizeof *image->rows);
    if (!image->rows) return NTR_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        image->rows[i] = rows[i];
        image->rows[i].address += image->info.bias;
    }
    image->row_count = count;
    image->rows_made = true;
    return NTR_OK;
}

ntr_status ntr_debug_info_lines(ntr_debug_info *source, size_t index, const ntr_line_row **rows, size_t *count) {
    *rows = NULL;
    *count = 0;
    ntr_image_info info;
    if (ntr_program_image(source->program, index, &info) != NTR_OK) return NTR_END;
    source_image *image = image_at(source, index);
    if (!image) return NTR_E_MEMORY;
    if (!image->dwarf) return NTR_OK;
    ntr_status status = image->rows_made ? NTR_OK : make_rows(source, image);
    *rows = image->rows;
    *count = image->row_count;
    return status;
}

typedef struct visit_state {
    ntr_debug_info *source;
    const source_image *image;
    ntr_status (*visit)(void *user, const ntr_frame *function);
    void *user;
} visit_state;

static ntr_status visit_function(void *user, const ntr_frame *function) {
    const visit_state *state = user;
    ntr_frame frame = *function;
    finish_frame(state->source, state->image, &frame);
    return state->visit(state->user, &frame);
}

ntr_status ntr_debug_info_functions(ntr_debug_info *source, size_t index,
                                ntr_status (*visit)(void *user, const ntr_frame *function), void *user) {
    ntr_image_info info;
    if (ntr_program_image(source->program, index, &info) != NTR_OK) return NTR_END;
    source_image *image = image_at(source, index);
    if (!image) return NTR_E_MEMORY;
    visit_state state = {source, image, visit, user};
    return image->dwarf ? ntr_dwarf_functions(image->dwarf, visit_function, &state) : NTR_OK;
}
