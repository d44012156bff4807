/* The history split for size: always the same branches, never larger than plain history, bounded whatever comes. */
#include "rig.h"

#include <stdlib.h>

enum { NT = 4, TK = 5, JR = 10 };

typedef struct collector {
    ntr_params params;
    uint8_t *branches; /* as in the messages */
    size_t count, capacity;
    uint64_t bytes, messages;
    uint64_t counts_up_to; /* largest HREPEAT */
} collector;

static void add(collector *c, uint64_t hist, uint64_t times) {
    assert_true(hist != 0);
    int bits = 63 - __builtin_clzll(hist);
    for (; times; times--)
        for (int i = bits - 1; i >= 0; i--) {
            assert_true(c->count < c->capacity);
            c->branches[c->count++] = hist >> i & 1;
        }
}

static ntr_status collect(void *user, const uint8_t *bytes, size_t size) {
    collector *c = user;
    ntr_message m;
    assert_int_equal(ntr_message_decode(&c->params, (ntr_bytes){bytes, size}, &m), NTR_OK);
    c->bytes += size;
    c->messages++;
    if (m.tcode == NTR_TCODE_RESOURCE_FULL && m.rcode) {
        add(c, m.rdata0, m.rcode == 2 ? m.rdata1 : 1);
        if (m.rcode == 2 && m.rdata1 > c->counts_up_to) c->counts_up_to = m.rdata1;
    }
    if (NTR_HAS(&m, HIST)) add(c, m.hist, 1);
    return NTR_OK;
}

/* Encode these branches, with a jump behind every `jump`-th one (0: none). Returns the size of the stream. */
static uint64_t encode(const uint8_t *branches, size_t count, size_t jump, const char *options, collector *c) {
    rig r;
    rig_open(&r, options);
    rig_close(&r);
    *c = (collector){.params = r.config.params, .branches = malloc(count + 1), .capacity = count};
    r.config.sink = collect;
    r.config.sink_user = c;
    ntr_encoder_new(&r.config, &r.encoder);
    uint64_t pc = 0x100;
    for (size_t i = 0; i < count; i++) {
        rig_insn(&r, pc, 4, branches[i] ? TK : NT);
        pc = branches[i] ? 0x100 : pc + 4;
        if (!jump || i % jump != jump - 1) continue;
        rig_insn(&r, pc, 4, JR);
        pc = 0x100;
    }
    assert_int_equal(ntr_encoder_stop(r.encoder, NTR_ADDRESS_UNKNOWN, 4), NTR_OK);
    ntr_encoder_free(r.encoder);
    return c->bytes;
}

static uint32_t next_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

/* Runs of patterns of all lengths, with noise in between: what the split has to find and to survive. */
static size_t make_branches(uint64_t seed, uint8_t *out, size_t capacity) {
    size_t count = 0;
    while (count < capacity) {
        size_t length = 1 + next_random(&seed) % 40,
               times = 1 + next_random(&seed) % (next_random(&seed) % 4 ? 8 : 300);
        size_t start = count;
        for (size_t i = 0; i < length && count < capacity; i++) out[count++] = next_random(&seed) & 1;
        for (size_t i = length; i < length * times && count < capacity; i++, count++)
            out[count] = out[start + i % length];
    }
    return count;
}

/* NT-319, NT-322 */
static void same_branches_never_larger(void **state) {
    const char *split_option = *state;
    static const char *const OPTIONS[] = {
        "", "hist-bits=2", "hist-bits=7 hrepeat-bits=2", "hrepeat-bits=1", "src-bits=7", "timestamps", "repeat-branch"};
    for (uint64_t seed = 0; seed < 60; seed++) {
        enum { COUNT = 6000 };
        uint8_t branches[COUNT];
        size_t count = make_branches(seed, branches, COUNT), jump = seed % 3 ? 1 + seed * 37 % 500 : 0;
        char options[128];
        collector plain, split;
        snprintf(options, sizeof options, "%s", OPTIONS[seed % 7]);
        uint64_t plain_bytes = encode(branches, count, jump, options, &plain);
        snprintf(options, sizeof options, "repeated-history %s %s", split_option, OPTIONS[seed % 7]);
        uint64_t split_bytes = encode(branches, count, jump, options, &split);
        assert_true(split_bytes <= plain_bytes);
        if (seed % 7 != 6) { /* RepeatBranch stands for branches that this collector does not expand */
            assert_int_equal(plain.count, count);
            assert_memory_equal(plain.branches, branches, count);
            assert_int_equal(split.count, count);
            assert_memory_equal(split.branches, branches, count);
        }
        free(plain.branches);
        free(split.branches);
    }
}

/* One pattern for much longer than the window is one message, up to what HREPEAT can count. */
static void a_long_run_is_one_message(void **state) {
    (void)state;
    enum { COUNT = 3 * 200000 };
    uint8_t *branches = malloc(COUNT);
    for (size_t i = 0; i < COUNT; i++) branches[i] = i % 3 == 0;
    collector c;
    encode(branches, COUNT, 0, "repeated-history", &c);
    assert_int_equal(c.messages, 3);
    assert_int_equal(c.counts_up_to, 200000);
    free(c.branches);
    encode(branches, COUNT, 0, "repeated-history hrepeat-bits=16", &c);
    assert_int_equal(c.count, COUNT);
    assert_memory_equal(c.branches, branches, COUNT);
    assert_in_range(c.messages, 4, 8);
    assert_in_range(c.counts_up_to, 65000, 65535);
    free(c.branches);
    free(branches);
}

/* The quick search finds nearly all that the search for the smallest split finds. */
static void the_quick_split_is_little_larger(void **state) {
    (void)state;
    enum { COUNT = 60000 };
    static uint8_t branches[COUNT];
    uint64_t smallest = 0, quick = 0;
    for (uint64_t seed = 100; seed < 110; seed++) {
        collector c;
        size_t count = make_branches(seed, branches, COUNT);
        smallest += encode(branches, count, 0, "repeated-history", &c);
        free(c.branches);
        quick += encode(branches, count, 0, "repeated-history history-repeats=quick", &c);
        free(c.branches);
    }
    assert_in_range(quick, smallest, smallest + smallest / 8);
}

int main(void) {
    static char any[] = "history-repeats=any", quick[] = "history-repeats=quick";
    const struct CMUnitTest tests[] = {
        {"the smallest split", same_branches_never_larger, NULL, NULL, any},
        {"the quick split", same_branches_never_larger, NULL, NULL, quick},
        TEST(a_long_run_is_one_message),
        TEST(the_quick_split_is_little_larger),
    };
    return cmocka_run_group_tests_name("encoder patterns", tests, NULL, NULL);
}
