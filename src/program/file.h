/* Files mapped into memory. */
#ifndef NTR_PROGRAM_FILE_H
#define NTR_PROGRAM_FILE_H

#include <ntrace/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maps a file into memory for reading. `*reason` is set on errors: NTR_E_IO, NTR_E_FORMAT (empty). */
NTR_API ntr_status ntr_file_map(const char *path, void **mapping, size_t *size, const char **reason);

/* When a file was changed last. */
typedef struct ntr_file_mark {
    uint64_t device, file, size;
    int64_t seconds, nanoseconds;
} ntr_file_mark;

/* Stores the mark of the file that now has this name. */
bool ntr_file_mark_get(const char *path, ntr_file_mark *mark);

/* `mapping` may be NULL. */
NTR_API void ntr_file_unmap(void *mapping, size_t size);

#endif
