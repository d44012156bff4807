/* Which files a compiler front end would open for a source, before it opens them. */
#ifndef NTR_DECISION_INCLUDES_H
#define NTR_DECISION_INCLUDES_H

#include <ntrace/allocator.h>
#include <ntrace/status.h>

#include <stddef.h>
#include <stdint.h>

/* Follows the preprocessor's lines of `file` and of the files that they name, in the folders of the arguments -I,
 * -iquote, -isystem, -idirafter, -include and -imacros. Returns NTR_OK if all are regular files of at most
 * `most` bytes; NTR_E_FORMAT, and the reason in `why`; NTR_E_IO if `file` is not there; NTR_E_MEMORY. Headers
 * below /usr are not followed. */
ntr_status ntr_includes_check(const char *file, const char *const *arguments, size_t count, uint64_t most,
                              const ntr_allocator *allocator, char *why, size_t size);

#endif
