#include "text/text_cache.h"

#include <stdlib.h>

enum { RING_BYTES = 8 << 20, SLOT_ALIGNMENT = 64 };

bool cli_text_cache_open(struct cli_text_cache *cache, unsigned bits) {
    /* calloc, not aligned_alloc: pages without a slot in use take no memory */
    *cache = (struct cli_text_cache){.shift = 64 - bits};
    cache->memory = calloc((sizeof *cache->slots << bits) + SLOT_ALIGNMENT, 1);
    if (!cache->memory) return false;
    cache->slots = (void *)(((uintptr_t)cache->memory + SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT);
    return true;
}

void cli_text_cache_close(struct cli_text_cache *cache) {
    free(cache->memory);
    free(cache->ring);
    *cache = (struct cli_text_cache){0};
}

const char *cli_text_cache_find(const struct cli_text_cache *cache, const struct cli_text_slot *slot,
                                const struct cli_text_key *key, size_t *size) {
    if (!slot->size || memcmp(&slot->key, key, sizeof *key) != 0) return NULL;
    *size = slot->size;
    if (slot->size <= CLI_TEXT_SHORT) return slot->text;
    return cache->put - slot->place <= RING_BYTES ? cache->ring + slot->place % RING_BYTES : NULL;
}

/* Puts a text into the ring, in one piece. Returns false when that is not possible. */
static bool put_long(struct cli_text_cache *cache, struct cli_text_slot *slot, const char *text, size_t size) {
    if (!cache->ring) cache->ring = malloc(RING_BYTES);
    if (!cache->ring || size > RING_BYTES) return false;
    if (RING_BYTES - cache->put % RING_BYTES < size) cache->put += RING_BYTES - cache->put % RING_BYTES;
    slot->place = cache->put;
    memcpy(cache->ring + cache->put % RING_BYTES, text, size);
    cache->put += size;
    return true;
}

void cli_text_cache_store(struct cli_text_cache *cache, struct cli_text_slot *slot, const struct cli_text_key *key,
                          const char *text, size_t size) {
    slot->key = *key;
    slot->size = size;
    if (size <= CLI_TEXT_SHORT)
        memcpy(slot->text, text, size);
    else if (!put_long(cache, slot, text, size))
        slot->size = 0;
}
