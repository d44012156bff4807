/* The index of a DWARF package file (.dwp): which part of each section belongs to a unit. Version 5 is in DWARF 5
 * (7.3.5); version 2 is GNU's for DWARF 4. Both have the same layout: header, hash table, numbers of rows, identifiers
 * of the sections, and two tables (offsets and sizes) with a row for each unit and a column for each section. */
#ifndef NTR_ANALYSIS_DWARF_INDEX_H
#define NTR_ANALYSIS_DWARF_INDEX_H

#include <ntrace/bytes.h>

#include <stdbool.h>

/* Sections of which a unit has a part. Others are not used. */
enum {
    NTR_DWO_OTHER,
    NTR_DWO_INFO,
    NTR_DWO_ABBREV,
    NTR_DWO_LINE,
    NTR_DWO_STR_OFFSETS,
    NTR_DWO_RNGLISTS,
    NTR_DWO_SECTIONS,
};

/* A part of a section. */
typedef struct ntr_dwarf_part {
    uint32_t offset, size;
} ntr_dwarf_part;

typedef struct ntr_dwarf_index {
    const uint8_t *hashes, *rows, *offsets, *sizes;
    uint32_t columns, units, slots;
    uint8_t kinds[16]; /* NTR_DWO_* of each column */
} ntr_dwarf_index;

/* Reads an index. `bytes` must remain. Returns NULL, or what is wrong with it. */
const char *ntr_dwarf_index_read(ntr_dwarf_index *index, ntr_bytes bytes);

/* Returns the row of the unit with this identifier, beginning with 1, or 0: the package does not have it. */
uint32_t ntr_dwarf_index_find(const ntr_dwarf_index *index, uint64_t id);

/* Stores the parts of a row, NTR_DWO_SECTIONS in number; a section without a column has an empty part. Nobody has
 * checked that they are inside of their sections. */
void ntr_dwarf_index_parts(const ntr_dwarf_index *index, uint32_t row, ntr_dwarf_part *parts);

#endif
