/* Files of a bundle as bytes in memory. */
#ifndef NTR_BUNDLE_MAP_FILE_H
#define NTR_BUNDLE_MAP_FILE_H

#include "bundle/bundle.h"

/* Map the whole file; an empty file gives no bytes. Errors: NTR_E_IO. */
ntr_status ntr_bundle_map(ntr_bundle *bundle, const char *path, ntr_bytes *bytes);

void ntr_bundle_unmap(ntr_bytes bytes);

#endif
