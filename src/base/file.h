/* Files whose names come from an input, which nobody has vouched for. */
#ifndef NTR_BASE_FILE_H
#define NTR_BASE_FILE_H

#include <ntrace/allocator.h>
#include <ntrace/status.h>

#include <stddef.h>
#include <stdint.h>

/* Opens a regular file of at most `most` bytes. Never waits, and never opens a device as a terminal. Returns the
 * descriptor and stores the size; -1, and errno: EINVAL (not a regular file), EFBIG (larger), those of open. */
int ntr_open_regular(const char *path, uint64_t most, uint64_t *size);

/* The same for a file in a folder that everybody may write to, whose name can be guessed: no link, and only a file of
 * this user or of root (errno: EPERM), as perf does. */
int ntr_open_own(const char *path, uint64_t most, uint64_t *size);

/* Reads a regular file as a whole, with a 0 after it. The result is released with ntr_dealloc.
 * Errors: NTR_E_IO (errno as above), NTR_E_MEMORY. */
ntr_status ntr_read_regular(const char *path, uint64_t most, const ntr_allocator *allocator, char **text, size_t *size);

/* Returns the reason of a failure of these functions, such as "not a regular file". */
const char *ntr_regular_error(int error);

#endif
