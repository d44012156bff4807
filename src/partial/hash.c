/* The checksum of blocks, and the digest that identifies captures and files: each 64-bit word, little-endian, is mixed
 * in by a multiplication. */
#include "base/bytes.h"
#include "partial/blocks.h"

#include <endian.h>
#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9fb21c651e98df25);
    return hash ^ hash >> 29;
}

uint64_t ntr_partial_hash(uint64_t seed, const void *data, size_t size) {
    const unsigned char *bytes = data;
    uint64_t hash = mix(seed ^ UINT64_C(0x9e3779b97f4a7c15), size), word;
    size_t at = 0;
    for (; size - at >= sizeof word; at += sizeof word) {
        memcpy(&word, bytes + at, sizeof word);
        hash = mix(hash, le64toh(word));
    }
    return mix(hash, ntr_little(bytes + at, size - at));
}

void ntr_partial_digest_add(ntr_partial_digest *d, const void *data, size_t size) {
    const unsigned char *bytes = data;
    while (size) {
        const unsigned filled = (unsigned)(d->bytes % sizeof d->word);
        if (!filled && size >= sizeof d->word) {
            memcpy(&d->word, bytes, sizeof d->word);
            d->word = le64toh(d->word);
            bytes += sizeof d->word;
            size -= sizeof d->word;
            d->bytes += sizeof d->word;
        } else {
            d->word |= (uint64_t)*bytes++ << 8 * filled;
            size--;
            d->bytes++;
        }
        if (d->bytes % sizeof d->word) continue;
        d->low = mix(d->low ^ UINT64_C(0x9e3779b97f4a7c15), d->word);
        d->high = mix(d->high ^ UINT64_C(0xc2b2ae3d27d4eb4f), d->word + d->low);
        d->word = 0;
    }
}

void ntr_partial_digest_finish(ntr_partial_digest *d, uint64_t id[2]) {
    id[0] = mix(mix(d->low, d->word), d->bytes);
    id[1] = mix(mix(d->high, d->word), d->bytes);
}
