/* Files of a bundle: mapping, writing and removing them. */
#ifndef NTR_BUNDLE_FILES_H
#define NTR_BUNDLE_FILES_H

#include <ntrace/allocator.h>
#include <ntrace/bytes.h>
#include <ntrace/status.h>

#include <stdbool.h>
#include <stddef.h>

/* ---- Files as bytes in memory. */

/* Map the whole file; an empty file gives no bytes. Errors: NTR_E_IO; errno says why. */
ntr_status ntr_map_file(const char *path, ntr_bytes *bytes);

void ntr_unmap_file(ntr_bytes bytes);

/* ---- Removal of a folder. */

/* Remove a folder of files, two levels deep. */
void ntr_bundle_remove(const char *folder);

/* ---- Writing to a file descriptor. */

/* Write all bytes, also when that takes several calls. False: errno is the reason. */
bool ntr_write_all(int file, const void *data, size_t size);

#endif
