/* Which unit of the debug information a piece of code belongs to.
 *
 * Several units may name one piece of code: each that includes a template has a copy of its instance, of which the
 * linker keeps one; GNU ld then points the DWARF of all of them to it. The code belongs to the first of these units,
 * because the linker keeps the first copy. Code that was discarded has an address outside of the sections with code,
 * mostly 0; in a position-independent file the ELF header is there. */
#ifndef NTR_ANALYSIS_UNIT_MAP_H
#define NTR_ANALYSIS_UNIT_MAP_H

#include <ntrace/allocator.h>
#include <ntrace/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NTR_UNIT_NONE UINT32_MAX

/* Range [low, high) of a unit, or of a section. */
typedef struct ntr_unit_range {
    uint64_t low, high;
    uint32_t unit;
} ntr_unit_range;

typedef struct ntr_unit_map {
    const ntr_allocator *allocator;
    ntr_unit_range *ranges; /* after ntr_unit_map_finish: sorted and disjoint */
    size_t range_count, range_capacity;
    ntr_unit_range *sections; /* that have code; none: all addresses may be code */
    size_t section_count, section_capacity;
} ntr_unit_map;

/* Sections are added first, ranges of units in the order of the units. Empty ranges, and ranges that do not begin in a
 * section, are left out. Errors: NTR_E_MEMORY. */
ntr_status ntr_unit_map_add_section(ntr_unit_map *map, uint64_t low, uint64_t high);
ntr_status ntr_unit_map_add(ntr_unit_map *map, uint64_t low, uint64_t high, uint32_t unit);
ntr_status ntr_unit_map_finish(ntr_unit_map *map);
void ntr_unit_map_release(ntr_unit_map *map);

/* Returns the unit of the code at `address`, or NTR_UNIT_NONE. */
uint32_t ntr_unit_map_unit(const ntr_unit_map *map, uint64_t address);
/* Returns whether there may be code at `address` that is of this unit or has no range of a unit. */
bool ntr_unit_map_owns(const ntr_unit_map *map, uint32_t unit, uint64_t address);

#endif
