/* DWARF of one ELF file as sorted tables that map addresses to lines and (inlined) functions.
 *
 * Addresses are those of the file, without load bias. Units are read on first use. */
#ifndef NTR_ANALYSIS_DWARF_H
#define NTR_ANALYSIS_DWARF_H

#include <ntrace/allocator.h>
#include <ntrace/debug_info.h>

#include "analysis/debug_units.h"
#include "base/damage.h"

#include <ntrace/limits.h>

typedef struct ntr_dwarf ntr_dwarf;

/* Opens the file of an image. Returns NULL when it has no DWARF, is not readable, or when out of memory. The caller
 * then uses the symbol table. `debug_path` as for ntr_debug_info_set_path; may be NULL. What could not be read, now and
 * by the other functions, is added to `damage`. */
ntr_dwarf *ntr_dwarf_open(const ntr_image_info *image, const char *debug_path, ntr_damage *damage,
                          const ntr_limits *limits, const ntr_allocator *allocator);
void ntr_dwarf_close(ntr_dwarf *dwarf);

/* Stores the frames at `address`, innermost first. `image` is not set; function names are linkage names. Returns the
 * number of frames; 0 when the address is not known. */
size_t ntr_dwarf_frames(ntr_dwarf *dwarf, uint64_t address, ntr_frame *frames, size_t capacity);

/* Calls `visit` for each function that has code and for each inlined copy; names are linkage names. A result of `visit`
 * other than NTR_OK stops the iteration and is returned. */
ntr_status ntr_dwarf_functions(ntr_dwarf *dwarf, ntr_status (*visit)(void *user, const ntr_frame *function),
                               void *user);

/* Returns the line rows of all units, sorted by address, without overlaps. Errors: NTR_E_MEMORY. */
ntr_status ntr_dwarf_lines(ntr_dwarf *dwarf, const ntr_line_row **rows, size_t *count);

/* Calls `visit` for each source with rows for which a unit has an MD5 (16 bytes), also more than once. A result of
 * `visit` other than NTR_OK stops the iteration and is returned. Errors: NTR_E_MEMORY. */
ntr_status ntr_dwarf_digests(ntr_dwarf *dwarf, ntr_status (*visit)(void *user, const char *file, const uint8_t *md5),
                             void *user);

/* Returns the path of file number `index` beside the program from which debug information was read, or NULL after the
 * last one. */
const char *ntr_dwarf_path(const ntr_dwarf *dwarf, size_t index);

/* Calls `visit` for each function that has a symbol at the entry of another function, and no code of its own: the
 * linker has kept one of two equal pieces of code (identical code folding). `folded` has names, place of the
 * declaration and entry. A result of `visit` other than NTR_OK stops the iteration and is returned. Errors:
 * NTR_E_MEMORY. */
ntr_status ntr_dwarf_folded(ntr_dwarf *dwarf,
                            ntr_status (*visit)(void *user, const ntr_frame *folded, const ntr_frame *kept),
                            void *user);

/* Calls `visit` for each unit; ranges are without load bias. A result of `visit` other than NTR_OK stops the iteration
 * and is returned. Errors: NTR_E_MEMORY. */
ntr_status ntr_dwarf_units(ntr_dwarf *dwarf, ntr_status (*visit)(void *user, const ntr_debug_unit *unit), void *user);

#endif
