#include "capture/message_cache.h"
#include "base/allocator.h"

#include <string.h>

enum {
    ROOTS = 1 << 12, /* by the low bits of the number of the first block; a newer block replaces an older one */
    NODES_MAX = 1 << 16,
    MESSAGES_MAX = 1 << 14,
    WORDS_MAX = 40,  /* longer paths are not learned */
    FANOUT_MAX = 16, /* children of a node; of a jump with more targets only the first ones are known */
    BATCH_BYTES = 1 << 12,
};

/* Node of the tree: a block after the blocks on the way from the root. Node 0 and message 0 mean none. */
struct path_node {
    uint32_t word;
    uint32_t child, sibling;
    uint32_t message; /* of the path that ends here */
};

struct ntr_capture_message_cache {
    uint32_t generation; /* of ntr_capture_code, when the content was learned; 0: the cache has never been used */
    uint32_t nodes_used, messages_used;
    struct path_node roots[ROOTS];
    struct path_node nodes[NODES_MAX];
    struct ntr_capture_message messages[MESSAGES_MAX];
};

/* Nodes and messages are not cleared: memory that is not used is never touched. */
struct ntr_capture_message_cache *ntr_capture_message_cache_new(const ntr_allocator *allocator) {
    struct ntr_capture_message_cache *cache = ntr_realloc(allocator, NULL, 1, sizeof *cache);
    if (cache) cache->generation = 0;
    return cache;
}

void ntr_capture_message_cache_free(struct ntr_capture_message_cache *cache, const ntr_allocator *allocator) {
    ntr_dealloc(allocator, cache);
}

static void clear(struct ntr_capture_message_cache *cache) {
    cache->nodes_used = cache->messages_used = 1;
    memset(cache->roots, 0, sizeof cache->roots);
}

static struct path_node *root_of(struct ntr_capture_message_cache *cache, uint32_t start) {
    return &cache->roots[start % ROOTS];
}

static inline uint32_t child_of(const struct ntr_capture_message_cache *cache, const struct path_node *node, uint32_t word) {
    uint32_t child = node->child;
    while (child && cache->nodes[child].word != word) child = cache->nodes[child].sibling;
    return child;
}

/* Returns 0 when the node has FANOUT_MAX children. */
static uint32_t add_child(struct ntr_capture_message_cache *cache, struct path_node *node, uint32_t word) {
    unsigned fanout = 0;
    for (uint32_t child = node->child; child; child = cache->nodes[child].sibling) fanout++;
    if (fanout == FANOUT_MAX) return 0;
    uint32_t added = cache->nodes_used++;
    cache->nodes[added] = (struct path_node){.word = word, .sibling = node->child};
    return node->child = added;
}

void ntr_capture_message_cache_learn(struct ntr_capture_message_cache *cache, uint32_t start, const uint32_t *words,
                                     const uint32_t *end, const struct ntr_capture_message *message) {
    if (end - words > WORDS_MAX) return;
    if (cache->nodes_used + WORDS_MAX > NODES_MAX || cache->messages_used == MESSAGES_MAX) clear(cache);
    struct path_node *node = root_of(cache, start);
    if (node->word != start) *node = (struct path_node){.word = start};
    for (; words < end; words++) {
        uint32_t child = child_of(cache, node, *words);
        if (!child) child = add_child(cache, node, *words);
        if (!child) return;
        node = &cache->nodes[child];
    }
    if (!node->message) node->message = cache->messages_used++;
    cache->messages[node->message] = *message;
}

/* Returns the message of the path that begins in block `start` and continues with the words at *words, and moves
 * *words past the path. NULL: the path is not known. */
static const struct ntr_capture_message *find(struct ntr_capture_message_cache *cache, uint32_t start,
                                              const uint32_t **words, const uint32_t *end) {
    const struct path_node *node = root_of(cache, start);

    if (node->word != start) return NULL;
    for (const uint32_t *word = *words; word < end; word++) {
        uint32_t child = child_of(cache, node, *word);
        if (!child) return NULL;
        node = &cache->nodes[child];
        if (!node->message) continue;
        *words = word + 1;
        return &cache->messages[node->message];
    }
    return NULL;
}

/* Copies up to `most` messages, as far as there is space for them. */
static const uint32_t *take_batch(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, const uint32_t *words,
                                  const uint32_t *end, uint64_t most) {
    uint8_t *out = ntr_bundle_writer_room(harts->stream, BATCH_BYTES + NTR_CAPTURE_MESSAGE_MAX), *at = out;
    ntr_enc_repeats sum = {0};
    const struct ntr_capture_message *message;

    while (at < out + BATCH_BYTES && sum.runs < most && (message = find(hart->cache, hart->last, &words, end))) {
        memcpy(at, message->bytes, NTR_CAPTURE_MESSAGE_MAX);
        at += message->size;
        sum.runs++;
        sum.halfwords += message->halfwords;
        hart->time += message->instructions;
        hart->last = words[-1];
    }
    if (!sum.runs) return words;
    sum.bytes = (uint64_t)(at - out);
    sum.next = ntr_capture_shared(harts, hart->last)->address;
    ntr_bundle_writer_advance(harts->stream, sum.bytes);
    ntr_capture_note(harts, ntr_enc_push_repeats(hart->encoder, &sum));
    return words;
}

const uint32_t *ntr_capture_message_cache_take(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart,
                                               const uint32_t *words, const uint32_t *end) {
    const uint32_t *from = NULL;

    if (hart->cache->generation != harts->code.generation) clear(hart->cache);
    hart->cache->generation = harts->code.generation;
    while (words != from) {
        uint64_t most = ntr_enc_repeatable(hart->encoder, ntr_capture_shared(harts, hart->last)->address);
        from = words;
        if (most) words = take_batch(harts, hart, words, end, most);
    }
    return words;
}
