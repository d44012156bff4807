/* Lists of program counters: divides them into code blocks for the classifier.
 *
 * Idea. When execution reaches an address for the first time, the block there is decoded from the program and stored
 * with the program counters of its instructions. Later executions compare the list with the stored program counters
 * in one loop, without decoding. Each block also stores its last two successors, so that most blocks need no
 * look-up.
 *
 * Invariant. The program counters pushed so far are those of the blocks entered, followed by the first `at` of
 * `now`. If the list differs from `now`, execution left the block in its middle: the part that executed is entered
 * as a block of its own.
 *
 * Example. The list is 0x10 0x12 0x14 0x10 0x12 0x80, and 0x14 is a branch to 0x10. The block at 0x10 has three
 * instructions. It is decoded and entered once. The second time 0x80 differs from 0x14: a block of 0x10 and 0x12 is
 * entered, and the classifier reports an interrupt, as 0x80 does not follow it. */
#include "ingress/pc_list.h"

#include "base/allocator.h"
#include "ingress/code_block.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_INSTRUCTIONS = 1024, /* instructions of the longest block */
    CHUNK_BLOCKS = 256,
    CHUNK_PCS = 16384,
    BLOCKS_MAX = 1 << 19,      /* all blocks are dropped at this number, so that memory is bounded */
    SUCCESSORS = 2,
};

/* Successor of a block. The address is stored here to avoid a read of another block. */
typedef struct successor {
    uint64_t start; /* NTR_ADDRESS_UNKNOWN: none */
    struct listed_block *block;
} successor;

typedef struct listed_block {
    ntr_code_block code;
    uint64_t *pcs;      /* of its instructions, including ECALL or EBREAK at its end */
    uint32_t count;
    uint8_t oldest;     /* index in `next` of the entry to replace */
    successor next[SUCCESSORS];
} listed_block;

typedef struct chunk {
    struct chunk *before;
} chunk;

typedef struct block_chunk {
    chunk base;
    listed_block blocks[CHUNK_BLOCKS];
} block_chunk;

typedef struct pc_chunk {
    chunk base;
    uint64_t pcs[CHUNK_PCS];
} pc_chunk;

struct pc_list {
    chunk *blocks, *pcs;     /* newest chunk of each */
    uint32_t block_count, pcs_used;
    listed_block **slots;    /* open addressing by first address; a power of two */
    size_t slot_count;
    listed_block *now;       /* block that is executing; NULL: none */
    listed_block *last;      /* the previous block; NULL: none */
    uint32_t at;             /* program counters of `now` executed so far */
    uint64_t position;       /* program counters pushed so far */
    uint64_t *cuts;          /* addresses where blocks must start (config.cuts), sorted */
    size_t cut_count;
};

/* ---- memory ------------------------------------------------------------------------------------------ */

static void free_chunks(const ntr_allocator *allocator, chunk **newest) {
    while (*newest) {
        chunk *before = (*newest)->before;
        ntr_dealloc(allocator, *newest);
        *newest = before;
    }
}

static bool add_chunk(const ntr_allocator *allocator, chunk **newest, size_t size) {
    chunk *added = ntr_alloc(allocator, 1, size);
    if (!added) return false;
    added->before = *newest;
    *newest = added;
    return true;
}

static void drop_blocks(const ntr_allocator *allocator, pc_list *list) {
    free_chunks(allocator, &list->blocks);
    free_chunks(allocator, &list->pcs);
    list->block_count = 0;
    list->pcs_used = CHUNK_PCS;
    list->last = NULL;
    for (size_t i = 0; i < list->slot_count; i++) list->slots[i] = NULL;
}

static listed_block *new_block(const ntr_allocator *allocator, pc_list *list) {
    uint32_t place = list->block_count % CHUNK_BLOCKS;
    if (place == 0 && !add_chunk(allocator, &list->blocks, sizeof(block_chunk))) return NULL;
    list->block_count++;
    return &((block_chunk *)list->blocks)->blocks[place];
}

static uint64_t *new_pcs(const ntr_allocator *allocator, pc_list *list, uint32_t count) {
    if (list->pcs_used + count > CHUNK_PCS) {
        if (!add_chunk(allocator, &list->pcs, sizeof(pc_chunk))) return NULL;
        list->pcs_used = 0;
    }
    uint64_t *pcs = ((pc_chunk *)list->pcs)->pcs + list->pcs_used;
    list->pcs_used += count;
    return pcs;
}

static size_t slot_of(const pc_list *list, uint64_t pc) {
    return (size_t)((pc >> 1) * 0x9e3779b97f4a7c15u >> 20) & (list->slot_count - 1);
}

static void put_slot(pc_list *list, listed_block *block) {
    size_t i = slot_of(list, block->code.start);
    while (list->slots[i]) i = (i + 1) & (list->slot_count - 1);
    list->slots[i] = block;
}

static bool grow_slots(const ntr_allocator *allocator, pc_list *list) {
    size_t old_count = list->slot_count;
    listed_block **old = list->slots;
    size_t count = old_count ? 2 * old_count : 1024;
    listed_block **slots = ntr_alloc(allocator, count, sizeof(listed_block *));
    if (!slots) return false;
    list->slots = slots;
    list->slot_count = count;
    for (size_t i = 0; i < old_count; i++)
        if (old[i]) put_slot(list, old[i]);
    ntr_dealloc(allocator, old);
    return true;
}

/* ---- classification ----------------------------------------------------------------------------------- */

static bool is_cut(const pc_list *list, uint64_t address) {
    size_t low = 0, high = list->cut_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (list->cuts[middle] < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->cut_count && list->cuts[low] == address;
}

/* Decodes the block at `pc`, of at most `most` instructions, and stores their addresses in `pcs`. Returns their
 * number. */
static uint32_t classify(const ntr_classifier *c, uint64_t pc, uint32_t most, ntr_code_block *code, uint64_t *pcs) {
    ntr_context context = {.scontext = c->state.scontext,
                           .hcontext = c->state.hcontext,
                           .prv = NTR_PRV_UNKNOWN,
                           .has_scontext = true,
                           .has_hcontext = true};
    uint32_t count = 0;
    ntr_insn insn;
    ntr_code_block_begin(code, pc);
    while (count < most && (!count || !is_cut(c->pcs, pc)) &&
           ntr_program_insn(c->config.program, ntr_place_at(&context, 0, pc), &insn) == NTR_OK) {
        pcs[count++] = pc;
        pc += insn.size;
        if (ntr_code_block_append(code, &insn)) break;
    }
    return count;
}

static uint32_t longest_block(const ntr_classifier *c) {
    return c->config.retires && c->config.retires < BLOCK_INSTRUCTIONS ? c->config.retires : BLOCK_INSTRUCTIONS;
}

static ntr_status no_image(ntr_classifier *c, uint64_t pc) {
    snprintf(c->error, sizeof c->error, "pc %" PRIu64 ": no program image at 0x%" PRIx64, c->pcs->position + 1, pc);
    return NTR_E_NO_IMAGE;
}

static ntr_status add_block(ntr_classifier *c, uint64_t pc, listed_block **block) {
    const ntr_allocator *allocator = c->config.allocator;
    pc_list *list = c->pcs;
    uint64_t pcs[BLOCK_INSTRUCTIONS];
    ntr_code_block code;
    uint32_t count = classify(c, pc, longest_block(c), &code, pcs);
    if (!count) return no_image(c, pc);
    if (list->block_count == BLOCKS_MAX) drop_blocks(allocator, list);
    if (2 * (size_t)list->block_count >= list->slot_count && !grow_slots(allocator, list)) return NTR_E_MEMORY;
    uint64_t *kept = new_pcs(allocator, list, count);
    *block = kept ? new_block(allocator, list) : NULL;
    if (!*block) return NTR_E_MEMORY;
    memcpy(kept, pcs, count * sizeof *kept);
    **block = (listed_block){.code = code, .pcs = kept, .count = count};
    for (unsigned i = 0; i < SUCCESSORS; i++) (*block)->next[i].start = NTR_ADDRESS_UNKNOWN;
    put_slot(list, *block);
    return NTR_OK;
}

static ntr_status find_block(ntr_classifier *c, uint64_t pc, listed_block **block) {
    pc_list *list = c->pcs;
    if (list->slot_count)
        for (size_t i = slot_of(list, pc); list->slots[i]; i = (i + 1) & (list->slot_count - 1))
            if (list->slots[i]->code.start == pc) {
                *block = list->slots[i];
                return NTR_OK;
            }
    return add_block(c, pc, block);
}

/* ---- following the list ------------------------------------------------------------------------------- */

/* Returns the block at `pc`, or NULL with the reason in *status. */
static listed_block *go_to(ntr_classifier *c, uint64_t pc, ntr_status *status) {
    pc_list *list = c->pcs;
    listed_block *last = list->last, *found = NULL;
    list->at = 0;
    for (unsigned i = 0; last && i < SUCCESSORS; i++)
        if (last->next[i].start == pc) return last->next[i].block;
    *status = find_block(c, pc, &found);
    if (*status != NTR_OK) return NULL;
    if (last && list->last == last) { /* the blocks were not dropped */
        last->next[last->oldest] = (successor){pc, found};
        last->oldest = (uint8_t)((last->oldest + 1) % SUCCESSORS);
    }
    return found;
}

static uint32_t common_length(const uint64_t *a, const uint64_t *b, uint32_t count) {
    uint32_t i = 0;
    while (i < count && a[i] == b[i]) i++;
    return i;
}

/* Execution left the block in its middle: enters the part that executed. */
ntr_status ntr_pc_list_finish(ntr_classifier *c) {
    pc_list *list = c->pcs;
    if (!list->now) return NTR_OK;
    uint64_t pcs[BLOCK_INSTRUCTIONS];
    ntr_code_block part;
    classify(c, list->now->code.start, list->at, &part, pcs);
    list->now = list->last = NULL;
    c->number = list->position - list->at + 1;
    return ntr_classifier_enter(c, &part);
}

ntr_status ntr_classifier_push_many(ntr_classifier *c, const uint64_t *pcs, size_t count) {
    pc_list *list = c->pcs;
    if (!list) return NTR_E_STATE;
    ntr_status status = NTR_OK;
    for (const uint64_t *end = pcs + count; pcs < end && status == NTR_OK;) {
        listed_block *now = list->now ? list->now : go_to(c, *pcs, &status);
        if (!now) break;
        list->now = now;
        uint32_t left = now->count - list->at;
        uint32_t most = (size_t)(end - pcs) < left ? (uint32_t)(end - pcs) : left;
        uint32_t common = common_length(pcs, now->pcs + list->at, most);
        pcs += common;
        list->position += common;
        list->at += common;
        if (list->at == now->count) {
            list->last = now;
            list->now = NULL;
            if (ntr_classifier_enter_fast(c, &now->code)) continue;
            c->number = list->position - now->count + 1;
            status = ntr_classifier_enter(c, &now->code);
        } else if (common < most) {
            status = ntr_pc_list_finish(c);
        }
    }
    return status;
}

ntr_status ntr_classifier_push(ntr_classifier *c, uint64_t pc) {
    return ntr_classifier_push_many(c, &pc, 1);
}

/* ---- allocation --------------------------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

ntr_status ntr_pc_list_new(ntr_classifier *c) {
    const ntr_allocator *allocator = c->config.allocator;
    c->pcs = ntr_alloc(allocator, 1, sizeof *c->pcs);
    if (!c->pcs) return NTR_E_MEMORY;
    c->pcs->pcs_used = CHUNK_PCS;
    if (!c->config.cut_count) return NTR_OK;
    c->pcs->cuts = ntr_alloc(allocator, c->config.cut_count, sizeof *c->pcs->cuts);
    if (!c->pcs->cuts) return NTR_E_MEMORY;
    memcpy(c->pcs->cuts, c->config.cuts, c->config.cut_count * sizeof *c->pcs->cuts);
    qsort(c->pcs->cuts, c->config.cut_count, sizeof *c->pcs->cuts, by_address);
    c->pcs->cut_count = c->config.cut_count;
    return NTR_OK;
}

void ntr_pc_list_free(ntr_classifier *c) {
    if (!c->pcs) return;
    drop_blocks(c->config.allocator, c->pcs);
    ntr_dealloc(c->config.allocator, c->pcs->slots);
    ntr_dealloc(c->config.allocator, c->pcs->cuts);
    ntr_dealloc(c->config.allocator, c->pcs);
    c->pcs = NULL;
}

void ntr_pc_list_drop(ntr_classifier *c) {
    drop_blocks(c->config.allocator, c->pcs);
}
