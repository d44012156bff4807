#include "capture/guest_unpack.h"

ntr_status ntr_guest_decompress(ntr_bytes bytes, int file, const char *path, struct ntr_capture_reason *reason) {
    (void)bytes, (void)file;
    return ntr_capture_fail(
        reason, NTR_E_UNSUPPORTED,
        "%s: compressed, and this build has no libarchive; decompress it with gzip -d, xz -d or zstd -d", path);
}
