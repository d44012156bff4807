#include "base/bytes.h"
#include "analysis/texts.h"

#include "base/allocator.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static size_t hash(const char *text) {
    const uint64_t value = ntr_hash_text(NTR_HASH_START, text);
    return (size_t)(value ^ value >> 32);
}

static char **slot_of(char **slots, size_t capacity, const char *text) {
    size_t at = hash(text) & (capacity - 1);
    while (slots[at] && strcmp(slots[at], text) != 0) at = (at + 1) & (capacity - 1);
    return &slots[at];
}

static bool grow(ntr_texts *texts) {
    size_t capacity = texts->capacity ? texts->capacity * 2 : 256;
    char **slots = ntr_alloc(texts->allocator, capacity, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < texts->capacity; i++)
        if (texts->slots[i]) *slot_of(slots, capacity, texts->slots[i]) = texts->slots[i];
    ntr_dealloc(texts->allocator, texts->slots);
    texts->slots = slots;
    texts->capacity = capacity;
    return true;
}

const char *ntr_texts_keep(ntr_texts *texts, const char *text) {
    if (!text) text = "";
    if (texts->count * 2 >= texts->capacity && !grow(texts)) return NULL;
    char **slot = slot_of(texts->slots, texts->capacity, text);
    if (*slot) return *slot;
    size_t size = strlen(text) + 1;
    char *copy = ntr_alloc(texts->allocator, size, 1);
    if (!copy) return NULL;
    memcpy(copy, text, size);
    texts->count++;
    return *slot = copy;
}

void ntr_texts_release(ntr_texts *texts) {
    for (size_t i = 0; i < texts->capacity; i++) ntr_dealloc(texts->allocator, texts->slots[i]);
    ntr_dealloc(texts->allocator, texts->slots);
    *texts = (ntr_texts){.allocator = texts->allocator};
}
