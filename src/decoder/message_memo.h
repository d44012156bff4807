/* Message memos: at one block and in one state, the same message bytes always have the same effect.
 *
 * Idea: a message that is decoded in full leaves a memo with everything its effect depended on (the key) and the
 * effect. When the same bytes come again in the same state, the effect is applied without parsing the message or
 * walking its code.
 *
 * Key: the block at which the walk begins, the trace mode, the bytes, the reference address if the message is relative
 * to it, the halfwords ahead if the message has I-CNT, and the return addresses the message takes from the return
 * stack. Effect: the block at which the walk ends, the totals, the new reference address, the entries pushed to the
 * return stack.
 *
 * Invariant: a memo is only made for a message that did nothing else: no event but spans, no error, no timestamp. Memos
 * are used while only totals are wanted and there is no count callback.
 *
 * Example: in a loop, IndirectBranchHist with I-CNT 40, HIST 0b1101 and a U-ADDR comes 10000 times at block B. The
 * first one is walked; the other 9999 are looked up and add 40 halfwords each.
 *
 * The table is bounded; a new memo replaces another one in its place. */
#ifndef NTR_DECODER_MESSAGE_MEMO_H
#define NTR_DECODER_MESSAGE_MEMO_H

#include "decoder/state.h"

/* Totals that one message changes by less than 256. One more byte after them is the effect on the return stack. */
#define NTR_MESSAGE_MEMO_COUNTS(X) \
    X(0, spans) X(1, branches) X(2, taken) X(3, calls) X(4, returns) X(5, exceptions) X(6, interrupts)
enum { NTR_MESSAGE_MEMO_STACK = 7, NTR_MESSAGE_MEMO_SMALL = 8 };

/* One cache line. */
typedef struct ntr_message_memo {
    uint64_t from; /* address of the block, with the trace mode in its low bits; 0: the place is free */
    ntr_message_words message;
    uint64_t ref;     /* reference address before the message if it is relative to it; else 0 */
    uint64_t ref_xor; /* the reference address after the message is `ref_xor` XOR the one before */
    ntr_block *to;
    uint32_t halfwords_ahead; /* halfwords ahead before the message if it has I-CNT; else 0 */
    uint16_t halfwords, instructions;
    uint8_t small[NTR_MESSAGE_MEMO_SMALL];
} ntr_message_memo;

_Static_assert(sizeof(ntr_message_memo) == 64, "a memo is a cache line");

/* Effect on the return stack: it removes `pops` entries, then adds `pushes` entries. On the way it is at most `rise`
 * entries deeper than at the beginning. */
typedef struct ntr_stack_effect {
    uint8_t pops : 2, pushes : 3, rise : 3;
} ntr_stack_effect;

enum { NTR_MESSAGE_MEMO_POPS = 3, NTR_MESSAGE_MEMO_PUSHES = 5, NTR_MESSAGE_MEMO_RISE = 7 };

/* The cache line after a memo when returns are implicit: the return addresses removed, the newest first, and the
 * calling blocks of the entries added, the newest last. */
typedef struct ntr_message_memo_calls {
    uint64_t popped[NTR_MESSAGE_MEMO_POPS];
    ntr_block *pushed[NTR_MESSAGE_MEMO_PUSHES];
} ntr_message_memo_calls;

_Static_assert(sizeof(ntr_message_memo_calls) == sizeof(ntr_message_memo), "as large as a memo");

/* A message that is about to be decoded in full and may become a memo, with the state before it. */
typedef struct ntr_memo_candidate {
    ntr_message_memo key;
    size_t slot;
    ntr_source *source;
    uint64_t halfwords_ahead, ref;
    uint32_t depth;
    ntr_counts before;
    uint64_t callers[NTR_MESSAGE_MEMO_POPS];
} ntr_memo_candidate;

/* Apply messages as long as they have a memo. Returns true when the next message can get one: decode it, then call
 * ntr_message_memo_learn. Call this between two walk requests of a counting decode without callback. */
bool ntr_message_memos_follow(ntr_decoder *d, ntr_memo_candidate *candidate);
void ntr_message_memo_learn(ntr_decoder *d, const ntr_memo_candidate *candidate);

void ntr_message_memos_release(ntr_message_memos *message_memos, const ntr_allocator *allocator);

#endif
