/* The DWARF of one ELF file as sorted tables: addresses to lines and to (inlined) functions.
 *
 * Addresses are the file's own (no load bias). Units are read on first use. */
#ifndef NTR_ANALYSIS_DWARF_H
#define NTR_ANALYSIS_DWARF_H

#include <ntrace/allocator.h>
#include <ntrace/debug_info.h>

typedef struct ntr_dwarf ntr_dwarf;

/* NULL when the file has no DWARF anywhere, is unreadable, or memory is short: then there is only the
 * symbol table. `debug_path` as for ntr_debug_info_set_path, may be NULL. */
ntr_dwarf *ntr_dwarf_open(const char *path, const char *debug_path, const ntr_allocator *allocator);
void ntr_dwarf_close(ntr_dwarf *dwarf);

/* Fill frames innermost first (`image` is left alone, function names are linkage names); 0 when unknown. */
size_t ntr_dwarf_frames(ntr_dwarf *dwarf, uint64_t address, ntr_frame *frames, size_t capacity);

/* Each function that has code of its own and each inlined copy of one, linkage name in the frame; stops at the first
 * call that does not give NTR_OK and gives that back. */
ntr_status ntr_dwarf_functions(ntr_dwarf *dwarf, ntr_status (*visit)(void *user, const ntr_frame *function),
                               void *user);

/* All line rows of all units, sorted by address, disjoint. */
ntr_status ntr_dwarf_lines(ntr_dwarf *dwarf, const ntr_line_row **rows, size_t *count);

#endif
