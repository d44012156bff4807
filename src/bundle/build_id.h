/* GNU build ids. */
#ifndef NTR_BUNDLE_BUILD_ID_H
#define NTR_BUNDLE_BUILD_ID_H

#include <ntrace/allocator.h>

/* The build id of an ELF file as hexadecimal digits (new string, to be freed with ntr_dealloc), or NULL. */
char *ntr_build_id_of(const ntr_allocator *allocator, const char *path);

#endif
