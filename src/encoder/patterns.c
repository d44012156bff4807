/* History split: divides the branch history into the ResourceFull messages of the least total size.
 *
 * N-Trace 1.0 section 11.3 allows every split into ResourceFull with RCODE 1 (a history) and RCODE 2 (a history and
 * its number of repeats), as long as the branches are the same. A good split makes repeated history short: 300 times
 * the pattern "taken, taken, not taken" is one RCODE 2 message of a few bytes, or 30 RCODE 1 messages with a
 * register of 31 branches.
 *
 * Idea. The file is a shortest-path search (dynamic programming) over the branches that have not been sent yet, the
 * window. Column n stands for the first n branches of the window. cost[n] is the least size of messages that hold
 * exactly these branches, and step[n] is the last of those messages. A new branch adds one column n; its candidates
 * are
 *   - an RCODE 1 message of the last k branches, after the best split of column n - k, for every k that fits the
 *     register;
 *   - an RCODE 2 message of a pattern of p branches, for every p whose pattern the last branches repeat at least
 *     once. Its count is 2, after the best split of column n - 2p, or one more than the count of the repeat that
 *     ended at n - p;
 *   - one more repeat of the open message (below).
 *
 * Invariant. Following step[] back from any column to column 0 gives messages whose branches, in order, are exactly
 * the branches of the window up to that column, after the open message. What is sent is always such a path, so the
 * decoder receives every branch once and in order, whether or not the costs are exact.
 *
 * Example. The branches are 1 0 1 0 1 0 with a register of 31 branches. At column 4, RCODE 2 with the pattern 10 and
 * count 2 competes with RCODE 1 of 1010. At column 6 the count becomes 3; the size of the message does not change,
 * as the count still fits one MDO group of HREPEAT.
 *
 * Bounded memory. When the window is full, the part of the estimated best split that ends in the older half of the
 * window is sent, and the rest moves to the front. If the last message of that part is an RCODE 2 message it is not
 * sent but kept open: it can go on repeating for as long as the pattern lasts, while the window moves. When the
 * branch message comes, the split with the least total of ResourceFull messages and HIST of the branch message is
 * sent. Look-ahead and memory are bounded by PATTERN_WINDOW.
 *
 * Speed. The candidates of all k and the mismatches of all p are computed side by side in arrays of LANES elements,
 * which compilers turn into vector instructions. */
#include "base/allocator.h"
#include "encoder/state.h"
#include "wire/mdo.h"

#include <string.h>

enum {
    PATTERN_WINDOW = 1024,
    PATTERN_MAX = 31,
    LANES = PATTERN_MAX + 1, /* lane i stands for LANES - i branches, in the order of the columns; lane 0 is unused */
    NEVER = 1 << 29,         /* more than every real cost; the sum of two does not overflow */
    BYTE_COST = 256,         /* cost of a byte; a message costs 1 more, so that fewer messages win at equal size */
};

/* A message: a pattern of `length` branches that comes `count` times. Count 1 is RCODE 1, more is RCODE 2. */
typedef struct split_step {
    uint32_t count;
    uint8_t length;
    bool opened; /* continues the open message instead of a column */
} split_step;

/* The best RCODE 2 message of one pattern length that ends at the last column with the same remainder modulo the
 * length. */
typedef struct repeat_run {
    uint64_t since; /* column where the pattern began to repeat; stale unless it is the present one of this length */
    uint32_t base;  /* cost of the messages before it */
    uint32_t count;
} repeat_run;

struct patterns {
    /* costs by number of branches */
    uint32_t once_cost[PATTERN_MAX + 1];    /* RCODE 1 message */
    int32_t once_lanes[LANES];              /* the same by lane */
    uint32_t pattern_cost[PATTERN_MAX + 1]; /* RCODE 2 message with such a pattern, without HREPEAT */
    uint32_t tail_cost[PATTERN_MAX + 1];    /* HIST of the branch message */
    uint32_t longest;                       /* branches that fit the HIST register */
    int16_t length_lanes[LANES];            /* LANES - i */
    uint16_t bit_lanes[LANES];              /* half of bit_of the length if such a pattern may be sent, else 0 */
    uint32_t multiples[PATTERN_MAX + 1];    /* set of bit_of the longer lengths that are multiples of this length */
    uint32_t count_max;                     /* largest HREPEAT */

    uint32_t length;                        /* branches in the window */
    uint64_t origin;                        /* added to a column it gives a number that no other window uses */
    /* LANES columns before column 0 avoid checks of bounds. Their cost is NEVER, so that no split starts there. */
    uint8_t taken_storage[LANES + PATTERN_WINDOW], *taken;
    int32_t cost_storage[LANES + PATTERN_WINDOW + 1], *cost;
    split_step step[PATTERN_WINDOW + 1];
    int16_t mismatch[LANES];                /* by lane: newest column that differs from the one p before */
    repeat_run runs[PATTERN_MAX + 1][PATTERN_MAX];

    split_step open;                        /* open message: precedes the window, not sent yet; length 0: none */
    uint32_t open_bits;                     /* its pattern, newest branch in bit 0 */
    bool open_goes_on;                      /* all branches of the window so far repeat its pattern */
};

/* ---- costs ------------------------------------------------------------------------------------------- */

static uint32_t bytes_cost(uint32_t bits) {
    return (bits + NTR_MDO_BITS - 1) / NTR_MDO_BITS * BYTE_COST;
}

static uint32_t count_cost(uint32_t count) {
    return bytes_cost(32 - (uint32_t)__builtin_clz(count));
}

static uint32_t bit_of(uint32_t length) {
    return UINT32_C(1) << (LANES - length);
}

static void set_lengths(patterns *s) {
    for (uint32_t p = 1; p <= LANES; p++) s->length_lanes[LANES - p] = (int16_t)p;
    for (uint32_t p = 1; p <= s->longest && s->count_max >= 2; p++) {
        s->bit_lanes[LANES - p] = (uint16_t)(bit_of(p) | bit_of(p) >> LANES / 2);
        for (uint32_t k = 2 * p; k <= s->longest; k += p) s->multiples[p] |= bit_of(k);
    }
}

static void set_costs(const ntr_encoder *e, patterns *s) {
    uint32_t header = NTR_ENC_RESOURCE_BITS + e->params.src_bits;
    uint32_t message = 1 + (e->timestamps && e->config.ts_messages & NTR_TS_MESSAGE_RESOURCE ? BYTE_COST : 0);
    for (uint32_t n = 1; n <= PATTERN_MAX; n++) {
        s->once_cost[n] = s->pattern_cost[n] = bytes_cost(header + n + 1) + message;
        s->tail_cost[n] = bytes_cost(n + 1);
    }
    s->tail_cost[0] = e->config.empty_hist ? BYTE_COST : 0;
    s->longest = e->config.hist_bits - 1u;
    for (uint32_t i = 0; i < LANES; i++)
        s->once_lanes[i] = LANES - i <= s->longest ? (int32_t)s->once_cost[LANES - i] : NEVER;
    s->count_max = (1u << e->config.hrepeat_bits) - 1;
    set_lengths(s);
}

/* ---- adding a branch ---------------------------------------------------------------------------------- */

/* Makes the message the last one of the best split of `column`, if `cost` is less than the present cost. */
static void offer(patterns *s, uint32_t column, uint32_t cost, uint32_t length, uint32_t count, bool opened) {
    if (cost >= (uint32_t)s->cost[column]) return;
    s->cost[column] = (int32_t)cost;
    s->step[column] = (split_step){.count = count, .length = (uint8_t)length, .opened = opened};
}

/* Candidates with RCODE 1, of every length. */
static void offer_once(patterns *s, uint32_t column) {
    const int32_t *before = s->cost + column - LANES;
    int32_t costs[LANES], least = NEVER;
    unsigned i = 0;

    for (unsigned k = 0; k < LANES; k++) {
        costs[k] = before[k] + s->once_lanes[k];
        least = costs[k] < least ? costs[k] : least;
    }
    if (least >= s->cost[column]) return;
    while (costs[i] != least) i++;
    offer(s, column, (uint32_t)least, LANES - i, 1, false);
}

/* Candidates with RCODE 2 and a pattern of `p` branches, which has come at least twice before this column. */
static void offer_repeat(patterns *s, uint32_t column, uint32_t p) {
    repeat_run *run = &s->runs[p][column % p];
    uint64_t since = s->origin + (uint64_t)s->mismatch[LANES - p];
    uint32_t first_two = (uint32_t)s->cost[column - 2 * p];
    bool fits = run->since == since && run->count < s->count_max;
    if (fits && run->base + count_cost(run->count + 1) <= first_two + count_cost(2))
        run->count++;
    else
        *run = (repeat_run){.since = since, .base = first_two, .count = 2};
    offer(s, column, run->base + s->pattern_cost[p] + count_cost(run->count), p, run->count, false);
}

/* Returns how many consecutive branches, up to the column, equal the branch `p` before them. */
static uint32_t matches(const patterns *s, uint32_t column, uint32_t p) {
    return (uint32_t)((int)column - s->mismatch[LANES - p]);
}

/* Updates `mismatch` for the column. Returns the set of bit_of the pattern lengths that have come at least twice. */
static uint32_t find_repeats(patterns *s, uint32_t column) {
    const uint8_t *before = s->taken + column - 1 - LANES;
    const int16_t here = (int16_t)column, taken = s->taken[column - 1];
    int16_t newest[LANES];
    uint16_t repeats[LANES], found[2] = {0};

    /* one simple operation per loop, so that the compiler vectorizes it */
    for (unsigned i = 0; i < LANES; i++) newest[i] = (int16_t)(before[i] != taken ? here : 0);
    for (unsigned i = 0; i < LANES; i++) newest[i] = newest[i] > s->mismatch[i] ? newest[i] : s->mismatch[i];
    memcpy(s->mismatch, newest, sizeof newest);
    for (unsigned i = 0; i < LANES; i++) newest[i] = (int16_t)(newest[i] + s->length_lanes[i]);
    for (unsigned i = 0; i < LANES; i++) repeats[i] = here >= newest[i] ? UINT16_MAX : 0;
    for (unsigned i = 0; i < LANES; i++) repeats[i] &= s->bit_lanes[i];
    for (unsigned i = 0; i < LANES / 2; i++) found[0] |= repeats[i];
    for (unsigned i = LANES / 2; i < LANES; i++) found[1] |= repeats[i];
    return found[0] | (uint32_t)found[1] << LANES / 2;
}

/* Candidates with RCODE 2, of every length. A pattern of k = m * p branches is skipped when the pattern of p
 * branches covers the same branches: it is never cheaper, as long as HREPEAT can count the repeats of the shorter
 * pattern. */
static void offer_repeats(patterns *s, uint32_t column) {
    for (uint32_t found = find_repeats(s, column), p; found; found &= ~bit_of(p)) {
        p = 1u + (uint32_t)__builtin_clz(found);
        uint32_t length = matches(s, column, p) + p;
        uint32_t multiples = length / p <= s->count_max ? found & s->multiples[p] : 0;
        for (uint32_t k; multiples; multiples &= ~bit_of(k)) {
            k = 1u + (uint32_t)__builtin_clz(multiples);
            if (matches(s, column, k) + k <= length) found &= ~bit_of(k);
        }
        offer_repeat(s, column, p);
    }
}

/* Candidate: one more repeat of the open message. */
static void offer_open(patterns *s, uint32_t column) {
    uint32_t p = s->open.length;
    if (!s->open_goes_on) return;
    s->open_goes_on = (s->open_bits >> ((p - column % p) % p) & 1) == s->taken[column - 1];
    if (!s->open_goes_on || column % p) return;
    uint32_t count = s->open.count + column / p;
    if (count <= s->count_max) offer(s, column, s->pattern_cost[p] + count_cost(count), p, count, true);
}

static void add_column(patterns *s) {
    uint32_t column = ++s->length;
    s->cost[column] = NEVER;
    offer_open(s, column);
    offer_repeats(s, column);
    offer_once(s, column);
}

/* ---- sending ------------------------------------------------------------------------------------------ */

static void begin_window(patterns *s) {
    s->length = 0;
    s->open_goes_on = s->open.length != 0;
    s->cost[0] = s->open.length ? (int32_t)(s->pattern_cost[s->open.length] + count_cost(s->open.count)) : 0;
    s->origin += PATTERN_WINDOW + 1;
    for (unsigned i = 0; i < LANES; i++) s->mismatch[i] = (int16_t)(LANES - i); /* no branch p before it */
}

/* Returns the `length` branches before `column` as bits of a HIST register, without stop-bit. */
static uint32_t bits_before(const patterns *s, uint32_t column, uint32_t length) {
    uint32_t bits = 0;
    for (uint32_t i = column - length; i < column; i++) bits = bits << 1 | s->taken[i];
    return bits;
}

static void send_open(ntr_encoder *e, patterns *s) {
    if (!s->open.length) return;
    uint64_t rdata = 1ull << s->open.length | s->open_bits;
    uint32_t count = s->open.count;
    s->open.length = 0;
    ntr_enc_history_send(e, rdata, count, e->now);
}

/* Stores the columns where the messages of the best split of column `end` end, newest first. Returns their number. */
static uint32_t trace_back(const patterns *s, uint32_t end, uint16_t *ends) {
    uint32_t n = 0;
    while (end) {
        ends[n++] = (uint16_t)end;
        if (s->step[end].opened) break;
        end -= s->step[end].length * s->step[end].count;
    }
    return n;
}

/* Sends the open message and opens the message that ends at `column`. */
static void advance(ntr_encoder *e, patterns *s, uint32_t column) {
    const split_step *step = &s->step[column];
    if (!step->opened) {
        send_open(e, s);
        s->open_bits = bits_before(s, column, step->length);
    }
    s->open = *step;
}

/* Sends the best split of column `end` except its last message, which becomes the open message. */
static void send_split(ntr_encoder *e, patterns *s, uint32_t end) {
    uint16_t ends[PATTERN_WINDOW];
    for (uint32_t n = trace_back(s, end, ends); n; n--) advance(e, s, ends[n - 1]);
}

/* Returns the column where the best split of the window probably has a message boundary. The branches after it are not
 * complete messages yet; they are assumed to cost as much as RCODE 1 messages. */
static uint32_t estimate_best_end(const patterns *s) {
    uint32_t rate = s->once_cost[s->longest] / s->longest;
    uint32_t end = s->length, best = UINT32_MAX;
    for (uint32_t column = s->length; column > s->length - s->longest; column--) {
        uint32_t cost = (uint32_t)s->cost[column] + (s->length - column) * rate;
        if (cost >= best) continue;
        best = cost;
        end = column;
    }
    return end;
}

/* The window is full: sends the messages that end in its older half and moves the rest to the front. */
static void move_window(ntr_encoder *e, patterns *s) {
    uint16_t ends[PATTERN_WINDOW];
    uint32_t n = trace_back(s, estimate_best_end(s), ends);
    while (n > 1 && ends[n - 2] <= PATTERN_WINDOW / 2) n--;
    uint32_t cut = ends[n - 1], left = s->length - cut;
    send_split(e, s, cut);
    if (s->open.count == 1) send_open(e, s);
    memmove(s->taken, s->taken + cut, left);
    begin_window(s);
    while (s->length < left) add_column(s);
}

void ntr_enc_patterns_append(ntr_encoder *e, unsigned taken) {
    patterns *s = e->patterns;
    if (s->length == PATTERN_WINDOW) move_window(e, s);
    s->taken[s->length] = (uint8_t)taken;
    add_column(s);
}

/* Returns the column with the least total of ResourceFull messages up to it and HIST with the branches after it. */
static uint32_t best_end(const patterns *s) {
    uint32_t best = UINT32_MAX, end = 0;
    uint32_t longest = s->length < s->longest ? s->length : s->longest;
    for (uint32_t tail = 0; tail <= longest; tail++) {
        uint32_t cost = (uint32_t)s->cost[s->length - tail] + s->tail_cost[tail];
        if (cost >= best) continue;
        best = cost;
        end = s->length - tail;
    }
    return end;
}

uint64_t ntr_enc_patterns_take(ntr_encoder *e) {
    patterns *s = e->patterns;
    uint32_t end = best_end(s), tail = s->length - end;
    send_split(e, s, end);
    send_open(e, s);
    return 1ull << tail | bits_before(s, s->length, tail);
}

uint64_t ntr_enc_patterns_unsent(const ntr_encoder *e) {
    const patterns *s = e->patterns;
    if (s->open.length || s->length > s->longest) return 0;
    return 1ull << s->length | bits_before(s, s->length, s->length);
}

void ntr_enc_patterns_clear(ntr_encoder *e) {
    e->patterns->open.length = 0;
    begin_window(e->patterns);
}

/* ---- allocation --------------------------------------------------------------------------------------------- */

ntr_status ntr_enc_patterns_new(ntr_encoder *e) {
    e->patterns = ntr_alloc(e->config.allocator, 1, sizeof *e->patterns);
    if (!e->patterns) return NTR_E_MEMORY;
    e->patterns->taken = e->patterns->taken_storage + LANES;
    e->patterns->cost = e->patterns->cost_storage + LANES;
    for (unsigned i = 0; i < LANES; i++) e->patterns->cost_storage[i] = NEVER;
    set_costs(e, e->patterns);
    begin_window(e->patterns);
    return NTR_OK;
}

void ntr_enc_patterns_free(ntr_encoder *e) {
    ntr_dealloc(e->config.allocator, e->patterns);
    e->patterns = NULL;
}
