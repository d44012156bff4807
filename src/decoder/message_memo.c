#include "decoder/message_memo.h"

#include "base/allocator.h"
#include "message/sets.h"

#include <string.h>

/* ---- the table: pairs of places, the newer memo first */

/* The table begins with 1 Ki memos and grows in two steps to 64 Ki memos (4 MiB; 8 MiB with implicit returns), which
 * fits the caches. Growing discards all memos. */
enum { BITS_FIRST = 10, BITS_STEP = 3, BITS_MOST = 16 };

void ntr_message_memos_release(ntr_message_memos *message_memos, const ntr_allocator *allocator) {
    ntr_dealloc(allocator, message_memos->memory);
    *message_memos = (ntr_message_memos){0};
}

/* Make an empty table. Without memory for it, the decoder works without message memos. */
static bool make_table(ntr_decoder *d, unsigned bits) {
    ntr_message_memos *memos = &d->message_memos;
    ntr_message_memos_release(memos, d->allocator);
    memos->bits = bits;
    memos->wide = ntr_implicit_returns(d);
    memos->epoch = d->blocks->epoch;
    memos->memory = ntr_alloc(d->allocator, ((size_t)1 << (memos->bits + memos->wide)) + 1, sizeof *memos->table);
    if (!memos->memory) return false;
    uintptr_t lines = (uintptr_t)memos->memory + sizeof *memos->table - 1;
    memos->table = (ntr_message_memo *)(lines - lines % sizeof *memos->table);
    return true;
}

/* Make a table when there is none or its blocks are not valid any more; a larger one when it is half full. Returns
 * false when out of memory. */
static bool prepare_table(ntr_decoder *d) {
    const ntr_message_memos *memos = &d->message_memos;
    if (!memos->table || memos->epoch != d->blocks->epoch) return make_table(d, BITS_FIRST);
    if (memos->bits == BITS_MOST || memos->learned < UINT32_C(1) << (memos->bits - 1)) return true;
    return make_table(d, memos->bits + BITS_STEP);
}

static inline ntr_message_memo *memo_at(const ntr_message_memos *memos, size_t slot) {
    return memos->table + (slot << memos->wide);
}

static inline ntr_message_memo_calls *calls_of(ntr_message_memo *memo) {
    return (ntr_message_memo_calls *)(memo + 1);
}

static void store_memo(const ntr_message_memos *memos, size_t slot, const ntr_message_memo *memo,
                const ntr_message_memo_calls *calls) {
    ntr_message_memo *first = memo_at(memos, slot), *second = memo_at(memos, slot ^ 1);
    memcpy(second, first, sizeof *first << memos->wide);
    *first = *memo;
    if (memos->wide) *calls_of(first) = *calls;
}

/* ---- messages */

/* TCODEs of messages that only request a walk, whose effect depends on nothing outside the key. */
static inline uint64_t memo_tcodes(void) {
    return ntr_tcodes_of_role(NTR_ROLE_BRANCH) | ntr_tcodes_of_role(NTR_ROLE_RESOURCE);
}

/* Returns whether the message has I-CNT, which includes the halfwords walked ahead on history alone. */
static inline bool deducts_halfwords_ahead(const ntr_message_words *message) {
    return !ntr_has_role(ntr_words_tcode(message->word[0]), NTR_ROLE_RESOURCE);
}

/* Returns whether the message has an address relative to the reference address. */
static inline bool is_relative(const ntr_message_words *message) {
    return ntr_tcode_in(ntr_tcodes_with_field(NTR_FIELD_UADDR), ntr_words_tcode(message->word[0]));
}

/* ---- the state between two messages */

enum { MODE = 3 }; /* low bits of a block's address that hold the mode instead */

typedef struct memo_position {
    ntr_source *source;
    ntr_block *block;
    uint64_t mode, halfwords_ahead, ref;
    uint64_t src, src_bits; /* the SRC of the source in a message's first word, and the mask of SRC there */
} memo_position;

/* Returns whether block, mode, reference, halfwords ahead and return stack are all that the next message depends on. In
 * particular no I-CNT sum is pending, so `run` is empty. */
static bool is_plain(const ntr_decoder *d, const ntr_source *s) {
    return s->state == NTR_SOURCE_FOLLOWING && s->pc_known && s->icnt == 0 && s->view_known &&
           s->generation == d->blocks->generation && s->epoch == d->blocks->epoch;
}

/* Returns the block at the source's address. It has 0 halfwords when there is no code. */
static ntr_block *block_of(ntr_decoder *d, const ntr_source *s) {
    return s->block ? s->block : ntr_blocks_get(d->blocks, s->view, s->pc);
}

static bool take_memo_position(ntr_decoder *d, uint64_t word, memo_position *at) {
    unsigned src_bits = d->params.src_bits, id = ntr_words_src(word, src_bits);
    ntr_source *s = d->sources[id];
    if (!s || !is_plain(d, s)) return false;
    *at = (memo_position){s, block_of(d, s), s->mode, s->halfwords_ahead, s->ref, ntr_words_place_src(id),
                  ntr_words_place_src((1u << src_bits) - 1)};
    return at->block->halfwords != 0;
}

static inline bool may_have_memo(const memo_position *at, const ntr_message_words *message) {
    uint64_t first = message->word[0];
    if ((first & at->src_bits) != at->src || !ntr_tcode_in(memo_tcodes(), ntr_words_tcode(first))) return false;
    return at->halfwords_ahead <= UINT32_MAX || !deducts_halfwords_ahead(message);
}

/* Fill the key for the message. Returns the place of its memo. */
static inline size_t make_key(const ntr_message_memos *memos, const memo_position *at, const ntr_message_words *message,
                              ntr_message_memo *key) {
    const uint64_t *word = message->word;
    key->from = (uintptr_t)at->block | at->mode;
    key->message = *message;
    key->halfwords_ahead = deducts_halfwords_ahead(message) ? (uint32_t)at->halfwords_ahead : 0;
    key->ref = is_relative(message) ? at->ref : 0;
    uint64_t caller = memos->wide ? ntr_return_stack_peek(&at->source->stack, 0) : 0;
    uint64_t hash = (word[0] + (word[1] << 17 | word[1] >> 47)) * UINT64_C(0x9e3779b97f4a7c15);
    hash += (key->ref + key->halfwords_ahead + caller) * UINT64_C(0xc2b2ae3d27d4eb4f);
    return ((hash >> 32 ^ hash) + (key->from >> 6)) * UINT64_C(0xd6e8feb86659fd93) >> (64 - memos->bits);
}

/* ---- the return stack */

static inline ntr_stack_effect stack_effect_of(const ntr_message_memo *memo) {
    unsigned packed = memo->small[NTR_MESSAGE_MEMO_STACK];
    return (ntr_stack_effect){.pops = packed & 3, .pushes = packed >> 2 & 7, .rise = packed >> 5 & 7};
}

/* Returns whether the return addresses of the memo are on the stack, and the stack can take its calls without growing
 * or dropping entries. */
static bool stack_fits(const ntr_return_stack *stack, ntr_message_memo *memo) {
    ntr_stack_effect stack_effect = stack_effect_of(memo);
    if (stack->count < stack_effect.pops || stack->count + stack_effect.rise > stack->limit) return false;
    if (stack->count - stack_effect.pops + stack_effect.pushes > stack->mask) return false; /* it has to grow */
    for (unsigned i = 0; i < stack_effect.pops; i++)
        if (ntr_return_stack_peek(stack, i) != calls_of(memo)->popped[i]) return false;
    return true;
}

static void stack_follow(ntr_source *s, ntr_message_memo *memo) {
    ntr_return_stack *stack = &s->stack;
    ntr_stack_effect stack_effect = stack_effect_of(memo);
    ntr_block *const *pushed = calls_of(memo)->pushed;
    stack->top -= stack_effect.pops;
    stack->count -= stack_effect.pops;
    stack->count += stack_effect.pushes;
    for (unsigned i = 0; i < stack_effect.pushes; i++)
        stack->entries[stack->top++ & stack->mask] =
            (ntr_return){.address = pushed[i]->next, .call = pushed[i], .stamp = s->stamp};
}

/* ---- following */

static inline bool fits(const ntr_message_memos *memos, const memo_position *at, ntr_message_memo *memo,
                        const ntr_message_memo *key) {
    const uint64_t *mine = memo->message.word, *wanted = key->message.word;
    bool same = memo->from == key->from && mine[0] == wanted[0] && mine[1] == wanted[1] && memo->ref == key->ref &&
                memo->halfwords_ahead == key->halfwords_ahead;
    return same && (!memos->wide || !memo->small[NTR_MESSAGE_MEMO_STACK] || stack_fits(&at->source->stack, memo));
}

/* Returns the memo for the key; NULL when there is none. */
static inline ntr_message_memo *find(const ntr_message_memos *memos, const memo_position *at, size_t slot,
                                     const ntr_message_memo *key) {
    ntr_message_memo *first = memo_at(memos, slot);
    if (fits(memos, at, first, key)) return first;
    ntr_message_memo *second = memo_at(memos, slot ^ 1);
    return fits(memos, at, second, key) ? second : NULL;
}

/* Totals of messages that are not added to the decoder's totals yet. The small ones are added all at once, in lanes of
 * 16 bits. */
typedef struct sums {
    uint64_t messages, halfwords, instructions;
    uint64_t small[2]; /* totals with even and with odd number */
} sums;

#define LANE_MASK UINT64_C(0x00ff00ff00ff00ff)

/* Number of memos that can be added before a lane overflows. */
enum { SUMS_MOST = UINT16_MAX / UINT8_MAX };

static inline void add(sums *sum, const ntr_message_memo *memo) {
    sum->messages++;
    sum->halfwords += memo->halfwords;
    sum->instructions += memo->instructions;
    uint64_t small = ntr_load8(memo->small);
    sum->small[0] += small & LANE_MASK;
    sum->small[1] += small >> 8 & LANE_MASK;
}

static uint64_t small_sum(const sums *sum, unsigned number) {
    return sum->small[number % 2] >> 16 * (number / 2) & UINT16_MAX;
}

static void flush_sums(ntr_counts *counts, sums *sum) {
    counts->messages += sum->messages;
    counts->halfwords += sum->halfwords;
    counts->instructions += sum->instructions;
#define NTR_MESSAGE_MEMO_COUNT(i, name) counts->name += small_sum(sum, i);
    NTR_MESSAGE_MEMO_COUNTS(NTR_MESSAGE_MEMO_COUNT)
#undef NTR_MESSAGE_MEMO_COUNT
    *sum = (sums){0};
}

/* Find the input: *bytes is the next message, *end the last byte at which a message may begin. Returns false when the
 * bytes left are few, or the images change at this message. */
static bool look_ahead(const ntr_decoder *d, const uint8_t **bytes, const uint8_t **end) {
    size_t size;
    uint64_t offset = ntr_reader_offset(&d->reader), calm = d->blocks->unchanged_until - offset;
    *bytes = ntr_words_ahead(&d->reader, &size);
    if (!*bytes || size < NTR_WORDS_BYTES || !ntr_blocks_is_unchanged(d->blocks, offset)) return false;
    *end = *bytes + (size - NTR_WORDS_BYTES < calm ? size - NTR_WORDS_BYTES : (size_t)calm);
    return true;
}

/* Store the state after the last message in the source. */
static void store_position(const memo_position *at, const ntr_message_words *last) {
    ntr_source *s = at->source;
    s->block = at->block;
    s->pc = at->block->start;
    s->halfwords_ahead = at->halfwords_ahead;
    s->ref = at->ref;
    s->last_branch.valid = false;
    s->last_memo = *last;
}

static void begin_candidate(const ntr_decoder *d, ntr_source *s, ntr_memo_candidate *candidate) {
    candidate->source = s;
    candidate->halfwords_ahead = s->halfwords_ahead;
    candidate->ref = s->ref;
    candidate->depth = s->stack.count;
    candidate->before = *d->counts;
    if (!d->message_memos.wide) return;
    ntr_return_stack_watch(&s->stack);
    for (unsigned i = 0; i < NTR_MESSAGE_MEMO_POPS; i++) candidate->callers[i] = ntr_return_stack_peek(&s->stack, i);
}

bool ntr_message_memos_follow(ntr_decoder *d, ntr_memo_candidate *candidate) {
    const uint8_t *bytes, *end;
    memo_position at;
    if (d->failed != NTR_OK || !look_ahead(d, &bytes, &end)) return false;
    if (!take_memo_position(d, ntr_load8(bytes), &at) || !prepare_table(d)) return false;

    const ntr_message_memos memos = d->message_memos;
    ntr_message_words message, last = {0};
    uint64_t before = d->counts->messages;
    sums sum = {0};
    bool unknown = false;
    while (bytes <= end) {
        unsigned size = ntr_words_load(&message, bytes);
        if (!size || !may_have_memo(&at, &message)) break;
        ntr_message_memo key = {0};
        size_t slot = make_key(&memos, &at, &message, &key);
        ntr_message_memo *memo = find(&memos, &at, slot, &key);
        if (!memo) {
            candidate->key = key;
            candidate->slot = slot;
            unknown = true;
            break;
        }
        if (memos.wide && memo->small[NTR_MESSAGE_MEMO_STACK]) stack_follow(at.source, memo);
        add(&sum, memo);
        if (sum.messages == SUMS_MOST) flush_sums(d->counts, &sum);
        at.block = memo->to;
        at.halfwords_ahead = deducts_halfwords_ahead(&message) ? 0 : at.halfwords_ahead + memo->halfwords;
        at.ref ^= memo->ref_xor;
        last = message;
        bytes += size;
    }
    flush_sums(d->counts, &sum);
    ntr_words_pass(&d->reader, d->counts->messages - before, bytes);
    if (last.word[0]) store_position(&at, &last);
    if (unknown) begin_candidate(d, at.source, candidate);
    return unknown;
}

/* ---- learning */

/* Returns whether the decoded message had no effect except those a memo can store. */
static bool is_learnable(const ntr_decoder *d, const ntr_memo_candidate *t) {
    const ntr_message *m = &d->message;
    return m->defect == NTR_OK && !NTR_HAS(m, TSTAMP) && d->failed == NTR_OK && d->counts->gaps == t->before.gaps &&
           is_plain(d, t->source) && d->message_memos.epoch == d->blocks->epoch &&
           t->source->mode == (t->key.from & MODE);
}

static bool learn_counts(ntr_message_memo *memo, const ntr_counts *before, const ntr_counts *after) {
    uint64_t halfwords = after->halfwords - before->halfwords,
             instructions = after->instructions - before->instructions;
    bool small = halfwords <= UINT16_MAX && instructions <= UINT16_MAX;
    memo->halfwords = (uint16_t)halfwords;
    memo->instructions = (uint16_t)instructions;
#define NTR_MESSAGE_MEMO_COUNT(i, name)                            \
    small = small && after->name - before->name <= UINT8_MAX; \
    memo->small[i] = (uint8_t)(after->name - before->name);
    NTR_MESSAGE_MEMO_COUNTS(NTR_MESSAGE_MEMO_COUNT)
#undef NTR_MESSAGE_MEMO_COUNT
    return small;
}

static bool learn_stack(ntr_message_memo *memo, ntr_message_memo_calls *calls, const ntr_memo_candidate *t) {
    const ntr_return_stack *stack = &t->source->stack;
    uint32_t pops = t->depth - stack->least, pushes = stack->count - stack->least, rise = stack->most - t->depth;
    if (pops > NTR_MESSAGE_MEMO_POPS || pushes > NTR_MESSAGE_MEMO_PUSHES || rise > NTR_MESSAGE_MEMO_RISE) return false;
    memo->small[NTR_MESSAGE_MEMO_STACK] = (uint8_t)(pops | pushes << 2 | rise << 5);
    memcpy(calls->popped, t->callers, sizeof calls->popped);
    for (unsigned i = 0; i < pushes; i++)
        calls->pushed[i] = stack->entries[(stack->top - pushes + i) & stack->mask].call;
    return true;
}

void ntr_message_memo_learn(ntr_decoder *d, const ntr_memo_candidate *t) {
    ntr_source *s = t->source;
    ntr_message_memo memo = t->key;
    ntr_message_memo_calls calls = {0};
    if (!is_learnable(d, t) || !learn_counts(&memo, &t->before, d->counts)) return;
    uint64_t halfwords_ahead = deducts_halfwords_ahead(&memo.message) ? 0 : t->halfwords_ahead + memo.halfwords;
    if (s->halfwords_ahead != halfwords_ahead) return;
    if (d->message_memos.wide && !learn_stack(&memo, &calls, t)) return;
    memo.ref_xor = t->ref ^ s->ref;
    memo.to = block_of(d, s);
    if (memo.to->halfwords == 0) return;
    store_memo(&d->message_memos, t->slot, &memo, &calls);
    d->message_memos.learned++;
}
