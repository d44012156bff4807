/* Message memos: at one block and in one state, the same message bytes always have the same effect.
 *
 * Idea: a message that is decoded in full leaves a memo with everything its effect depended on (the key) and the
 * effect. When the same bytes come again in the same state, the effect is applied without parsing the message or
 * walking its code.
 *
 * Key: the block at which the walk begins, the trace mode, the bytes, the reference address if the message is relative
 * to it, the halfwords ahead (minus the sum of earlier I-CNT values) if the message has I-CNT, and the return addresses
 * the message takes from the return stack. Effect: the block at which the walk ends, the totals, the new reference
 * address, the entries pushed to the return stack.
 *
 * Invariant: a memo is only made for a message that did nothing else: no error, no timestamp, and with a count callback
 * no event but spans.
 *
 * With a count callback, a memo counts how often it was applied. Before it is replaced, or its code changes, and at the
 * end, its message is decoded once more, in the state of the key, as so many executions (message_memo_replay.c).
 *
 * Example: in a loop, IndirectBranchHist with I-CNT 40, HIST 0b1101 and a U-ADDR comes 10000 times at block B. The
 * first one is walked; the other 9999 are looked up and add 40 halfwords each.
 *
 * The table is bounded; a new memo replaces another one in its place. A memo is at one of three places: by the message
 * alone, so that it can be fetched into the cache while earlier messages are applied; by the message and the state; and
 * by the newest return address, too. */
#ifndef NTR_DECODER_MESSAGE_MEMO_H
#define NTR_DECODER_MESSAGE_MEMO_H

#include "decoder/state.h"
#include "message/sets.h"

/* Effect on the return stack: it removes `pops` entries, then adds `pushes` entries. On the way it is at most `rise`
 * entries deeper than at the beginning. */
typedef struct ntr_stack_effect {
    uint8_t pops, pushes, rise;
    bool ran_empty; /* a register jump was a return that found no entry */
} ntr_stack_effect;

/* Totals of the spans of a message, or of several. The first four and the last four are added at once, in lanes of 16
 * bits. */
typedef struct ntr_memo_totals {
    uint16_t spans, branches, taken, calls;
    uint16_t halfwords, instructions, returns;
    uint8_t exceptions, interrupts;
} ntr_memo_totals;

/* One cache line. Blocks are named by their number (ntr_block.number). */
typedef struct ntr_message_memo {
    uint32_t from; /* number of the block + 1 above two bits of trace mode; 0: the place is free */
    uint32_t to;   /* number of the block */
    ntr_message_words message;
    uint64_t ref;     /* reference address before the message if it is relative to it; else 0 */
    uint64_t ref_xor; /* the reference address after the message is `ref_xor` XOR the one before */
    /* halfwords ahead minus the sum of I-CNT values before the message, if it has I-CNT; else 0 */
    uint32_t ahead;
    ntr_stack_effect stack;
    ntr_memo_totals totals; /* exceptions, interrupts: 0 or 1 */
} ntr_message_memo;

_Static_assert(sizeof(ntr_message_memo) == 64, "a memo is a cache line");

/* The cache line after a memo when returns are implicit, or when there is a count callback. */
enum { NTR_MESSAGE_MEMO_CALLS = 7 };
typedef struct ntr_message_memo_more {
    /* the calling blocks of the entries that the message removes from the return stack, the newest first, and of those
     * it adds, the newest last */
    union {
        ntr_block *calls[NTR_MESSAGE_MEMO_CALLS];
        uint64_t calls_room[NTR_MESSAGE_MEMO_CALLS]; /* where pointers have 32 bits */
    };
    uint64_t times; /* with a count callback: applied so often since the last replay */
} ntr_message_memo_more;

_Static_assert(sizeof(ntr_message_memo_more) == sizeof(ntr_message_memo), "as large as a memo");

/* The places at which a memo may be. */
typedef struct ntr_message_memo_places {
    size_t of_message, of_state, of_caller;
} ntr_message_memo_places;

/* A message that is about to be decoded in full and may become a memo, with the state before it. */
typedef struct ntr_memo_candidate {
    ntr_message_memo key;
    ntr_message_memo_places places;
    ntr_source *source;
    uint64_t halfwords_ahead, icnt, ref, other_events;
    uint32_t depth;
    ntr_counts before;
    ntr_return callers[NTR_MESSAGE_MEMO_CALLS];
} ntr_memo_candidate;

/* Apply messages as long as they have a memo. Returns true when the next message can get one: decode it, then call
 * ntr_message_memo_learn. Call this between two walk requests of a counting decode. */
bool ntr_message_memos_follow(ntr_decoder *d, ntr_memo_candidate *candidate);
void ntr_message_memo_learn(ntr_decoder *d, const ntr_memo_candidate *candidate);

/* ---- message_memo_table.c */

/* Make the tables when there are none or their blocks are not valid any more; larger ones when they are half full.
 * Returns false when out of memory. */
bool ntr_message_memos_prepare(ntr_decoder *d);
void ntr_message_memos_release(ntr_message_memos *message_memos, const ntr_allocator *allocator);

/* ---- message_memo_replay.c */

/* With a count callback: count the executions of a memo, or of all, in blocks and history memos, or report them. Must
 * be called before code changes. Errors become ntr_decoder.failed. */
void ntr_message_memo_replay(ntr_decoder *d, ntr_message_memo *memo);
void ntr_message_memos_replay(ntr_decoder *d);

/* ---- for message_memo_follow.c and message_memo_learn.c */

enum { NTR_MESSAGE_MEMO_MODE = 3 }; /* bits of the mode in ntr_message_memo.from */

/* Returns whether block, mode, reference, halfwords ahead and return stack are all that the next message depends on. */
static inline bool ntr_message_memo_is_plain(const ntr_decoder *d, const ntr_source *s) {
    return s->state == NTR_SOURCE_FOLLOWING && s->pc_known && s->run.halfwords == 0 && s->view_known &&
           s->generation == d->blocks->generation && s->epoch == d->blocks->epoch;
}

/* Returns the block at the source's address. It has 0 halfwords when there is no code. */
static inline ntr_block *ntr_message_memo_block(ntr_decoder *d, const ntr_source *s) {
    return s->block ? s->block : ntr_blocks_get(d->blocks, s->view, s->pc);
}

/* Returns whether the message has I-CNT, which includes the halfwords walked ahead on history alone. */
static inline bool ntr_message_memo_deducts(const ntr_message_words *message) {
    return !ntr_has_role(ntr_words_tcode(message->word[0]), NTR_ROLE_RESOURCE);
}

/* Returns whether the message has an address relative to the reference address. */
static inline bool ntr_message_memo_is_relative(const ntr_message_words *message) {
    return ntr_tcode_in(ntr_tcodes_with_field(NTR_FIELD_UADDR), ntr_words_tcode(message->word[0]));
}

/* Returns how many of the `count` entries before the message are not dropped on the way because the stack is full. */
static inline uint32_t ntr_message_memo_kept(const ntr_return_stack *stack, ntr_stack_effect effect, uint32_t count) {
    uint32_t room = stack->limit < effect.rise ? 0 : stack->limit - effect.rise;
    return count < room ? count : room;
}

static inline bool ntr_message_memo_uses_stack(ntr_stack_effect effect) {
    return effect.pops || effect.rise || effect.ran_empty;
}

static inline ntr_message_memo *ntr_message_memo_at(const ntr_message_memos *memos, size_t slot) {
    return memos->table + (slot << memos->wide);
}

static inline ntr_message_memo_more *ntr_message_memo_more_of(ntr_message_memo *memo) {
    return (ntr_message_memo_more *)(memo + 1);
}

#endif
