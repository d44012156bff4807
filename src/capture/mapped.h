/* The files that a program maps for execution: each is copied when it is mapped, because it may be removed or replaced
 * while the program runs, and is valid for the part of the stream in which its code was executed.
 *
 * Blocks of the source have the number of the mapping from which they were translated. When a block is executed whose
 * mapping is not the current one at its address, the file of the current one ends there and that of the block begins.
 * Threads whose blocks come in another order switch back and forth; each part of the stream has the right file.
 *
 * Example: liba.so is mapped at 0x4000801000, unmapped, and libb.so is mapped there. The first block of libb.so is
 * executed at stream offset 900: the image of liba.so has `until` 900, that of libb.so has `from` 900. */
#ifndef NTR_CAPTURE_MAPPED_H
#define NTR_CAPTURE_MAPPED_H

#include "capture/record.h"

/* Copies the ELF files that a list of mappings names, as far as it was not read before: lines "START LENGTH OFFSET
 * PATH", hexadecimal. A file that cannot be read is named in record->unread. */
ntr_status ntr_capture_record_files(struct ntr_capture_record *record, const char *lines, size_t size);

/* Copies one ELF file, which is loaded with this bias; nothing happens if it is no RISC-V ELF file.
 * Errors: NTR_E_IO (it cannot be read), those of copies. */
ntr_status ntr_capture_record_elf(struct ntr_capture_record *record, const char *path, uint64_t bias);

/* Returns the number of the mapping of a line of the list, from 1; 0: none. */
uint32_t ntr_capture_mapped_line(const struct ntr_capture_record *record, uint32_t line);

/* Is mapping `number` (0: none) not the current one at the address, where another file was executed? */
bool ntr_capture_mapped_differs(struct ntr_capture_record *record, uint32_t number, uint64_t address);

/* Has nothing of a mapped file been executed yet? Stores its range of addresses. */
bool ntr_capture_mapped_is_first(const struct ntr_capture_record *record, uint32_t number, uint64_t *first,
                                 uint64_t *end);

/* Is the mapping the current one? */
bool ntr_capture_mapped_is_current(const struct ntr_capture_record *record, uint32_t number);

/* A name of generated code that has just become the current one is not that of the code before stream offset
 * `position`. */
void ntr_capture_mapped_begin(struct ntr_capture_record *record, uint32_t number, uint64_t position);

/* From stream offset `position` on (0: not known), mapping `number` is the current one. Stores the range of
 * addresses of what ends and what begins. Errors: NTR_E_MEMORY. */
ntr_status ntr_capture_mapped_change(struct ntr_capture_record *record, uint32_t number, uint64_t address,
                                     uint64_t position, uint64_t *first, uint64_t *end);

#endif
