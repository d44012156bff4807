#include "bundle/decompress.h"

#include <stdio.h>

ntr_status ntr_decompress(ntr_bytes bytes, int file, uint64_t most, char why[NTR_DECOMPRESS_REASON]) {
    (void)bytes, (void)file, (void)most;
    snprintf(why, NTR_DECOMPRESS_REASON, "compressed, and this build has no libarchive");
    return NTR_E_UNSUPPORTED;
}
