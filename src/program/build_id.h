/* GNU build ids of ELF files, which show that a copy of a file is the file that ran. */
#ifndef NTR_PROGRAM_BUILD_ID_H
#define NTR_PROGRAM_BUILD_ID_H

#include <ntrace/allocator.h>

/* Returns the build id of an ELF file as hexadecimal digits (new string, to be freed with ntr_dealloc), or NULL. */
char *ntr_build_id_of(const ntr_allocator *allocator, const char *path);

/* The same for a shared object that names no interpreter, that is a library or a static PIE; NULL for other files. */
char *ntr_build_id_of_shared(const ntr_allocator *allocator, const char *path);

#endif
