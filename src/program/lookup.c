/* Read access to a program: its visible code. Does not change the program, so any number of threads may use
 * it. */
#include "program/program.h"
#include "base/bytes.h"

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

/* Returns whether several images have code at the place, and the context does not say which one runs. */
static bool is_undecided(const ntr_program *program, ntr_place place) {
    const ntr_span *span = ntr_spans_find(&program->map, ntr_program_cut(program, place.address));
    uint32_t layer = span ? span->value : NTR_SPANS_NONE;
    return next_visible(program, place, &layer) && !visible(program, place, span);
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
            size_t want = ntr_insn_length(ntr_little_16(read));
            size += ntr_program_read(program, behind(program, place, 2), read + 2, want - 2);
        }
        status = ntr_insn_decode(bytes, size, place.address, isa, insn);
    }
    if (status != NTR_OK) return is_undecided(program, place) ? NTR_E_UNDECIDED : NTR_E_NO_IMAGE;
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
