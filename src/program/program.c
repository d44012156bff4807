#include "program/program.h"
#include "base/text.h"
#include "base/allocator.h"
#include "base/config.h"
#include "program/file.h"

#include <ntrace/program_files.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

ntr_status ntr_program_new(const ntr_allocator *allocator, ntr_program **out) {
    *out = NULL;
    ntr_program *program = ntr_alloc(allocator, 1, sizeof *program);
    if (!program) return NTR_E_MEMORY;
    if (allocator) {
        program->allocator_copy = *allocator;
        program->allocator = &program->allocator_copy;
    }
    program->unknown = ntr_unknown_new(allocator);
    if (program->unknown) {
        *out = program;
        return NTR_OK;
    }
    ntr_dealloc(allocator, program);
    return NTR_E_MEMORY;
}

void ntr_program_free(ntr_program *program) {
    if (!program) return;
    while (program->image_count) ntr_program_drop_image(program);
    ntr_spans_release(&program->map, program->allocator);
    ntr_image_map_release(&program->image_map, program->allocator);
    ntr_dealloc(program->allocator, program->images);
    ntr_dealloc(program->allocator, program->segments);
    ntr_dealloc(program->allocator, program->layers);
    ntr_dealloc(program->allocator, program->rules);
    ntr_dealloc(program->allocator, program->unknown);
    ntr_allocator copy = program->allocator_copy; /* the allocator is used to free the struct that contains it */
    ntr_dealloc(program->allocator ? &copy : NULL, program);
}

const char *ntr_program_damage(const ntr_program *program, size_t index) {
    return ntr_damage_line(&program->damage, index);
}

static bool same_mark(const ntr_file_mark *a, const ntr_file_mark *b) {
    return a->device == b->device && a->file == b->file && a->size == b->size && a->seconds == b->seconds &&
           a->nanoseconds == b->nanoseconds;
}

void ntr_program_check_files(ntr_program *program) {
    for (size_t i = 0; i < program->image_count; i++) {
        const ntr_image *image = &program->images[i];
        ntr_file_mark now;
        /* another file of that name does not matter: the mapped one is still there */
        if (!image->mapping || !ntr_file_mark_get(image->path, &now) || now.device != image->mark.device ||
            now.file != image->mark.file)
            continue;
        if (!same_mark(&now, &image->mark))
            ntr_damage_add(&program->damage, "%s: was changed while it was read; decode again", image->path);
    }
}

ntr_status ntr_program_fail(ntr_program *program, ntr_status status, const char *path, const char *format, ...) {
    char reason[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    snprintf(program->error, sizeof program->error, "%.340s: %s", path, reason);
    for (char *c = program->error; *c; c++)
        if ((unsigned char)*c < ' ') *c = '?'; /* control characters of the path */
    return status;
}

const char *ntr_program_error(const ntr_program *program) {
    return program->error;
}

void ntr_program_set_limits(ntr_program *program, const ntr_limits *limits) {
    program->limits = *limits;
}

void ntr_program_omit_names(ntr_program *program) {
    program->no_names = true;
}

static void changed_anywhere(ntr_program *program) {
    program->revision++;
    program->code_revision++;
}

void ntr_program_set_table(ntr_program *program, uint64_t jvt) {
    ntr_image *image = &program->images[program->image_count - 1];
    program->tables += !image->has_jvt;
    image->has_jvt = true;
    image->jvt = ntr_program_cut(program, jvt);
    changed_anywhere(program);
}

void ntr_program_set_exec_table(ntr_program *program, uint64_t address) {
    ntr_program_set_table(program, address);
    program->images[program->image_count - 1].isa |= NTR_ISA_XANDESCODENSE;
}

void ntr_program_set_xlen(ntr_program *program, unsigned xlen) {
    if (program->xlen != xlen) changed_anywhere(program);
    program->xlen = xlen;
}

static bool is_bound(const ntr_image *image) {
    return image->options.has_scontext || image->options.has_hcontext || image->options.has_prv;
}

/* Code of both widths is in one program when one of them runs in contexts or modes of its own: programs for RV32 under
 * a kernel for RV64. Addresses then have 64 bits. */
static bool may_mix(const ntr_program *program, unsigned xlen) {
    if (is_bound(&program->images[program->image_count - 1])) return true;
    for (size_t i = 0; i + 1 < program->image_count; i++) {
        const ntr_image *image = &program->images[i];
        const bool differs = image->has_isa && (image->isa & NTR_ISA_RV32 ? 32u : 64u) != xlen;
        if (differs && !is_bound(image)) return false;
    }
    return true;
}

/* Returns an address of code or of a name that a program of RV32 does not have, 0: there is none. The width became
 * known after they were placed. */
static uint64_t beyond_32_bits(const ntr_program *program) {
    for (size_t i = 0; i < program->segment_count; i++)
        if (program->segments[i].last > UINT32_MAX) return program->segments[i].first;
    for (size_t i = 0; i < program->image_count; i++)
        for (size_t k = 0; k < program->images[i].symbols.count; k++)
            if (program->images[i].symbols.names[k].address > UINT32_MAX)
                return program->images[i].symbols.names[k].address;
    return 0;
}

/* The width of the program is known, and the code of the image is not placed yet. */
static ntr_status check_place(ntr_program *program, const ntr_image *image) {
    uint64_t address = image->options.bias;
    if (ntr_fit_address(program->xlen, &address)) return NTR_OK;
    return ntr_program_fail(program, NTR_E_RANGE, image->name, "expected a load address of 32 bits, found 0x%llx",
                            (unsigned long long)image->options.bias);
}

ntr_status ntr_program_take_xlen(ntr_program *program, ntr_status reason) {
    const ntr_image *image = &program->images[program->image_count - 1];
    const unsigned xlen = image->isa & NTR_ISA_RV32 ? 32 : 64;
    if (!image->has_isa) return check_place(program, image);
    if (xlen == 32 && !program->xlen && beyond_32_bits(program))
        return ntr_program_fail(
            program, NTR_E_RANGE, image->name,
            "RV32 code after code or names at 0x%llx, which has more bits: give it first, or raw images :isa=rv32...",
            (unsigned long long)beyond_32_bits(program));
    if (program->xlen && program->xlen != xlen && !may_mix(program, xlen))
        return ntr_program_fail(
            program, reason, image->path ? image->path : image->name,
            "RV%u code in an RV%u program; bind one of them to its context or mode (:ctx=N, :prv=U)", xlen,
            program->xlen);
    if (program->xlen != 64) ntr_program_set_xlen(program, xlen);
    return check_place(program, image);
}

static char *duplicate(const ntr_allocator *allocator, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = ntr_alloc(allocator, size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

/* Callers compiled with an older header pass a shorter struct. */
static bool take_options(const ntr_image_options *from, ntr_image_options *to) {
    *to = (ntr_image_options){.size = sizeof *to};
    if (from && ntr_config_load(to, sizeof *to, from) != NTR_OK) return false;
    return to->until == 0 || to->from < to->until;
}

ntr_status ntr_program_add_image(ntr_program *program, const char *path, const ntr_image_options *options) {
    ntr_image image = {0};
    const char *shown = path ? path : "raw image";
    if (!take_options(options, &image.options))
        return ntr_program_fail(program, NTR_E_INVALID, shown, "invalid image options");
    if (image.options.name) shown = image.options.name;
    image.has_isa = image.options.has_isa;
    image.isa = image.options.isa;
    image.name = duplicate(program->allocator, shown);
    image.path = path ? duplicate(program->allocator, path) : NULL;
    if (!image.name || (path && !image.path) || program->image_count >= UINT32_MAX ||
        ntr_reserve(program->allocator, (void **)&program->images, &program->image_capacity, program->image_count + 1,
                    sizeof image)) {
        ntr_dealloc(program->allocator, image.name);
        ntr_dealloc(program->allocator, image.path);
        return ntr_program_fail(program, NTR_E_MEMORY, shown, "out of memory");
    }
    ntr_text_disarm(image.name); /* it is shown, and nothing else */
    image.options.name = image.name;
    image.context = (ntr_context){
        .scontext = image.options.scontext,
        .hcontext = image.options.hcontext,
        .prv = image.options.has_prv ? image.options.prv : NTR_PRV_UNKNOWN,
        .v = image.options.v,
        .has_scontext = image.options.has_scontext,
        .has_hcontext = image.options.has_hcontext,
    };
    program->timed |= image.options.from || image.options.until;
    program->recorded |= !path;
    program->images[program->image_count++] = image;
    program->revision++;
    if (image.options.has_jvt) ntr_program_set_table(program, image.options.jvt);
    return NTR_OK;
}

ntr_status ntr_program_map_file(ntr_program *program, const char *path, void **mapping, size_t *size) {
    const char *reason = "";
    ntr_status status = ntr_file_map(path, mapping, size, &reason);
    return status == NTR_OK ? NTR_OK : ntr_program_fail(program, status, path, "%s", reason);
}

/* Returns the image, one of the latest, that has the same file in memory, or NULL. A program that many processes
 * execute is an image for each. */
static const ntr_image *find_mapped(const ntr_program *program, const char *path) {
    enum { TRIED = 1024 };
    ntr_file_mark mark;
    if (!program->image_count || !ntr_file_mark_get(path, &mark)) return NULL;
    for (size_t i = program->image_count, tried = 0; i-- > 0 && tried < TRIED; tried++)
        if (program->images[i].mapping && same_mark(&program->images[i].mark, &mark)) return &program->images[i];
    return NULL;
}

static ntr_status map_once(ntr_program *program, const char *path, void **mapping, size_t *size, bool *shared) {
    const ntr_image *same = find_mapped(program, path);
    *shared = same;
    if (!same) return ntr_program_map_file(program, path, mapping, size);
    *mapping = same->mapping;
    *size = same->mapping_size;
    return NTR_OK;
}

ntr_status ntr_program_add_mapped(ntr_program *program, const char *path, const ntr_image_options *options,
                                  ntr_image **image) {
    void *mapping;
    size_t size;
    bool shared;
    ntr_status status = map_once(program, path, &mapping, &size, &shared);
    if (status != NTR_OK) return status;
    status = ntr_program_add_image(program, path, options);
    if (status != NTR_OK) {
        if (!shared) ntr_file_unmap(mapping, size);
        return status;
    }
    *image = &program->images[program->image_count - 1];
    (*image)->mapping = mapping;
    (*image)->mapping_size = size;
    (*image)->shared = shared;
    if (!ntr_file_mark_get(path, &(*image)->mark)) (*image)->mark = (ntr_file_mark){0};
    return NTR_OK;
}

ntr_status ntr_program_complete_image(ntr_program *program) {
    const ntr_image *image = &program->images[program->image_count - 1];
    const ntr_image_options *options = &image->options;
    bool everywhere =
        !options->has_scontext && !options->has_hcontext && !options->has_prv && !options->from && !options->until;
    uint32_t index = (uint32_t)program->image_count - 1;
    int failed = 0;
    if (image->has_segments)
        failed =
            ntr_image_map_add_file(&program->image_map, program->allocator, image->low, image->last, everywhere, index);
    else if (image->symbols.count)
        failed = ntr_image_map_add_names(&program->image_map, program->allocator, index);
    if (failed) return ntr_program_fail(program, NTR_E_MEMORY, image->name, "out of memory");
    return NTR_OK;
}

void ntr_program_drop_image(ntr_program *program) {
    ntr_image *image = &program->images[--program->image_count];
    program->tables -= image->has_jvt;
    ntr_symbols_release(&image->symbols, program->allocator);
    if (!image->shared) ntr_file_unmap(image->mapping, image->mapping_size);
    ntr_dealloc(program->allocator, image->copy);
    ntr_dealloc(program->allocator, image->name);
    ntr_dealloc(program->allocator, image->path);
}

/* State of laying a segment over a span. See lay_segment. */
typedef struct overlay {
    ntr_program *program;
    uint32_t segment;
    uint32_t below, layer; /* the layer created for the previous span; equal layers are shared */
    bool any;
} overlay;

/* Returns whether the segment is visible everywhere and always. Layers below it are then never used. */
static bool hides_all(const ntr_program *program, const ntr_segment *segment) {
    const ntr_image_options *options = &program->images[segment->image].options;
    return !options->has_scontext && !options->has_hcontext && !options->has_prv && segment->from == 0 &&
           segment->until == 0;
}

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static ntr_layer make_layer(const ntr_program *program, uint32_t segment, uint32_t below) {
    ntr_layer made = {segment, below, below, 1, program->segments[segment].from};
    if (below == NTR_SPANS_NONE) return made;
    const ntr_layer *under = &program->layers[below];
    made.depth = under->depth + 1;
    if (under->jump == NTR_SPANS_NONE) return made;
    const ntr_layer *far = &program->layers[under->jump];
    uint32_t rest = far->jump == NTR_SPANS_NONE ? 0 : program->layers[far->jump].depth;
    if (under->depth - far->depth == far->depth - rest) { /* two jumps of equal length are combined */
        made.jump = far->jump;
        made.earliest = earlier(made.earliest, earlier(under->earliest, far->earliest));
    }
    return made;
}

static uint32_t lay_segment(void *user, uint32_t below) {
    overlay *state = user;
    ntr_program *program = state->program;
    const ntr_segment *segment = &program->segments[state->segment];

    if (hides_all(program, segment)) below = NTR_SPANS_NONE;
    if (state->any && state->below == below) return state->layer;

    if (program->layer_count >= NTR_SPANS_NONE ||
        ntr_reserve(program->allocator, (void **)&program->layers, &program->layer_capacity, program->layer_count + 1,
                    sizeof *program->layers))
        return NTR_SPANS_NONE;
    program->layers[program->layer_count] = make_layer(program, state->segment, below);
    state->any = true;
    state->below = below;
    state->layer = (uint32_t)program->layer_count;
    return (uint32_t)program->layer_count++;
}

static ntr_status lay(ntr_program *program, ntr_segment segment) {
    ntr_image *image = &program->images[segment.image];
    if (program->segment_count >= NTR_SPANS_NONE ||
        ntr_reserve(program->allocator, (void **)&program->segments, &program->segment_capacity,
                    program->segment_count + 1, sizeof segment))
        return ntr_program_fail(program, NTR_E_MEMORY, image->name, "out of memory");
    program->segments[program->segment_count] = segment;
    overlay state = {.program = program, .segment = (uint32_t)program->segment_count};
    size_t layers = program->layer_count;
    if (ntr_spans_overlay(&program->map, program->allocator, segment.first, segment.last, lay_segment, &state)) {
        program->layer_count = layers; /* the map is unchanged and does not refer to the new layers */
        return ntr_program_fail(program, NTR_E_MEMORY, image->name, "out of memory");
    }
    program->segment_count++;
    program->revision++;
    program->timed |= segment.from || segment.until;
    if (!image->has_segments || segment.first < image->low) image->low = segment.first;
    if (!image->has_segments || segment.last > image->last) image->last = segment.last;
    image->has_segments = true;
    return NTR_OK;
}

ntr_status ntr_program_add_segment(ntr_program *program, uint64_t address, const uint8_t *bytes, uint64_t size,
                                   uint64_t from, uint64_t until) {
    uint64_t end = program->xlen == 32 ? UINT32_MAX : UINT64_MAX;
    ntr_segment segment = {.bytes = bytes, .from = from, .until = until, .image = (uint32_t)program->image_count - 1};
    if (size == 0) return NTR_OK;

    segment.first = ntr_program_cut(program, address);
    uint64_t room = end - segment.first; /* number of bytes after the first one */
    if (size - 1 <= room) {
        segment.last = segment.first + size - 1;
        return lay(program, segment);
    }
    segment.last = end;
    ntr_status status = lay(program, segment);
    if (status != NTR_OK) return status;
    return ntr_program_add_segment(program, 0, bytes + room + 1, size - room - 1, from, until);
}

/* Copies the bytes into the last image. */
static ntr_status take_bytes(ntr_program *program, ntr_image *image, ntr_bytes bytes) {
    unsigned xlen = !image->has_isa ? program->xlen : image->isa & NTR_ISA_RV32 ? 32 : 64;
    if (bytes.size == 0) return ntr_program_fail(program, NTR_E_INVALID, image->name, "image without bytes");
    ntr_status status = ntr_program_take_xlen(program, NTR_E_INVALID);
    if (status != NTR_OK) return status;
    if (xlen == 32 && bytes.size > UINT64_C(1) << 32)
        return ntr_program_fail(program, NTR_E_RANGE, image->name, "larger than the address space");
    image->copy = ntr_realloc(program->allocator, NULL, bytes.size, 1);
    if (!image->copy) return ntr_program_fail(program, NTR_E_MEMORY, image->name, "out of memory");
    memcpy(image->copy, bytes.data, bytes.size);
    return NTR_OK;
}

ntr_status ntr_program_add_raw(ntr_program *program, ntr_bytes bytes, const ntr_image_options *options) {
    ntr_status status = ntr_program_add_image(program, NULL, options);
    if (status != NTR_OK) return status;
    ntr_image *image = &program->images[program->image_count - 1];
    status = take_bytes(program, image, bytes);
    if (status == NTR_OK)
        return ntr_program_add_segment(program, image->options.bias, image->copy, bytes.size, image->options.from,
                                       image->options.until);
    ntr_program_drop_image(program);
    return status;
}

void ntr_program_patches(ntr_program *program) {
    program->images[program->image_count - 1].is_patch = true;
}

ntr_status ntr_program_name_image(ntr_program *program, const char *name, uint64_t address, uint64_t size) {
    ntr_image *image = &program->images[program->image_count - 1];
    const ntr_name named = {.name = name,
                            .address = ntr_program_cut(program, address),
                            .size = size,
                            .limit = ntr_program_cut(program, address + size - 1),
                            .function = true,
                            .code = true};
    if (ntr_symbols_add_copy(&image->symbols, program->allocator, &named, "") ||
        ntr_symbols_sort(&image->symbols, program->allocator))
        return ntr_program_fail(program, NTR_E_MEMORY, image->name, "out of memory");
    return NTR_OK;
}

const char *ntr_program_name_of(const ntr_program *program, size_t index, size_t number) {
    const ntr_symbols *symbols = &program->images[index].symbols;
    return number < symbols->count ? symbols->names[number].name : NULL;
}

ntr_status ntr_program_set_reader(ntr_program *program, ntr_read_memory read, void *user) {
    program->read = read;
    program->read_user = user;
    changed_anywhere(program);
    return NTR_OK;
}

ntr_status ntr_program_set_isa(ntr_program *program, unsigned isa) {
    unsigned xlen = isa & NTR_ISA_RV32 ? 32 : 64;
    if (program->xlen && program->xlen != xlen) return NTR_E_INVALID;
    if (xlen == 32 && !program->xlen && beyond_32_bits(program)) return NTR_E_RANGE;
    ntr_program_set_xlen(program, xlen);
    program->isa = isa;
    program->has_isa = true;
    changed_anywhere(program);
    return NTR_OK;
}

static bool is_same_file(const ntr_image *a, const ntr_image *b) {
    return a->options.bias == b->options.bias && strcmp(a->path, b->path) == 0 && strcmp(a->name, b->name) == 0;
}

uint32_t *ntr_program_first_images(const ntr_program *program, const ntr_allocator *allocator) {
    size_t count = 0; /* files are few; the other images are code bytes without a file */
    uint32_t *files = ntr_alloc(allocator, program->image_count + 1, sizeof *files);
    uint32_t *first = files ? ntr_alloc(allocator, program->image_count + 1, sizeof *first) : NULL;
    for (uint32_t i = 0; first && i < program->image_count; i++) {
        size_t k = 0;
        first[i] = i;
        if (!program->images[i].path) continue;
        while (k < count && !is_same_file(&program->images[files[k]], &program->images[i])) k++;
        first[i] = k < count ? files[k] : i;
        if (k == count) files[count++] = i;
    }
    ntr_dealloc(allocator, files);
    return first;
}

bool ntr_program_is_constant(const ntr_program *program) {
    return !program->timed;
}

unsigned ntr_program_xlen(const ntr_program *program) {
    return program->xlen;
}

ntr_status ntr_program_image(const ntr_program *program, size_t index, ntr_image_info *info) {
    if (index >= program->image_count) return NTR_END;
    const ntr_image *image = &program->images[index];
    *info = (ntr_image_info){
        .name = image->name,
        .path = image->path,
        .bias = image->options.bias,
        .low = image->low,
        .high = image->has_segments ? image->last + 1 : 0,
        .options = image->options,
    };
    return NTR_OK;
}
