#include "capture/message_cache.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROOTS = 1 << 12, /* by the low bits of the number of the first block */
    NODES = 1 << 16,
    PATHS = 1 << 14,
    WORDS_MAX = 40,
    FANOUT_MAX = 16, /* where a jump leads to more places, only the first ones are known */
    BATCH_BYTES = 1 << 12,
};

/* A block, behind those that lead to it from the root. Node and path 0 are none. */
struct node {
    uint32_t word;
    uint32_t child, sibling;
    uint32_t path; /* that ends here */
};

struct run_paths {
    uint32_t generation; /* of run_code: what is here was learned in it; 0: nothing has been */
    uint32_t nodes_used, paths_used;
    struct node roots[ROOTS]; /* the blocks that ways begin with */
    struct node nodes[NODES];
    struct run_path paths[PATHS];
};

struct run_paths *run_paths_new(void) {
    return calloc(1, sizeof(struct run_paths)); /* touched as far as it is used */
}

void run_paths_free(struct run_paths *paths) {
    free(paths);
}

static void forget(struct run_paths *paths) {
    paths->nodes_used = paths->paths_used = 1;
    memset(paths->roots, 0, sizeof paths->roots);
}

static struct node *root_of(struct run_paths *paths, uint32_t start) {
    return &paths->roots[start % ROOTS];
}

static inline uint32_t child_of(const struct run_paths *paths, const struct node *node, uint32_t word) {
    uint32_t child = node->child;
    while (child && paths->nodes[child].word != word) child = paths->nodes[child].sibling;
    return child;
}

/* Returns 0 where there are too many already. */
static uint32_t add_child(struct run_paths *paths, struct node *node, uint32_t word) {
    unsigned fanout = 0;
    for (uint32_t child = node->child; child; child = paths->nodes[child].sibling) fanout++;
    if (fanout == FANOUT_MAX) return 0;
    uint32_t added = paths->nodes_used++;
    paths->nodes[added] = (struct node){.word = word, .sibling = node->child};
    return node->child = added;
}

void run_paths_learn(struct run_paths *paths, uint32_t start, const uint32_t *words, const uint32_t *end,
                     const struct run_path *path) {
    if (end - words > WORDS_MAX) return;
    if (paths->nodes_used + WORDS_MAX > NODES || paths->paths_used == PATHS) forget(paths);
    struct node *node = root_of(paths, start);
    if (node->word != start) *node = (struct node){.word = start};
    for (; words < end; words++) {
        uint32_t child = child_of(paths, node, *words);
        if (!child) child = add_child(paths, node, *words);
        if (!child) return;
        node = &paths->nodes[child];
    }
    if (!node->path) node->path = paths->paths_used++;
    paths->paths[node->path] = *path;
}

/* Where a way ends that begins with block `start` and goes on as the words tell; its words are passed. NULL: it is not
 * known. */
static const struct run_path *find(struct run_paths *paths, uint32_t start, const uint32_t **words,
                                   const uint32_t *end) {
    const struct node *node = root_of(paths, start);

    if (node->word != start) return NULL;
    for (const uint32_t *word = *words; word < end; word++) {
        uint32_t child = child_of(paths, node, *word);
        if (!child) return NULL;
        node = &paths->nodes[child];
        if (!node->path) continue;
        *words = word + 1;
        return &paths->paths[node->path];
    }
    return NULL;
}

/* As many ways as have room for their messages. */
static const uint32_t *take_batch(struct run_harts *harts, struct run_hart *hart, const uint32_t *words,
                                  const uint32_t *end, uint64_t most) {
    uint8_t *out = run_stream_room(harts->stream, BATCH_BYTES + RUN_MESSAGE_MAX), *at = out;
    ntr_repeats sum = {0};
    const struct run_path *path;

    while (at < out + BATCH_BYTES && sum.runs < most && (path = find(hart->paths, hart->last, &words, end))) {
        memcpy(at, path->message, RUN_MESSAGE_MAX);
        at += path->size;
        sum.runs++;
        sum.halfwords += path->halfwords;
        hart->time += path->instructions;
        hart->last = words[-1];
    }
    if (!sum.runs) return words;
    sum.bytes = (uint64_t)(at - out);
    sum.next = run_hart_shared(harts, hart->last)->address;
    run_stream_wrote(harts->stream, sum.bytes);
    run_hart_note(harts, ntr_encoder_push_repeats(hart->encoder, &sum));
    return words;
}

const uint32_t *run_paths_take(struct run_harts *harts, struct run_hart *hart, const uint32_t *words,
                               const uint32_t *end) {
    const uint32_t *from = NULL;

    if (hart->paths->generation != harts->code.generation) forget(hart->paths);
    hart->paths->generation = harts->code.generation;
    while (words != from) {
        uint64_t most = ntr_encoder_repeats(hart->encoder, run_hart_shared(harts, hart->last)->address);
        from = words;
        if (most) words = take_batch(harts, hart, words, end, most);
    }
    return words;
}
