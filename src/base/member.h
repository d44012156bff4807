/* Access to struct members by offset and size, for tables: unsigned numbers of 1, 2, 4 or 8 bytes, and bool. */
#ifndef NTR_BASE_MEMBER_H
#define NTR_BASE_MEMBER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t ntr_member_get(const void *object, size_t offset, size_t size) {
    const char *at = (const char *)object + offset;
    uint8_t byte;
    uint16_t half;
    uint32_t word;
    uint64_t wide;
    switch (size) {
    case sizeof byte: return memcpy(&byte, at, sizeof byte), byte;
    case sizeof half: return memcpy(&half, at, sizeof half), half;
    case sizeof word: return memcpy(&word, at, sizeof word), word;
    default: return memcpy(&wide, at, sizeof wide), wide;
    }
}

/* The value must fit in the member. */
static inline void ntr_member_set(void *object, size_t offset, size_t size, uint64_t value) {
    char *at = (char *)object + offset;
    uint8_t byte = (uint8_t)value;
    uint16_t half = (uint16_t)value;
    uint32_t word = (uint32_t)value;
    switch (size) {
    case sizeof byte: memcpy(at, &byte, sizeof byte); break;
    case sizeof half: memcpy(at, &half, sizeof half); break;
    case sizeof word: memcpy(at, &word, sizeof word); break;
    default: memcpy(at, &value, sizeof value); break;
    }
}

#endif
