/* Files as bytes in memory. */
#ifndef NTR_BUNDLE_MAP_FILE_H
#define NTR_BUNDLE_MAP_FILE_H

#include <ntrace/bytes.h>
#include <ntrace/status.h>

/* Map the whole file; an empty file gives no bytes. Errors: NTR_E_IO; errno says why. */
ntr_status ntr_map_file(const char *path, ntr_bytes *bytes);

void ntr_unmap_file(ntr_bytes bytes);

#endif
