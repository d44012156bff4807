#include "decoder/history_memo.h"

#include "base/allocator.h"

#include <string.h>

/* 32 Ki memos, 1 MiB: fits the caches. */
enum { TABLE_BITS = 15 };

/* A path without branches may be long, or a loop. */
enum { MEMO_BLOCKS_MAX = 256 };

ntr_status ntr_history_memos_prepare(ntr_decoder *d) {
    ntr_history_memos *history_memos = &d->history_memos;
    if (history_memos->table && history_memos->epoch == d->blocks->epoch) return NTR_OK;
    size_t size = (size_t)1 << TABLE_BITS;
    if (history_memos->table)
        memset(history_memos->table, 0, size * sizeof *history_memos->table);
    else
        history_memos->table = ntr_alloc(d->allocator, size, sizeof *history_memos->table);
    history_memos->shift = 64 - TABLE_BITS;
    history_memos->count = size;
    history_memos->epoch = d->blocks->epoch;
    return history_memos->table ? NTR_OK : NTR_E_MEMORY;
}

void ntr_history_memos_release(ntr_history_memos *history_memos, const ntr_allocator *allocator) {
    ntr_dealloc(allocator, history_memos->table);
    *history_memos = (ntr_history_memos){0};
}

/* Returns whether the address after `b` depends on the block and the outcomes alone. */
static bool is_pure(const ntr_decoder *d, const ntr_block *b) {
    bool own_way = !d->params.all_jumps && !(b->flags & NTR_BLOCK_NO_TARGET);
    switch (b->flow) {
    case NTR_FLOW_LINEAR:
    case NTR_FLOW_BRANCH: return true;
    case NTR_FLOW_DIRECT_JUMP: return own_way;
    case NTR_FLOW_DIRECT_CALL: return own_way && !ntr_keeps_returns(d);
    default: return false;
    }
}

/* A path that is being followed. */
typedef struct path {
    ntr_block *block;
    uint64_t bits; /* the next outcome is bit 63 */
    uint32_t halfwords, instructions, spans, taken, calls, used;
} path;

/* Follow the path over its next block. Returns whether the block ended with a jump. */
static bool path_step(ntr_decoder *d, path *t) {
    ntr_block *b = t->block;
    bool branch = b->flow == NTR_FLOW_BRANCH;
    bool taken = branch && t->bits >> 63;
    bool falls_through = b->flow == NTR_FLOW_LINEAR || (branch && !taken);
    t->halfwords += b->halfwords;
    t->instructions += b->instructions;
    t->spans += b->flow != NTR_FLOW_LINEAR || b->flags & NTR_BLOCK_DIVIDED;
    t->calls += b->flow == NTR_FLOW_DIRECT_CALL;
    t->taken += taken;
    t->used += branch;
    t->bits <<= branch;
    t->block = falls_through ? ntr_blocks_fall(d->blocks, b) : ntr_blocks_jump(d->blocks, b, b->target);
    return !falls_through;
}

/* The path has taken one more outcome: the memo covers it up to here. */
static void store_path(ntr_history_memo *memo, const path *t) {
    memo->to = t->block;
    memo->halfwords = (uint16_t)t->halfwords;
    memo->instructions = (uint16_t)t->instructions;
    memo->spans = (uint8_t)t->spans;
    memo->taken = (uint8_t)t->taken;
    memo->calls = (uint8_t)t->calls;
    memo->used = (uint8_t)t->used;
}

/* The memo took all outcomes of its key: the next keys of this block have twice as many. */
static void raise_reach(ntr_block *from, unsigned count) {
    unsigned reach = from->reach ? from->reach : NTR_HISTORY_MEMO_FIRST;
    if (count < reach) return; /* the history had no more outcomes */
    reach *= 2;
    from->reach = (uint8_t)(reach < NTR_HISTORY_MEMO_OUTCOMES ? reach : NTR_HISTORY_MEMO_OUTCOMES);
}

void ntr_history_memo_learn(ntr_decoder *d, ntr_history_memo *place, ntr_block *from, uint64_t bits, unsigned count) {
    *place = (ntr_history_memo){.from = from, .outcomes = (uint32_t)(bits >> (64 - count)) | UINT32_C(1) << count};
    path t = {.block = from, .bits = bits};
    for (unsigned i = 0; i < MEMO_BLOCKS_MAX && t.used < count && is_pure(d, t.block); i++) {
        bool branch = t.block->flow == NTR_FLOW_BRANCH;
        path_step(d, &t);
        if (t.block->halfwords == 0 || t.halfwords > UINT16_MAX || t.spans > UINT8_MAX) break;
        if (branch) store_path(place, &t);
    }
    if (place->used == count) raise_reach(from, count);
}

void ntr_history_memo_follow(ntr_decoder *d, const ntr_history_memo *memo, ntr_history_memo_visit *visit, void *user) {
    unsigned count = 31u - (unsigned)__builtin_clz(memo->outcomes);
    path t = {.block = memo->from, .bits = (uint64_t)memo->outcomes << (64 - count)};
    while (t.used < memo->used) {
        ntr_block *block = t.block;
        visit(d, user, block, path_step(d, &t));
    }
}
