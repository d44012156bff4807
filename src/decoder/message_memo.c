#include "decoder/message_memo.h"

#include "base/allocator.h"

/* ---- the table: pairs of places, the newer memo first */

/* The table begins with 1 Ki memos and grows in steps to 128 Ki memos (8 MiB; 16 MiB with implicit returns). Growing
 * discards all memos. */
enum { BITS_FIRST = 10, BITS_STEP = 3, BITS_MOST = 17 };

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
    unsigned bits = memos->bits + BITS_STEP;
    return make_table(d, bits < BITS_MOST ? bits : BITS_MOST);
}

/* ---- messages */

/* TCODEs of messages that only request a walk, whose effect depends on nothing outside the key. */
static inline uint64_t memo_tcodes(void) {
    return ntr_tcodes_of_role(NTR_ROLE_BRANCH) | ntr_tcodes_of_role(NTR_ROLE_RESOURCE);
}

/* Returns whether the message has an address relative to the reference address. */
static inline bool is_relative(const ntr_message_words *message) {
    return ntr_tcode_in(ntr_tcodes_with_field(NTR_FIELD_UADDR), ntr_words_tcode(message->word[0]));
}

/* ---- the state between two messages */

typedef struct memo_position {
    ntr_source *source;
    uint32_t block; /* number of the block */
    uint64_t mode, halfwords_ahead, icnt, ref;
    uint64_t src, src_bits; /* the SRC of the source in a message's first word, and the mask of SRC there */
} memo_position;

static bool take_memo_position(ntr_decoder *d, uint64_t word, memo_position *at) {
    unsigned src_bits = d->params.src_bits, id = ntr_words_src(word, src_bits);
    ntr_source *s = d->sources[id];
    if (!s || !ntr_message_memo_is_plain(d, s)) return false;
    const ntr_block *block = ntr_message_memo_block(d, s);
    if (block->halfwords == 0) return false;
    *at = (memo_position){.source = s,
                          .block = block->number,
                          .mode = s->mode,
                          .halfwords_ahead = s->halfwords_ahead,
                          .icnt = s->icnt,
                          .ref = s->ref,
                          .src = ntr_words_place_src(id),
                          .src_bits = ntr_words_place_src((1u << src_bits) - 1)};
    return true;
}

/* Returns whether the difference of the halfwords ahead and the I-CNT values fits into the key. */
static inline bool ahead_fits(const memo_position *at) {
    return (at->halfwords_ahead - at->icnt + INT32_MAX) >> 32 == 0;
}

static inline bool may_have_memo(const memo_position *at, const ntr_message_words *message) {
    uint64_t first = message->word[0];
    if ((first & at->src_bits) != at->src || !ntr_tcode_in(memo_tcodes(), ntr_words_tcode(first))) return false;
    return ahead_fits(at) || !ntr_message_memo_deducts(message);
}

/* Fill the key for the message. Returns the place of its memo. */
static inline size_t make_key(const ntr_message_memos *memos, const memo_position *at, const ntr_message_words *message,
                              ntr_message_memo *key) {
    const uint64_t *word = message->word;
    key->from = (uint32_t)((at->block + 1) << 2 | at->mode);
    key->message = *message;
    key->ahead = ntr_message_memo_deducts(message) ? (uint32_t)(at->halfwords_ahead - at->icnt) : 0;
    key->ref = is_relative(message) ? at->ref : 0;
    uint64_t caller = memos->wide ? ntr_return_stack_peek(&at->source->stack, 0) : 0;
    uint64_t hash = (word[0] + (word[1] << 17 | word[1] >> 47)) * UINT64_C(0x9e3779b97f4a7c15);
    hash += (key->ref + key->ahead + caller) * UINT64_C(0xc2b2ae3d27d4eb4f);
    return ((hash >> 32 ^ hash) + key->from) * UINT64_C(0xd6e8feb86659fd93) >> (64 - memos->bits);
}

/* ---- the return stack */

/* Returns whether this entry was made by the call that ends the block. */
static inline bool is_call_of(const ntr_source *s, const ntr_return *entry, const ntr_block *block) {
    return (entry->call == block && entry->stamp == s->stamp) || entry->address == block->next;
}

/* Returns whether the memo applies to the return stack of the source. A stack that is full at the highest depth on the
 * way drops its oldest entries there; those that the memo removes must not be among them. */
static inline bool stack_fits(const ntr_source *s, const ntr_message_memo *memo) {
    const ntr_return_stack *stack = &s->stack;
    const ntr_stack_effect effect = memo->stack;
    uint32_t count = ntr_message_memo_kept(stack, effect, stack->count);
    if (count < effect.pops || count - effect.pops + effect.pushes > stack->mask) return false;
    if (effect.ran_empty && (count != effect.pops || count != stack->count)) return false;
    for (unsigned i = 0; i < effect.pops; i++)
        if (!is_call_of(s, ntr_return_stack_at(stack, i), ntr_message_memo_calls_of(memo)->calls[i])) return false;
    return true;
}

static inline void stack_follow(ntr_source *s, const ntr_message_memo *memo) {
    ntr_return_stack *stack = &s->stack;
    const ntr_stack_effect effect = memo->stack;
    ntr_block *const *pushed = ntr_message_memo_calls_of(memo)->calls + effect.pops;
    stack->count = ntr_message_memo_kept(stack, effect, stack->count) - effect.pops + effect.pushes;
    stack->top -= effect.pops;
    for (unsigned i = 0; i < effect.pushes; i++)
        stack->entries[stack->top++ & stack->mask] =
            (ntr_return){.address = pushed[i]->next, .call = pushed[i], .stamp = s->stamp};
}

/* ---- following */

static inline bool fits(const ntr_message_memos *memos, const memo_position *at, const ntr_message_memo *memo,
                         const ntr_message_memo *key) {
    const uint64_t *mine = memo->message.word, *wanted = key->message.word;
    bool same = memo->from == key->from && mine[0] == wanted[0] && mine[1] == wanted[1] && memo->ref == key->ref &&
                memo->ahead == key->ahead;
    return same && (!memos->wide || !ntr_message_memo_uses_stack(memo->stack) || stack_fits(at->source, memo));
}

/* Returns the memo for the key; NULL when there is none. */
static inline const ntr_message_memo *find(const ntr_message_memos *memos, const memo_position *at,
                                     size_t slot, const ntr_message_memo *key) {
    const ntr_message_memo *first = ntr_message_memo_at(memos, slot);
    if (memos->wide) __builtin_prefetch(first + 1);
    if (fits(memos, at, first, key)) return first;
    const ntr_message_memo *second = ntr_message_memo_at(memos, slot ^ 1);
    return fits(memos, at, second, key) ? second : NULL;
}

/* Totals of messages that are not added to the decoder's totals yet, in lanes of 32 bits: first and third, second and
 * fourth total of the groups in ntr_message_memo. */
typedef struct sums {
    uint64_t messages;
    uint64_t spans_taken, branches_calls, halfwords_returns, instructions_traps;
} sums;

#define LANE_MASK UINT64_C(0x0000ffff0000ffff)

/* Number of memos that can be added before one of the two bytes of traps overflows. */
enum { SUMS_MOST = UINT8_MAX };

/* Four totals in lanes of 16 bits; one load on little-endian machines. */
static inline uint64_t group_of(uint16_t first, uint16_t second, uint16_t third, uint16_t fourth) {
    return first | (uint64_t)second << 16 | (uint64_t)third << 32 | (uint64_t)fourth << 48;
}

static inline void add(sums *sum, const ntr_message_memo *memo) {
    sum->messages++;
    uint64_t group = group_of(memo->spans, memo->branches, memo->taken, memo->calls);
    sum->spans_taken += group & LANE_MASK;
    sum->branches_calls += group >> 16 & LANE_MASK;
    group = group_of(memo->halfwords, memo->instructions, memo->returns,
                     (uint16_t)(memo->exceptions | memo->interrupts << 8));
    sum->halfwords_returns += group & LANE_MASK;
    sum->instructions_traps += group >> 16 & LANE_MASK;
}

static void flush_sums(ntr_counts *counts, sums *sum) {
    counts->messages += sum->messages;
    counts->spans += (uint32_t)sum->spans_taken;
    counts->taken += sum->spans_taken >> 32;
    counts->branches += (uint32_t)sum->branches_calls;
    counts->calls += sum->branches_calls >> 32;
    counts->halfwords += (uint32_t)sum->halfwords_returns;
    counts->returns += sum->halfwords_returns >> 32;
    counts->instructions += (uint32_t)sum->instructions_traps;
    counts->exceptions += sum->instructions_traps >> 32 & UINT8_MAX;
    counts->interrupts += sum->instructions_traps >> 40;
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
static void store_position(const ntr_decoder *d, const memo_position *at, const ntr_message_words *last) {
    ntr_source *s = at->source;
    s->block = ntr_blocks_at(d->blocks, at->block);
    s->pc = s->block->start;
    s->halfwords_ahead = at->halfwords_ahead;
    s->icnt = at->icnt;
    s->ref = at->ref;
    s->last_branch.valid = false;
    s->last_memo = *last;
}

static void begin_candidate(const ntr_decoder *d, ntr_source *s, ntr_memo_candidate *candidate) {
    candidate->source = s;
    candidate->halfwords_ahead = s->halfwords_ahead;
    candidate->icnt = s->icnt;
    candidate->ref = s->ref;
    candidate->depth = s->stack.count;
    candidate->before = *d->counts;
    if (!d->message_memos.wide) return;
    ntr_return_stack_watch(&s->stack);
    for (unsigned i = 0; i < NTR_MESSAGE_MEMO_CALLS && i < s->stack.count; i++)
        candidate->callers[i] = *ntr_return_stack_at(&s->stack, i);
}

static inline void apply(const ntr_message_memos *memos, memo_position *at, const ntr_message_memo *memo) {
    if (memos->wide && ntr_message_memo_uses_stack(memo->stack)) stack_follow(at->source, memo);
    at->block = memo->to;
    at->ref ^= memo->ref_xor;
    if (ntr_message_memo_deducts(&memo->message))
        at->halfwords_ahead = at->icnt = 0;
    else
        at->halfwords_ahead += memo->halfwords;
}

/* `memos` is a copy in which `wide` is a constant, so that the compiler makes a loop without return stacks. */
static inline __attribute__((always_inline)) bool follow(ntr_decoder *d, const ntr_message_memos memos,
                                                         memo_position at, const uint8_t *bytes, const uint8_t *end,
                                                         ntr_memo_candidate *candidate) {
    ntr_message_words message, last = {0};
    uint64_t before = d->counts->messages;
    sums sum = {0};
    bool unknown = false;
    while (bytes <= end) {
        unsigned size = ntr_words_load(&message, bytes);
        if (!size || !may_have_memo(&at, &message)) break;
        ntr_message_memo key = {0};
        size_t slot = make_key(&memos, &at, &message, &key);
        const ntr_message_memo *memo = find(&memos, &at, slot, &key);
        if (!memo) {
            candidate->key = key;
            candidate->slot = slot;
            unknown = true;
            break;
        }
        apply(&memos, &at, memo);
        add(&sum, memo);
        if (sum.messages == SUMS_MOST) flush_sums(d->counts, &sum);
        last = message;
        bytes += size;
    }
    flush_sums(d->counts, &sum);
    ntr_words_pass(&d->reader, d->counts->messages - before, bytes);
    if (last.word[0]) store_position(d, &at, &last);
    if (unknown) begin_candidate(d, at.source, candidate);
    return unknown;
}

bool ntr_message_memos_follow(ntr_decoder *d, ntr_memo_candidate *candidate) {
    const uint8_t *bytes, *end;
    memo_position at;
    if (d->failed != NTR_OK || !look_ahead(d, &bytes, &end)) return false;
    if (!take_memo_position(d, ntr_load8(bytes), &at) || !prepare_table(d)) return false;
    ntr_message_memos memos = d->message_memos;
    if (memos.wide) {
        memos.wide = 1;
        return follow(d, memos, at, bytes, end, candidate);
    }
    memos.wide = 0;
    return follow(d, memos, at, bytes, end, candidate);
}
