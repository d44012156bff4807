/* Read access to a program: visible code and symbols. Does not change the program, so any number of threads may use
 * it. */
#include "program/program.h"
#include "base/bytes.h"

#include <ntrace/program_files.h>
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

/* Does something that is valid for from <= offset < until (until 0: no end) hold at the position? */
static bool holds_at(uint64_t from, uint64_t until, uint64_t position) {
    if (position == NTR_POSITION_ANY) return true;
    return position >= from && (until == 0 || position < until);
}

bool ntr_image_is_visible(const ntr_image *image, ntr_place place) {
    return holds_at(image->options.from, image->options.until, place.position) &&
           ntr_image_matches(image, place.context);
}

/* Returns whether the context says all that the image is bound to. */
static bool is_decided(const ntr_image *image, const ntr_context *context) {
    const ntr_image_options *bound = &image->options;
    return !context ||
           ((!bound->has_scontext || context->has_scontext) && (!bound->has_hcontext || context->has_hcontext) &&
            (!bound->has_prv || context->prv != NTR_PRV_UNKNOWN));
}

/* Returns whether no context can run both images. */
static bool exclude_each_other(const ntr_image *a, const ntr_image *b) {
    const ntr_image_options *x = &a->options, *y = &b->options;
    return (x->has_scontext && y->has_scontext && x->scontext != y->scontext) ||
           (x->has_hcontext && y->has_hcontext && x->hcontext != y->hcontext) ||
           (x->has_prv && y->has_prv && (x->prv != y->prv || x->v != y->v));
}

/* Returns the highest layer, from `*layer` on, that may hold at the place, and moves *layer below it; NULL: none. */
static const ntr_segment *next_visible(const ntr_program *program, ntr_place place, uint32_t *layer) {
    while (*layer != NTR_SPANS_NONE) {
        const ntr_layer *top = &program->layers[*layer];
        if (place.position < top->earliest) {
            *layer = top->jump;
            continue;
        }
        const ntr_segment *segment = &program->segments[top->segment];
        *layer = top->below;
        if (holds_at(segment->from, segment->until, place.position) &&
            ntr_image_matches(&program->images[segment->image], place.context))
            return segment;
    }
    return NULL;
}

/* If the context does not say which of two images runs, and they have different bytes, none is visible. */
static const ntr_segment *visible(const ntr_program *program, ntr_place place, const ntr_span *span) {
    uint32_t layer = span->value;
    const ntr_segment *first = next_visible(program, place, &layer), *other;
    const uint64_t size = span->last - span->first + 1;

    if (!first || is_decided(&program->images[first->image], place.context)) return first;
    while ((other = next_visible(program, place, &layer)) != NULL)
        if (exclude_each_other(&program->images[first->image], &program->images[other->image]) &&
            memcmp(first->bytes + (span->first - first->first), other->bytes + (span->first - other->first),
                   (size_t)size) != 0)
            return NULL;
    return first;
}

bool ntr_program_window(const ntr_program *program, ntr_place place, ntr_code_window *window) {
    const ntr_span *span = ntr_spans_find(&program->map, ntr_program_cut(program, place.address));
    const ntr_segment *segment = span ? visible(program, place, span) : NULL;
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
    if (image && image->has_isa) return image->isa | (program->has_isa ? program->isa & ~(unsigned)NTR_ISA_RV32 : 0);
    if (program->has_isa) return program->isa;
    return program->xlen == 32 ? NTR_ISA_RV32 : 0;
}

unsigned ntr_program_isa(const ntr_program *program, ntr_place place) {
    ntr_code_window window;
    bool found = ntr_program_window(program, place, &window);
    return ntr_image_isa(program, found ? &program->images[window.image] : NULL);
}

/* Reads memory that no image has with the reader function, at most up to the next span of the map. */
static size_t read_gap(const ntr_program *program, ntr_place place, uint8_t *out, size_t size) {
    if (!program->read) return 0;
    const uint64_t address = place.address;
    const ntr_spans *map = &program->map;
    size_t next = ntr_spans_seek(map, address);
    if (next < map->count && map->items[next].first <= address) {
        uint64_t rest = map->items[next].last - address; /* covered by an image that is not visible here */
        if (rest < size) size = (size_t)rest + 1;
    } else if (next < map->count && map->items[next].first - address < size) {
        size = (size_t)(map->items[next].first - address);
    }
    if (program->xlen == 32 && UINT32_MAX - address < size) size = (size_t)(UINT32_MAX - address) + 1;
    size_t got = program->read(program->read_user, place.context, place.position, address, out, size);
    return got < size ? got : size;
}

/* The place that is `bytes` further. */
static ntr_place behind(const ntr_program *program, ntr_place place, uint64_t bytes) {
    place.address = ntr_program_cut(program, place.address + bytes);
    return place;
}

size_t ntr_program_read(const ntr_program *program, ntr_place place, uint8_t *out, size_t size) {
    size_t done = 0;
    while (done < size) {
        const ntr_place at = behind(program, place, done);
        ntr_code_window window;
        size_t part;
        if (ntr_program_window(program, at, &window)) {
            uint64_t left = window.size - (at.address - window.first);
            part = left < size - done ? (size_t)left : size - done;
            memcpy(out + done, window.bytes + (at.address - window.first), part);
        } else {
            part = read_gap(program, at, out + done, size - done);
            if (part == 0) break;
        }
        done += part;
    }
    return done;
}

/* Returns the image with the jump table for code of `image`: the image itself, otherwise the one added last that has
 * a jump table. */
static const ntr_image *table_of(const ntr_program *program, ntr_place place, const ntr_image *image) {
    if (image && image->has_jvt) return image;
    for (size_t i = program->image_count; i-- > 0;)
        if (program->images[i].has_jvt && ntr_image_is_visible(&program->images[i], place)) return &program->images[i];
    return NULL;
}

/* Zcmt: the entries of the table are XLEN-bit addresses. */
static ntr_status resolve_table_jump(const ntr_program *program, ntr_place place, const ntr_image *image,
                                     ntr_insn *insn) {
    const ntr_image *owner = table_of(program, place, image);
    unsigned size = ntr_image_isa(program, image) & NTR_ISA_RV32 ? 4 : 8;
    uint8_t entry[8];
    if (!owner) return NTR_E_JUMP_TABLE;
    place.address = owner->jvt + (uint64_t)insn->immediate * size;
    if (ntr_program_read(program, place, entry, size) != size) return NTR_E_JUMP_TABLE;
    insn->target = (insn->target | ntr_little(entry, size)) & ~UINT64_C(1);
    return NTR_OK;
}

/* EXEC.IT executes an instruction of its table as if it were here; a JAL keeps the upper bits of the address. */
static ntr_status resolve_exec(const ntr_program *program, ntr_place place, const ntr_image *image, ntr_insn *insn) {
    const ntr_image *owner = table_of(program, place, image);
    const uint64_t pc = place.address;
    const unsigned isa = ntr_image_isa(program, image);
    uint8_t word[4];
    ntr_insn executed;
    if (!owner) return NTR_E_JUMP_TABLE;
    place.address = owner->jvt + (uint64_t)insn->immediate;
    if (ntr_program_read(program, place, word, sizeof word) != sizeof word) return NTR_E_JUMP_TABLE;
    if (ntr_insn_decode(word, sizeof word, pc, isa, &executed) != NTR_OK || executed.size != 4) return NTR_E_JUMP_TABLE;
    if ((word[0] & 0x7f) == 0x6f) { /* JAL */
        enum { JAL_REACH = 1 << 21 };
        executed.target = (pc & ~(uint64_t)(JAL_REACH - 1)) | ((executed.target - pc) & (JAL_REACH - 1));
    }
    executed.size = insn->size;
    *insn = executed;
    return NTR_OK;
}

static ntr_status resolve_table(const ntr_program *program, ntr_place place, const ntr_image *image, ntr_insn *insn) {
    return insn->flow == NTR_FLOW_LINEAR ? resolve_exec(program, place, image, insn)
                                         : resolve_table_jump(program, place, image, insn);
}

ntr_status ntr_program_decode(const ntr_program *program, ntr_place place, const ntr_code_window *window,
                              ntr_insn *insn) {
    const ntr_image *image = window ? &program->images[window->image] : NULL;
    unsigned isa = ntr_image_isa(program, image);
    ntr_status status = NTR_E_SPACE;
    uint8_t read[NTR_INSN_BYTES_MAX];
    const uint8_t *bytes = read;
    size_t size = 0;
    if (window) {
        uint64_t offset = place.address - window->first, left = window->size - offset;
        size = left < NTR_INSN_BYTES_MAX ? (size_t)left : NTR_INSN_BYTES_MAX;
        bytes = window->bytes + offset;
        status = ntr_insn_decode(bytes, size, place.address, isa, insn);
    }
    if (status == NTR_E_SPACE) { /* the instruction continues in another image, or is read by the reader */
        bytes = read;
        size = ntr_program_read(program, place, read, 2);
        if (size == 2) {
            size_t want = ntr_insn_length((uint16_t)(read[0] | read[1] << 8));
            size += ntr_program_read(program, behind(program, place, 2), read + 2, want - 2);
        }
        status = ntr_insn_decode(bytes, size, place.address, isa, insn);
    }
    if (status != NTR_OK) return NTR_E_NO_IMAGE;
    if (program->rule_count) {
        const uint64_t bits = ntr_little(bytes, size < 8 ? size : 8);
        const ntr_rule *rule = ntr_rule_find(program->rules, program->rule_count, bits);
        if (rule) ntr_rule_apply(rule, bits, place.address, isa, insn);
    }
    return insn->table_jump ? resolve_table(program, place, image, insn) : NTR_OK;
}

bool ntr_program_is_known(const ntr_program *program, ntr_place place, const ntr_code_window *window) {
    uint8_t read[8] = {0};
    const uint8_t *bytes = read;
    const unsigned isa = ntr_image_isa(program, window ? &program->images[window->image] : NULL);
    const uint64_t left = window ? window->size - (place.address - window->first) : 0;
    size_t size = sizeof read;
    if (left >= size)
        bytes = window->bytes + (place.address - window->first);
    else
        size = ntr_program_read(program, place, read, size);
    if (program->rule_count && size >= 2) {
        const ntr_rule *rule = ntr_rule_find(program->rules, program->rule_count, ntr_little(bytes, size));
        if (rule) return !rule->custom;
    }
    return ntr_insn_is_known(bytes, size, isa);
}

ntr_status ntr_program_insn(const ntr_program *program, ntr_place place, ntr_insn *insn) {
    ntr_code_window window;
    place = behind(program, place, 0);
    bool found = ntr_program_window(program, place, &window);
    return ntr_program_decode(program, place, found ? &window : NULL, insn);
}

uint64_t ntr_program_unknown(const ntr_program *program, ntr_place *lowest) {
    *lowest = ntr_place_at(NULL, 0, 0);
    return ntr_unknown_lowest(program->unknown, &lowest->address, &lowest->position);
}

void ntr_program_forget_unknown(const ntr_program *program) {
    ntr_unknown_forget(program->unknown);
}

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
    place = behind(program, place, 0);
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

/* ---- validity: when an address means the same ------------------------------------------------------------------ */

/* Narrows *v, which includes `position`, by something that is valid for from <= offset < until. */
static void narrow(ntr_validity *v, uint64_t from, uint64_t until, uint64_t position) {
    if (from > position) {
        if (from - 1 < v->last) v->last = from - 1;
    } else if (until && until <= position) {
        if (until > v->from) v->from = until;
    } else {
        if (from > v->from) v->from = from;
        if (until && until - 1 < v->last) v->last = until - 1;
    }
}

/* As `visible`: the segments above the one that is visible, and this one, decide; with a context that does not say
 * whether this one runs, also those below it. */
static void narrow_by_segments(const ntr_program *program, ntr_place place, uint32_t layer, ntr_validity *v) {
    while (layer != NTR_SPANS_NONE) {
        const ntr_layer *top = &program->layers[layer];
        if (place.position < top->earliest) {
            narrow(v, top->earliest, 0, place.position);
            layer = top->jump;
            continue;
        }
        const ntr_segment *segment = &program->segments[top->segment];
        const ntr_image *image = &program->images[segment->image];
        if (ntr_image_matches(image, place.context)) {
            narrow(v, segment->from, segment->until, place.position);
            if (holds_at(segment->from, segment->until, place.position) && is_decided(image, place.context)) return;
        }
        layer = top->below;
    }
}

static void narrow_by_files(const ntr_program *program, ntr_place place, uint32_t layer, ntr_validity *v) {
    const ntr_image_map *map = &program->image_map;
    for (; layer != NTR_SPANS_NONE; layer = map->layers[layer].below) {
        const ntr_image *image = &program->images[map->layers[layer].image];
        if (!ntr_image_matches(image, place.context)) continue;
        narrow(v, image->options.from, image->options.until, place.position);
        if (ntr_image_is_visible(image, place)) return;
    }
}

static void narrow_by_spans(const ntr_program *program, ntr_place place, uint64_t last, const ntr_spans *map,
                            void (*by)(const ntr_program *, ntr_place, uint32_t, ntr_validity *), ntr_validity *v) {
    size_t i = ntr_spans_seek(map, place.address);
    for (; i < map->count && map->items[i].first <= last; i++) by(program, place, map->items[i].value, v);
}

ntr_validity ntr_program_validity(const ntr_program *program, ntr_place place, uint64_t last) {
    ntr_validity v = {0, UINT64_MAX};
    if (!program->timed) return v;
    if (place.position == NTR_POSITION_ANY) return (ntr_validity){NTR_POSITION_ANY, NTR_POSITION_ANY};
    place = behind(program, place, 0);
    last = ntr_program_cut(program, last);
    v.last = NTR_POSITION_ANY - 1;
    narrow_by_spans(program, place, last, &program->map, narrow_by_segments, &v);
    narrow_by_spans(program, place, last, &program->image_map.files, narrow_by_files, &v);
    for (size_t i = 0; i < program->image_map.name_count; i++) {
        const ntr_image *image = &program->images[program->image_map.names[i]];
        if (ntr_image_matches(image, place.context))
            narrow(&v, image->options.from, image->options.until, place.position);
    }
    return v;
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
