/* The quick way agrees with the exact one on every input. */
#include "../test.h"
#include "vectors.h"

#include "stream.h"

#include "message/decode.h"
#include "message/quick.h"

/* The variants pass over the same good messages of a stream. */
static void variants_check_alike(void **state) {
    (void)state;
    enum { SIZE = 3000 };
    static uint8_t bytes[SIZE];
    uint64_t passed = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        uint64_t random = seed;
        ntr_params params;
        ntr_params_init(&params, ntr_dialect_at(seed % 4));
        params.src_bits = 0;
        for (size_t size = 0; size < SIZE;) { /* vectors that fit, idle bytes, now and then noise */
            uint64_t x = next_random(&random);
            const vector *v = &vectors[(x >> 8) % VECTORS];
            if (x % 16 == 0)
                bytes[size++] = 0xff;
            else if (x % 512 == 1)
                bytes[size++] = (uint8_t)(x >> 16);
            else if (!v->src_bits && !v->dialect)
                size += from_hex(v->bytes, bytes + size, SIZE - size);
        }
        ntr_message_mix mix[NTR_QUICK_VARIANTS] = {0};
        ntr_quick_progress p[NTR_QUICK_VARIANTS] = {0};
        for (unsigned i = 0; i < NTR_QUICK_VARIANTS; i++) {
            if (!ntr_quick_at(i)) continue;
            p[i] = ntr_quick_at(i)->check(&params, bytes, SIZE, &mix[i]);
            assert_memory_equal(&p[i], &p[0], sizeof p[0]);
            assert_memory_equal(&mix[i], &mix[0], sizeof mix[0]);
        }
        passed += p[0].messages;
    }
    assert_true(passed > 200000);
}

static unsigned variants(void) {
    unsigned count = 0;
    for (unsigned i = 0; i < NTR_QUICK_VARIANTS; i++) count += ntr_quick_at(i) != NULL;
    return count;
}

/* The message at `bytes`: its size if it may be passed over, or 0. */
static size_t passable(uint64_t tcodes, const uint8_t *bytes, size_t size) {
    if ((bytes[0] & 3) != 0 || !(tcodes >> (bytes[0] >> 2) & 1)) return 0;
    for (size_t i = 1; i < size && (bytes[i] & 3) != 2; i++)
        if ((bytes[i] & 3) == 3) return i + 1;
    return 0;
}

static void check_passed(uint64_t tcodes, const uint8_t *bytes, size_t size, ntr_quick_progress passed) {
    ntr_quick_progress p = {0};
    while (p.at < passed.at) {
        bool idle = bytes[p.at] == 0xff;
        size_t message = idle ? 1 : passable(tcodes, bytes + p.at, size - p.at);
        if (!message) fail_msg("%zu passed, but there is something else at %zu", passed.at, p.at);
        p.idle += idle;
        p.messages += !idle;
        p.at += message;
    }
    assert_memory_equal(&p, &passed, sizeof p);
    if (size - p.at < 64) return;
    size_t next = bytes[p.at] == 0xff ? 1 : passable(tcodes, bytes + p.at, size - p.at);
    if (next && next < 32) fail_msg("%zu passed, but not the %zu bytes that follow", passed.at, next);
}

/* They pass over all that may be passed over, and nothing else. */
static void variants_pass_rightly(void **state) {
    (void)state;
    enum { SIZE = 400 };
    uint64_t passed = 0, stopped = 0;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        uint64_t random = seed, tcodes = next_random(&random) | next_random(&random);
        unsigned noise = 1u << (4 + seed % 7);
        uint8_t bytes[SIZE];
        for (size_t size = 0; size < SIZE; size++) {
            bool inside = size && (bytes[size - 1] & 3) != 3;
            uint64_t x = next_random(&random);
            unsigned mseo = !inside ? 0 : x % 4 == 0 ? 3 : x >> 8 & 1;
            bytes[size] = (uint8_t)((x >> 16 & 0xfc) | mseo);
            while (!inside && !(tcodes >> (bytes[size] >> 2) & 1)) bytes[size] = (uint8_t)(next_random(&random) & 0xfc);
            if (!inside && x >> 32 & 1 && seed & 1) bytes[size] = 0xff;
            if (x >> 40 & 1 && (x >> 48) % noise == 0) bytes[size] = (uint8_t)(x >> 24);
        }
        for (unsigned i = 0; i < NTR_QUICK_VARIANTS; i++) {
            const ntr_quick *variant = ntr_quick_at(i);
            if (!variant) continue;
            ntr_quick_progress p = variant->pass(tcodes, bytes, SIZE);
            check_passed(tcodes, bytes, SIZE, p);
            passed += p.messages;
            stopped += SIZE - p.at > 64;
        }
    }
    print_message("# %llu messages passed, %llu streams stopped at\n", (unsigned long long)passed,
                  (unsigned long long)stopped);
    assert_true(passed > 200000 * variants() && stopped > 2000 * variants());
}

static void check_agreement(const ntr_params *params, const uint8_t *bytes, const ntr_message *quick, size_t size) {
    ntr_message exact;
    if (!size) return;
    assert_int_equal(ntr_message_decode_exactly(params, (ntr_bytes){bytes, size}, &exact), NTR_OK);
    assert_int_equal(quick->tcode, exact.tcode);
    assert_int_equal(quick->present, exact.present);
    assert_int_equal(quick->size, exact.size);
    assert_int_equal(quick->defect, NTR_OK);
    assert_int_equal(quick->defect_field, NTR_FIELD_NONE);
    assert_ptr_equal(quick->raw.data, bytes);
    assert_int_equal(quick->raw.size, size);
    for (unsigned f = 0; f < NTR_FIELD_COUNT; f++) {
        if (!(exact.present >> f & 1)) continue;
        assert_int_equal(quick->value[f], exact.value[f]);
        assert_int_equal(quick->width[f], exact.width[f]);
    }
    if (exact.tcode == NTR_TCODE_ERROR) assert_int_equal(quick->ecode, exact.ecode);
}

/* What the quick way must not refuse: it would be right, but slow. */
static bool is_common(const ntr_params *params, const uint8_t *bytes, size_t size, const ntr_message *m) {
    unsigned run = 0;
    if (NTR_HAS(m, DQTAG) || (NTR_HAS(m, BCNT) && m->tcode != NTR_TCODE_REPEAT_BRANCH))
        return false; /* NTR_MESSAGE_ALSO */
    if (params->ts_fixed && NTR_HAS(m, TSTAMP)) return false;
    if (size > NTR_QUICK_LONGEST || !ntr_message_get(params->dialect, m->tcode)) return false;
    for (size_t i = 0; i < size; i++) {
        run = bytes[i] & 3 ? 0 : run + 1;
        if (run >= 10) return false;
    }
    return true;
}

static void random_bytes(void **state) {
    (void)state;
    unsigned perfect = 0;
    for (uint64_t seed = 0; seed < 400000; seed++) {
        uint64_t random = seed;
        uint8_t bytes[NTR_QUICK_READABLE];
        for (size_t i = 0; i < sizeof bytes; i++) {
            uint64_t x = next_random(&random);
            bytes[i] = (uint8_t)x;
            if ((seed & 16 || x >> 8 & 7) && (x & 3) == 2) bytes[i] ^= 2; /* MSEO 10 is rare, ends are not */
            if (seed & 32 && x >> 16 & 3) bytes[i] &= 0xfc;
        }
        ntr_params params;
        ntr_params_init(&params, ntr_dialect_at(seed / 2 % 4));
        params.src_bits = seed & 8 ? 0 : (uint8_t)(next_random(&random) % 13);
        params.timestamps = (uint8_t)(next_random(&random) % 3);
        const ntr_message_info *row = ntr_message_at(next_random(&random) % 16);
        if (seed & 4) bytes[0] = (uint8_t)(row->tcode << 2);
        size_t first = 0;
        for (unsigned i = 0; i < NTR_QUICK_VARIANTS; i++) {
            const ntr_quick *variant = ntr_quick_at(i);
            ntr_message quick = {.ecode = 77};
            size_t size = variant ? variant->decode(&params, bytes, &quick) : first;
            if (i) assert_int_equal(size, first);
            first = size;
            if (variant) check_agreement(&params, bytes, &quick, size);
            perfect += variant && size;
        }
    }
    print_message("# %u perfect\n", perfect);
    assert_true(perfect > 40000 * variants()); /* else this tests nothing */
}

static void common_messages_are_not_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        ntr_params params = vector_params(&vectors[i]);
        uint8_t bytes[64] = {0};
        size_t size = from_hex(vectors[i].bytes, bytes, sizeof bytes);
        ntr_message exact, quick;
        ntr_message_decode_exactly(&params, (ntr_bytes){bytes, size}, &exact);
        memset(bytes + size, 0xff, sizeof bytes - size);
        size_t got = ntr_quick_best()->decode(&params, bytes, &quick);
        check_agreement(&params, bytes, &quick, got);
        if (params.dialect && params.dialect->empty_icnt && NTR_HAS(&exact, ICNT) && !exact.width[NTR_FIELD_ICNT])
            continue; /* decode.c reads the fields without a byte */
        if (got != size && (got || is_common(&params, bytes, size, &exact))) fail_msg("%s: %zu", vectors[i].bytes, got);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(random_bytes),
        TEST(variants_check_alike),
        TEST(variants_pass_rightly),
        TEST(common_messages_are_not_refused),
    };
    return cmocka_run_group_tests_name("quick", tests, NULL, NULL);
}
