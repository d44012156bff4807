#include "analysis/xz_size.h"

uint64_t ntr_xz_size(const uint8_t *bytes, size_t size, uint64_t most) {
    (void)bytes, (void)size, (void)most;
    return 0;
}
