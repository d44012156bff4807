/* Quick history split: finds the repeats in the branch history that save most, at the cost of a few operations for a
 * branch. patterns.c finds the split of the least size, at ten times the cost.
 *
 * Branches wait in one 64-bit word, until a branch message takes them as HIST or there are twice as many as HIST holds.
 * Then the word is searched for a stretch that repeats a short pattern:
 *
 *   older branches  [ prefix | pattern pattern pattern ... | rest ]  newer branches
 *
 * Idea. `bits ^ bits >> p` has a 0 where a branch equals the one `p` before it, so a stretch of k zeros is a pattern of
 * p branches that covers k + p of them; a stretch is found for all branches of the word at once, and for several p in
 * one vector. If sending it as RCODE 2 saves bytes, the prefix is sent as RCODE 1 before it. When there is no rest, the
 * repeat stays open: the branches that follow are compared with the pattern, up to 32 in one operation, until one
 * differs. Without such a stretch a full HIST register is sent as RCODE 1.
 *
 * Invariant: what was sent, then `repeated` branches of the open repeat (if length is not 0), else the newest `count`
 * bits of `bits`, is the history in order. In an open repeat the newest 64 branches are in `bits`, as if the pattern
 * had always repeated; the last repeated % length of them begin the next pattern.
 *
 * Example: a loop of 200 rounds with two branches makes 0 1 0 1 ... After 62 branches the word repeats with p = 2, and
 * the repeat opens; the end of the loop closes it: one message with the pattern 01 and the count 200. */
#include "encoder/state.h"
#include "message/layout.h"

enum {
    STRETCH_LOG2 = 5,      /* a stretch is shorter than 2^6: of at most 62 branches */
    SHORTEST = 18,         /* fewer branches cannot be sent with fewer bytes than HIST has */
    STRETCH_LEAST = 8,     /* equal branches in a stretch: candidates() looks for so many first */
};

/* A stretch of the waiting branches that repeats a pattern. */
typedef struct stretch {
    uint32_t length; /* of the pattern; 0: none was found */
    uint32_t covers; /* branches */
    uint32_t rest;   /* branches after it */
} stretch;

static uint64_t mask_of(unsigned bits) {
    return (UINT64_C(1) << bits) - 1;
}

static uint32_t bytes_of(uint32_t bits) {
    return (bits + NTR_MDO_BITS - 1) / NTR_MDO_BITS;
}

static uint32_t longest(const ntr_encoder *e) {
    return e->config.hist_bits - 1u;
}

/* Size of ResourceFull with `branches` branches, without HREPEAT. */
static uint32_t resource_size(const ntr_encoder *e, uint32_t branches) {
    bool timed = e->timestamps && e->config.ts_messages & NTR_TS_MESSAGE_RESOURCE;
    return bytes_of(NTR_ENC_RESOURCE_BITS + e->params.src_bits + branches + 1) + timed;
}

/* The same with HREPEAT, of a stretch: it has less than 64 repeats. */
static uint32_t repeat_size(const ntr_encoder *e, uint32_t length) {
    return resource_size(e, length) + 1;
}

/* ---- sending ---------------------------------------------------------------------------------------------------- */

/* Sends the oldest `branches` waiting branches as RCODE 1. */
static void send_oldest(ntr_encoder *e, uint32_t branches) {
    history_repeats *r = &e->repeats;
    r->count = (uint8_t)(r->count - branches);
    ntr_enc_history_send(e, UINT64_C(1) << branches | (r->bits >> r->count & mask_of(branches)), 1, e->now);
}

static void send_oldest_in_parts(ntr_encoder *e, uint32_t branches) {
    while (branches) {
        uint32_t part = branches < longest(e) ? branches : longest(e);
        send_oldest(e, part);
        branches -= part;
    }
}

/* Sends as many of the oldest branches as fill ResourceFull to its last bit, and so many that HIST holds the others. */
static void send_all_but_hist(ntr_encoder *e) {
    uint32_t most = longest(e), count = e->repeats.count;
    if (count <= most) return;
    uint32_t unused = (NTR_ENC_RESOURCE_BITS + e->params.src_bits + most + 1) % NTR_MDO_BITS;
    send_oldest(e, count - (most - unused) <= most && most > unused ? most - unused : most);
    send_all_but_hist(e);
}

/* ---- the search ------------------------------------------------------------------------------------------------- */

/* Returns the length of the longest stretch of ones if it is `least` or more, else 0. *first: its first bit.
 *
 * Idea: `longer[k]` has a one where a stretch of least + 2^k - 1 ones begins. The length is then found bit by bit. */
static unsigned longest_ones(uint64_t word, unsigned least, unsigned *first) {
    unsigned n = 1, k = 0;
    for (; n < least && word; n *= 2) word &= word >> (least - n < n ? least - n : n);
    if (!word) return 0;
    uint64_t longer[STRETCH_LOG2 + 1] = {word};
    for (; k < STRETCH_LOG2 && (longer[k + 1] = longer[k] & longer[k] >> (1u << k)) != 0; k++) continue;
    uint64_t left = longer[k];
    for (n = 1u << k; k--;) {
        uint64_t both = left & longer[k] >> n;
        if (!both) continue;
        left = both;
        n += 1u << k;
    }
    *first = (unsigned)__builtin_ctzll(left);
    return least + n - 1;
}

enum { IN_VECTOR = 4 };
typedef uint64_t word_vector __attribute__((vector_size(IN_VECTOR * sizeof(uint64_t)), aligned(8)));

/* Returns the lengths p for which `bits ^ bits >> p` may have a stretch that saves, as bits. Stretches of up to 32 are
 * compared with what is needed, longer ones count as 32. `more`: second, then third shifts. */
static inline __attribute__((always_inline)) uint32_t candidates(uint64_t bits, uint32_t count,
                                                                 const uint64_t more[2][NTR_ENC_HIST_BITS_MAX]) {
    word_vector p = {0, 1, 2, 3}, bit = {1, 2, 4, 8}, found = {0};
    for (unsigned i = 0; i < NTR_ENC_HIST_BITS_MAX; i += IN_VECTOR, p += IN_VECTOR, bit <<= IN_VECTOR) {
        word_vector equal =
            ~(bits ^ (word_vector){bits, bits, bits, bits} >> p) & ((word_vector){0} + mask_of(count)) >> p;
        equal &= equal >> 1;
        equal &= equal >> 2;
        equal &= equal >> 4;
        equal &= equal >> *(const word_vector *)(more[0] + i);
        equal &= equal >> *(const word_vector *)(more[1] + i);
        found |= (word_vector)(equal != 0) & bit;
    }
    return (uint32_t)(found[0] | found[1] | found[2] | found[3]);
}

#ifdef __x86_64__
static __attribute__((target("avx2"), noinline)) uint32_t
candidates_avx2(uint64_t bits, uint32_t count, const uint64_t more[2][NTR_ENC_HIST_BITS_MAX]) {
    return candidates(bits, count, more);
}
#endif

static uint32_t candidates_of(const ntr_encoder *e, bool at_end) {
    const uint64_t(*more)[NTR_ENC_HIST_BITS_MAX] = e->repeats.least[at_end].more;
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) return candidates_avx2(e->repeats.bits, e->repeats.count, more);
#endif
    return candidates(e->repeats.bits, e->repeats.count, more);
}

/* Bytes that RCODE 2 saves when more branches come: the branches would cost as much as those of full registers. */
static int saving_before_more(const ntr_encoder *e, const stretch *s) {
    uint32_t covered = s->rest ? s->covers - s->covers % s->length : s->covers;
    bool prefix = s->covers + s->rest < e->repeats.count;
    return (int)e->repeats.plain[covered] - (int)e->repeats.size[s->length] - prefix;
}

/* Size of the messages with so many branches, when HIST of a branch message takes the newest. */
static uint32_t size_with_hist(const ntr_encoder *e, uint32_t branches) {
    uint32_t size = 0;
    for (; branches > longest(e); branches -= longest(e)) size += resource_size(e, longest(e));
    return size + (branches ? bytes_of(branches + 1) : 0);
}

/* Bytes that RCODE 2 saves when a branch message comes. */
static int saving_at_end(const ntr_encoder *e, const stretch *s) {
    uint32_t count = e->repeats.count, prefix = count - s->covers - s->rest;
    uint32_t split = prefix ? resource_size(e, prefix) : 0;
    split += e->repeats.size[s->length] + size_with_hist(e, s->rest + s->covers % s->length);
    return (int)size_with_hist(e, count) - (int)split;
}

/* Bytes that `covered` branches take at most, of so many that wait. */
static uint32_t most_bytes(const ntr_encoder *e, uint32_t covered, bool at_end) {
    uint32_t most = e->repeats.plain[covered];
    for (uint32_t count = covered; at_end && count <= 2 * longest(e); count++) {
        uint32_t bytes = size_with_hist(e, count) - size_with_hist(e, count - covered);
        if (bytes > most) most = bytes;
    }
    return most;
}

/* How many branches a stretch must cover to take more than so many bytes. */
static void set_covers(struct ntr_enc_least *least, const uint32_t *bytes, uint32_t most) {
    for (uint32_t b = 0; b < NTR_ENC_SAVED_MAX; b++) {
        uint32_t covers = 0;
        while (covers <= most && bytes[covers] <= b) covers++;
        least->covers[b] = (uint8_t)covers;
    }
}

/* For each length of a pattern: how long a stretch must be, so that most lengths need a few operations only. */
static void set_least(const ntr_encoder *e, struct ntr_enc_least *least, bool at_end) {
    uint32_t bytes[2 * NTR_ENC_HIST_BITS_MAX], most = 2 * longest(e);
    least->lengths = 0;
    for (uint32_t covers = 0; covers <= most; covers++) bytes[covers] = most_bytes(e, covers, at_end);
    set_covers(least, bytes, most);
    for (uint32_t p = 1; p <= longest(e); p++) {
        uint32_t covers = p < STRETCH_LEAST ? p + STRETCH_LEAST : 2 * p, saves = least->covers[e->repeats.size[p]];
        if (covers < saves) covers = saves;
        uint32_t ones = covers - p, second = ones < 2 * STRETCH_LEAST ? ones - STRETCH_LEAST : STRETCH_LEAST;
        uint32_t third = ones - STRETCH_LEAST - second;
        if (covers <= most) least->lengths |= 1u << p;
        least->ones[p] = (uint8_t)ones;
        least->more[0][p] = second;
        least->more[1][p] = third < 2 * STRETCH_LEAST ? third : 2 * STRETCH_LEAST;
    }
}

void ntr_enc_repeats_prepare(ntr_encoder *e) {
    for (uint32_t covers = 0; covers <= 2 * longest(e); covers++)
        e->repeats.plain[covers] = (uint8_t)(covers * resource_size(e, longest(e)) / longest(e));
    for (uint32_t p = 1; p <= longest(e); p++) e->repeats.size[p] = (uint8_t)repeat_size(e, p);
    for (unsigned at_end = 0; at_end < 2; at_end++) set_least(e, &e->repeats.least[at_end], at_end);
}

static stretch find_stretch(const ntr_encoder *e, bool at_end) {
    uint64_t bits = e->repeats.bits;
    const struct ntr_enc_least *known = &e->repeats.least[at_end];
    uint32_t count = e->repeats.count, lengths = candidates_of(e, at_end) & known->lengths;
    stretch best = {0};
    int most = 0;
    for (; lengths; lengths &= lengths - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(lengths), least = known->ones[p];
        uint32_t covers = known->covers[e->repeats.size[p] + most]; /* to save more than the best one so far */
        if (covers > count) break; /* longer patterns take more bytes */
        uint64_t equal = ~(bits ^ bits >> p) & mask_of(count) >> p;
        stretch s = {.length = p};
        unsigned ones = longest_ones(equal, covers > least + p ? covers - p : least, &s.rest);
        if (!ones) continue;
        s.covers = ones + p;
        int saved = at_end ? saving_at_end(e, &s) : saving_before_more(e, &s);
        if (saved <= most) continue;
        most = saved;
        best = s;
    }
    return best;
}

/* ---- the open repeat -------------------------------------------------------------------------------------------- */

static void close_repeat(ntr_encoder *e) {
    history_repeats *r = &e->repeats;
    uint32_t length = r->length, count = (uint32_t)(r->repeated / length);
    r->length = 0;
    r->count = (uint8_t)(r->repeated % length);
    if (count) ntr_enc_history_send(e, r->rdata, count, e->now);
}

/* The stretch has no rest: it becomes the open repeat. */
static void open_repeat(ntr_encoder *e, const stretch *s) {
    history_repeats *r = &e->repeats;
    uint64_t pattern = r->bits >> (s->covers - s->length) & mask_of(s->length);
    uint32_t stride = s->length;
    while (stride * 2 <= 32) stride *= 2;
    r->rdata = UINT64_C(1) << s->length | pattern;
    r->length = (uint8_t)s->length;
    r->stride = (uint8_t)stride;
    r->repeated = s->covers;
    r->count = 0;
    for (uint32_t known = s->covers; known < stride; known += s->length) /* only the newest `stride` bits are used */
        r->bits = (r->bits & mask_of(known)) | (r->bits >> (known - s->length) & mask_of(s->length)) << known;
}

/* Compares branches with the pattern. Returns how many of them are left when the repeat ends. */
static unsigned follow_repeat(ntr_encoder *e, uint64_t outcomes, unsigned count) {
    history_repeats *r = &e->repeats;
    uint64_t limit = (uint64_t)((1u << e->config.hrepeat_bits) - 1) * r->length;
    while (count && r->repeated < limit) {
        uint64_t left = limit - r->repeated;
        unsigned n = count < r->stride ? count : r->stride;
        if (n > left) n = (unsigned)left;
        uint64_t taken = outcomes >> (count - n) & mask_of(n);
        uint64_t differ = taken ^ (r->bits >> (r->stride - n) & mask_of(n));
        unsigned equal = differ ? n - ntr_significant_bits(differ) : n;
        r->bits = r->bits << equal | taken >> (n - equal);
        r->repeated += equal;
        count -= equal;
        if (differ) break;
    }
    if (count) close_repeat(e);
    return count;
}

/* ---- adding and taking branches --------------------------------------------------------------------------------- */

/* Sends the stretch and what is before it, or opens the repeat. */
static void use_stretch(ntr_encoder *e, const stretch *s) {
    history_repeats *r = &e->repeats;
    send_oldest_in_parts(e, r->count - s->covers - s->rest);
    if (!s->rest) {
        open_repeat(e, s);
        return;
    }
    uint64_t pattern = r->bits >> (s->rest + s->covers - s->length) & mask_of(s->length);
    r->count = (uint8_t)(s->rest + s->covers % s->length);
    ntr_enc_history_send(e, UINT64_C(1) << s->length | pattern, s->covers / s->length, e->now);
}

/* The word is full. */
static void make_room(ntr_encoder *e) {
    stretch s = find_stretch(e, false);
    if (s.length)
        use_stretch(e, &s);
    else
        send_oldest(e, longest(e));
}

void ntr_enc_repeats_append(ntr_encoder *e, uint64_t outcomes, unsigned count) {
    history_repeats *r = &e->repeats;
    while (count) {
        if (r->length) {
            count = follow_repeat(e, outcomes, count);
            continue;
        }
        unsigned space = 2 * longest(e) - r->count, n = count < space ? count : space;
        if (!space) {
            make_room(e);
            continue;
        }
        count -= n;
        r->bits = r->bits << n | (outcomes >> count & mask_of(n));
        r->count = (uint8_t)(r->count + n);
    }
}

uint64_t ntr_enc_repeats_take(ntr_encoder *e) {
    history_repeats *r = &e->repeats;
    if (r->length) close_repeat(e);
    stretch s = {0};
    if (r->count >= SHORTEST) s = find_stretch(e, true);
    if (s.length) use_stretch(e, &s);
    if (r->length) close_repeat(e);
    send_all_but_hist(e);
    return UINT64_C(1) << r->count | (r->bits & mask_of(r->count));
}

uint64_t ntr_enc_repeats_unsent(const ntr_encoder *e) {
    const history_repeats *r = &e->repeats;
    if (r->length || r->count > longest(e)) return 0;
    return UINT64_C(1) << r->count | (r->bits & mask_of(r->count));
}

void ntr_enc_repeats_clear(ntr_encoder *e) {
    e->repeats.count = e->repeats.length = 0;
}
