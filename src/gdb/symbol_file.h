/* Symbol files: ELF files for a debugger, about code that no file of the program describes: a kernel of which only the
 * names are known (/proc/kallsyms), code generated at run time, firmware. They have a symbol table, and call frame
 * information.
 *
 * That information is the same for all of their code, because the stack that the debugger sees is invented (unwind/):
 * every function, from its first to its last instruction, has a frame of four words with the return address (as t0), ra
 * and s0. So backtraces do not depend on what a debugger finds out about prologues, and a function that was interrupted
 * before it had saved ra is unwound like all others.
 *
 * One file is not about code, but about return places (unwind/invented_stack.h): addresses to which handlers of
 * interrupts seem to return. For a debugger they are the code with which a system calls signal handlers; it shows
 * "<signal handler called>". */
#ifndef NTR_GDB_SYMBOL_FILE_H
#define NTR_GDB_SYMBOL_FILE_H

#include "gdb/symbol_frames.h"
#include "program/symbols.h"

/* Writes a file with these regions and names to a descriptor that is open for writing. `symbols` not NULL: the regions
 * are those of its names, and are stored. Errors: NTR_E_IO, NTR_E_MEMORY, NTR_E_NO_IMAGE (there is no region). */
ntr_status ntr_gdb_symbol_file_write(int fd, ntr_gdb_symbol_kind kind, const ntr_symbols *symbols,
                                     ntr_gdb_regions *regions, unsigned xlen);

/* Writes the file of the return places from `address` on, and stores their region. Errors: as
 * ntr_gdb_symbol_file_write. */
ntr_status ntr_gdb_return_places_write(int fd, uint64_t address, ntr_gdb_regions *regions, unsigned xlen);

#endif
