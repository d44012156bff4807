/* Call frame information (.debug_frame; DWARF 3, section 6.4) of symbol files. */
#ifndef NTR_GDB_SYMBOL_FRAMES_H
#define NTR_GDB_SYMBOL_FRAMES_H

#include "unwind/frame_rules.h"

#include <ntrace/allocator.h>
#include <ntrace/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Regions of addresses, in their order. */

/* Addresses [low, high) with code. */
typedef struct ntr_gdb_region {
    uint64_t low, high;
    size_t end; /* the number of the first name behind it, in the order of addresses */
} ntr_gdb_region;

typedef struct ntr_gdb_regions {
    const ntr_allocator *allocator;
    ntr_gdb_region *items; /* by address, apart from each other */
    size_t count, capacity;
} ntr_gdb_regions;

enum { NTR_GDB_REGIONS_MAX = 256 };

/* Adds addresses, not below those of the last region. They extend it when at most `gap` bytes are between. When there
 * are too many regions, they are left out. Errors: NTR_E_MEMORY. */
ntr_status ntr_gdb_region_add(ntr_gdb_regions *regions, uint64_t low, uint64_t high, uint64_t gap);

/* Returns whether a region contains the address. */
bool ntr_gdb_regions_contain(const ntr_gdb_regions *regions, uint64_t address);

typedef enum ntr_gdb_symbol_kind { NTR_GDB_SYMBOL_CODE, NTR_GDB_SYMBOL_RETURN_PLACES } ntr_gdb_symbol_kind;

/* Returns a size in bytes that the information about the regions does not exceed. */
size_t ntr_gdb_symbol_frames_most(const ntr_gdb_regions *regions);

/* Writes the information. Returns its size in bytes. Regions of return places: one, with NTR_RETURN_PLACES of them. */
size_t ntr_gdb_symbol_frames_write(const ntr_gdb_regions *regions, ntr_gdb_symbol_kind kind, unsigned xlen,
                                   uint8_t *out);

/* Returns the frame rule of all code in symbol files. */
ntr_frame_rule ntr_gdb_symbol_frames_rule(unsigned xlen);

#endif
