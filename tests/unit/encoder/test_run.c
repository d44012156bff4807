/* Runs make the messages that their blocks make one by one. */
#include "../test.h"
#include "encoder/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct stream {
    uint8_t bytes[1 << 20];
    size_t size;
} stream;

static ntr_status put(void *user, const uint8_t *bytes, size_t size) {
    stream *s = user;
    assert_true(s->size + size <= sizeof s->bytes);
    memcpy(s->bytes + s->size, bytes, size);
    s->size += size;
    return NTR_OK;
}

static uint32_t next_random(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

enum { BLOCKS = 20000 };

typedef struct block {
    uint64_t start;
    uint32_t halfwords;
    uint8_t itype, last_size;
    uint64_t time; /* at its end */
} block;

/* An execution over code that is made up as it is walked; returns go back to where calls came from, mostly. */
static void make_blocks(block *blocks, unsigned seed) {
    static const uint8_t kinds[] = {NTR_ITYPE_NONE, NTR_ITYPE_NOT_TAKEN, NTR_ITYPE_TAKEN, NTR_ITYPE_NOT_TAKEN,
                                    NTR_ITYPE_TAKEN, NTR_ITYPE_DIRECT_JUMP, NTR_ITYPE_DIRECT_CALL,
                                    NTR_ITYPE_INDIRECT_CALL, NTR_ITYPE_RETURN, NTR_ITYPE_RETURN,
                                    NTR_ITYPE_OTHER_INDIRECT, NTR_ITYPE_TAKEN, NTR_ITYPE_CO_SWAP};
    uint32_t random = seed;
    uint64_t pc = 0x1000, stack[64] = {0}, time = 0;
    unsigned depth = 0;
    for (unsigned i = 0; i < BLOCKS; i++) {
        block *b = &blocks[i];
        b->start = pc;
        b->last_size = (uint8_t)(next_random(&random) % 2);
        b->halfwords = (b->last_size + 1u) + next_random(&random) % 40;
        b->itype = kinds[next_random(&random) % sizeof kinds];
        b->time = time += b->halfwords;
        uint64_t end = pc + 2 * b->halfwords;
        bool straight = b->itype == NTR_ITYPE_NONE || b->itype == NTR_ITYPE_NOT_TAKEN;
        bool call = b->itype == NTR_ITYPE_DIRECT_CALL || b->itype == NTR_ITYPE_INDIRECT_CALL;
        if (call) stack[depth++ % 64] = end;
        pc = straight ? end : 0x1000 + 2 * (next_random(&random) % 5000);
        if (b->itype == NTR_ITYPE_RETURN && depth && next_random(&random) % 8) pc = stack[--depth % 64];
    }
}

static ntr_encoder *make_encoder(const char *const *options, stream *out) {
    ntr_encoder_config config;
    ntr_encoder_config_init(&config);
    for (; options[0]; options += 2) assert_int_equal(ntr_encoder_option_set(&config, options[0], options[1]), NTR_OK);
    config.sink = put;
    config.sink_user = out;
    out->size = 0;
    ntr_encoder *encoder = ntr_encoder_new(&config, NULL);
    assert_non_null(encoder);
    return encoder;
}

static void push_blocks(ntr_encoder *encoder, const block *blocks, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const block *b = &blocks[i];
        ntr_ingress in = {.iaddr = b->start, .iretire = b->halfwords, .itype = b->itype, .ilastsize = b->last_size,
                          .priv = NTR_PRIV_U, .cycle = true, .time = b->time};
        assert_int_equal(ntr_encoder_push(encoder, &in), NTR_OK);
    }
}

static bool continues(const block *b, bool htm, bool calls_matter) {
    switch (b->itype) {
    case NTR_ITYPE_NONE: case NTR_ITYPE_NOT_TAKEN: case NTR_ITYPE_DIRECT_JUMP: return true;
    case NTR_ITYPE_TAKEN: return htm;
    case NTR_ITYPE_DIRECT_CALL: return !calls_matter;
    default: return false;
    }
}

/* The same in runs, of at most `most` blocks. Returns how many were used. */
static size_t push_run(ntr_encoder *encoder, const block *blocks, size_t count, size_t most, bool htm, bool calls) {
    int branches = (int)ntr_enc_run_branches(encoder);
    ntr_enc_run run = {.iaddr = blocks[0].start};
    size_t n = 0;
    for (; n < count; n++) {
        const block *b = &blocks[n];
        run.iretire += b->halfwords;
        run.end = b->start + 2 * b->halfwords;
        run.ilastsize = b->last_size;
        run.time = b->time;
        bool branch = b->itype == NTR_ITYPE_TAKEN || b->itype == NTR_ITYPE_NOT_TAKEN;
        bool last = n + 1 == count || n + 1 == most || run.branches + branch >= branches;
        if (!continues(b, htm, calls) || (last && !branch)) {
            run.itype = b->itype;
            n++;
            break;
        }
        if (branch) {
            run.outcomes = run.outcomes << 1 | (b->itype == NTR_ITYPE_TAKEN);
            run.branches++;
        }
        if (last) {
            n++;
            break;
        }
    }
    assert_int_equal(ntr_enc_push_run(encoder, &run), NTR_OK);
    return n;
}

static const char *const configurations[][9] = {
    {NULL},
    {"mode", "btm", NULL},
    {"hist-bits", "2", NULL},
    {"hist-bits", "7", "repeated-history", "on", "history-repeats", "whole", NULL},
    {"repeated-history", "on", NULL},
    {"full", "after", "hist-bits", "5", NULL},
    {"implicit-return", "full", "return-stack", "4", NULL},
    {"implicit-return", "count", "mode", "btm", NULL},
    {"repeated-history", "on", "mode", "btm", "src-bits", "4", NULL},
    {"sync-mode", "messages", "sync-max", "2", NULL},
    {"best", NULL, NULL},
    {"timestamps", "on", NULL},
    {"timestamps", "on", "mode", "btm", NULL},
    {"timestamps", "on", "hist-bits", "7", "full", "after", NULL},
    {"timestamps", "on", "sync-mode", "messages", "sync-max", "1", NULL},
};

static void runs_are_blocks(void **state) {
    (void)state;
    static stream one, other;
    static block blocks[BLOCKS];
    for (size_t c = 0; c < sizeof configurations / sizeof configurations[0]; c++) {
        const char *const *options = configurations[c];
        bool htm = true, calls = options[0] && strcmp(options[0], "best") == 0;
        for (size_t i = 0; options[i]; i += 2) {
            if (options[i + 1] && strcmp(options[i + 1], "btm") == 0) htm = false;
            if (strcmp(options[i], "implicit-return") == 0) calls = true;
        }
        for (unsigned seed = 1; seed <= 6; seed++) {
            make_blocks(blocks, seed * 77);
            ntr_encoder *e = make_encoder(options, &one), *f = make_encoder(options, &other);
            assert_true(ntr_enc_takes_runs(f));
            push_blocks(e, blocks, BLOCKS);
            uint32_t random = seed;
            for (size_t at = 0; at < BLOCKS;) {
                /* now and then single blocks in between */
                if (next_random(&random) % 8 == 0) push_blocks(f, &blocks[at++], 1);
                else at += push_run(f, blocks + at, BLOCKS - at, 1 + next_random(&random) % 90, htm, calls);
            }
            assert_int_equal(ntr_encoder_stop(e, 0x4000, 4), NTR_OK);
            assert_int_equal(ntr_encoder_stop(f, 0x4000, 4), NTR_OK);
            if (one.size != other.size || memcmp(one.bytes, other.bytes, one.size) != 0)
                fail_msg("configuration %zu, seed %u: %zu and %zu bytes", c, seed, one.size, other.size);
            ntr_encoder_free(e);
            ntr_encoder_free(f);
        }
    }
}

/* ---- runs that come again */

enum { ROUND = 600, ROUNDS = 20 };

typedef struct known_way {
    uint8_t message[8];
    unsigned size;
    size_t blocks;
    uint64_t halfwords;
} known_way;

static bool is_register_jump(const block *b) {
    switch (b->itype) {
    case NTR_ITYPE_INDIRECT_CALL: case NTR_ITYPE_RETURN: case NTR_ITYPE_OTHER_INDIRECT: case NTR_ITYPE_CO_SWAP: return true;
    default: return false;
    }
}

/* The same round of blocks again and again; it leads back to where it began. */
static void make_rounds(block *blocks, unsigned seed) {
    make_blocks(blocks, seed);
    blocks[ROUND - 1].itype = NTR_ITYPE_OTHER_INDIRECT;
    for (size_t i = ROUND; i < ROUND * ROUNDS + 1; i++) blocks[i] = blocks[i - ROUND];
}

/* Pushes the blocks from `at` on up to behind a register jump, and learns what that came to. */
static size_t push_way(ntr_encoder *encoder, const block *blocks, bool htm, bool calls, known_way *way) {
    size_t n = 0;
    *way = (known_way){0};
    do n += push_run(encoder, blocks + n, BLOCKS - n, BLOCKS, htm, calls);
    while (!is_register_jump(&blocks[n - 1]));
    for (size_t i = 0; i < n; i++) way->halfwords += blocks[i].halfwords;
    way->size = ntr_enc_push_next(encoder, blocks[n].start, way->message);
    way->blocks = n;
    return n;
}

/* Repeats known paths, as many as allowed, and reports them in one call. Returns the number of their blocks. */
static size_t repeat_ways(ntr_encoder *encoder, stream *out, const block *blocks, const known_way *ways, size_t at) {
    uint64_t most = ntr_enc_repeatable(encoder, blocks[at].start);
    ntr_enc_repeats sum = {0};
    size_t from = at;
    while (sum.runs < most && at < ROUND * ROUNDS && ways[at % ROUND].size) {
        const known_way *way = &ways[at % ROUND];
        put(out, way->message, way->size);
        at += way->blocks;
        sum.runs++;
        sum.bytes += way->size;
        sum.halfwords += way->halfwords;
    }
    sum.next = blocks[at].start;
    if (at > from) assert_int_equal(ntr_enc_push_repeats(encoder, &sum), NTR_OK);
    return at - from;
}

static void runs_that_come_again(void **state) {
    (void)state;
    static const struct {
        const char *options[5];
        bool repeats;
    } cases[] = {{{NULL}, true},
                 {{"hist-bits", "3"}, true},
                 {{"src-bits", "6"}, true},
                 {{"sync-mode", "messages", "sync-max", "2"}, true},
                 {{"sync-mode", "halfwords", "sync-max", "13"}, true},
                 {{"sync-mode", "halfwords", "sync-max", "6"}, false}, /* one run may be longer than the period */
                 {{"mode", "btm"}, false},
                 {{"implicit-return", "full"}, false},
                 {{"timestamps", "on"}, false}};
    static stream one, other;
    static block blocks[BLOCKS];
    static known_way ways[ROUND];
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const char *option = cases[c].options[0] ? cases[c].options[0] : "";
        bool htm = strcmp(option, "mode") != 0, calls = strcmp(option, "implicit-return") == 0;
        size_t repeated = 0;
        make_rounds(blocks, 5 + (unsigned)c);
        memset(ways, 0, sizeof ways);
        ntr_encoder *e = make_encoder(cases[c].options, &one), *f = make_encoder(cases[c].options, &other);
        push_blocks(e, blocks, ROUND * ROUNDS);
        for (size_t at = 0; at < ROUND * ROUNDS;) {
            size_t again = repeat_ways(f, &other, blocks, ways, at);
            repeated += again;
            at += again ? again : push_way(f, &blocks[at], htm, calls, &ways[at % ROUND]);
        }
        assert_int_equal(ntr_encoder_stop(e, blocks[0].start, 4), NTR_OK);
        assert_int_equal(ntr_encoder_stop(f, blocks[0].start, 4), NTR_OK);
        ntr_encoder_status a, b;
        ntr_encoder_status_get(e, &a);
        ntr_encoder_status_get(f, &b);
        if (one.size != other.size || memcmp(one.bytes, other.bytes, one.size) != 0)
            fail_msg("case %zu: %zu and %zu bytes", c, one.size, other.size);
        assert_true(a.messages == b.messages && a.bytes == b.bytes && a.halfwords == b.halfwords && a.syncs == b.syncs);
        assert_int_equal(repeated > 5000, cases[c].repeats);
        ntr_encoder_free(e);
        ntr_encoder_free(f);
    }
}

/* Another run before the jump's target is known: the message is not that run's alone. */
static void a_way_begins_behind_a_jump(void **state) {
    (void)state;
    static const char *const none[] = {NULL};
    static stream out;
    const ntr_enc_run straight = {.iaddr = 0x100, .end = 0x104, .iretire = 2, .ilastsize = 1};
    const ntr_enc_run jump = {.iaddr = 0x104, .end = 0x108, .iretire = 2, .ilastsize = 1, .itype = NTR_ITYPE_OTHER_INDIRECT};
    ntr_encoder *e = make_encoder(none, &out);
    uint8_t message[8];
    assert_int_equal(ntr_enc_push_next(e, 0x100, message), 0);
    assert_int_equal(ntr_enc_repeatable(e, 0x100), 0);
    assert_int_equal(ntr_enc_push_run(e, &straight), NTR_OK);
    assert_int_equal(ntr_enc_push_next(e, 0x104, message), 0);
    assert_int_equal(ntr_enc_push_run(e, &jump), NTR_OK);
    assert_int_equal(ntr_enc_repeatable(e, 0x104), 0);
    size_t before = out.size;
    assert_int_equal(ntr_enc_push_next(e, 0x104, message), 0); /* sent, and not to be sent again */
    assert_true(out.size > before);
    assert_true(ntr_enc_repeatable(e, 0x104) == UINT64_MAX);
    assert_int_equal(ntr_enc_repeatable(e, 0x100), 0);
    assert_int_equal(ntr_enc_push_run(e, &jump), NTR_OK);
    before = out.size;
    unsigned size = ntr_enc_push_next(e, 0x104, message);
    assert_int_equal(size, out.size - before);
    assert_memory_equal(message, out.bytes + before, size);
    ntr_encoder_free(e);
}

static void what_runs_cannot_tell_is_refused(void **state) {
    (void)state;
    static stream out;
    static const char *const none[] = {NULL};
    static const char *const no[][3] = {{"fifo", "200"}, {"filter", "priv=u"}, {"context", "scontext"},
                                        {"all-jumps", "on"}, {"itype-width", "3"}, {"sync-mode", "cycles"},
                                        {"icnt-bits", "15"}, {"sync-form", "exact"}};
    const ntr_enc_run good = {.iaddr = 0x100, .end = 0x104, .iretire = 2, .ilastsize = 1};
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        ntr_encoder *e = make_encoder(no[i], &out);
        assert_false(ntr_enc_takes_runs(e));
        assert_int_equal(ntr_enc_push_run(e, &good), NTR_E_STATE);
        ntr_encoder_free(e);
    }
    ntr_encoder *e = make_encoder(none, &out);
    ntr_enc_run bad[6] = {good, good, good, good, good, good};
    bad[0].iaddr = 1;
    bad[1].iretire = 0;
    bad[2].iretire = 1 << 15;
    bad[3].itype = NTR_ITYPE_EXCEPTION;
    bad[4].branches = 65;
    bad[5].itype = 7;
    for (size_t i = 0; i < 6; i++) assert_int_equal(ntr_enc_push_run(e, &bad[i]), NTR_E_INGRESS);
    assert_int_equal(ntr_enc_push_run(e, &good), NTR_OK);
    ntr_encoder_free(e);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(runs_are_blocks), TEST(runs_that_come_again), TEST(a_way_begins_behind_a_jump),
                                       TEST(what_runs_cannot_tell_is_refused)};
    return cmocka_run_group_tests_name("encoder runs", tests, NULL, NULL);
}
