/* Symbol files: ELF files for a debugger, about code that no file of the program describes: a kernel of which only the names are
 * known (/proc/kallsyms), code generated at run time, firmware. They have a symbol table, and call frame information.
 *
 * That information is the same for all of their code, because the stack that the debugger sees is invented (unwind/): every
 * function, from its first to its last instruction, has a frame of four words with the return address (as t0), ra and s0. So
 * backtraces do not depend on what a debugger finds out about prologues, and a function that was interrupted before it had saved
 * ra is unwound like all others. */
#ifndef NTR_GDB_SYMBOL_FILE_H
#define NTR_GDB_SYMBOL_FILE_H

#include "program/symbols.h"
#include "unwind/frame_rule.h"

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

/* Adds addresses, not below those of the last region. They extend it when at most `gap` bytes are between. When there are too
 * many regions, they are left out. Errors: NTR_E_MEMORY. */
ntr_status ntr_gdb_region_add(ntr_gdb_regions *regions, uint64_t low, uint64_t high, uint64_t gap);

/* Returns whether a region contains the address. */
bool ntr_gdb_regions_contain(const ntr_gdb_regions *regions, uint64_t address);

/* Writes a file with these regions and names to a descriptor that is open for writing. `symbols` not NULL: the regions are those of
 * its names, and are stored. Errors: NTR_E_IO, NTR_E_MEMORY, NTR_E_NO_IMAGE (there is no region). */
ntr_status ntr_gdb_symbol_file_write(int fd, const ntr_symbols *symbols, ntr_gdb_regions *regions, unsigned xlen);

/* Returns the frame rule of all code in symbol files. */
ntr_frame_rule ntr_gdb_symbol_file_rule(unsigned xlen);

#endif
