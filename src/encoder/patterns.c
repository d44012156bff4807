/* The history split for size. N-Trace 1.0 section 11.3: any split into RCODE 1 and RCODE 2 is legal as long as
 * the branches are the same.
 *
 * A window of branches that have not been sent yet; cost[n] is the least that messages holding exactly the
 * first n of them can take, step[n] the last of those messages. A new branch adds one column:
 *   - RCODE 1 with the last k branches, for every k that fits the register;
 *   - RCODE 2 with a pattern of p branches, for every p that the last branches repeat at least twice: either
 *     one more of what was best p branches ago, or the first two.
 * When the window is full the older half of the best split is sent. Its last message is kept open if it is
 * an RCODE 2: it may go on repeating, however long, while the window moves along. When the branch message
 * comes, the split that leaves the best tail for its HIST wins. Look-ahead and memory are bounded by PATTERN_WINDOW. */
#include "base/allocator.h"
#include "encoder/state.h"
#include "wire/mdo.h"

#include <string.h>

enum {
    PATTERN_WINDOW = 1024,
    PATTERN_MAX = 31,
    LANES = PATTERN_MAX + 1, /* lane i is of LANES - i branches: so columns lie in memory; lane 0 is of none */
    NEVER = 1 << 29,         /* a cost above all; two of them can be added */
    BYTE_COST = 256,         /* of equal sizes the one with fewer messages is better, by 1 each */
    RESOURCE_BITS = 6 + 4,   /* TCODE, RCODE */
};

/* A message: `count` times the pattern of `length` branches; count 1 is RCODE 1. */
typedef struct split_step {
    uint32_t count;
    uint8_t length;
    bool opened; /* goes on from the open message, not from a column */
} split_step;

/* The best repeat of one pattern length so far that ends in one residue class of columns. */
typedef struct repeat_run {
    uint64_t since; /* when the pattern began to repeat; another than that of the pattern length: none */
    uint32_t base;  /* cost of what is before it */
    uint32_t count;
} repeat_run;

struct patterns {
    uint32_t once_cost[PATTERN_MAX + 1];    /* RCODE 1 of so many branches */
    int32_t once_lanes[LANES];              /* the same */
    uint32_t pattern_cost[PATTERN_MAX + 1]; /* RCODE 2 with such a pattern, without HREPEAT */
    uint32_t tail_cost[PATTERN_MAX + 1];    /* HIST of a branch message */
    uint32_t longest;                       /* branches that fit the register */
    int16_t length_lanes[LANES];            /* LANES - i */
    uint16_t bit_lanes[LANES];              /* bit_of a pattern length that may be sent, or 0, within half a word */
    uint32_t multiples[PATTERN_MAX + 1];    /* lengths that are multiples of each, as bits */
    uint32_t count_max;

    uint32_t length;                        /* branches in the window */
    uint64_t origin;                        /* of its columns among those of all windows */
    /* Of LANES columns in front of the window nothing comes: they cost NEVER and are too near for any repeat. */
    uint8_t taken_room[LANES + PATTERN_WINDOW], *taken;
    int32_t cost_room[LANES + PATTERN_WINDOW + 1], *cost;
    split_step step[PATTERN_WINDOW + 1];
    int16_t mismatch[LANES];                /* newest column whose branch differs from the one so many before */
    repeat_run runs[PATTERN_MAX + 1][PATTERN_MAX];

    split_step open;                        /* before the window, not sent yet; length 0: none */
    uint32_t open_bits;                     /* its pattern, newest branch in bit 0 */
    bool open_goes_on;                      /* the window has only repeated it so far */
};

/* ---- costs ------------------------------------------------------------------------------------------- */

static uint32_t bytes_cost(uint32_t bits) { return (bits + NTR_MDO_BITS - 1) / NTR_MDO_BITS * BYTE_COST; }

static uint32_t count_cost(uint32_t count) { return bytes_cost(32 - (uint32_t)__builtin_clz(count)); }

static uint32_t bit_of(uint32_t length) { return UINT32_C(1) << (LANES - length); }

static void set_lengths(patterns *s) {
    for (uint32_t p = 1; p <= LANES; p++) s->length_lanes[LANES - p] = (int16_t)p;
    for (uint32_t p = 1; p <= s->longest && s->count_max >= 2; p++) {
        s->bit_lanes[LANES - p] = (uint16_t)(bit_of(p) | bit_of(p) >> LANES / 2);
        for (uint32_t k = 2 * p; k <= s->longest; k += p) s->multiples[p] |= bit_of(k);
    }
}

static void set_costs(const ntr_encoder *e, patterns *s) {
    uint32_t header = RESOURCE_BITS + e->params.src_bits;
    uint32_t message = 1 + (e->timestamps && e->config.ts_messages & NTR_TS_RESOURCE ? BYTE_COST : 0);
    for (uint32_t n = 1; n <= PATTERN_MAX; n++) {
        s->once_cost[n] = s->pattern_cost[n] = bytes_cost(header + n + 1) + message;
        s->tail_cost[n] = bytes_cost(n + 1);
    }
    s->tail_cost[0] = e->config.empty_hist ? BYTE_COST : 0;
    s->longest = e->config.hist_bits - 1u;
    for (uint32_t i = 0; i < LANES; i++) s->once_lanes[i] = LANES - i <= s->longest ? (int32_t)s->once_cost[LANES - i] : NEVER;
    s->count_max = (1u << e->config.hrepeat_bits) - 1;
    set_lengths(s);
}

/* ---- one branch more ---------------------------------------------------------------------------------- */

static void offer(patterns *s, uint32_t column, uint32_t cost, uint32_t length, uint32_t count, bool opened) {
    if (cost >= (uint32_t)s->cost[column]) return;
    s->cost[column] = (int32_t)cost;
    s->step[column] = (split_step){.count = count, .length = (uint8_t)length, .opened = opened};
}

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

/* The pattern of `p` branches has come twice or more before this column. */
static void offer_repeat(patterns *s, uint32_t column, uint32_t p) {
    repeat_run *run = &s->runs[p][column % p];
    uint64_t since = s->origin + (uint64_t)s->mismatch[LANES - p];
    uint32_t first_two = (uint32_t)s->cost[column - 2 * p];
    bool fits = run->since == since && run->count < s->count_max;
    if (fits && run->base + count_cost(run->count + 1) <= first_two + count_cost(2)) run->count++;
    else *run = (repeat_run){.since = since, .base = first_two, .count = 2};
    offer(s, column, run->base + s->pattern_cost[p] + count_cost(run->count), p, run->count, false);
}

/* Branches in a row, up to the column, that equal the one `p` before. */
static uint32_t matches(const patterns *s, uint32_t column, uint32_t p) {
    return (uint32_t)((int)column - s->mismatch[LANES - p]);
}

/* The pattern lengths that repeat at least once before the column. */
static uint32_t find_repeats(patterns *s, uint32_t column) {
    const uint8_t *before = s->taken + column - 1 - LANES;
    const int16_t here = (int16_t)column, taken = s->taken[column - 1];
    int16_t newest[LANES];
    uint16_t repeats[LANES], found[2] = {0};

    /* one step each, which the compiler makes wide */
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

/* A multiple of a pattern that has repeated as long is never cheaper than the pattern, if HREPEAT can count it. */
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
    for (unsigned i = 0; i < LANES; i++) s->mismatch[i] = (int16_t)(LANES - i); /* nothing is so many before */
}

/* The `length` branches before `column` as the bits of a HIST register, without stop-bit. */
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

/* The columns where the messages of the best split up to `end` end, newest first. */
static uint32_t trace_back(const patterns *s, uint32_t end, uint16_t *ends) {
    uint32_t n = 0;
    while (end) {
        ends[n++] = (uint16_t)end;
        if (s->step[end].opened) break;
        end -= s->step[end].length * s->step[end].count;
    }
    return n;
}

/* Make the message that ends at `column` the open one, and send the one that was. */
static void advance(ntr_encoder *e, patterns *s, uint32_t column) {
    const split_step *step = &s->step[column];
    if (!step->opened) {
        send_open(e, s);
        s->open_bits = bits_before(s, column, step->length);
    }
    s->open = *step;
}

/* Send the best split up to `end`, but for its last message. */
static void settle(ntr_encoder *e, patterns *s, uint32_t end) {
    uint16_t ends[PATTERN_WINDOW];
    for (uint32_t n = trace_back(s, end, ends); n; n--) advance(e, s, ends[n - 1]);
}

/* The column that the best split goes through, as far as can be told now: what is behind it is taken to cost
 * as much as plain history does. */
static uint32_t promising_end(const patterns *s) {
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

/* The window is full: keep what the newer half of it needs. */
static void move_window(ntr_encoder *e, patterns *s) {
    uint16_t ends[PATTERN_WINDOW];
    uint32_t n = trace_back(s, promising_end(s), ends);
    while (n > 1 && ends[n - 2] <= PATTERN_WINDOW / 2) n--;
    uint32_t cut = ends[n - 1], left = s->length - cut;
    settle(e, s, cut);
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
    settle(e, s, end);
    send_open(e, s);
    return 1ull << tail | bits_before(s, s->length, tail);
}

uint64_t ntr_enc_patterns_whole(const ntr_encoder *e) {
    const patterns *s = e->patterns;
    if (s->open.length || s->length > s->longest) return 0;
    return 1ull << s->length | bits_before(s, s->length, s->length);
}

void ntr_enc_patterns_clear(ntr_encoder *e) {
    e->patterns->open.length = 0;
    begin_window(e->patterns);
}

/* ---- life --------------------------------------------------------------------------------------------- */

ntr_status ntr_enc_patterns_new(ntr_encoder *e) {
    e->patterns = ntr_alloc(e->config.allocator, 1, sizeof *e->patterns);
    if (!e->patterns) return NTR_E_MEMORY;
    e->patterns->taken = e->patterns->taken_room + LANES;
    e->patterns->cost = e->patterns->cost_room + LANES;
    for (unsigned i = 0; i < LANES; i++) e->patterns->cost_room[i] = NEVER;
    set_costs(e, e->patterns);
    begin_window(e->patterns);
    return NTR_OK;
}

void ntr_enc_patterns_free(ntr_encoder *e) {
    ntr_dealloc(e->config.allocator, e->patterns);
    e->patterns = NULL;
}
