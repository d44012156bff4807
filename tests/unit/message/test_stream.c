/* Whole streams: good, bad and random. */
#include "../test.h"
#include "vectors.h"

#include "stream.h"

static const uint8_t nothing[1];

/* ---- random bytes ------------------------------------------------------------------------------ */

/* Each kind of noise meets other parts of the reader. */
static void fill(uint8_t *bytes, size_t size, unsigned kind, uint64_t *random) {
    for (size_t i = 0; i < size; i++) {
        uint64_t x = next_random(random);
        bytes[i] = (uint8_t)x;
        if (kind == 1 && x >> 8 & 7) bytes[i] &= 0xfc;                        /* few ends: long fields */
        if (kind == 2 && (bytes[i] & 3) == 2) bytes[i] ^= 2;                  /* no reserved MSEO */
        if (kind == 3 && (x >> 8 & 3) == 0) bytes[i] = x >> 10 & 1 ? 0xff : 0; /* idle of both sorts */
    }
}

static ntr_params random_params(uint64_t *random) {
    ntr_params params;
    ntr_params_init(&params, ntr_dialect_at(next_random(random) % 4));
    params.src_bits = (uint8_t)(next_random(random) % 13);
    params.timestamps = (uint8_t)(next_random(random) % 3);
    params.extend_addr = next_random(random) & 1;
    params.xlen = next_random(random) & 1 ? 32 : 64;
    return params;
}

/* NT-074 */
static void random_bytes_are_read_to_the_end(void **state) {
    (void)state;
    enum { SIZE = 600, SEEDS = 1000 };
    static uint8_t bytes[SIZE];
    for (uint64_t seed = 0; seed < TEST_ROUNDS(SEEDS); seed++) {
        uint64_t random = seed;
        fill(bytes, SIZE, seed % 4, &random);
        ntr_params params = random_params(&random);
        totals whole = read_stream(&params, bytes, SIZE, SIZE, check_round_trip, NULL);
        totals pieces = read_stream(&params, bytes, SIZE, 1 + next_random(&random) % 40, NULL, NULL);
        totals ones = read_stream(&params, bytes, SIZE, 1, NULL, NULL);
        assert_true(whole.hash == pieces.hash && whole.hash == ones.hash);
        assert_int_equal(whole.idle, pieces.idle);
    }
}

/* ---- random messages --------------------------------------------------------------------------- */

static uint64_t random_value(uint64_t *random, unsigned bits) {
    uint64_t value = next_random(random) >> next_random(random) % 64; /* every length is as likely */
    return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

static void set_field(const ntr_params *params, ntr_message *m, ntr_field field, uint64_t *random) {
    const ntr_field_info *info = ntr_field_get(field);
    bool fixed = info->shape == NTR_SHAPE_FIXED || info->shape == NTR_SHAPE_CONFIG;
    unsigned bits = info->shape == NTR_SHAPE_FIXED ? info->bits : fixed ? params->src_bits : 64;
    m->value[field] = random_value(random, bits);
    if (field == NTR_FIELD_CDF || field == NTR_FIELD_CKDF) m->value[field] &= 1;
    if (field == NTR_FIELD_HIST || field == NTR_FIELD_RDATA0 || field == NTR_FIELD_RDATA1) m->value[field] |= 1;
    if (!fixed && next_random(random) % 4 == 0) m->width[field] = (uint16_t)(next_random(random) % 100);
    m->present |= (ntr_fields)1 << field;
}

/* A field of shape MORE, or none: then there is no other one behind it. */
static bool set_more(ntr_message *m, ntr_field before, ntr_field field, uint64_t *random) {
    if (next_random(random) & 1) return false;
    m->value[field] = next_random(random) | 1;
    m->width[before] = 0;
    m->present |= (ntr_fields)1 << field;
    return true;
}

static ntr_message random_message(const ntr_params *params, const ntr_message_info *row, uint64_t *random) {
    ntr_message m = {.tcode = row->tcode};
    if (params->src_bits) set_field(params, &m, NTR_FIELD_SRC, random);
    bool more = true;
    for (const ntr_message_field *f = row->fields; f->field != NTR_FIELD_NONE; f++)
        if (ntr_field_get((ntr_field)f->field)->shape == NTR_SHAPE_MORE)
            more = more && set_more(&m, (ntr_field)f[-1].field, (ntr_field)f->field, random);
        else if (f->condition == NTR_FIELD_NONE || m.value[f->condition] == f->when)
            set_field(params, &m, (ntr_field)f->field, random);
    if (next_random(random) & 1) set_field(params, &m, NTR_FIELD_TSTAMP, random);
    return m;
}

static void check_equal(const ntr_params *params, const ntr_message *sent, const ntr_message *got) {
    assert_int_equal(got->defect, NTR_OK);
    assert_int_equal(got->tcode, sent->tcode);
    assert_int_equal(got->present, sent->present);
    for (unsigned f = 0; f < NTR_FIELD_COUNT; f++) {
        if (!(sent->present >> f & 1)) continue;
        if (f == NTR_FIELD_FADDR || f == NTR_FIELD_UADDR) {
            uint64_t cut = params->xlen == 32 ? UINT32_MAX : UINT64_MAX;
            if (!params->extend_addr)
                assert_int_equal(got->value[f], sent->value[f]);
            else if (!sent->width[f])
                assert_int_equal(ntr_message_address(params, got, (ntr_field)f), sent->value[f] << 1 & cut);
        } else {
            assert_int_equal(got->value[f], sent->value[f]);
        }
        if (ntr_field_get((ntr_field)f)->shape >= NTR_SHAPE_VARIABLE) assert_true(got->width[f] >= sent->width[f]);
    }
}

static void random_messages_come_back(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < TEST_ROUNDS(20000); seed++) {
        uint64_t random = seed;
        ntr_params params;
        ntr_params_init(&params, seed & 1 ? ntr_dialect_find("sifive-pre1.0") : NULL);
        params.src_bits = (uint8_t)(seed / 2 % 13);
        params.extend_addr = next_random(&random) & 1;
        params.xlen = next_random(&random) & 1 ? 32 : 64;
        const ntr_message_info *row = ntr_message_at(next_random(&random) % (seed & 1 ? 16 : 12));
        ntr_message sent = random_message(&params, row, &random), got;
        uint8_t bytes[256];
        int size = ntr_message_encode(&params, &sent, bytes, sizeof bytes);
        assert_true(size > 0);
        ntr_message_decode(&params, (ntr_bytes){bytes, (size_t)size}, &got);
        got.offset = got.number = 0;
        check_equal(&params, &sent, &got);
        check_round_trip(NULL, &params, &got);
    }
}

/* ---- streams that are nothing or all the same -------------------------------------------------- */

static void monotonous_streams(void **state) {
    (void)state;
    enum { SIZE = 5000 };
    static uint8_t bytes[SIZE];
    ntr_params params;
    ntr_params_init(&params, NULL);
    totals t = read_stream(&params, nothing, 0, 1, NULL, NULL);
    assert_int_equal(t.messages, 0);
    t = read_stream(&params, bytes, SIZE, 700, check_round_trip, NULL);
    assert_int_equal(t.messages, 1);
    assert_int_equal(t.defects, 1);
    memset(bytes, 0xff, SIZE);
    t = read_stream(&params, bytes, SIZE, 700, check_round_trip, NULL);
    assert_int_equal(t.messages, 0);
    assert_int_equal(t.idle, SIZE);
    for (unsigned byte = 0; byte < 256; byte++) {
        uint8_t one = (uint8_t)byte;
        t = read_stream(&params, &one, 1, 1, check_round_trip, NULL);
        assert_int_equal(t.defects, byte != 0xff);
    }
}

/* All vectors of one dialect and SRC width as one stream. */
static size_t join_vectors(const vector *like, uint8_t *out, size_t capacity) {
    size_t size = 0;
    for (size_t i = 0; i < VECTORS; i++)
        if (vectors[i].dialect == like->dialect && vectors[i].src_bits == like->src_bits)
            size += from_hex(vectors[i].bytes, out + size, capacity - size);
    return size;
}

/* CI-252 */
static void streams_cut_anywhere_lose_only_the_last_message(void **state) {
    (void)state;
    static uint8_t bytes[4096];
    ntr_params params = vector_params(&vectors[0]);
    size_t size = join_vectors(&vectors[0], bytes, sizeof bytes);
    uint64_t before = 0;
    for (size_t cut = 0; cut <= size; cut++) {
        totals t = read_stream(&params, bytes, cut, 64, check_round_trip, NULL);
        bool whole = cut == 0 || (bytes[cut - 1] & 3) == 3;
        assert_int_equal(t.defects, !whole);
        assert_true(t.messages >= before);
        before = t.messages - t.defects;
    }
}

typedef struct last_seen {
    ntr_message messages[3];
    size_t count;
} last_seen;

static void remember(void *user, const ntr_params *params, const ntr_message *message) {
    last_seen *seen = user;
    (void)params;
    if (seen->count < 3) seen->messages[seen->count] = *message;
    seen->count++;
}

/* Bad framing loses only its own message, and is reported with position and reason. */
static void reading_goes_on_after_bad_framing(void **state) {
    (void)state;
    typedef struct bad {
        const char *bytes;
        ntr_status defect;
        uint64_t offset, size;
        uint8_t tcode;
    } bad;
    static const bad cases[] = {
        {"0C 0F 0E 00 03 78 0F", NTR_E_MSEO_RESERVED, 2, 3, NTR_TCODE_NONE},
        {"0C 0F 24 0E 00 0B 78 0F", NTR_E_MSEO_RESERVED, 2, 4, 9},
        {"0C 0F 0D 03 78 0F", NTR_E_MSEO_SEQUENCE, 2, 2, NTR_TCODE_NONE},
        {"0C 0F 03 78 0F", NTR_E_IDLE, 2, 1, NTR_TCODE_NONE},
        {"0C 0F 84 80 13 78 0F", NTR_E_FIELD_VALUE, 2, 3, 33},
    };
    ntr_params params;
    ntr_params_init(&params, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t bytes[16];
        size_t size = from_hex(cases[i].bytes, bytes, sizeof bytes);
        for (size_t step = 1; step <= size; step++) {
            last_seen seen = {.count = 0};
            read_stream(&params, bytes, size, step, remember, &seen);
            assert_int_equal(seen.count, 3);
            assert_int_equal(seen.messages[0].tcode, NTR_TCODE_DIRECT_BRANCH);
            assert_int_equal(seen.messages[1].defect, cases[i].defect);
            assert_int_equal(seen.messages[1].offset, cases[i].offset);
            assert_int_equal(seen.messages[1].size, cases[i].size);
            assert_int_equal(seen.messages[1].tcode, cases[i].tcode);
            assert_int_equal(seen.messages[2].tcode, NTR_TCODE_REPEAT_BRANCH);
            assert_int_equal(seen.messages[2].defect, NTR_OK);
        }
    }
}

static void a_wrapped_buffer_starts_at_its_first_whole_message(void **state) {
    (void)state;
    static const uint8_t bytes[] = {0x1d, 0x1d, 0xf8, 0xff, 0xff, 0x0c, 0x0f};
    ntr_reader reader;
    ntr_message m;
    assert_int_equal(ntr_reader_init(&reader, NULL), NTR_OK);
    ntr_reader_seek_start(&reader);
    assert_int_equal(ntr_reader_feed(&reader, bytes, sizeof bytes, true), NTR_OK);
    assert_int_equal(ntr_reader_next(&reader, &m), NTR_OK);
    assert_int_equal(m.offset, 5);
    assert_int_equal(m.icnt, 3);
    assert_int_equal(ntr_reader_next(&reader, &m), NTR_END);
    assert_int_equal(ntr_reader_idle(&reader), 1);
}

static void parameters_are_checked(void **state) {
    (void)state;
    ntr_reader reader;
    ntr_params params;
    ntr_params_init(&params, NULL);
    params.src_bits = 13;
    assert_int_equal(ntr_reader_init(&reader, &params), NTR_E_RANGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(random_bytes_are_read_to_the_end),
        TEST(random_messages_come_back),
        TEST(monotonous_streams),
        TEST(streams_cut_anywhere_lose_only_the_last_message),
        TEST(reading_goes_on_after_bad_framing),
        TEST(a_wrapped_buffer_starts_at_its_first_whole_message),
        TEST(parameters_are_checked),
    };
    return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
