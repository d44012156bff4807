/* Little-endian numbers in bytes of any alignment, and a hash of bytes. */
#ifndef NTR_BASE_BYTES_H
#define NTR_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t ntr_little_16(const uint8_t *bytes) {
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static inline uint32_t ntr_little_32(const uint8_t *bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline uint64_t ntr_little_64(const uint8_t *bytes) {
    return ntr_little_32(bytes) | (uint64_t)ntr_little_32(bytes + 4) << 32;
}

/* The number in `size` bytes, 8 at most. */
static inline uint64_t ntr_little(const uint8_t *bytes, size_t size) {
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

/* Stores the lowest `size` bytes of the number. */
static inline void ntr_little_put(uint8_t *bytes, uint64_t value, size_t size) {
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)(value >> 8 * i);
}

/* FNV-1a, 64 bits: the hash of what was hashed before (at first NTR_HASH_START) and these bytes. */
#define NTR_HASH_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t ntr_hash(uint64_t hash, const void *bytes, size_t size) {
    for (const uint8_t *byte = bytes; size; size--, byte++) hash = (hash ^ *byte) * UINT64_C(0x100000001b3);
    return hash;
}

/* The same for a text without its terminating NUL. */
static inline uint64_t ntr_hash_text(uint64_t hash, const char *text) {
    return ntr_hash(hash, text, strlen(text));
}

#endif
