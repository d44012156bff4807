/* Call frame information (.debug_frame; DWARF 3, section 6.4) of symbol files. */
#ifndef NTR_GDB_SYMBOL_FRAMES_H
#define NTR_GDB_SYMBOL_FRAMES_H

#include "gdb/regions.h"
#include "unwind/frame_rules.h"

typedef enum ntr_gdb_symbol_kind { NTR_GDB_SYMBOL_CODE, NTR_GDB_SYMBOL_RETURN_PLACES } ntr_gdb_symbol_kind;

/* Returns a size in bytes that the information about the regions does not exceed. */
size_t ntr_gdb_symbol_frames_most(const ntr_gdb_regions *regions);

/* Writes the information. Returns its size in bytes. Regions of return places: one, with NTR_RETURN_PLACES of them. */
size_t ntr_gdb_symbol_frames_write(const ntr_gdb_regions *regions, ntr_gdb_symbol_kind kind, unsigned xlen,
                                   uint8_t *out);

/* Returns the frame rule of all code in symbol files. */
ntr_frame_rule ntr_gdb_symbol_frames_rule(unsigned xlen);

#endif
