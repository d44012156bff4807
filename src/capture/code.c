#include "capture/code.h"
#include "base/allocator.h"

#include <stdlib.h>
#include <string.h>

enum { GRANULE = 256 }; /* bytes; a change makes a new version of a whole granule */

struct ntr_capture_granule {
    uint64_t address, from;
    uint32_t space;
    uint64_t known[GRANULE / 64]; /* bit per byte */
    uint8_t bytes[GRANULE];
};

typedef struct ntr_capture_granule granule;

void ntr_capture_code_init(struct ntr_capture_code *code, const ntr_allocator *allocator) {
    *code = (struct ntr_capture_code){.allocator = allocator, .generation = 1};
}

void ntr_capture_code_release(struct ntr_capture_code *code) {
    ntr_dealloc(code->allocator, code->granules);
    ntr_dealloc(code->allocator, code->index);
    ntr_dealloc(code->allocator, code->ranges);
    ntr_dealloc(code->allocator, code->bytes);
    ntr_dealloc(code->allocator, code->spaces);
    ntr_dealloc(code->allocator, code->forgotten);
    ntr_capture_code_init(code, code->allocator);
}

/* ---- granules by address ------------------------------------------------------------------------------------------
 */

static uint32_t *find(const struct ntr_capture_code *code, uint32_t space, uint64_t address) {
    size_t at = (size_t)((address / GRANULE + ((uint64_t)space << 40)) * 0x9e3779b97f4a7c15u >> 32);
    for (;; at++) {
        uint32_t *slot = &code->index[at & (code->index_size - 1)];
        const granule *g = *slot ? &code->granules[*slot - 1] : NULL;
        if (!g || (g->address == address && g->space == space)) return slot;
    }
}

static bool grow_index(struct ntr_capture_code *code) {
    uint32_t *old = code->index;
    size_t larger = code->index_size ? 2 * code->index_size : 1024;
    uint32_t *index = ntr_alloc(code->allocator, larger, sizeof *index);

    if (!index) return false;
    code->index = index;
    code->index_size = larger;
    ntr_dealloc(code->allocator, old);
    for (uint32_t i = 0; i < code->count; i++) *find(code, code->granules[i].space, code->granules[i].address) = i + 1;
    return true;
}

/* Where in the stream the bytes that are executed first in a granule begin: where it was mapped, as far as that is
 * known. */
static uint64_t begin_of(const struct ntr_capture_code *code, uint32_t space, uint64_t address) {
    for (size_t i = space ? 0 : code->forgotten_count; i-- > 0;) {
        const struct ntr_capture_forgotten *f = &code->forgotten[i];
        if (f->first < address + GRANULE && address < f->end) return f->position;
    }
    return 0;
}

/* The granule at this address, created when there is none. Returns NULL when out of memory. */
static granule *granule_at(struct ntr_capture_code *code, uint32_t space, uint64_t address) {
    if (2 * (code->count + 1) > code->index_size && !grow_index(code)) return NULL;
    uint32_t *slot = find(code, space, address);
    if (!*slot) {
        if (ntr_reserve(code->allocator, (void **)&code->granules, &code->capacity, code->count + 1,
                        sizeof *code->granules))
            return NULL;
        code->granules[code->count++] =
            (granule){.address = address, .space = space, .from = begin_of(code, space, address)};
        *slot = (uint32_t)code->count;
    }
    return &code->granules[*slot - 1];
}

static bool is_known(const granule *g, unsigned at) {
    return g->known[at / 64] >> (at % 64) & 1;
}

static void set_byte(granule *g, unsigned at, uint8_t byte) {
    g->known[at / 64] |= 1ull << (at % 64);
    g->bytes[at] = byte;
}

/* ---- ranges -------------------------------------------------------------------------------------------------------
 */

static bool add_bytes(struct ntr_capture_code *code, const uint8_t *bytes, size_t length) {
    if (ntr_reserve(code->allocator, (void **)&code->bytes, &code->byte_capacity, code->size + length, 1)) return false;
    memcpy(code->bytes + code->size, bytes, length);
    code->size += length;
    return true;
}

static bool add_range(struct ntr_capture_code *code, const granule *g, unsigned begin, size_t length, uint64_t until) {
    uint64_t address = g->address + begin, from = g->from;
    struct ntr_capture_code_range *last = code->range_count ? &code->ranges[code->range_count - 1] : NULL;
    uint64_t place = code->size;

    if (!add_bytes(code, g->bytes + begin, length)) return false;
    if (last && last->address + last->length == address && last->from == from && last->until == until &&
        last->space == g->space) {
        last->length += length;
        return true;
    }
    if (ntr_reserve(code->allocator, (void **)&code->ranges, &code->range_capacity, code->range_count + 1,
                    sizeof *code->ranges))
        return false;
    code->ranges[code->range_count++] = (struct ntr_capture_code_range){address, length, place, from, until, g->space};
    return true;
}

/* The known bytes of a granule become ranges. */
static bool add_granule(struct ntr_capture_code *code, const granule *g, uint64_t until) {
    for (unsigned at = 0; at < GRANULE;) {
        unsigned begin = at;
        while (at < GRANULE && is_known(g, at)) at++;
        if (at > begin && !add_range(code, g, begin, at - begin, until)) return false;
        if (at == begin) at++;
    }
    return true;
}

/* ---- interface ----------------------------------------------------------------------------------------------------
 */

uint32_t ntr_capture_code_space(struct ntr_capture_code *code, const struct ntr_capture_space *space) {
    for (size_t i = code->space_count; i; i--) {
        const struct ntr_capture_space *s = &code->spaces[i - 1];
        if (s->has_prv == space->has_prv && s->has_context == space->has_context && s->prv == space->prv &&
            s->v == space->v && s->context == space->context)
            return (uint32_t)i;
    }
    if (ntr_reserve(code->allocator, (void **)&code->spaces, &code->space_capacity, code->space_count + 1,
                    sizeof *code->spaces))
        return 0;
    code->spaces[code->space_count++] = *space;
    return (uint32_t)code->space_count;
}

bool ntr_capture_code_agrees(struct ntr_capture_code *code, uint32_t space, uint64_t address, ntr_bytes bytes,
                             bool *failed) {
    *failed = false;
    for (size_t i = 0; i < bytes.size;) {
        const granule *g = granule_at(code, space, (address + i) & ~(uint64_t)(GRANULE - 1));
        *failed = !g;
        if (!g) return false;
        for (unsigned at = (address + i) % GRANULE; at < GRANULE && i < bytes.size; at++, i++) {
            if (!is_known(g, at)) continue;
            if (g->bytes[at] != bytes.data[i]) return false;
        }
    }
    for (size_t i = 0; i < bytes.size; i++)
        set_byte(granule_at(code, space, (address + i) & ~(uint64_t)(GRANULE - 1)), (address + i) % GRANULE,
                 bytes.data[i]);
    return true;
}

bool ntr_capture_code_change(struct ntr_capture_code *code, uint32_t space, uint64_t address, ntr_bytes bytes,
                             uint64_t position) {
    code->generation++;
    for (size_t i = 0; i < bytes.size;) {
        granule *g = granule_at(code, space, (address + i) & ~(uint64_t)(GRANULE - 1));
        if (!g) return false;
        if (g->from != position && !add_granule(code, g, position)) return false;
        g->from = position;
        for (unsigned at = (address + i) % GRANULE; at < GRANULE && i < bytes.size; at++, i++)
            set_byte(g, at, bytes.data[i]);
    }
    return true;
}

bool ntr_capture_code_knows(const struct ntr_capture_code *code, uint64_t first, uint64_t end) {
    for (size_t i = 0; i < code->count; i++) {
        const granule *g = &code->granules[i];
        if (g->space || g->address + GRANULE <= first || g->address >= end) continue;
        for (uint64_t at = g->address < first ? first : g->address; at < end && at < g->address + GRANULE; at++)
            if (is_known(g, (unsigned)(at - g->address))) return true;
    }
    return false;
}

/* Notes what was forgotten. What is forgotten again is noted once. */
static bool note_forgotten(struct ntr_capture_code *code, const struct ntr_capture_forgotten *now) {
    size_t kept = 0;

    for (size_t i = 0; i < code->forgotten_count; i++) {
        const struct ntr_capture_forgotten *f = &code->forgotten[i];
        if (f->first < now->first || f->end > now->end) code->forgotten[kept++] = *f;
    }
    code->forgotten_count = kept;
    if (ntr_reserve(code->allocator, (void **)&code->forgotten, &code->forgotten_capacity, kept + 1,
                    sizeof *code->forgotten))
        return false;
    code->forgotten[code->forgotten_count++] = *now;
    return true;
}

bool ntr_capture_code_forget(struct ntr_capture_code *code, uint64_t first, uint64_t end, uint64_t position) {
    code->generation++;
    if (!note_forgotten(code, &(struct ntr_capture_forgotten){first, end, position})) return false;
    for (size_t i = 0; i < code->count; i++) {
        granule *g = &code->granules[i];
        if (g->space || g->address + GRANULE <= first || g->address >= end || g->from == position) continue;
        if (!add_granule(code, g, position)) return false;
        memset(g->known, 0, sizeof g->known);
        g->from = position;
    }
    return true;
}

static int by_address_and_time(const void *a, const void *b) {
    const struct ntr_capture_code_range *x = a, *y = b;
    if (x->space != y->space) return x->space < y->space ? -1 : 1;
    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

/* Ranges for the bytes that are valid now, in the order of addresses so that neighbours become one range. */
static int by_granule(const void *a, const void *b) {
    const granule *x = *(const granule *const *)a, *y = *(const granule *const *)b;
    if (x->space != y->space) return x->space < y->space ? -1 : 1;
    return (x->address > y->address) - (x->address < y->address);
}

bool ntr_capture_code_pause(struct ntr_capture_code *code, struct ntr_capture_code_mark *mark) {
    const granule **order = ntr_alloc(code->allocator, code->count ? code->count : 1, sizeof *order);
    bool good = order != NULL;

    *mark = (struct ntr_capture_code_mark){code->range_count, code->size};
    for (size_t i = 0; good && i < code->count; i++) order[i] = &code->granules[i];
    if (good && code->count) qsort(order, code->count, sizeof(*order), by_granule);
    for (size_t i = 0; good && i < code->count; i++) good = add_granule(code, order[i], 0);
    ntr_dealloc(code->allocator, order);
    if (!good) ntr_capture_code_resume(code, mark);
    return good;
}

void ntr_capture_code_resume(struct ntr_capture_code *code, const struct ntr_capture_code_mark *mark) {
    code->range_count = mark->range_count;
    code->size = mark->size;
}

bool ntr_capture_code_finish(struct ntr_capture_code *code) {
    struct ntr_capture_code_mark mark;

    if (!ntr_capture_code_pause(code, &mark)) return false;
    if (code->range_count) qsort(code->ranges, code->range_count, sizeof *code->ranges, by_address_and_time);
    return true;
}

void ntr_capture_code_positions(struct ntr_capture_code *code, void (*visit)(void *user, uint64_t *position),
                                void *user) {
    for (size_t i = 0; i < code->count; i++) visit(user, &code->granules[i].from);
    for (size_t i = 0; i < code->forgotten_count; i++) visit(user, &code->forgotten[i].position);
    for (size_t i = 0; i < code->range_count; i++) {
        visit(user, &code->ranges[i].from);
        visit(user, &code->ranges[i].until);
    }
}

void ntr_capture_code_drop_empty(struct ntr_capture_code *code) {
    size_t kept = 0;

    for (size_t i = 0; i < code->range_count; i++)
        if (code->ranges[i].until > code->ranges[i].from) code->ranges[kept++] = code->ranges[i];
    code->range_count = kept;
}
