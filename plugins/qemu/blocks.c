/* The table of blocks. Callers hold plugin_lock. */
#include "shared.h"
#include "riscv.h"

#include <stdlib.h>
#include <string.h>

/* A hash table: address to the newest entry of a chain. Open addressing, at most half full. */
struct index {
    struct index_slot {
        uint64_t address;
        uint32_t entry; /* 0: free */
    } *slots;
    uint32_t used, size; /* a power of two */
};

static struct index by_address, loops_by_end;
static uint32_t *older_block, *older_loop; /* the chains: next older entry, by block number and loop index + 1 */
static uint32_t older_block_size, older_loop_size;

static struct index_slot *find_slot(const struct index *index, uint64_t address) {
    uint32_t at = (uint32_t)(address * 0x9e3779b97f4a7c15u >> 32);
    for (;; at++) {
        struct index_slot *slot = &index->slots[at & (index->size - 1)];
        if (!slot->entry || slot->address == address) return slot;
    }
}

static uint32_t newest(const struct index *index, uint64_t address) {
    return index->size ? find_slot(index, address)->entry : 0;
}

static bool grow(struct index *index) {
    struct index larger = {.used = index->used, .size = index->size ? 2 * index->size : 4096};

    larger.slots = calloc(larger.size, sizeof *larger.slots);
    if (!larger.slots) return false;
    for (uint32_t i = 0; i < index->size; i++) {
        if (index->slots[i].entry) *find_slot(&larger, index->slots[i].address) = index->slots[i];
    }
    free(index->slots);
    *index = larger;
    return true;
}

/* Insert `entry` at the front of the chain of this address. *older[entry] becomes the entry that was there. */
static bool chain(struct index *index, uint64_t address, uint32_t entry, uint32_t **older, uint32_t *older_size) {
    if (2 * (index->used + 1) > index->size && !grow(index)) return false;
    if (entry >= *older_size) {
        uint32_t size = *older_size ? 2 * *older_size : 4096;
        uint32_t *larger = realloc(*older, size * sizeof *larger);
        if (!larger) return false;
        *older = larger;
        *older_size = size;
    }
    struct index_slot *slot = find_slot(index, address);
    if (!slot->entry) index->used++;
    (*older)[entry] = slot->entry;
    *slot = (struct index_slot){address, entry};
    return true;
}

bool blocks_known(uint64_t address) {
    return newest(&by_address, address) != 0;
}

static bool is_same(const struct channel_block *block, const struct translation *t) {
    return block->size == t->size && block->flags == t->flags && block->privilege == t->privilege &&
           block->file == t->file && block->names == t->names && block->instructions == t->instructions &&
           memcmp(channel->code + block->code, t->bytes, t->size) == 0;
}

static uint32_t find_block(const struct translation *t) {
    uint32_t number = newest(&by_address, t->address);
    while (number && !is_same(&channel->blocks[number], t)) number = older_block[number];
    return number;
}

unsigned blocks_counter_count(const struct translation *t) {
    unsigned counted = channel_counted(t->marks, t->flags);
    return counted || t->flags & CHANNEL_BLOCK_LOOP ? counted + 1 : 0;
}

/* Fill the entry behind the last one. The reader ignores it until `blocks` is stored. */
static bool fill(uint32_t number, const struct translation *t) {
    struct channel_head *head = &channel->head;
    struct channel_block *block = &channel->blocks[number];
    uint64_t code = (atomic_load(&head->code) + 1) & ~(uint64_t)1, counters = atomic_load(&head->counters);
    uint64_t code_end = code + ((t->size + 1u) & ~1u) + 2u * t->marks;
    uint64_t counters_end = counters + blocks_counter_count(t);

    if (code_end > CHANNEL_CODE || counters_end > CHANNEL_COUNTERS) return false;
    *block = (struct channel_block){.address = t->address,
                                    .code = code,
                                    .size = t->size,
                                    .counters = (uint32_t)counters,
                                    .instructions = t->instructions,
                                    .marks = t->marks,
                                    .file = t->file,
                                    .names = t->names,
                                    .flags = t->flags,
                                    .privilege = t->privilege};
    memcpy(channel->code + code, t->bytes, t->size);
    memcpy((void *)(uintptr_t)channel_marks(channel, block), t->mark_at, 2u * t->marks);
    atomic_store(&head->code, code_end);
    atomic_store(&head->counters, counters_end);
    return true;
}

static bool add_loop(uint32_t number, const struct translation *t) {
    uint32_t loop = atomic_load(&channel->head.loops);

    if (loop >= CHANNEL_LOOPS) return false;
    if (!chain(&loops_by_end, t->address + t->size, loop + 1, &older_loop, &older_loop_size)) return false;
    channel->loops[loop] = number;
    atomic_store(&channel->head.loops, loop + 1);
    return true;
}

uint32_t blocks_number(const struct translation *t) {
    uint32_t number = find_block(t);

    if (number) return number;
    number = atomic_load(&channel->head.blocks);
    if (number >= CHANNEL_BLOCKS || !fill(number, t) || (t->flags & CHANNEL_BLOCK_LOOP && !add_loop(number, t)) ||
        !chain(&by_address, t->address, number, &older_block, &older_block_size))
        return 0;
    atomic_store_explicit(&channel->head.blocks, number + 1, memory_order_release);
    return number;
}

uint64_t *blocks_counters(uint32_t number) {
    return &channel->counters[channel->blocks[number].counters];
}

/* Every block that begins behind the loop has to report its count; blocks translated before the loop was known do not.
 * And no other loop may end where this one begins, because a counted block records nothing. */
bool blocks_loop_allowed(const struct translation *loop) {
    if (newest(&loops_by_end, loop->address)) return false;
    return find_block(loop) || !blocks_known(loop->address + loop->size);
}

uint32_t *blocks_loops_ending(uint64_t address, uint32_t *count) {
    uint32_t *numbers = NULL, first = newest(&loops_by_end, address);

    *count = 0;
    for (uint32_t loop = first; loop; loop = older_loop[loop]) ++*count;
    if (*count) numbers = malloc(*count * sizeof *numbers);
    if (!numbers) *count = 0;
    for (uint32_t loop = first, i = 0; numbers && loop; loop = older_loop[loop])
        numbers[i++] = channel->loops[loop - 1];
    return numbers;
}

unsigned blocks_instructions_before(const struct channel_block *block, uint64_t address) {
    const uint8_t *code = channel->code + block->code;
    uint32_t at = 0;
    unsigned n = 0;

    for (; at < block->size; n++, at += riscv_is_short(code[at]) ? 2 : 4)
        if (block->address + at == address) return n;
    return CHANNEL_ALL;
}
