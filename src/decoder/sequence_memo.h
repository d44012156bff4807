/* Sequence memos: the messages of up to 64 bytes, one after the other, as one memo.
 *
 * Idea: programs repeat long parts of their trace. The effects of consecutive message memos are combined to the effect
 * of all of them, which is applied when the same bytes come again in the same state, without a look at each message.
 *
 * Key and effect are those of a message memo (message_memo.h). Invariant: a sequence memo is made of message memos
 * only, so that applying it is applying them.
 *
 * A sequence begins after a message whose hash has some bits zero, or after a sequence. It ends at such a message, or
 * after 64 bytes. So the same messages are later divided in the same way. They are found by their first bytes and the
 * block. A sequence becomes a memo when it comes for the second time: one that never comes again would only take the
 * place of another one.
 *
 * A memo that begins as another one and goes on in another way is replaced by the part that both have, which fits in
 * both cases.
 *
 * Where few sequences have a memo, they are not looked up for a while.
 *
 * Example: the loop of an interpreter takes 10 messages of 7 bytes for each pass. 9 of them are a sequence; the next
 * pass needs two look-ups and not 10. */
#ifndef NTR_DECODER_SEQUENCE_MEMO_H
#define NTR_DECODER_SEQUENCE_MEMO_H

#include "decoder/memo_position.h"

#include <string.h>

enum {
    NTR_SEQUENCE_BYTES = 64,   /* most bytes of a sequence */
    NTR_SEQUENCE_HASHED = 24,  /* bytes by which it is found; a shorter sequence gets no memo */
    NTR_SEQUENCE_MESSAGES = 32,
    NTR_SEQUENCE_CALLS = 8,
    NTR_SEQUENCE_SEEN_BITS = 16, /* log2 of the number of sequences that are remembered before they get a memo */
    /* A look-up without success costs as much as three with success save. After too many of them, as many sequences as
     * NTR_SEQUENCE_PAUSE are not looked up. */
    NTR_SEQUENCE_FAILURE = 3,
    NTR_SEQUENCE_BALANCE = 1 << 15,
    NTR_SEQUENCE_BALANCE_LATER = 1 << 9,
    NTR_SEQUENCE_PAUSE = 1 << 9,
    NTR_SEQUENCE_CUT_BITS = 4, /* highest bits of a message's hash that are zero where a sequence ends */
};

/* Three cache lines. */
typedef struct ntr_sequence_memo {
    uint32_t from, to; /* as in a message memo */
    uint64_t ref, ref_xor;
    uint32_t ahead;
    /* halfwords ahead after the sequence if one of its messages has I-CNT; else to be added */
    uint32_t ahead_after;
    ntr_stack_effect stack;
    uint8_t size; /* bytes of the sequence */
    uint8_t last; /* index of the last message in them */
    uint8_t messages;
    bool relative : 1, deducts : 1; /* a message has an address relative to the reference; has I-CNT */
    ntr_memo_totals totals;
    uint64_t times; /* with a count callback: applied so often since the last replay */
    uint8_t bytes[NTR_SEQUENCE_BYTES];
    union { /* as in ntr_message_memo_more */
        ntr_block *calls[NTR_SEQUENCE_CALLS];
        uint64_t calls_room[NTR_SEQUENCE_CALLS];
    };
} ntr_sequence_memo;

_Static_assert(sizeof(ntr_sequence_memo) == 3 * 64, "three cache lines");
_Static_assert(offsetof(ntr_sequence_memo, bytes) == 64, "the state is in the first one");

/* The message memos applied since the beginning of a sequence. */
typedef struct ntr_sequence_trail {
    const uint8_t *from; /* the first message in the stream; NULL: not in a sequence */
    uint64_t hash; /* of its place */
    unsigned count;
    ntr_message_memo *memos[NTR_SEQUENCE_MESSAGES];
} ntr_sequence_trail;

/* The sequence `trail`, which ends at `end`, was applied message by message: make a memo of it when it comes for the
 * second time. */
void ntr_sequence_memo_learn(ntr_decoder *d, const ntr_sequence_trail *trail, const uint8_t *end);

/* With a count callback: as ntr_message_memo_replay. */
void ntr_sequence_memo_replay(ntr_decoder *d, ntr_sequence_memo *memo);

/* The hash by which the sequence at `bytes` is found. */
static inline uint64_t ntr_sequence_hash(const ntr_memo_position *at, const uint8_t *bytes) {
    uint64_t second = ntr_load8(bytes + 8), third = ntr_load8(bytes + 16);
    uint64_t hash = (ntr_load8(bytes) + (second << 17 | second >> 47)) * UINT64_C(0x9e3779b97f4a7c15);
    hash += (third + ntr_memo_position_from(at)) * UINT64_C(0xc2b2ae3d27d4eb4f);
    return (hash >> 32 ^ hash) * UINT64_C(0xd6e8feb86659fd93);
}

static inline bool ntr_sequence_has_state(const ntr_sequence_memo *memo, const ntr_memo_position *at) {
    if (memo->relative && memo->ref != at->ref) return false;
    if (!memo->deducts) return true;
    return ntr_memo_position_ahead_fits(at) && memo->ahead == (uint32_t)(at->halfwords_ahead - at->icnt);
}

/* Returns the memo for the messages at `bytes`, of which NTR_SEQUENCE_BYTES must be readable; NULL when there is none.
 */
static inline ntr_sequence_memo *ntr_sequence_find(const ntr_message_memos *memos, const ntr_memo_position *at,
                                                   const uint8_t *bytes, uint64_t hash) {
    ntr_sequence_memo *memo = &memos->sequences[hash >> (64 - memos->sequence_bits)];
    if (memo->from != ntr_memo_position_from(at) || !ntr_memo_position_has_source(at, ntr_load8(bytes))) return NULL;
    if (memcmp(memo->bytes, bytes, memo->size) != 0 || !ntr_sequence_has_state(memo, at)) return NULL;
    if (memos->wide && ntr_message_memo_uses_stack(memo->stack) &&
        !ntr_memo_stack_fits(at->source, memo->stack, memo->calls))
        return NULL;
    return memo;
}

static inline void ntr_sequence_apply(const ntr_message_memos *memos, ntr_memo_position *at, ntr_sequence_memo *memo) {
    if (memos->counted) memo->times++;
    if (memos->wide && ntr_message_memo_uses_stack(memo->stack))
        ntr_memo_stack_follow(at->source, memo->stack, memo->calls);
    if (memos->counted && at->source->trail && ntr_message_memo_uses_stack(memo->stack))
        ntr_memo_trail_follow(at->source, memo->stack, memo->calls, NTR_TRAIL_NO_RETURN);
    at->block = memo->to;
    at->ref ^= memo->ref_xor;
    if (memo->deducts) at->halfwords_ahead = at->icnt = 0;
    at->halfwords_ahead += memo->ahead_after;
}

#endif
