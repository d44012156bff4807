/* GNU build ids of ELF files, which show that a copy of a file is the file that ran. */
#ifndef NTR_PROGRAM_BUILD_ID_H
#define NTR_PROGRAM_BUILD_ID_H

#include <ntrace/allocator.h>
#include <ntrace/status.h>

/* Sets *id to the build id of a file as hexadecimal digits (new string, to be freed with ntr_dealloc). NULL with
 * NTR_OK: the file is no ELF file, or has no build id. Errors, with *id NULL: NTR_E_IO (errno), NTR_E_MEMORY, and
 * NTR_E_FORMAT when sections or notes are damaged and no build id is in the others. */
ntr_status ntr_build_id_of(const ntr_allocator *allocator, const char *path, char **id);

/* The same for a shared object that names no interpreter, that is a library or a static PIE; NULL for other files. */
ntr_status ntr_build_id_of_shared(const ntr_allocator *allocator, const char *path, char **id);

#endif
