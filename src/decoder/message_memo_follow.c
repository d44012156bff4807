/* Looks up messages in the tables of memos and applies them. */
#include "decoder/message_memo_sums.h"
#include "decoder/sequence_memo.h"

/* ---- messages */

/* TCODEs of messages that only request a walk, whose effect depends on nothing outside the key. */
static inline uint64_t memo_tcodes(void) {
    return ntr_tcodes_of_role(NTR_ROLE_BRANCH) | ntr_tcodes_of_role(NTR_ROLE_RESOURCE);
}

/* ---- the state between two messages */

static bool take_memo_position(ntr_decoder *d, uint64_t word, ntr_memo_position *at) {
    unsigned src_bits = d->params.src_bits, id = ntr_words_src(word, src_bits);
    ntr_source *s = d->sources[id];
    if (!s || !ntr_message_memo_is_plain(d, s)) return false;
    const ntr_block *block = ntr_message_memo_block(d, s);
    if (block->halfwords == 0) return false;
    *at = (ntr_memo_position){.source = s,
                              .block = block->number,
                              .mode = s->mode,
                              .halfwords_ahead = s->halfwords_ahead,
                              .icnt = s->icnt,
                              .ref = s->ref,
                              .src = ntr_words_place_src(id),
                              .src_bits = ntr_words_place_src((1u << src_bits) - 1)};
    return true;
}

static inline bool may_have_memo(const ntr_memo_position *at, const ntr_message_words *message) {
    uint64_t first = message->word[0];
    if (!ntr_memo_position_has_source(at, first) || !ntr_tcode_in(memo_tcodes(), ntr_words_tcode(first))) return false;
    return ntr_memo_position_ahead_fits(at) || !ntr_message_memo_deducts(message);
}

/* Fill the key for the message. */
static inline void make_key(const ntr_memo_position *at, const ntr_message_words *message, ntr_message_memo *key) {
    key->from = ntr_memo_position_from(at);
    key->message = *message;
    key->ahead = ntr_message_memo_deducts(message) ? (uint32_t)(at->halfwords_ahead - at->icnt) : 0;
    key->ref = ntr_message_memo_is_relative(message) ? at->ref : 0;
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

static inline void prefetch(const ntr_message_memos *memos, size_t place) {
    const ntr_message_memo *memo = ntr_message_memo_at(memos, place);
    __builtin_prefetch(memo);
    if (memos->wide) __builtin_prefetch(memo + 1);
}

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
    prefetch(memos, m->hash >> (64 - memos->bits));
}

/* Returns the places of the memo: by the message; by the message and the state; and by the newest return address, too,
 * or beside the second place. */
static inline ntr_message_memo_places places_of(const ntr_message_memos *memos, bool early, const ntr_memo_position *at,
                                                const upcoming_message *m, const ntr_message_memo *key) {
    unsigned shift = 64 - memos->bits;
    uint64_t hash =
        m->hash + (key->ref + key->ahead) * UINT64_C(0xc2b2ae3d27d4eb4f) + key->from * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash >> 32 ^ hash) * UINT64_C(0xd6e8feb86659fd93);
    ntr_message_memo_places places = {.of_state = hash >> shift};
    places.of_message = early ? m->hash >> shift : places.of_state;
    places.of_caller = places.of_state ^ 1;
    if (!memos->wide) return places;
    hash += ntr_return_stack_peek(&at->source->stack, 0) * UINT64_C(0xc2b2ae3d27d4eb4f);
    places.of_caller = (hash >> 32 ^ hash) * UINT64_C(0xd6e8feb86659fd93) >> shift;
    return places;
}

/* ---- following */

static inline bool fits(const ntr_message_memos *memos, const ntr_memo_position *at, ntr_message_memo *memo,
                        const ntr_message_memo *key) {
    const uint64_t *mine = memo->message.word, *wanted = key->message.word;
    bool same = memo->from == key->from && mine[0] == wanted[0] && mine[1] == wanted[1] && memo->ref == key->ref &&
                memo->ahead == key->ahead;
    return same && (!memos->wide || !ntr_message_memo_uses_stack(memo->stack) ||
                    ntr_memo_stack_fits(at->source, memo->stack, ntr_message_memo_more_of(memo)->calls));
}

/* Returns the memo for the key; NULL when there is none. */
static inline ntr_message_memo *find(const ntr_message_memos *memos, bool early, const ntr_memo_position *at,
                                     const upcoming_message *m, const ntr_message_memo *key,
                                     ntr_message_memo_places *places) {
    ntr_message_memo *memo = ntr_message_memo_at(memos, m->hash >> (64 - memos->bits));
    if (early && fits(memos, at, memo, key)) return memo;
    *places = places_of(memos, early, at, m, key);
    prefetch(memos, places->of_caller);
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
static void store_position(const ntr_decoder *d, const ntr_memo_position *at, const uint8_t *last) {
    ntr_source *s = at->source;
    s->block = ntr_blocks_at(d->blocks, at->block);
    s->pc = s->block->start;
    s->halfwords_ahead = at->halfwords_ahead;
    s->icnt = at->icnt;
    s->ref = at->ref;
    s->last_branch.valid = false;
    ntr_words_load(&s->last_memo, last);
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

static inline __attribute__((always_inline)) void apply(const ntr_decoder *d, const ntr_message_memos *memos,
                                                        ntr_memo_position *at, ntr_message_memo *memo) {
    if (memos->counted) ntr_message_memo_more_of(memo)->times++;
    if (memos->wide && ntr_message_memo_uses_stack(memo->stack)) {
        ntr_block *const *calls = ntr_message_memo_more_of(memo)->calls;
        ntr_memo_stack_follow(at->source, memo->stack, calls);
        if (memos->counted && at->source->trail)
            ntr_memo_trail_follow(at->source, memo->stack, calls, ntr_blocks_at(d->blocks, memo->to)->start);
    }
    at->block = memo->to;
    at->ref ^= memo->ref_xor;
    if (ntr_message_memo_deducts(&memo->message))
        at->halfwords_ahead = at->icnt = 0;
    else
        at->halfwords_ahead += memo->totals.halfwords;
}

/* The messages that are followed, in local variables. */
typedef struct memo_walk {
    ntr_memo_position at;
    const uint8_t *bytes, *end; /* the next message; the last byte at which one may begin */
    const uint8_t *next;        /* the message after those in `upcoming` */
    const uint8_t *last;        /* the message before `bytes`; NULL: none was followed */
    ntr_memo_sums sum;
} memo_walk;

static inline void add_totals(ntr_decoder *d, memo_walk *w, const ntr_memo_totals *totals, unsigned messages) {
    ntr_memo_sums_add(&w->sum, totals, messages);
    if (w->sum.messages > NTR_MEMO_SUMS_MOST - NTR_SEQUENCE_MESSAGES) ntr_memo_sums_flush(d->counts, &w->sum);
}

/* Apply sequences as long as they have a memo, then begin a new one. Returns whether there were some. */
static inline bool follow_sequences(ntr_message_memos *memos, ntr_decoder *d, memo_walk *w, ntr_sequence_trail *trail) {
    const uint8_t *from = w->bytes;
    trail->count = 0;
    trail->from = NULL;
    if (memos->sequence_pause && memos->sequence_pause--) return false;
    while (w->end - w->bytes >= NTR_SEQUENCE_BYTES) {
        trail->from = w->bytes;
        trail->hash = ntr_sequence_hash(&w->at, w->bytes);
        ntr_sequence_memo *memo = ntr_sequence_find(memos, &w->at, w->bytes, trail->hash);
        if (!memo) {
            if ((memos->sequence_balance -= NTR_SEQUENCE_FAILURE) < 0) {
                memos->sequence_pause = NTR_SEQUENCE_PAUSE;
                memos->sequence_balance = NTR_SEQUENCE_BALANCE_LATER;
            }
            break;
        }
        if (memos->sequence_balance < NTR_SEQUENCE_BALANCE) memos->sequence_balance++;
        ntr_sequence_apply(memos, &w->at, memo);
        add_totals(d, w, &memo->totals, memo->messages);
        w->last = w->bytes + memo->last;
        w->bytes += memo->size;
        trail->from = NULL;
    }
    return w->bytes != from;
}

/* Returns whether a sequence ends before a message of this size. */
static inline bool sequence_ends(const memo_walk *w, const ntr_sequence_trail *trail, bool cut, unsigned size) {
    if (!trail->from) return cut;
    const size_t before = (size_t)(w->bytes - trail->from);
    return trail->count == NTR_SEQUENCE_MESSAGES || (cut && before >= NTR_SEQUENCE_HASHED) ||
           before + size > NTR_SEQUENCE_BYTES;
}

/* `early`, memos.wide and memos.counted are constants, so that the compiler makes a loop for each case. */
static inline __attribute__((always_inline)) bool follow(ntr_decoder *d, ntr_message_memos memos, bool early,
                                                         memo_walk w, ntr_memo_candidate *candidate) {
    ntr_sequence_trail trail; /* not all of it is set: it is large, and the next message may be unknown already */
    upcoming_message upcoming[UPCOMING];
    const uint64_t before = d->counts->messages;
    const unsigned count = early ? UPCOMING : 1;
    bool unknown = false, again = true;
    uint64_t hash = UINT64_MAX; /* of the message before */
    trail.from = NULL;
    trail.count = upcoming[0].size = 0;
    for (unsigned i = 0;; i = (i + 1) % count) {
        if (memos.sequences && sequence_ends(&w, &trail, hash >> (64 - NTR_SEQUENCE_CUT_BITS) == 0, upcoming[i].size)) {
            if (trail.count > 1) ntr_sequence_memo_learn(d, &trail, w.bytes);
            again |= follow_sequences(&memos, d, &w, &trail);
        }
        if (again) { /* look at the next messages */
            w.next = w.bytes;
            for (i = 0; i < count; i++) look_at_next(&memos, early, &upcoming[i], &w.next, w.end);
            again = false;
            i = 0;
        }
        upcoming_message *m = &upcoming[i];
        if (!m->size || !may_have_memo(&w.at, &m->message)) break;
        ntr_message_memo key = {0};
        make_key(&w.at, &m->message, &key);
        ntr_message_memo *memo = find(&memos, early, &w.at, m, &key, &candidate->places);
        if (!memo) {
            candidate->key = key;
            unknown = true;
            break;
        }
        apply(d, &memos, &w.at, memo);
        add_totals(d, &w, &memo->totals, 1);
        if (trail.from) trail.memos[trail.count++] = memo;
        hash = m->hash;
        w.last = w.bytes;
        w.bytes += m->size;
        look_at_next(&memos, early, m, &w.next, w.end);
    }
    d->message_memos.sequence_balance = memos.sequence_balance;
    d->message_memos.sequence_pause = memos.sequence_pause;
    ntr_memo_sums_flush(d->counts, &w.sum);
    ntr_words_pass(&d->reader, d->counts->messages - before, w.bytes);
    if (w.last) store_position(d, &w.at, w.last);
    if (unknown) begin_candidate(d, w.at.source, candidate);
    return unknown;
}

bool ntr_message_memos_follow(ntr_decoder *d, ntr_memo_candidate *candidate) {
    memo_walk w;
    if (d->failed != NTR_OK || !look_ahead(d, &w.bytes, &w.end)) return false;
    if (!take_memo_position(d, ntr_load8(w.bytes), &w.at) || !ntr_message_memos_prepare(d)) return false;
    ntr_message_memos memos = d->message_memos;
    const bool early = w.at.mode != NTR_MODE_BTM;
    w.last = NULL;
    w.sum = (ntr_memo_sums){0};
    if (memos.counted) {
        memos.wide = memos.counted = 1;
        return follow(d, memos, true, w, candidate);
    }
    memos.counted = 0;
    if (memos.wide) {
        memos.wide = 1;
        return follow(d, memos, true, w, candidate);
    }
    memos.wide = 0;
    return early ? follow(d, memos, true, w, candidate) : follow(d, memos, false, w, candidate);
}
