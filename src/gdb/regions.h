/* Regions of addresses, in their order. */
#ifndef NTR_GDB_REGIONS_H
#define NTR_GDB_REGIONS_H

#include <ntrace/allocator.h>
#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
