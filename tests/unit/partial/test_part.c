/* Parts of a stream that are decoded apart are together the whole: instructions, states at the cuts, bytes. */
#include "../decoder/scene.h"

#include <ntrace/partial.h>

/* A branch to itself, taken once for each message; every 20th message synchronizes. `feed` gives so many bytes. */
enum { LOOP = 0x100, MESSAGES = 400, SYNC_EACH = 20, SPACING = 16, PIECE = 37 };

static scene s;
static stream bytes;
static ntr_index *points;

/* One decoder, and what it returned since its part began. */
typedef struct worker {
    ntr_decoder *decoder;
    uint64_t instructions, dropped;
    unsigned starts;
} worker;

static int begin(void **state) {
    ntr_reader reader;

    (void)state;
    scene_start(&s, NULL);
    code(&s, LOOP, c_beqz(0), C_EBREAK);
    bytes.size = 0;
    assemble(&bytes, &s.config.params, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\n");
    for (unsigned i = 1; i <= MESSAGES; i++)
        assemble(&bytes, &s.config.params,
                 i % SYNC_EACH ? "DirectBranch ICNT=1\n" : "DirectBranchSync SYNC=2 ICNT=1 FADDR=0x80\n");
    assert_int_equal(ntr_index_new(&s.config.params, SPACING, NULL, &points), NTR_OK);
    assert_int_equal(ntr_reader_init(&reader, &s.config.params), NTR_OK);
    assert_int_equal(ntr_reader_feed(&reader, bytes.bytes, bytes.size, true), NTR_OK);
    assert_int_equal(ntr_index_messages(points, &reader), NTR_END);
    assert_int_equal(ntr_index_finish(points), NTR_OK);
    return 0;
}

static int end(void **state) {
    (void)state;
    ntr_index_free(points);
    scene_end(&s);
    return 0;
}

static ntr_status drain(void *user) {
    worker *w = user;
    ntr_event events[16];
    ntr_status status;
    size_t count;

    do {
        status = ntr_decoder_read(w->decoder, events, 16, &count);
        for (size_t i = 0; i < count; i++)
            w->instructions += events[i].kind == NTR_EVENT_SPAN ? events[i].instructions : 0;
    } while (status == NTR_OK);
    return status;
}

static ntr_status start(void *user) {
    worker *w = user;

    w->starts++;
    w->dropped = w->instructions;
    w->instructions = 0;
    return NTR_OK;
}

/* Decodes a part, with a decoder that begins at the last points before it. */
static ntr_partial_part decode_part(uint32_t number, uint32_t count, worker *w) {
    ntr_partial_part part = {.drain = drain, .start = start, .user = w};
    const ntr_point *from;
    size_t from_count;

    *w = (worker){0};
    assert_int_equal(ntr_partial_cut(points, number, count, NULL, &part.begin, &part.end), NTR_OK);
    assert_int_equal(ntr_decoder_new(&s.config, &w->decoder), NTR_OK);
    if (part.begin) {
        assert_int_equal(ntr_index_find(points, NTR_UNIT_OFFSET, part.begin, NULL, &from, &from_count), NTR_OK);
        assert_int_equal(from_count, 1);
        assert_int_equal(ntr_decoder_begin(w->decoder, from, from_count), NTR_OK);
        part.at = from[0].offset;
    }
    ntr_status status = NTR_NEED_MORE;
    for (size_t at = (size_t)part.at; status == NTR_NEED_MORE; at += PIECE) {
        const size_t size = bytes.size - at < PIECE ? bytes.size - at : PIECE;
        status = ntr_partial_part_feed(&part, w->decoder, bytes.bytes + at, size, at + size == bytes.size);
    }
    assert_int_equal(status, NTR_END);
    assert_int_equal(w->starts, 1);
    ntr_decoder_free(w->decoder);
    return part;
}

static void parts_are_the_whole(void **state) {
    static const uint32_t counts[] = {1, 2, 3, 7};

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        ntr_partial_part before = {.begin = 0};
        uint64_t instructions = 0;
        for (uint32_t k = 1; k <= counts[i]; k++) {
            worker w;
            uint64_t id[2], expected[2];
            ntr_partial_digest digest = {0};
            ntr_partial_part part = decode_part(k, counts[i], &w);
            assert_int_equal(part.begin, before.end);
            assert_string_equal(part.begin_state, before.end_state);
            assert_int_equal(part.at, part.end);
            ntr_partial_digest_add(&digest, bytes.bytes + part.begin, (size_t)(part.end - part.begin));
            ntr_partial_digest_finish(&digest, expected);
            ntr_partial_digest_finish(&part.digest, id);
            assert_int_equal(id[0], expected[0]);
            assert_int_equal(id[1], expected[1]);
            instructions += w.instructions;
            before = part;
        }
        assert_int_equal(before.end, bytes.size);
        assert_string_equal(before.end_state, ""); /* the last part has no next one */
        assert_int_equal(instructions, MESSAGES);
    }
}

/* What the decoder returns between the point and the part belongs to the part before. */
static void what_comes_before_a_part_is_dropped(void **state) {
    worker w;
    ntr_partial_part part = {.begin = 0};

    (void)state;
    ntr_partial_cut(points, 2, 2, NULL, &part.begin, &part.end);
    part.drain = drain;
    part.start = start;
    part.user = &w;
    w = (worker){0};
    assert_int_equal(ntr_decoder_new(&s.config, &w.decoder), NTR_OK);
    assert_int_equal(ntr_partial_part_feed(&part, w.decoder, bytes.bytes, bytes.size, true),
                     NTR_END); /* from the start */
    assert_int_equal(w.dropped + w.instructions, MESSAGES);
    assert_in_range(w.dropped, MESSAGES / 4, MESSAGES - MESSAGES / 4);
    ntr_decoder_free(w.decoder);
}

static ntr_status refuse(void *user) {
    (void)user;
    return NTR_E_LIMIT;
}

static void errors_of_the_callbacks_are_returned(void **state) {
    (void)state;
    for (unsigned which = 0; which < 2; which++) {
        worker w = {0};
        ntr_partial_part part = {
            .end = UINT64_MAX, .drain = which ? refuse : drain, .start = which ? start : refuse, .user = &w};
        assert_int_equal(ntr_decoder_new(&s.config, &w.decoder), NTR_OK);
        assert_int_equal(ntr_partial_part_feed(&part, w.decoder, bytes.bytes, bytes.size, true), NTR_E_LIMIT);
        ntr_decoder_free(w.decoder);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(parts_are_the_whole), TEST(what_comes_before_a_part_is_dropped),
                                       TEST(errors_of_the_callbacks_are_returned)};
    return cmocka_run_group_tests(tests, begin, end);
}
