/* Hash of the content of a page of code. The plugin records it, and `ntrace run --files` compares it with the pages of
 * ELF files: it is part of the bundle's format (docs/bundle.md, "pages").
 *
 * Each 64-bit word, little-endian, is mixed in by a multiplication; the shift brings high bits down to where the next
 * multiplication spreads them. Not for inputs chosen to collide: a match is confirmed by a second page or by bytes. */
#ifndef NTR_CHANNEL_PAGE_HASH_H
#define NTR_CHANNEL_PAGE_HASH_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { NTR_PAGE_BYTES = 4096 };

/* Hashes NTR_PAGE_BYTES bytes. */
static inline uint64_t ntr_page_hash(const void *page) {
    uint64_t hash = 0;
    for (size_t at = 0; at < NTR_PAGE_BYTES; at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, (const char *)page + at, sizeof word);
        hash = (hash ^ le64toh(word)) * UINT64_C(0x9fb21c651e98df25);
        hash ^= hash >> 32;
    }
    return hash;
}

#endif
