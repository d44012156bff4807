/* Looks up messages in the table of memos and applies them. */
#include "decoder/message_memo.h"
#include "decoder/message_memo_sums.h"

#include "base/allocator.h"

/* ---- the table */

/* The table begins with 1 Ki memos and grows in steps to 128 Ki memos (8 MiB; 16 MiB with implicit returns or a count
 * callback). Growing
 * discards all memos. */
enum { BITS_FIRST = 10, BITS_STEP = 3, BITS_MOST = 17 };

void ntr_message_memos_release(ntr_message_memos *message_memos, const ntr_allocator *allocator) {
    ntr_dealloc(allocator, message_memos->memory);
    if (message_memos->replayed) ntr_return_stack_release(&message_memos->replayed->stack, allocator);
    ntr_dealloc(allocator, message_memos->replayed);
    *message_memos = (ntr_message_memos){0};
}

/* Make an empty table. Without memory for it, the decoder works without message memos. */
static bool make_table(ntr_decoder *d, unsigned bits) {
    ntr_message_memos *memos = &d->message_memos;
    if (memos->counted) ntr_message_memos_replay(d);
    ntr_message_memos_release(memos, d->allocator);
    memos->bits = bits;
    memos->counted = d->count_callback != NULL;
    memos->wide = memos->counted || ntr_implicit_returns(d);
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

/* Fill the key for the message. */
static inline void make_key(const memo_position *at, const ntr_message_words *message, ntr_message_memo *key) {
    key->from = (uint32_t)((at->block + 1) << 2 | at->mode);
    key->message = *message;
    key->ahead = ntr_message_memo_deducts(message) ? (uint32_t)(at->halfwords_ahead - at->icnt) : 0;
    key->ref = is_relative(message) ? at->ref : 0;
}

/* ---- messages to come */

/* Messages are looked at before it is their turn: the first place of a memo depends on the message alone, so that the
 * cache lines of several memos are fetched at the same time. In BTM it is of no use: a DirectBranch of two bytes is the
 * same in many states, and the table fits the caches. */
enum { UPCOMING = 4 };

typedef struct upcoming_message {
    ntr_message_words message;
    uint64_t hash;
    unsigned size; /* 0: there is no further message */
} upcoming_message;

/* Look at the message at *next, which ends at `end` at the latest, and step over it. */
static inline void look_at_next(const ntr_message_memos *memos, bool early, upcoming_message *m, const uint8_t **next,
                                const uint8_t *end) {
    m->size = *next <= end ? ntr_words_load(&m->message, *next) : 0;
    if (m->size == 0) {
        *next = end + 1;
        return;
    }
    *next += m->size;
    const uint64_t *word = m->message.word;
    m->hash = (word[0] + (word[1] << 17 | word[1] >> 47)) * UINT64_C(0x9e3779b97f4a7c15);
    if (!early) return;
    m->hash = (m->hash >> 32 ^ m->hash) * UINT64_C(0xd6e8feb86659fd93);
    const ntr_message_memo *memo = ntr_message_memo_at(memos, m->hash >> (64 - memos->bits));
    __builtin_prefetch(memo);
    if (memos->wide) __builtin_prefetch(memo + 1);
}

/* Returns the places of the memo: by the message; by the message and the state; and by the newest return address, too,
 * or beside the second place. */
static inline ntr_message_memo_places places_of(const ntr_message_memos *memos, bool early,
                                                const memo_position *at, const upcoming_message *m,
                                                const ntr_message_memo *key) {
    unsigned shift = 64 - memos->bits;
    uint64_t hash = m->hash + (key->ref + key->ahead) * UINT64_C(0xc2b2ae3d27d4eb4f) +
                    key->from * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash >> 32 ^ hash) * UINT64_C(0xd6e8feb86659fd93);
    ntr_message_memo_places places = {.of_state = hash >> shift};
    places.of_message = early ? m->hash >> shift : places.of_state;
    places.of_caller = places.of_state ^ 1;
    if (!memos->wide) return places;
    hash += ntr_return_stack_peek(&at->source->stack, 0) * UINT64_C(0xc2b2ae3d27d4eb4f);
    places.of_caller = (hash >> 32 ^ hash) * UINT64_C(0xd6e8feb86659fd93) >> shift;
    return places;
}

/* ---- the return stack */

/* Returns whether this entry was made by the call that ends the block. */
static inline bool is_call_of(const ntr_source *s, const ntr_return *entry, const ntr_block *block) {
    return (entry->call == block && entry->stamp == s->stamp) || entry->address == block->next;
}

/* Returns whether the memo applies to the return stack of the source. A stack that is full at the highest depth on the
 * way drops its oldest entries there; those that the memo removes must not be among them. */
static inline bool stack_fits(const ntr_source *s, ntr_message_memo *memo) {
    const ntr_return_stack *stack = &s->stack;
    const ntr_stack_effect effect = memo->stack;
    uint32_t count = ntr_message_memo_kept(stack, effect, stack->count);
    if (count < effect.pops || count - effect.pops + effect.pushes > stack->mask) return false;
    if (effect.ran_empty && (count != effect.pops || count != stack->count)) return false;
    for (unsigned i = 0; i < effect.pops; i++)
        if (!is_call_of(s, ntr_return_stack_at(stack, i), ntr_message_memo_more_of(memo)->calls[i])) return false;
    return true;
}

static inline void stack_follow(ntr_source *s, ntr_message_memo *memo) {
    ntr_return_stack *stack = &s->stack;
    const ntr_stack_effect effect = memo->stack;
    ntr_block *const *pushed = ntr_message_memo_more_of(memo)->calls + effect.pops;
    stack->count = ntr_message_memo_kept(stack, effect, stack->count) - effect.pops + effect.pushes;
    stack->top -= effect.pops;
    for (unsigned i = 0; i < effect.pushes; i++)
        stack->entries[stack->top++ & stack->mask] =
            (ntr_return){.address = pushed[i]->next, .call = pushed[i], .stamp = s->stamp};
}

/* ---- following */

static inline bool fits(const ntr_message_memos *memos, const memo_position *at, ntr_message_memo *memo,
                         const ntr_message_memo *key) {
    const uint64_t *mine = memo->message.word, *wanted = key->message.word;
    bool same = memo->from == key->from && mine[0] == wanted[0] && mine[1] == wanted[1] && memo->ref == key->ref &&
                memo->ahead == key->ahead;
    return same && (!memos->wide || !ntr_message_memo_uses_stack(memo->stack) || stack_fits(at->source, memo));
}

/* Returns the memo for the key; NULL when there is none. */
static inline ntr_message_memo *find(const ntr_message_memos *memos, bool early, const memo_position *at,
                                     const upcoming_message *m, const ntr_message_memo *key,
                                     ntr_message_memo_places *places) {
    ntr_message_memo *memo = ntr_message_memo_at(memos, m->hash >> (64 - memos->bits));
    if (early && fits(memos, at, memo, key)) return memo;
    *places = places_of(memos, early, at, m, key);
    memo = ntr_message_memo_at(memos, places->of_state);
    if (fits(memos, at, memo, key)) return memo;
    memo = ntr_message_memo_at(memos, places->of_caller);
    return fits(memos, at, memo, key) ? memo : NULL;
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
    candidate->other_events = d->other_events;
    if (!d->message_memos.wide) return;
    ntr_return_stack_watch(&s->stack);
    for (unsigned i = 0; i < NTR_MESSAGE_MEMO_CALLS && i < s->stack.count; i++)
        candidate->callers[i] = *ntr_return_stack_at(&s->stack, i);
}

static inline void apply(const ntr_message_memos *memos, memo_position *at, ntr_message_memo *memo) {
    if (memos->counted) ntr_message_memo_more_of(memo)->times++;
    if (memos->wide && ntr_message_memo_uses_stack(memo->stack)) stack_follow(at->source, memo);
    at->block = memo->to;
    at->ref ^= memo->ref_xor;
    if (ntr_message_memo_deducts(&memo->message))
        at->halfwords_ahead = at->icnt = 0;
    else
        at->halfwords_ahead += memo->halfwords;
}

/* `early`, memos.wide and memos.counted are constants, so that the compiler makes a loop for each case. */
static inline __attribute__((always_inline)) bool follow(ntr_decoder *d, const ntr_message_memos memos, bool early,
                                                         memo_position at, const uint8_t *bytes, const uint8_t *end,
                                                         ntr_memo_candidate *candidate) {
    ntr_message_words last = {0};
    upcoming_message upcoming[UPCOMING];
    const uint8_t *next = bytes;
    uint64_t before = d->counts->messages;
    ntr_memo_sums sum = {0};
    bool unknown = false;
    const unsigned count = early ? UPCOMING : 1;
    for (unsigned i = 0; i < count; i++) look_at_next(&memos, early, &upcoming[i], &next, end);
    for (unsigned i = 0;; i = (i + 1) % count) {
        upcoming_message *m = &upcoming[i];
        if (!m->size || !may_have_memo(&at, &m->message)) break;
        ntr_message_memo key = {0};
        make_key(&at, &m->message, &key);
        ntr_message_memo *memo = find(&memos, early, &at, m, &key, &candidate->places);
        if (!memo) {
            candidate->key = key;
            unknown = true;
            break;
        }
        apply(&memos, &at, memo);
        ntr_memo_sums_add(&sum, memo);
        if (sum.messages == NTR_MEMO_SUMS_MOST) ntr_memo_sums_flush(d->counts, &sum);
        last = m->message;
        bytes += m->size;
        look_at_next(&memos, early, m, &next, end);
    }
    ntr_memo_sums_flush(d->counts, &sum);
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
    const bool early = at.mode != NTR_MODE_BTM;
    if (memos.counted) {
        memos.wide = memos.counted = 1;
        return follow(d, memos, true, at, bytes, end, candidate);
    }
    memos.counted = 0;
    if (memos.wide) {
        memos.wide = 1;
        return follow(d, memos, true, at, bytes, end, candidate);
    }
    memos.wide = 0;
    return early ? follow(d, memos, true, at, bytes, end, candidate)
                 : follow(d, memos, false, at, bytes, end, candidate);
}
