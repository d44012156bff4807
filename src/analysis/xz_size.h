/* The size of a .gnu_debugdata section when it is expanded: libdwfl expands it without a limit. */
#ifndef NTR_ANALYSIS_XZ_SIZE_H
#define NTR_ANALYSIS_XZ_SIZE_H

#include <stddef.h>
#include <stdint.h>

/* Returns the size, or more than `most` as soon as it is more, or when a decoder needs more than 128 MiB. What is
 * damaged has the size of the part before the damage. A build without liblzma returns 0. */
uint64_t ntr_xz_size(const uint8_t *bytes, size_t size, uint64_t most);

#endif
