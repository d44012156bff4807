#include "wire/scan.h"

#include "wire/mdo.h"

size_t ntr_scan_end(const uint8_t *data, size_t size) {
    size_t i = 0;
    for (; size - i >= 8; i += 8) {
        uint64_t word = ntr_load8(data + i);
        uint64_t ends = word & word >> 1 & NTR_BYTES_LOW;
        if (ends) return i + (size_t)(__builtin_ctzll(ends) / 8);
    }
    while (i < size && ntr_mseo_of(data[i]) != NTR_MSEO_MESSAGE) i++;
    return i;
}
