/* The state between two messages while memos are applied, in local variables instead of the source, and what memos do
 * to the return stack. */
#ifndef NTR_DECODER_MEMO_POSITION_H
#define NTR_DECODER_MEMO_POSITION_H

#include "decoder/message_memo.h"

typedef struct ntr_memo_position {
    ntr_source *source;
    uint32_t block; /* number of the block */
    uint64_t mode, halfwords_ahead, icnt, ref;
    uint64_t src, src_bits; /* the SRC of the source in a message's first word, and the mask of SRC there */
} ntr_memo_position;

/* The block and the mode, as in ntr_message_memo.from. */
static inline uint32_t ntr_memo_position_from(const ntr_memo_position *at) {
    return (uint32_t)((at->block + 1) << 2 | at->mode);
}

/* Returns whether the difference of the halfwords ahead and the I-CNT values fits into the key. */
static inline bool ntr_memo_position_ahead_fits(const ntr_memo_position *at) {
    return (at->halfwords_ahead - at->icnt + INT32_MAX) >> 32 == 0;
}

static inline bool ntr_memo_position_has_source(const ntr_memo_position *at, uint64_t first_word) {
    return (first_word & at->src_bits) == at->src;
}

/* ---- the return stack */

/* Returns whether this entry was made by the call that ends the block. */
static inline bool ntr_memo_is_call_of(const ntr_source *s, const ntr_return *entry, const ntr_block *block) {
    return (entry->call == block && entry->stamp == s->stamp) || entry->address == block->next;
}

/* `calls`: as ntr_message_memo_more. Returns whether the effect applies to the return stack of the source. A stack that
 * is full at the highest depth on the way drops its oldest entries there; those that it removes must not be among them.
 */
static inline bool ntr_memo_stack_fits(const ntr_source *s, ntr_stack_effect effect, ntr_block *const *calls) {
    const ntr_return_stack *stack = &s->stack;
    uint32_t count = ntr_message_memo_kept(stack, effect, stack->count);
    if (count < effect.pops || count - effect.pops + effect.pushes > stack->mask) return false;
    if (effect.ran_empty && (count != effect.pops || count != stack->count)) return false;
    for (unsigned i = 0; i < effect.pops; i++)
        if (!ntr_memo_is_call_of(s, ntr_return_stack_at(stack, i), calls[i])) return false;
    return true;
}

/* The effect on the call trail. `to`: where the messages lead, by a return if the return stack ran empty. */
static inline void ntr_memo_trail_follow(ntr_source *s, ntr_stack_effect effect, ntr_block *const *calls, uint64_t to) {
    for (unsigned i = 0; i < effect.pops; i++) ntr_trail_pop(s->trail, calls[i]->next);
    if (effect.ran_empty) ntr_trail_pop(s->trail, to);
    for (unsigned i = 0; i < effect.pushes; i++) ntr_trail_push(s->trail, calls[effect.pops + i]);
}

static inline void ntr_memo_stack_follow(ntr_source *s, ntr_stack_effect effect, ntr_block *const *calls) {
    ntr_return_stack *stack = &s->stack;
    ntr_block *const *pushed = calls + effect.pops;
    stack->count = ntr_message_memo_kept(stack, effect, stack->count) - effect.pops + effect.pushes;
    stack->top -= effect.pops;
    for (unsigned i = 0; i < effect.pushes; i++)
        stack->entries[stack->top++ & stack->mask] =
            (ntr_return){.address = pushed[i]->next, .call = pushed[i], .stamp = s->stamp};
}

#endif
