/* Splitting a stream into slices. */
#include "../test.h"

#include <ntrace/framer.h>
#include <stdlib.h>
#include <string.h>

typedef struct expected {
    uint64_t offset, size;
    ntr_status defect;
} expected;

typedef struct framing_case {
    const char *what;
    uint8_t bytes[16];
    uint8_t size;
    bool zero_idle, seek;
    uint8_t idle, skipped;
    expected slices[6];
} framing_case;

#define MSG NTR_OK
#define END {0, 0, NTR_END}

static const framing_case cases[] = {
    {"nothing", {0}, 0, .slices = {END}},
    {"idle alone", {0xff, 0xff}, 2, .idle = 2, .slices = {END}},
    {"idle around a message (15.1)",
     {0xff, 0x70, 0xd0, 0x1d, 0x1d, 0xf8, 0xff, 0xff},
     8,
     .idle = 2,
     .slices = {{1, 6, MSG}, END}},
    {"0xff as data, then idle",
     {0x08, 0xff, 0xff, 0xff, 0x0c, 0x0f},
     6,
     .idle = 2,
     .slices = {{0, 2, MSG}, {4, 2, MSG}, END}},
    {"messages back to back", {0x0c, 0x0f, 0x78, 0x0f}, 4, .slices = {{0, 2, MSG}, {2, 2, MSG}, END}},
    {"byte after the end that is not idle",
     {0x0c, 0x0f, 0x0f, 0x78, 0x0f},
     5,
     .slices = {{0, 2, MSG}, {2, 1, NTR_E_IDLE}, {3, 2, MSG}, END}},
    {"11 then 01",
     {0x0c, 0x0f, 0x0d, 0x00, 0x0f, 0x78, 0x0f},
     7,
     .slices = {{0, 2, MSG}, {2, 3, NTR_E_MSEO_SEQUENCE}, {5, 2, MSG}, END}},
    {"10 where a message should start",
     {0x0e, 0x00, 0x0f, 0x78, 0x0f},
     5,
     .slices = {{0, 3, NTR_E_MSEO_RESERVED}, {3, 2, MSG}, END}},
    {"10 inside a message does not end it",
     {0x0c, 0x02, 0x0f, 0x78, 0x0f},
     5,
     .slices = {{0, 3, MSG}, {3, 2, MSG}, END}},
    {"end inside a message", {0x78, 0x0f, 0x0c}, 3, .slices = {{0, 2, MSG}, {2, 1, NTR_E_TRUNCATED}, END}},
    {"end inside a defect", {0x0d, 0x0c}, 2, .slices = {{0, 2, NTR_E_MSEO_SEQUENCE}, END}},
    {"zeros are a message", {0, 0, 0x0c, 0x0f}, 4, .slices = {{0, 4, MSG}, END}},
    {"zeros are idle in this dialect",
     {0, 0, 0x0c, 0x0f, 0},
     5,
     .zero_idle = true,
     .idle = 3,
     .slices = {{2, 2, MSG}, END}},
    {"wrapped buffer",
     {0x0d, 0x02, 0x0f, 0xff, 0x0c, 0x0f},
     6,
     .seek = true,
     .idle = 1,
     .skipped = 3,
     .slices = {{4, 2, MSG}, END}},
    {"wrapped buffer without any end", {0x0d, 0x00}, 2, .seek = true, .skipped = 2, .slices = {END}},
};

/* Read everything, fed `step` bytes at a time, and hand each slice on. */
typedef void (*on_slice)(void *user, const ntr_slice *slice);

static ntr_framer *run(const uint8_t *bytes, size_t size, size_t step, bool zero_idle, bool seek, on_slice each,
                       void *user) {
    static ntr_framer framer;
    ntr_framer_init(&framer, zero_idle);
    if (seek) ntr_framer_seek_start(&framer);
    ntr_status status = NTR_NEED_MORE;
    for (size_t at = 0; status != NTR_END;) {
        size_t here = size - at < step ? size - at : step;
        assert_int_equal(ntr_framer_feed(&framer, bytes + at, here, at + here == size), NTR_OK);
        at += here;
        ntr_slice slice;
        while ((status = ntr_framer_next(&framer, &slice)) == NTR_OK) each(user, &slice);
        assert_int_equal(status, at == size ? NTR_END : NTR_NEED_MORE);
        assert_int_equal(ntr_framer_offset(&framer), at);
    }
    return &framer;
}

typedef struct checker {
    const framing_case *expect;
    size_t count;
} checker;

static void check_slice(void *user, const ntr_slice *slice) {
    checker *c = user;
    const expected *want = &c->expect->slices[c->count++];
    assert_int_equal(slice->defect, want->defect);
    assert_int_equal(slice->offset, want->offset);
    assert_int_equal(slice->size, want->size);
    assert_int_equal(slice->raw.size, want->size);
    assert_memory_equal(slice->raw.data, c->expect->bytes + want->offset, want->size);
}

/* NT-067, NT-069 */
static void streams_are_split_as_the_specification_says(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t step = 1; step <= 16; step++) {
            checker c = {&cases[i], 0};
            ntr_framer *f =
                run(cases[i].bytes, cases[i].size, step, cases[i].zero_idle, cases[i].seek, check_slice, &c);
            if (cases[i].slices[c.count].defect != NTR_END) fail_msg("%s: too few slices", cases[i].what);
            assert_int_equal(f->idle, cases[i].idle);
            assert_int_equal(f->skipped, cases[i].skipped);
        }
    }
}

/* A slice of a whole span is not copied; one cut by spans is. */
static void whole_slices_are_not_copied(void **state) {
    (void)state;
    static const uint8_t bytes[] = {0x0c, 0x0f, 0x78, 0x0f};
    ntr_framer framer;
    ntr_slice slice;
    ntr_framer_init(&framer, false);
    assert_int_equal(ntr_framer_feed(&framer, bytes, 3, false), NTR_OK);
    assert_int_equal(ntr_framer_feed(&framer, bytes, 3, false), NTR_E_STATE);
    assert_int_equal(ntr_framer_next(&framer, &slice), NTR_OK);
    assert_ptr_equal(slice.raw.data, bytes);
    assert_int_equal(ntr_framer_next(&framer, &slice), NTR_NEED_MORE);
    assert_int_equal(ntr_framer_feed(&framer, bytes + 3, 1, true), NTR_OK);
    assert_int_equal(ntr_framer_next(&framer, &slice), NTR_OK);
    assert_ptr_equal(slice.raw.data, framer.held);
    assert_int_equal(ntr_framer_next(&framer, &slice), NTR_END);
    assert_int_equal(ntr_framer_feed(&framer, bytes, 1, true), NTR_E_STATE);
}

static void remember_slice(void *user, const ntr_slice *slice) {
    *(ntr_slice *)user = *slice;
}

/* A RAM without any end of message is one defect, however it comes in. */
static void an_endless_message_is_reported_once(void **state) {
    (void)state;
    enum { SIZE = 100000 };
    uint8_t *endless = calloc(1, SIZE);
    for (size_t i = 1; i < SIZE; i++) endless[i] = (uint8_t)(i * 4);
    for (size_t step = 1; step <= SIZE; step = step * 7 + 1) {
        ntr_slice slice = {0};
        ntr_framer *f = run(endless, SIZE, step, false, false, remember_slice, &slice);
        assert_int_equal(slice.defect, NTR_E_MESSAGE_LONG);
        assert_int_equal(slice.offset, 0);
        assert_int_equal(slice.size, SIZE);
        assert_int_equal(slice.raw.size, NTR_MESSAGE_BYTES_MAX);
        assert_memory_equal(slice.raw.data, endless, NTR_MESSAGE_BYTES_MAX);
        assert_int_equal(f->idle, 0);
    }
    endless[NTR_MESSAGE_BYTES_MAX - 1] = 3; /* exactly the limit is still a message */
    ntr_slice slice = {0};
    run(endless, NTR_MESSAGE_BYTES_MAX, 100, false, false, remember_slice, &slice);
    assert_int_equal(slice.defect, NTR_OK);
    assert_int_equal(slice.size, NTR_MESSAGE_BYTES_MAX);
    free(endless);
}

/* ---- random bytes ------------------------------------------------------------------------------ */

typedef struct account {
    uint64_t bytes, count, hash;
} account;

static void add_to_account(void *user, const ntr_slice *slice) {
    account *a = user;
    a->bytes += slice->size;
    a->count++;
    a->hash = (a->hash ^ slice->offset ^ slice->size << 20 ^ (uint64_t)slice->defect << 40) * 0x9E3779B97F4A7C15u;
    for (size_t i = 0; i < slice->raw.size; i++) a->hash = (a->hash ^ slice->raw.data[i]) * 0x100000001b3u;
}

static void every_byte_of_random_streams_is_accounted_for(void **state) {
    (void)state;
    enum { SIZE = 4000, SEEDS = 1000 };
    static uint8_t bytes[SIZE];
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        uint64_t x = seed * 2654435761u + 1;
        for (size_t i = 0; i < SIZE; i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            bytes[i] = (uint8_t)(x >> 56);
            if (seed % 3 == 1 && x >> 40 & 3) bytes[i] &= 0xfc; /* long messages */
            if (seed % 3 == 2 && x >> 40 & 1) bytes[i] = 0xff;
        }
        account whole = {0}, pieces = {0};
        ntr_framer *f = run(bytes, SIZE, SIZE, seed & 1, false, add_to_account, &whole);
        assert_int_equal(whole.bytes + f->idle, SIZE);
        run(bytes, SIZE, 1 + seed % 37, seed & 1, false, add_to_account, &pieces);
        assert_int_equal(whole.count, pieces.count);
        assert_true(whole.hash == pieces.hash);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(streams_are_split_as_the_specification_says),
        TEST(whole_slices_are_not_copied),
        TEST(an_endless_message_is_reported_once),
        TEST(every_byte_of_random_streams_is_accounted_for),
    };
    return cmocka_run_group_tests_name("framer", tests, NULL, NULL);
}
