/* Writing to a file descriptor. */
#ifndef NTR_BUNDLE_WRITE_ALL_H
#define NTR_BUNDLE_WRITE_ALL_H

#include <stdbool.h>
#include <stddef.h>

/* Write all bytes, also when that takes several calls. False: errno is the reason. */
bool ntr_write_all(int file, const void *data, size_t size);

#endif
