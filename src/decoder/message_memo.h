/* Memoised messages: at one place, the same bytes do the same. What a message did is seen once, when the decoder takes
 * it in every detail; when its bytes come again at that place nothing is parsed and nothing walked.
 *
 * A passage is all that the message's work depended on and all that it did, while only totals are wanted. The table is
 * bounded; a passage gives way to any other that falls on its place. */
#ifndef NTR_DECODER_MESSAGE_MEMO_H
#define NTR_DECODER_MESSAGE_MEMO_H

#include "decoder/state.h"

/* Counters that one message moves by little; behind them, as one more, what it does to the return stack. */
#define NTR_MESSAGE_MEMO_COUNTS(X) \
    X(0, spans) X(1, branches) X(2, taken) X(3, calls) X(4, returns) X(5, exceptions) X(6, interrupts)
enum { NTR_MESSAGE_MEMO_STACK = 7, NTR_MESSAGE_MEMO_SMALL = 8 };

/* One cache line. */
typedef struct ntr_message_memo {
    uint64_t from;     /* block and mode; 0: free */
    ntr_message_words message;
    uint64_t ref;      /* reference of U-ADDR before, where the message is relative to it; else 0 */
    uint64_t ref_xor;     /* what is XORed to it */
    ntr_block *to;
    uint32_t halfwords_ahead;     /* of halfwords before, where the message pays it; else 0 */
    uint16_t halfwords, instructions;
    uint8_t small[NTR_MESSAGE_MEMO_SMALL];
} ntr_message_memo;

_Static_assert(sizeof(ntr_message_memo) == 64, "a passage is a cache line");

/* What a message does to the return stack: takes so many entries, leaves so many; on the way the stack rises so far. */
typedef struct ntr_stack_effect {
    uint8_t pops : 2, pushes : 3, rise : 3;
} ntr_stack_effect;

enum { NTR_MESSAGE_MEMO_POPS = 3, NTR_MESSAGE_MEMO_PUSHES = 5, NTR_MESSAGE_MEMO_RISE = 7 };

/* The line behind a passage, where returns are implicit: the entries taken, the newest first, and those left, the
 * newest last. */
typedef struct ntr_message_memo_calls {
    uint64_t popped[NTR_MESSAGE_MEMO_POPS];
    ntr_block *pushed[NTR_MESSAGE_MEMO_PUSHES];
} ntr_message_memo_calls;

_Static_assert(sizeof(ntr_message_memo_calls) == sizeof(ntr_message_memo), "as large as a passage");

/* A message that is about to be taken for the first time, and what it will depend on. */
typedef struct ntr_memo_candidate {
    ntr_message_memo key;
    size_t slot;
    ntr_source *source;
    uint64_t halfwords_ahead, ref;
    uint32_t depth;
    ntr_counts before;
    uint64_t callers[NTR_MESSAGE_MEMO_POPS];
} ntr_memo_candidate;

/* Go over messages as long as they are known, between two orders of a counting decode that tells nobody. Whether the
 * next one can be learned: take it, then ntr_message_memo_learn. */
bool ntr_message_memos_follow(ntr_decoder *d, ntr_memo_candidate *candidate);
void ntr_message_memo_learn(ntr_decoder *d, const ntr_memo_candidate *candidate);

void ntr_message_memos_release(ntr_message_memos *message_memos, const ntr_allocator *allocator);

#endif
