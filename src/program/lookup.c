/* Read access to a program: visible code and symbols. Does not change the program, so any number of threads may use
 * it. */
#include "program/program.h"

#include <string.h>

static bool known_and_other(bool bound, bool known, uint64_t want, uint64_t have) {
    return bound && known && want != have;
}

bool ntr_image_matches(const ntr_image *image, const ntr_context *context) {
    const ntr_image_options *bound = &image->options;
    if (!context) return true;
    if (known_and_other(bound->has_scontext, context->has_scontext, bound->scontext, context->scontext)) return false;
    if (known_and_other(bound->has_hcontext, context->has_hcontext, bound->hcontext, context->hcontext)) return false;
    return !bound->has_prv || context->prv == NTR_PRV_UNKNOWN || (bound->prv == context->prv && bound->v == context->v);
}

static bool holds_at(const ntr_segment *segment, uint64_t position) {
    if (position == NTR_POSITION_ANY) return true;
    return position >= segment->from && (segment->until == 0 || position < segment->until);
}

static const ntr_segment *visible(const ntr_program *program, const ntr_context *context, uint64_t position,
                                  uint32_t layer) {
    while (layer != NTR_SPANS_NONE) {
        const ntr_layer *top = &program->layers[layer];
        if (position < top->earliest) {
            layer = top->jump;
            continue;
        }
        const ntr_segment *segment = &program->segments[top->segment];
        if (holds_at(segment, position) && ntr_image_matches(&program->images[segment->image], context)) return segment;
        layer = top->below;
    }
    return NULL;
}

bool ntr_program_window(const ntr_program *program, const ntr_context *context, uint64_t position, uint64_t address,
                        ntr_code_window *window) {
    const ntr_span *span = ntr_spans_find(&program->map, ntr_program_cut(program, address));
    const ntr_segment *segment = span ? visible(program, context, position, span->value) : NULL;
    if (!segment) return false;
    *window = (ntr_code_window){
        .first = span->first,
        .bytes = segment->bytes + (span->first - segment->first),
        .size = span->last - span->first + 1,
        .image = segment->image,
    };
    return true;
}

unsigned ntr_image_isa(const ntr_program *program, const ntr_image *image) {
    if (image && image->has_isa) return image->isa;
    if (program->has_isa) return program->isa;
    return program->xlen == 32 ? NTR_ISA_RV32 : 0;
}

unsigned ntr_program_isa(const ntr_program *program, const ntr_context *context, uint64_t address) {
    ntr_code_window window;
    bool found = ntr_program_window(program, context, NTR_POSITION_ANY, address, &window);
    return ntr_image_isa(program, found ? &program->images[window.image] : NULL);
}

/* Reads memory that no image has with the reader function, at most up to the next span of the map. */
static size_t read_gap(const ntr_program *program, const ntr_context *context, uint64_t position, uint64_t address,
                       uint8_t *out, size_t size) {
    if (!program->read) return 0;
    const ntr_spans *map = &program->map;
    size_t next = ntr_spans_seek(map, address);
    if (next < map->count && map->items[next].first <= address) {
        uint64_t rest = map->items[next].last - address; /* covered by an image that is not visible here */
        if (rest < size) size = (size_t)rest + 1;
    } else if (next < map->count && map->items[next].first - address < size) {
        size = (size_t)(map->items[next].first - address);
    }
    if (program->xlen == 32 && UINT32_MAX - address < size) size = (size_t)(UINT32_MAX - address) + 1;
    size_t got = program->read(program->read_user, context, position, address, out, size);
    return got < size ? got : size;
}

size_t ntr_program_read(const ntr_program *program, const ntr_context *context, uint64_t position, uint64_t address,
                        uint8_t *out, size_t size) {
    size_t done = 0;
    while (done < size) {
        uint64_t at = ntr_program_cut(program, address + done);
        ntr_code_window window;
        size_t part;
        if (ntr_program_window(program, context, position, at, &window)) {
            uint64_t left = window.size - (at - window.first);
            part = left < size - done ? (size_t)left : size - done;
            memcpy(out + done, window.bytes + (at - window.first), part);
        } else {
            part = read_gap(program, context, position, at, out + done, size - done);
            if (part == 0) break;
        }
        done += part;
    }
    return done;
}

/* Returns the image with the jump table for code of `image`: the image itself, otherwise the one added last that has
 * a jump table. */
static const ntr_image *table_of(const ntr_program *program, const ntr_context *context, const ntr_image *image) {
    if (image && image->has_jvt) return image;
    for (size_t i = program->image_count; i-- > 0;)
        if (program->images[i].has_jvt && ntr_image_matches(&program->images[i], context)) return &program->images[i];
    return NULL;
}

/* Zcmt: the entries of the table are XLEN-bit addresses. */
static ntr_status resolve_table_jump(const ntr_program *program, const ntr_context *context, uint64_t position,
                                     const ntr_image *image, ntr_insn *insn) {
    const ntr_image *owner = table_of(program, context, image);
    unsigned size = ntr_image_isa(program, image) & NTR_ISA_RV32 ? 4 : 8;
    uint8_t entry[8];
    if (!owner) return NTR_E_NO_IMAGE;
    uint64_t address = owner->jvt + (uint64_t)insn->immediate * size;
    if (ntr_program_read(program, context, position, address, entry, size) != size) return NTR_E_NO_IMAGE;
    for (unsigned i = 0; i < size; i++) insn->target |= (uint64_t)entry[i] << (8 * i);
    insn->target &= ~UINT64_C(1);
    return NTR_OK;
}

ntr_status ntr_program_decode(const ntr_program *program, const ntr_context *context, uint64_t position,
                              const ntr_code_window *window, uint64_t address, ntr_insn *insn) {
    const ntr_image *image = window ? &program->images[window->image] : NULL;
    unsigned isa = ntr_image_isa(program, image);
    ntr_status status = NTR_E_SPACE;
    if (window) {
        uint64_t offset = address - window->first, left = window->size - offset;
        size_t size = left < NTR_INSN_BYTES_MAX ? (size_t)left : NTR_INSN_BYTES_MAX;
        status = ntr_insn_decode(window->bytes + offset, size, address, isa, insn);
    }
    if (status == NTR_E_SPACE) { /* the instruction continues in another image, or is read by the reader */
        uint8_t bytes[NTR_INSN_BYTES_MAX];
        size_t size = ntr_program_read(program, context, position, address, bytes, 2);
        if (size == 2) {
            size_t want = ntr_insn_length((uint16_t)(bytes[0] | bytes[1] << 8));
            size += ntr_program_read(program, context, position, address + 2, bytes + 2, want - 2);
        }
        status = ntr_insn_decode(bytes, size, address, isa, insn);
    }
    if (status != NTR_OK) return NTR_E_NO_IMAGE;
    return insn->table_jump ? resolve_table_jump(program, context, position, image, insn) : NTR_OK;
}

ntr_status ntr_program_insn(const ntr_program *program, const ntr_context *context, uint64_t position, uint64_t address,
                            ntr_insn *insn) {
    ntr_code_window window;
    address = ntr_program_cut(program, address);
    bool found = ntr_program_window(program, context, position, address, &window);
    return ntr_program_decode(program, context, position, found ? &window : NULL, address, insn);
}

/* Returns the newest file that contains the address in this context; NULL when there is none. */
static const ntr_image_layer *file_at(const ntr_program *program, const ntr_context *context, uint64_t address) {
    const ntr_image_map *map = &program->image_map;
    const ntr_span *span = ntr_spans_find(&map->files, address);
    uint32_t at = span ? span->value : NTR_SPANS_NONE;
    while (at != NTR_SPANS_NONE && !ntr_image_matches(&program->images[map->layers[at].image], context))
        at = map->layers[at].below;
    return at == NTR_SPANS_NONE ? NULL : &map->layers[at];
}

ntr_status ntr_program_image_at(const ntr_program *program, const ntr_context *context, uint64_t address,
                                size_t *index) {
    ntr_code_window window;
    address = ntr_program_cut(program, address);
    const ntr_image_layer *file = file_at(program, context, address);
    if (file)
        *index = file->image;
    else if (ntr_program_window(program, context, NTR_POSITION_ANY, address, &window))
        *index = window.image;
    else
        return NTR_END;
    return NTR_OK;
}

static ntr_status store_symbol(const ntr_image *image, const ntr_name *name, ntr_symbol *symbol) {
    *symbol = (ntr_symbol){
        .name = name->name,
        .image = image->name,
        .address = name->address,
        .size = name->size,
        .function = name->function,
    };
    return NTR_OK;
}

/* Returns the image that names the code at `address`, or NULL. Code without a name lies over what a file has there:
 * bytes that were executed, perhaps changed; the names stay. */
static const ntr_image *naming_image(const ntr_program *program, const ntr_context *context, uint64_t address,
                                     ntr_code_window *window) {
    if (!ntr_program_window(program, context, NTR_POSITION_ANY, address, window)) return NULL;
    const ntr_image *image = &program->images[window->image];
    if (image->path) return image;
    const ntr_image_layer *layer = file_at(program, context, address);
    if (!layer) return image;
    const ntr_image *file = &program->images[layer->image];
    window->first = file->low;
    window->size = file->last - file->low + 1;
    return file;
}

static bool is_bss(const ntr_image *image, uint64_t address) {
    return image->bss_first <= address && address <= image->bss_last && image->bss_last;
}

/* Returns the newest file with memory at `address` that has no bytes in the file, or NULL. */
static const ntr_image *bss_at(const ntr_program *program, const ntr_context *context, uint64_t address) {
    for (size_t i = program->image_count; i-- > 0;) {
        const ntr_image *image = &program->images[i];
        if (is_bss(image, address) && ntr_image_matches(image, context)) return image;
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

ntr_status ntr_program_symbol(const ntr_program *program, const ntr_context *context, uint64_t address,
                              ntr_symbol *symbol) {
    ntr_code_window window;
    address = ntr_program_cut(program, address);
    const ntr_image *image = naming_image(program, context, address, &window);
    if (!image) image = bss_at(program, context, address);
    const ntr_name *named = image ? ntr_symbols_at(&image->symbols, address) : NULL;
    if (named) return store_symbol(image, named, symbol);
    const ntr_image_map *map = &program->image_map;
    for (size_t i = map->name_count; i-- > 0;) {
        image = &program->images[map->names[i]];
        if (!ntr_image_matches(image, context)) continue;
        const ntr_name *name = ntr_symbols_at(&image->symbols, address);
        if (name) return store_symbol(image, name, symbol);
    }
    return NTR_END;
}

void ntr_program_limit_names(const ntr_program *program, const ntr_context *context, uint64_t address, uint64_t *first,
                             uint64_t *last) {
    const ntr_image_map *map = &program->image_map;
    ntr_code_window window;
    address = ntr_program_cut(program, address);
    (void)ntr_spans_limit(&map->files, address, first, last);
    (void)ntr_spans_limit(&program->map, address, first, last); /* code without bytes has no name, also inside a file */
    const ntr_image *image = naming_image(program, context, address, &window);
    limit_bss(program, address, first, last);
    if (!image) image = bss_at(program, context, address);
    if (image) ntr_symbols_limit(&image->symbols, address, first, last);
    if (image && ntr_symbols_at(&image->symbols, address)) return;
    for (size_t i = map->name_count; i-- > 0;) {
        image = &program->images[map->names[i]];
        if (!ntr_image_matches(image, context)) continue;
        ntr_symbols_limit(&image->symbols, address, first, last);
        if (ntr_symbols_at(&image->symbols, address)) return;
    }
}

ntr_status ntr_program_code_range(const ntr_program *program, const ntr_context *context, uint64_t address,
                                  ntr_code_range *range) {
    ntr_code_window window;
    address = ntr_program_cut(program, address);
    const ntr_image *image = naming_image(program, context, address, &window);
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
        if (found) return store_symbol(image, found, symbol);
    }
    return NTR_END;
}

ntr_status ntr_program_find(const ntr_program *program, const char *name, ntr_symbol *symbol) {
    for (size_t i = program->image_count; i-- > 0;) {
        const ntr_name *found = ntr_symbols_named(&program->images[i].symbols, name);
        if (found) return store_symbol(&program->images[i], found, symbol);
    }
    return NTR_END;
}
