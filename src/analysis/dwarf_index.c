#include "analysis/dwarf_index.h"

#include "base/bytes.h"
#include "base/macros.h"

#include <string.h>

enum { HEADER = 16, PROBES_MAX = 1000 };

/* The section of each identifier: the versions number them differently. */
static const uint8_t kinds_2[] = {
    [1] = NTR_DWO_INFO, [3] = NTR_DWO_ABBREV, [4] = NTR_DWO_LINE, [6] = NTR_DWO_STR_OFFSETS, [8] = NTR_DWO_OTHER};
static const uint8_t kinds_5[] = {
    [1] = NTR_DWO_INFO, [3] = NTR_DWO_ABBREV, [4] = NTR_DWO_LINE, [6] = NTR_DWO_STR_OFFSETS, [8] = NTR_DWO_RNGLISTS};

/* Stores the sections of the columns. Returns false if two columns have the same one. */
static bool read_kinds(ntr_dwarf_index *x, const uint8_t *ids, bool is_5) {
    unsigned seen = 0;
    for (uint32_t i = 0; i < x->columns; i++) {
        const uint32_t id = ntr_little_32(ids + i * (size_t)4);
        const uint8_t kind = id >= NTR_COUNT(kinds_5) ? NTR_DWO_OTHER : is_5 ? kinds_5[id] : kinds_2[id];
        if (kind && seen & 1u << kind) return false;
        seen |= 1u << kind;
        x->kinds[i] = kind;
    }
    return true;
}

const char *ntr_dwarf_index_read(ntr_dwarf_index *x, ntr_bytes bytes) {
    static const char damaged[] = "its index is damaged";
    *x = (ntr_dwarf_index){0};
    if (bytes.size < HEADER) return damaged;
    const bool is_5 = ntr_little_16(bytes.data) == 5; /* two bytes; version 2 has four */
    if (!is_5 && ntr_little_32(bytes.data) != 2) return "its index has a version that is not known (not 2 or 5)";
    x->columns = ntr_little_32(bytes.data + 4);
    x->units = ntr_little_32(bytes.data + 8);
    x->slots = ntr_little_32(bytes.data + 12);
    const uint64_t row = x->columns * UINT64_C(4);
    if (x->columns > NTR_COUNT(x->kinds) || x->slots & (x->slots - 1) || x->units > x->slots ||
        HEADER + x->slots * UINT64_C(12) + row + 2 * row * x->units > bytes.size)
        return damaged;
    x->hashes = bytes.data + HEADER;
    x->rows = x->hashes + x->slots * (size_t)8;
    x->offsets = x->rows + x->slots * (size_t)4 + row;
    x->sizes = x->offsets + row * x->units;
    return read_kinds(x, x->offsets - row, is_5) ? NULL : damaged;
}

uint32_t ntr_dwarf_index_find(const ntr_dwarf_index *x, uint64_t id) {
    const uint32_t mask = x->slots - 1, step = ((uint32_t)(id >> 32) & mask) | 1;
    uint32_t slot = (uint32_t)id & mask;
    for (unsigned probe = 0; probe < x->slots && probe < PROBES_MAX; probe++, slot = (slot + step) & mask) {
        const uint32_t row = ntr_little_32(x->rows + slot * (size_t)4);
        if (!row) return 0;
        if (ntr_little_64(x->hashes + slot * (size_t)8) == id) return row <= x->units ? row : 0;
    }
    return 0;
}

void ntr_dwarf_index_parts(const ntr_dwarf_index *x, uint32_t row, ntr_dwarf_part *parts) {
    memset(parts, 0, NTR_DWO_SECTIONS * sizeof *parts);
    for (uint32_t i = 0; i < x->columns; i++) {
        const size_t cell = ((row - 1) * (size_t)x->columns + i) * 4;
        parts[x->kinds[i]] = (ntr_dwarf_part){ntr_little_32(x->offsets + cell), ntr_little_32(x->sizes + cell)};
    }
}
