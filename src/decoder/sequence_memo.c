/* Message memos that were applied one after the other become a sequence memo. */
#include "decoder/sequence_memo.h"

/* The return stack on the way: what the sequence has removed and added so far. */
typedef struct stack_part {
    ntr_block *removed[NTR_SEQUENCE_CALLS], *added[UINT8_MAX + 1];
    unsigned removals, additions, rise;
} stack_part;

static bool add_stack(stack_part *part, ntr_message_memo *memo) {
    ntr_block *const *calls = ntr_message_memo_more_of(memo)->calls;
    const ntr_stack_effect effect = memo->stack;
    const unsigned top = part->additions + effect.rise;
    if (effect.ran_empty) return false;
    if (top > part->removals && top - part->removals > part->rise) part->rise = top - part->removals;
    for (unsigned i = 0; i < effect.pops; i++) {
        if (part->additions) {
            part->additions--;
        } else if (part->removals < NTR_SEQUENCE_CALLS) {
            part->removed[part->removals++] = calls[i];
        } else {
            return false;
        }
    }
    if (part->additions + effect.pushes > UINT8_MAX) return false;
    for (unsigned i = 0; i < effect.pushes; i++) part->added[part->additions++] = calls[effect.pops + i];
    return true;
}

static bool store_stack(ntr_sequence_memo *memo, const stack_part *part, uint32_t limit) {
    if (part->removals + part->additions > NTR_SEQUENCE_CALLS || part->rise > UINT8_MAX || part->rise > limit)
        return false;
    memo->stack = (ntr_stack_effect){
        .pops = (uint8_t)part->removals, .pushes = (uint8_t)part->additions, .rise = (uint8_t)part->rise};
    for (unsigned i = 0; i < part->removals; i++) memo->calls[i] = part->removed[i];
    for (unsigned i = 0; i < part->additions; i++) memo->calls[part->removals + i] = part->added[i];
    return true;
}

/* Adds a total. Returns false when the sum is larger than the member holds. */
#define ADD(name) (sum->name += part->name, sum->name >= part->name)

static bool add_totals(ntr_memo_totals *sum, const ntr_memo_totals *part) {
    return ADD(spans) && ADD(branches) && ADD(taken) && ADD(calls) && ADD(halfwords) && ADD(instructions) &&
           ADD(returns) && ADD(exceptions) && ADD(interrupts);
}

#undef ADD

/* Halfwords ahead: the message's key is that of the sequence plus what the messages before it walked. */
static bool add_ahead(ntr_sequence_memo *memo, const ntr_message_memo *part) {
    if (!ntr_message_memo_deducts(&part->message)) {
        memo->ahead_after += part->totals.halfwords;
        return true;
    }
    if (!memo->deducts) {
        if ((uint32_t)(part->ahead + INT32_MAX) < memo->ahead_after) return false;
        memo->ahead = part->ahead - memo->ahead_after;
    }
    memo->deducts = true;
    memo->ahead_after = 0;
    return true;
}

static bool add(ntr_sequence_memo *memo, const ntr_message_memo *part) {
    if (!add_totals(&memo->totals, &part->totals) || !add_ahead(memo, part)) return false;
    if (ntr_message_memo_is_relative(&part->message) && !memo->relative) {
        memo->relative = true;
        memo->ref = part->ref;
    }
    memo->ref_xor ^= part->ref_xor;
    memo->to = part->to;
    return true;
}

/* Returns whether the sequence has come before, as far as a small table remembers. */
static bool was_seen(const ntr_message_memos *memos, const ntr_sequence_trail *trail, const uint8_t *end) {
    uint64_t hash = trail->hash + ntr_load8(end - 8) * UINT64_C(0x9e3779b97f4a7c15) + trail->count;
    hash = (hash >> 32 ^ hash) * UINT64_C(0xd6e8feb86659fd93);
    uint16_t *seen = &memos->seen[hash >> (64 - NTR_SEQUENCE_SEEN_BITS)], tag = (uint16_t)(hash | 1);
    bool same = *seen == tag;
    *seen = tag;
    return same;
}

/* Shortens the sequence to whole messages in the first `most` bytes. Returns its size. */
static size_t shorten(ntr_sequence_trail *trail, size_t most, size_t *last) {
    ntr_message_words words;
    size_t size = 0;
    unsigned count = 0;
    for (; count < trail->count; count++) {
        const size_t next = size + ntr_words_load(&words, trail->from + size);
        if (next > most) break;
        *last = size;
        size = next;
    }
    trail->count = count;
    return size;
}

/* Returns how many bytes of the sequence are those of the memo. */
static size_t common_bytes(const ntr_sequence_memo *memo, const uint8_t *bytes, size_t size) {
    size_t common = 0;
    while (common < size && common < memo->size && memo->bytes[common] == bytes[common]) common++;
    return common;
}

/* Chooses the part of the sequence that becomes the memo: what it has in common with the one in its place, unless that
 * is too short. */
static size_t choose_part(ntr_sequence_trail *part, const ntr_sequence_memo *place, size_t size, size_t *last) {
    ntr_sequence_trail both = *part;
    if (place->from == part->memos[0]->from) {
        const size_t common = shorten(&both, common_bytes(place, part->from, size), last);
        if (common >= NTR_SEQUENCE_HASHED) {
            *part = both;
            return common;
        }
    }
    return shorten(part, size, last);
}

void ntr_sequence_memo_learn(ntr_decoder *d, const ntr_sequence_trail *trail, const uint8_t *end) {
    const ntr_message_memos *memos = &d->message_memos;
    size_t size = (size_t)(end - trail->from), last = 0;
    ntr_sequence_memo *place = &memos->sequences[trail->hash >> (64 - memos->sequence_bits)];
    ntr_sequence_trail part = *trail;
    stack_part stack;
    if (size < NTR_SEQUENCE_HASHED || !was_seen(memos, trail, end)) return;
    size = choose_part(&part, place, size, &last);
    ntr_sequence_memo memo = {
        .from = part.memos[0]->from, .size = (uint8_t)size, .messages = (uint8_t)part.count, .last = (uint8_t)last};
    stack.removals = stack.additions = stack.rise = 0;
    for (unsigned i = 0; i < part.count; i++)
        if (!add(&memo, part.memos[i]) || (memos->wide && !add_stack(&stack, part.memos[i]))) return;
    if (!store_stack(&memo, &stack, memos->stack_limit)) return;
    if (memos->counted) ntr_sequence_memo_replay(d, place);
    memcpy(memo.bytes, part.from, size);
    *place = memo;
}
