/* Conversion of config structs between the versions of the caller's headers and of the library. */
#ifndef NTR_BASE_CONFIG_H
#define NTR_BASE_CONFIG_H

#include <ntrace/status.h>

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Copies a config struct, whose first member is a size_t with its size, into this library's layout of `size` bytes.
 *
 * Configs grow at their end only. Members that the caller's header does not have are set to 0, which always means the
 * default. Members that this library does not have are ignored; a caller that needs them checks ntr_version().
 * Errors: NTR_E_INVALID (NULL, or a size smaller than the member that holds it). */
ntr_status ntr_config_load(void *to, size_t size, const void *from);

/* Copies a config in this library's layout back to the caller's struct, after the library changed it.
 * Errors: NTR_E_UNSUPPORTED (a member that the caller's header does not have was changed from zero). */
ntr_status ntr_config_store(void *to, const void *from);

/* ---- Access to struct members by offset and size, for tables: unsigned numbers of 1, 2, 4 or 8 bytes, and bool. */

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
