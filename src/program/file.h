/* Files mapped into memory. */
#ifndef NTR_PROGRAM_FILE_H
#define NTR_PROGRAM_FILE_H

#include <ntrace/status.h>

#include <stddef.h>

/* Maps a file into memory for reading. `*reason` is set on errors: NTR_E_IO, NTR_E_FORMAT (empty). */
NTR_API ntr_status ntr_file_map(const char *path, void **mapping, size_t *size, const char **reason);

/* `mapping` may be NULL. */
NTR_API void ntr_file_unmap(void *mapping, size_t size);

#endif
