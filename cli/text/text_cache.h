/* Cache of ready text. Executed code repeats: the text of a span is made once and copied from then on.
 *
 * A slot holds the key and a short text, in consecutive cache lines, so that cli_text_cache_fetch can load both before
 * they are needed. A longer text is in a ring: the newest text overwrites the oldest. Memory is bounded, and a new text
 * replaces that of another key with the same hash. */
#ifndef CLI_TEXT_TEXT_CACHE_H
#define CLI_TEXT_TEXT_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Everything that the text depends on. */
struct cli_text_key {
    uint64_t a, b, c, d;
};

enum { CLI_TEXT_SHORT = 152, CLI_TEXT_FIRST = 80 };

struct cli_text_slot {
    struct cli_text_key key;
    uint64_t size; /* 0: empty */
    union {
        char text[CLI_TEXT_SHORT];
        uint64_t place; /* size > CLI_TEXT_SHORT: the number of bytes that were put into the ring before this text */
    };
};

_Static_assert(sizeof(struct cli_text_slot) == 192, "a slot is three cache lines");

struct cli_text_cache {
    struct cli_text_slot *slots;
    void *memory;   /* of the slots, not aligned */
    unsigned shift; /* 64 - number of bits of a slot number */
    char *ring;     /* NULL: no long text yet */
    uint64_t put;   /* number of bytes that were put into the ring */
};

/* Opens a cache of 1 << `bits` slots. Returns false when out of memory. */
bool cli_text_cache_open(struct cli_text_cache *cache, unsigned bits);
void cli_text_cache_close(struct cli_text_cache *cache);

/* Returns the slot for a key; it may have another key. */
static inline struct cli_text_slot *cli_text_cache_slot(const struct cli_text_cache *cache, struct cli_text_key key) {
    const uint64_t mix = (key.a >> 1) * UINT64_C(0x9e3779b97f4a7c15) + key.b * UINT64_C(0xd6e8feb86659fd93) +
                         key.c * UINT64_C(0xc2b2ae3d27d4eb4f) + key.d * UINT64_C(0x165667b19e3779f9);

    return &cache->slots[mix >> cache->shift];
}

/* Begins to load the slot. */
static inline void cli_text_slot_fetch(const struct cli_text_slot *slot) {
    __builtin_prefetch(slot);
    __builtin_prefetch(slot->text + CLI_TEXT_FIRST - 1);
}

/* Returns whether the slot has the text of the key, and the text is a short one. */
static inline bool cli_text_slot_is_short(const struct cli_text_slot *slot, struct cli_text_key key) {
    const struct cli_text_key *k = &slot->key;
    const uint64_t difference = (k->a ^ key.a) | (k->b ^ key.b) | (k->c ^ key.c) | (k->d ^ key.d);

    return !difference && slot->size - 1 < CLI_TEXT_SHORT;
}

/* Copies a short text to `at`, where CLI_TEXT_SHORT bytes may be overwritten. Returns the end of the text. */
static inline char *cli_text_slot_copy(const struct cli_text_slot *slot, char *at) {
    memcpy(at, slot->text, CLI_TEXT_FIRST); /* a fixed size is faster than `size` */
    if (slot->size > CLI_TEXT_FIRST)
        memcpy(at + CLI_TEXT_FIRST, slot->text + CLI_TEXT_FIRST, CLI_TEXT_SHORT - CLI_TEXT_FIRST);
    return at + slot->size;
}

/* Returns the text of the key, or NULL if the cache does not have it. Valid until the next text is stored. */
const char *cli_text_cache_find(const struct cli_text_cache *cache, const struct cli_text_slot *slot,
                                const struct cli_text_key *key, size_t *size);

/* Stores a text in the slot, or empties it when that is not possible. */
void cli_text_cache_store(struct cli_text_cache *cache, struct cli_text_slot *slot, const struct cli_text_key *key,
                          const char *text, size_t size);

#endif
