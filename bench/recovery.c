/* recovery [-n SEEDS] [-s FIRST]: damages streams of known executions and measures how much execution is lost.
 *
 * Each run encodes one random program (with a synchronizing message every few hundred messages), damages the stream in
 * one to three places and decodes it. From the synchronizing message after a damage up to the next damage, the events
 * must be exactly those of the undamaged stream. Printed: how many of the executed instructions were decoded (right)
 * and not decoded (lost), and how many of the decoded ones were not executed (wrong). A damaged count can stand for any
 * number of instructions; runs with far too many are counted separately (flooded). Exits with 1 when events differ that
 * must agree. */
#include "judge.h"
#include "setup.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DAMAGES_MAX  3
#define INSTRUCTIONS 6000

/* Undamaged bytes: [from, until) of the original stream are at `at` of the damaged one. */
typedef struct stream_piece {
    size_t from, until, at;
} stream_piece;

typedef struct damaged {
    uint8_t *bytes;
    size_t size;
    stream_piece piece[2 * DAMAGES_MAX + 1];
    unsigned pieces;
} damaged;

typedef struct tally {
    uint64_t all, right, wrong,
        lost; /* instructions: executed; decoded correctly, decoded but not executed, not decoded */
    uint64_t flooded;                 /* runs with ten times more instructions than were executed; not in the sums */
    uint64_t violations;
} tally;

static void keep(damaged *d, const setup_stream *s, size_t from, size_t until) {
    memcpy(d->bytes + d->size, s->bytes + from, until - from);
    if (until > from) d->piece[d->pieces++] = (stream_piece){from, until, d->size};
    d->size += until - from;
}

/* Each damages the stream at `at`, at most `limit` bytes, and returns the first undamaged position. */
static size_t flip_bit(damaged *d, const setup_stream *s, prng *r, size_t at, size_t limit) {
    (void)limit;
    d->bytes[d->size++] = (uint8_t)(s->bytes[at] ^ 1u << prng_below(r, 8));
    return at + 1;
}

static size_t lose_bytes(damaged *d, const setup_stream *s, prng *r, size_t at, size_t limit) {
    (void)d;
    (void)s;
    return at + prng_range(r, 1, (unsigned)(limit < 40 ? limit : 40));
}

static void append(damaged *d, const setup_stream *s, size_t at, size_t size) {
    memcpy(d->bytes + d->size, s->bytes + at, size);
    d->size += size;
}

static size_t duplicate_block(damaged *d, const setup_stream *s, prng *r, size_t at, size_t limit) {
    size_t size = prng_range(r, 1, (unsigned)(limit < 200 ? limit : 200));
    append(d, s, at, size);
    append(d, s, at, size);
    return at + size;
}

static size_t swap_blocks(damaged *d, const setup_stream *s, prng *r, size_t at, size_t limit) {
    size_t size = prng_range(r, 1, (unsigned)(limit / 2 < 100 ? limit / 2 : 100));
    append(d, s, at + size, size);
    append(d, s, at, size);
    return at + 2 * size;
}

typedef struct recovery_kind {
    const char *name;
    size_t (*hurt)(damaged *d, const setup_stream *s, prng *r, size_t at, size_t limit);
} recovery_kind;

static const recovery_kind kinds[] = {
    {"bit flipped", flip_bit},
    {"bytes lost", lose_bytes},
    {"block duplicated", duplicate_block},
    {"blocks swapped", swap_blocks},
};

static damaged hurt(const setup_stream *s, const recovery_kind *how, prng *r) {
    unsigned places = prng_range(r, 1, DAMAGES_MAX);
    damaged d = {.bytes = malloc(2 * s->size + 1)};
    size_t sound = 0, share = s->size / places;
    if (!d.bytes) abort();
    for (unsigned i = 0; i < places; i++) {
        size_t end = i + 1 == places ? s->size : (i + 1) * share;
        if (end <= sound + 2) continue;
        size_t at = sound + prng_below(r, (unsigned)(end - sound - 1));
        keep(&d, s, sound, at);
        sound = how->hurt(&d, s, r, at, s->size - at);
    }
    keep(&d, s, sound, s->size);
    return d;
}

typedef struct range {
    size_t from, until;
} range;

/* ---- what came out ---------------------------------------------------------------------------------- */

/* The end of the message that starts at `start`. */
static size_t message_end(const setup_stream *s, size_t index) {
    return index + 1 < s->messages ? s->message[index + 1] : s->size;
}

/* Events of the messages in [from, until). */
static range events_of(const transcript *t, size_t from, size_t until) {
    size_t a = 0, b;
    while (a < t->events && t->event[a].offset < from) a++;
    for (b = a; b < t->events && t->event[b].offset < until; b++);
    return (range){a, b};
}

/* The number of roll-overs of a narrow clock in the damaged part is unknown. */
static bool same_event(const oracle_event *a, const oracle_event *b, uint64_t clock) {
    return a->kind == b->kind && a->known == b->known && (!a->known || a->pc == b->pc) && a->code == b->code &&
           a->has_time == b->has_time && (!a->has_time || ((a->time ^ b->time) & clock) == 0);
}

/* Gaps and notes are reported when they end, not where they begin, so they would change the order. */
static void drop_remarks(transcript *t) {
    size_t kept = 0;
    for (size_t i = 0; i < t->events; i++)
        if (t->event[i].kind != ORACLE_LOST && t->event[i].kind != ORACLE_NOTE) t->event[kept++] = t->event[i];
    t->events = kept;
}

/* The part of an undamaged range that must agree: events of bytes [from, until), from a synchronizing message on. */
static stream_piece reliable(const setup_stream *s, const transcript *sound, const stream_piece *p) {
    stream_piece r = {p->until, p->until, 0};
    for (size_t i = 0; i < sound->events && r.from == p->until; i++) {
        const oracle_event *e = &sound->event[i];
        bool clear = p->from == 0 || e->offset > p->from; /* framing needs the end of a message before it */
        if (e->kind == ORACLE_SYNC && clear && e->offset >= p->from && e->offset < p->until) r.from = e->offset;
    }
    r.until = r.from;
    for (size_t i = 0; i < s->messages; i++)
        if (message_end(s, i) <= p->until && message_end(s, i) > r.from) r.until = message_end(s, i);
    r.at = r.from - p->from + p->at;
    return r;
}

/* Both streams must have the same events there. */
static bool judge_reliable(const transcript *sound, const transcript *hurt_one, const stream_piece *r, uint64_t clock,
                           char *why, size_t size) {
    range a = events_of(sound, r->from, r->until), b = events_of(hurt_one, r->at, r->at + (r->until - r->from));
    while (a.from < a.until &&
           sound->event[a.from].kind != ORACLE_SYNC) /* events before the sync depend on the damage */
        a.from++;
    while (b.from < b.until && hurt_one->event[b.from].kind != ORACLE_SYNC) b.from++;
    while (a.from < a.until && b.from < b.until && same_event(&sound->event[a.from], &hurt_one->event[b.from], clock)) {
        a.from++;
        b.from++;
    }
    if (a.from == a.until && b.from == b.until) return true;
    const oracle_event none = {0}, *x = a.from < a.until ? &sound->event[a.from] : &none,
                       *y = b.from < b.until ? &hurt_one->event[b.from] : &none;
    snprintf(why, size,
             "wrong between the sync at byte %zu (now %zu) and byte %zu: kind %u pc 0x%" PRIx64 " code %u time %" PRIu64
             " at byte %" PRIu64 " became kind %u pc 0x%" PRIx64 " code %u time %" PRIu64 " at byte %" PRIu64,
             r->from, r->at, r->until, x->kind, x->pc, x->code, x->time, x->offset, y->kind, y->pc, y->code, y->time,
             y->offset);
    return false;
}

/* ---- right, wrong, lost ----------------------------------------------------------------------------- */

typedef struct pc_array {
    uint32_t *index; /* of the instruction in the program */
    size_t count;
} pc_array;

static pc_array pcs_of(const gen_graph *graph, const transcript *t, range r) {
    pc_array list = {malloc((r.until - r.from + 1) * sizeof *list.index), 0};
    if (!list.index) abort();
    for (size_t i = r.from; i < r.until; i++) {
        const gen_insn *insn = t->event[i].kind == ORACLE_PC ? gen_graph_at(graph, t->event[i].pc) : NULL;
        if (insn) list.index[list.count++] = (uint32_t)(insn - graph->insn);
    }
    return list;
}

/* Length of the longest common subsequence, a machine word at a time: a column's row of the usual table is
 * kept as the set of places where it does not grow (Hyyroe's form of Allison and Dix). */
static size_t common(const gen_graph *graph, const pc_array *a, const pc_array *b) {
    size_t words = b->count / 64 + 1, length = 0;
    uint64_t *place = calloc(graph->insns * words, sizeof *place), *flat = malloc(words * sizeof *flat);
    if (!place || !flat) abort();
    memset(flat, 0xff, words * sizeof *flat);
    for (size_t k = 0; k < b->count; k++) place[b->index[k] * words + k / 64] |= UINT64_C(1) << k % 64;
    for (size_t i = 0; i < a->count; i++) {
        uint64_t carry = 0;
        for (size_t w = 0; w < words; w++) {
            uint64_t hits = flat[w] & place[a->index[i] * words + w], sum = flat[w] + hits, more = sum + carry;
            carry = (sum < hits) | (more < sum);
            flat[w] = more | (flat[w] & ~hits);
        }
    }
    for (size_t k = 0; k < b->count; k++) length += !(flat[k / 64] >> k % 64 & 1);
    free(place);
    free(flat);
    return length;
}

static void count_instructions(const gen_graph *graph, const transcript *sound, range a, const transcript *hurt_one,
                               range b, tally *t) {
    pc_array truth = pcs_of(graph, sound, a), decoded = pcs_of(graph, hurt_one, b);
    size_t right = common(graph, &truth, &decoded);
    t->all += truth.count;
    t->right += right;
    t->wrong += decoded.count - right;
    t->lost += truth.count - right;
    free(truth.index);
    free(decoded.index);
}

/* Range by range: instructions before the reliable part of a range are the loss that the damage caused. */
static verdict judge_chunks(const setup *s, const setup_stream *stream, const transcript *sound, const damaged *d,
                            const transcript *decoded, tally *t) {
    verdict v = {.good = true};
    unsigned width = s->params.ts_width;
    uint64_t clock = width && width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
    size_t sound_at = 0, decoded_at = 0;
    for (unsigned i = 0; i <= d->pieces; i++) {
        stream_piece end = {stream->size, stream->size, d->size},
                     r = i < d->pieces ? reliable(stream, sound, &d->piece[i]) : end;
        if (i < d->pieces && r.from == r.until) continue;
        size_t size = r.until - r.from;
        count_instructions(s->graph, sound, events_of(sound, sound_at, r.from), decoded,
                           events_of(decoded, decoded_at, r.at), t);
        count_instructions(s->graph, sound, events_of(sound, r.from, r.until), decoded,
                           events_of(decoded, r.at, r.at + size), t);
        v.good = v.good && judge_reliable(sound, decoded, &r, clock, v.why, sizeof v.why);
        sound_at = r.until;
        decoded_at = r.at + size;
    }
    return v;
}

static void add(tally *t, const tally *one) {
    t->all += one->all;
    t->right += one->right;
    t->wrong += one->wrong;
    t->lost += one->lost;
}

static bool run_seed(uint64_t seed, const recovery_kind *how, tally *t) {
    setup *s = setup_new(seed, &(setup_wish){.instructions = INSTRUCTIONS, .steady = true});
    setup_stream *stream = setup_encode(&s->hart[0]);
    transcript *sound =
        transcript_by_decoder(&s->params, s->program, (ntr_bytes){stream->bytes, stream->size}, &s->random);
    verdict v = judge_truth(sound, 0, s->hart[0].truth, &s->hart[0].config, true);
    damaged d = hurt(stream, how, &s->random);
    transcript *decoded = transcript_by_decoder(&s->params, s->program, (ntr_bytes){d.bytes, d.size}, &s->random);
    drop_remarks(sound);
    drop_remarks(decoded);
    if (v.good && decoded->wrong[0]) v = (verdict){.good = false, .why = "the decoder breaks its own rules"};
    tally here = {0};
    if (v.good && !decoded->endless) v = judge_chunks(s, stream, sound, &d, decoded, &here);
    if (decoded->endless || here.right + here.wrong > 10 * here.all)
        t->flooded++;
    else
        add(t, &here);
    if (!v.good) printf("seed %" PRIu64 ", %s: %s%s\n", seed, how->name, stream->wrong, v.why);
    t->violations += !v.good;
    transcript_free(decoded);
    transcript_free(sound);
    free(d.bytes);
    setup_stream_free(stream);
    setup_free(s);
    return v.good;
}

static double percent(uint64_t part, uint64_t all) {
    return all ? 100.0 * (double)part / (double)all : 0;
}

int main(int argc, char **argv) {
    uint64_t first = 1, count = 1000, violations = 0;
    int option;
    while ((option = getopt(argc, argv, "s:n:")) != -1) {
        switch (option) {
        case 's': first = strtoull(optarg, NULL, 10); break;
        case 'n': count = strtoull(optarg, NULL, 10); break;
        default: return 2;
        }
    }
    printf("%-18s %6s %8s %14s %8s %8s %8s   %s\n", "damage", "runs", "flooded", "instructions", "right", "wrong",
           "lost", "wrong after a sync");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        tally t = {0};
        for (uint64_t seed = first; seed < first + count; seed++) run_seed(seed, &kinds[k], &t);
        printf("%-18s %6" PRIu64 " %8" PRIu64 " %14" PRIu64 " %7.3f%% %7.3f%% %7.3f%%   %" PRIu64 "\n", kinds[k].name,
               count, t.flooded, t.all, percent(t.right, t.all), percent(t.wrong, t.right + t.wrong),
               percent(t.lost, t.all), t.violations);
        violations += t.violations;
    }
    return violations ? 1 : 0;
}
