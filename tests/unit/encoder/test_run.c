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
    uint8_t priv;
    uint64_t scontext;
    uint64_t time; /* at its end */
} block;

/* An execution over code that is made up as it is walked; returns go back to where calls came from, mostly. */
static void make_blocks(block *blocks, unsigned seed) {
    static const uint8_t kinds[] = {
        NTR_ITYPE_NONE,           NTR_ITYPE_NOT_TAKEN,   NTR_ITYPE_TAKEN,         NTR_ITYPE_NOT_TAKEN, NTR_ITYPE_TAKEN,
        NTR_ITYPE_DIRECT_JUMP,    NTR_ITYPE_DIRECT_CALL, NTR_ITYPE_INDIRECT_CALL, NTR_ITYPE_RETURN,    NTR_ITYPE_RETURN,
        NTR_ITYPE_OTHER_INDIRECT, NTR_ITYPE_TAKEN,       NTR_ITYPE_CO_SWAP};
    uint32_t random = seed;
    uint64_t pc = 0x1000, stack[64] = {0}, time = 0, scontext = 0;
    unsigned depth = 0, priv = NTR_PRIV_U;
    for (unsigned i = 0; i < BLOCKS; i++) {
        block *b = &blocks[i];
        b->start = pc;
        b->last_size = (uint8_t)(next_random(&random) % 2);
        b->halfwords = (b->last_size + 1u) + next_random(&random) % 40;
        b->itype = kinds[next_random(&random) % sizeof kinds];
        b->time = time += b->halfwords;
        if (next_random(&random) % 32 == 0) priv = next_random(&random) % 2 ? NTR_PRIV_U : NTR_PRIV_S;
        if (next_random(&random) % 64 == 0) scontext = next_random(&random) % 4;
        b->priv = (uint8_t)priv;
        b->scontext = scontext;
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
    ntr_encoder *encoder;
    ntr_encoder_new(&config, &encoder);
    assert_non_null(encoder);
    return encoder;
}

/* `before`: scontext of the block before them. */
static void push_blocks(ntr_encoder *encoder, const block *blocks, size_t count, uint64_t before) {
    for (size_t i = 0; i < count; before = blocks[i++].scontext) {
        const block *b = &blocks[i];
        ntr_ingress in = {.iaddr = b->start,
                          .iretire = b->halfwords,
                          .itype = b->itype,
                          .ilastsize = b->last_size,
                          .ctype = b->scontext == before ? NTR_CTYPE_UNREPORTED : NTR_CTYPE_IMPRECISE,
                          .priv = b->priv,
                          .scontext = b->scontext,
                          .cycle = true,
                          .time = b->time};
        assert_int_equal(ntr_encoder_push(encoder, &in), NTR_OK);
    }
}

/* Does block `b`, which leads to `next` (NULL: not known), need no message? The return stack follows. */
static bool continues(ntr_encoder *encoder, const block *b, const block *next, bool htm) {
    switch (b->itype) {
    case NTR_ITYPE_NONE:
    case NTR_ITYPE_NOT_TAKEN:
    case NTR_ITYPE_DIRECT_JUMP: return true;
    case NTR_ITYPE_TAKEN: return htm;
    case NTR_ITYPE_DIRECT_CALL: ntr_enc_extend_by_call(encoder, b->start + 2 * b->halfwords); return true;
    case NTR_ITYPE_RETURN: return next && ntr_enc_extend_by_return(encoder, next->start);
    default: return false;
    }
}

static bool is_branch(const block *b) {
    return b->itype == NTR_ITYPE_TAKEN || b->itype == NTR_ITYPE_NOT_TAKEN;
}

/* Can the block be in a run? */
static bool same_state(const ntr_encoder *encoder, const block *b) {
    return ntr_enc_has_reported(encoder, b->priv, b->scontext, 0);
}

/* The same in runs, of at most `most` blocks. Returns how many were used. */
static size_t push_run(ntr_encoder *encoder, const block *blocks, size_t count, size_t most, bool htm) {
    ntr_enc_run run = {.iaddr = blocks[0].start};
    size_t n = 0;
    bool goes_on = true;
    assert_int_equal(ntr_enc_begin_run(encoder, run.iaddr, blocks[0].time), NTR_OK);
    int branches = (int)ntr_enc_run_branches(encoder);
    while (goes_on) {
        const block *b = &blocks[n++];
        run.iretire += b->halfwords;
        run.end = b->start + 2 * b->halfwords;
        run.ilastsize = b->last_size;
        run.time = b->time;
        bool last =
            n == count || n == most || !same_state(encoder, &blocks[n]) || run.branches + is_branch(b) >= branches;
        goes_on = !(last && !is_branch(b)) && continues(encoder, b, n < count ? b + 1 : NULL, htm);
        if (!goes_on) run.itype = b->itype;
        if (!goes_on || !is_branch(b)) continue;
        run.outcomes = run.outcomes << 1 | (b->itype == NTR_ITYPE_TAKEN);
        run.branches++;
        if (last) break;
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
    {"implicit-return", "partial", "sync-mode", "messages", "sync-max", "0", NULL},
    {"implicit-return", "full", "repeated-history", "on", "history-repeats", "quick", NULL},
    {"repeated-history", "on", "history-repeats", "quick", "hist-bits", "5", NULL},
    {"repeated-history", "on", "history-repeats", "quick", "timestamps", "on", NULL},
    {"repeated-history", "on", "mode", "btm", "src-bits", "4", NULL},
    {"sync-mode", "messages", "sync-max", "2", NULL},
    {"best", NULL, NULL},
    {"context", "scontext", NULL},
    {"context", "scontext", "sync-mode", "messages", "sync-max", "0", "implicit-return", "full", NULL},
    {"context", "hcontext", "timestamps", "on", "repeated-history", "on", NULL},
    {"context", "scontext", "best", NULL, NULL},
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
        bool htm = true;
        for (size_t i = 0; options[i]; i += 2) {
            if (options[i + 1] && strcmp(options[i + 1], "btm") == 0) htm = false;
        }
        for (unsigned seed = 1; seed <= 6; seed++) {
            make_blocks(blocks, seed * 77);
            ntr_encoder *e = make_encoder(options, &one), *f = make_encoder(options, &other);
            assert_true(ntr_enc_takes_runs(f));
            push_blocks(e, blocks, BLOCKS, 0);
            uint32_t random = seed;
            for (size_t at = 0; at < BLOCKS;) {
                /* now and then single blocks in between */
                bool one_block = next_random(&random) % 8 == 0 || !same_state(f, &blocks[at]);
                if (one_block)
                    push_blocks(f, &blocks[at], 1, at ? blocks[at - 1].scontext : 0), at++;
                else
                    at += push_run(f, blocks + at, BLOCKS - at, 1 + next_random(&random) % 90, htm);
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

/* The message of a jump is sent when the next run begins, not when it is pushed. NT-034, NT-346 */
static void a_jump_is_sent_when_its_target_is_known(void **state) {
    (void)state;
    static const char *const none[] = {NULL};
    static stream out;
    const ntr_enc_run jump = {
        .iaddr = 0x104, .end = 0x108, .iretire = 2, .ilastsize = 1, .itype = NTR_ITYPE_OTHER_INDIRECT};
    ntr_encoder *e = make_encoder(none, &out);
    assert_int_equal(ntr_enc_begin_run(e, 0x104, 0), NTR_OK);
    size_t started = out.size;
    assert_true(started > 0);
    assert_int_equal(ntr_enc_begin_run(e, 0x104, 0), NTR_OK);
    assert_int_equal(ntr_enc_push_run(e, &jump), NTR_OK);
    assert_int_equal(out.size, started);
    assert_int_equal(ntr_enc_begin_run(e, 0x101, 0), NTR_E_INGRESS);
    assert_int_equal(ntr_enc_begin_run(e, 0x200, 0), NTR_OK);
    assert_true(out.size > started);
    ntr_encoder_free(e);
}

static void what_runs_cannot_tell_is_refused(void **state) {
    (void)state;
    static stream out;
    static const char *const none[] = {NULL};
    static const char *const no[][3] = {{"fifo", "200"},       {"filter", "priv=u"},    {"all-jumps", "on"},
                                        {"itype-width", "3"},  {"sync-mode", "cycles"}, {"icnt-bits", "15"},
                                        {"sync-form", "exact"}};
    const ntr_enc_run good = {.iaddr = 0x100, .end = 0x104, .iretire = 2, .ilastsize = 1};
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        ntr_encoder *e = make_encoder(no[i], &out);
        assert_false(ntr_enc_takes_runs(e));
        assert_int_equal(ntr_enc_push_run(e, &good), NTR_E_STATE);
        assert_int_equal(ntr_enc_begin_run(e, 0x100, 0), NTR_E_STATE);
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
    const struct CMUnitTest tests[] = {TEST(runs_are_blocks), TEST(a_jump_is_sent_when_its_target_is_known),
                                       TEST(what_runs_cannot_tell_is_refused)};
    return cmocka_run_group_tests_name("encoder runs", tests, NULL, NULL);
}
