/* Little-endian numbers in bytes of any alignment. */
#ifndef NTR_BASE_LITTLE_ENDIAN_H
#define NTR_BASE_LITTLE_ENDIAN_H

#include <stddef.h>
#include <stdint.h>

static inline uint32_t ntr_little_32(const uint8_t *bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline uint64_t ntr_little_64(const uint8_t *bytes) {
    return ntr_little_32(bytes) | (uint64_t)ntr_little_32(bytes + 4) << 32;
}

/* Stores the lowest `size` bytes of the number. */
static inline void ntr_little_put(uint8_t *bytes, uint64_t value, size_t size) {
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)(value >> 8 * i);
}

#endif
