#include "capture/guest_unpack.h"

ntr_status ntr_guest_read_ext(const char *path, uint64_t begin, int file, uint64_t *left,
                              struct ntr_capture_reason *reason) {
    (void)begin, (void)file, (void)left;
    return ntr_capture_fail(reason, NTR_E_UNSUPPORTED,
                            "%s: an image of ext2, ext3 or ext4, and this build has no libext2fs; unpack it with"
                            " debugfs -R 'rdump / DIR' IMAGE",
                            path);
}
