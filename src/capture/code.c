#include "capture/code.h"

#include <stdlib.h>
#include <string.h>

enum { GRANULE = 256 }; /* bytes; a change makes a new version of so many */

struct run_code_granule {
    uint64_t address, from;
    uint64_t known[GRANULE / 64];
    uint8_t bytes[GRANULE];
};

void run_code_init(struct run_code *code) {
    *code = (struct run_code){.generation = 1};
}

void run_code_release(struct run_code *code) {
    free(code->granules);
    free(code->index);
    free(code->pieces);
    free(code->bytes);
    run_code_init(code);
}

/* Room for one more item of `size` bytes behind `count`. */
static bool make_room(void **items, uint32_t *capacity, uint32_t count, size_t size) {
    if (count < *capacity) return true;
    uint32_t larger = *capacity ? 2 * *capacity : 256;
    void *moved = larger > *capacity ? realloc(*items, larger * size) : NULL;
    if (!moved) return false;
    *items = moved;
    *capacity = larger;
    return true;
}

/* ---- granules by address ----------------------------------------------------------------------------- */

static uint32_t *find(const struct run_code *code, uint64_t address) {
    uint32_t at = (uint32_t)((address / GRANULE) * 0x9e3779b97f4a7c15u >> 32);
    for (;; at++) {
        uint32_t *slot = &code->index[at & (code->index_size - 1)];
        if (!*slot || code->granules[*slot - 1].address == address) return slot;
    }
}

static bool grow_index(struct run_code *code) {
    uint32_t *old = code->index;

    code->index_size = code->index_size ? 2 * code->index_size : 1024;
    code->index = calloc(code->index_size, sizeof *code->index);
    free(old);
    if (!code->index) return false;
    for (uint32_t i = 0; i < code->count; i++) *find(code, code->granules[i].address) = i + 1;
    return true;
}

/* The granule at this address, made when there is none; NULL: out of memory. */
static struct run_code_granule *granule_at(struct run_code *code, uint64_t address) {
    if (2 * (code->count + 1) > code->index_size && !grow_index(code)) return NULL;
    uint32_t *slot = find(code, address);
    if (!*slot) {
        if (!make_room((void **)&code->granules, &code->capacity, code->count, sizeof *code->granules)) return NULL;
        code->granules[code->count++] = (struct run_code_granule){.address = address};
        *slot = code->count;
    }
    return &code->granules[*slot - 1];
}

static bool is_known(const struct run_code_granule *granule, unsigned at) {
    return granule->known[at / 64] >> (at % 64) & 1;
}

static void learn(struct run_code_granule *granule, unsigned at, uint8_t byte) {
    granule->known[at / 64] |= 1ull << (at % 64);
    granule->bytes[at] = byte;
}

/* ---- pieces -------------------------------------------------------------------------------------------- */

static bool add_bytes(struct run_code *code, const uint8_t *bytes, uint64_t length) {
    if (code->size + length > code->byte_capacity) {
        uint64_t larger = 2 * (code->size + length);
        uint8_t *moved = realloc(code->bytes, larger);
        if (!moved) return false;
        code->bytes = moved;
        code->byte_capacity = larger;
    }
    memcpy(code->bytes + code->size, bytes, length);
    code->size += length;
    return true;
}

static bool add_piece(struct run_code *code, uint64_t address, const uint8_t *bytes, uint64_t length, uint64_t from,
                      uint64_t until) {
    struct run_code_piece *last = code->piece_count ? &code->pieces[code->piece_count - 1] : NULL;
    uint64_t place = code->size;

    if (!add_bytes(code, bytes, length)) return false;
    if (last && last->address + last->length == address && last->from == from && last->until == until) {
        last->length += length;
        return true;
    }
    if (!make_room((void **)&code->pieces, &code->piece_capacity, code->piece_count, sizeof *code->pieces))
        return false;
    if (!code->pieces) return false;
    code->pieces[code->piece_count++] = (struct run_code_piece){address, length, place, from, until};
    return true;
}

/* Its runs of known bytes become pieces. */
static bool add_granule(struct run_code *code, const struct run_code_granule *granule, uint64_t until) {
    for (unsigned at = 0; at < GRANULE;) {
        unsigned begin = at;
        while (at < GRANULE && is_known(granule, at)) at++;
        if (at > begin &&
            !add_piece(code, granule->address + begin, granule->bytes + begin, at - begin, granule->from, until))
            return false;
        if (at == begin) at++;
    }
    return true;
}

/* ---- what the outside calls ----------------------------------------------------------------------------- */

bool run_code_agrees(struct run_code *code, uint64_t address, ntr_bytes bytes, bool *failed) {
    *failed = false;
    for (size_t i = 0; i < bytes.size;) {
        struct run_code_granule *granule = granule_at(code, (address + i) & ~(uint64_t)(GRANULE - 1));
        *failed = !granule;
        if (!granule) return false;
        for (unsigned at = (address + i) % GRANULE; at < GRANULE && i < bytes.size; at++, i++) {
            if (!is_known(granule, at)) continue;
            if (granule->bytes[at] != bytes.data[i]) return false;
        }
    }
    for (size_t i = 0; i < bytes.size; i++)
        learn(granule_at(code, (address + i) & ~(uint64_t)(GRANULE - 1)), (address + i) % GRANULE, bytes.data[i]);
    return true;
}

bool run_code_change(struct run_code *code, uint64_t address, ntr_bytes bytes, uint64_t position) {
    code->generation++;
    for (size_t i = 0; i < bytes.size;) {
        struct run_code_granule *granule = granule_at(code, (address + i) & ~(uint64_t)(GRANULE - 1));
        if (!granule) return false;
        if (granule->from != position && !add_granule(code, granule, position)) return false;
        granule->from = position;
        for (unsigned at = (address + i) % GRANULE; at < GRANULE && i < bytes.size; at++, i++)
            learn(granule, at, bytes.data[i]);
    }
    return true;
}

static int by_address(const void *a, const void *b) {
    const struct run_code_granule *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static int by_address_and_time(const void *a, const void *b) {
    const struct run_code_piece *x = a, *y = b;
    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

bool run_code_finish(struct run_code *code) {
    qsort(code->granules, code->count, sizeof *code->granules, by_address);
    for (uint32_t i = 0; i < code->count; i++) {
        if (!add_granule(code, &code->granules[i], 0)) return false;
    }
    qsort(code->pieces, code->piece_count, sizeof *code->pieces, by_address_and_time);
    return true;
}
