/* Transports that carry several streams, each with an ID: ATB and CoreSight frames. */
#include "../test.h"
#include "player.h"

enum { SEEDS = 1000 };

/* ---- streams with IDs */

static void record_ids(const char *name, uint64_t *seed, beats *out, streams *expected, unsigned *triggers) {
    static const unsigned ids[] = {0x01, 0x10, 0x3f, 0x6f};
    streams_clear(expected);
    *triggers = 0;
    ntr_transport_writer *writer = new_writer(name, out);
    for (unsigned i = 0; i < 200; i++) {
        uint8_t bytes[64];
        const unsigned id = ids[random_below(seed, 4)], size = random_below(seed, 20);
        for (unsigned k = 0; k < size; k++) {
            const unsigned style = random_below(seed, 4);
            bytes[k] = style == 0 ? 0xff : style == 1 ? 0x7f : (uint8_t)random_next(seed);
        }
        if (random_below(seed, 5) == 0)
            assert_int_equal(ntr_transport_writer_idle(writer, random_below(seed, 20)), NTR_OK);
        if (random_below(seed, 20) == 0) {
            assert_int_equal(ntr_transport_writer_trigger(writer, id), NTR_OK);
            ++*triggers;
        }
        assert_int_equal(ntr_transport_writer_put(writer, id, bytes, size), NTR_OK);
        take_bytes(expected, id, bytes, size);
    }
    assert_int_equal(ntr_transport_writer_finish(writer), NTR_OK);
    ntr_transport_writer_free(writer);
}

/* Several streams there and back; from the middle on, what is read is the end of each stream. */
static void ids_there_and_back(const char *name) {
    streams *expected = malloc(sizeof *expected);
    assert_non_null(expected);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t random = seed;
        beats all = {0};
        unsigned triggers;
        record_ids(name, &random, &all, expected, &triggers);
        read_beats(new_reader(name, NTR_BEGIN_DEFAULT, NULL), all.data, all.count, &random);
        for (unsigned id = 0; id < IDS; id++) {
            assert_int_equal(got->size[id], expected->size[id]);
            assert_memory_equal(got->data[id], expected->data[id], expected->size[id]);
        }
        assert_int_equal(count_notes(got, NTR_NOTE_TRIGGER), triggers);
        assert_int_equal(count_notes(got, NTR_NOTE_LOST), 0);

        const size_t cut = random_below(&random, (unsigned)all.count / 2);
        read_beats(new_reader(name, NTR_BEGIN_ANYWHERE, NULL), all.data + cut, all.count - cut, &random);
        for (unsigned id = 0; id < IDS; id++) {
            assert_true(got->size[id] <= expected->size[id]);
            assert_memory_equal(got->data[id], expected->data[id] + expected->size[id] - got->size[id], got->size[id]);
            if (expected->size[id]) assert_true(got->size[id] > expected->size[id] / 8);
        }
        free(all.data);
    }
    free(expected);
}

static void atb_streams(void **state) {
    (void)state;
    ids_there_and_back("atb");
}
static void coresight_streams(void **state) {
    (void)state;
    ids_there_and_back("coresight");
}

/* A frame by hand: ID 1 at once, its data, ID 2 one byte late, null padding. */
static void coresight_frame(void **state) {
    (void)state;
    static const uint16_t frame[16] = {
        0x03, 0xaa,       /* ID 1, at once */
        0x10, 0x22,       /* data 0x11 (flag 1), 0x22 */
        0x05, 0x33,       /* ID 2 after the next byte, which still belongs to 1 */
        0x44, 0x55,       /* data 0x44 (flag 0), 0x55 */
        0xff, 0x7f,       /* half synchronization: no part of the frame */
    };
    uint16_t all[20];
    memcpy(all, frame, sizeof(uint16_t) * 10);
    static const uint16_t rest[] = {0x01, 0, 0, 0, 0, 0, 0, 0x06};
    memcpy(all + 10, rest, sizeof rest); /* ID 0 and padding; flags of pairs 1 and 2 */
    uint64_t seed = 3;
    read_beats(new_reader("coresight", NTR_BEGIN_DEFAULT, NULL), all, 18, &seed);
    static const uint8_t one[] = {0xaa, 0x11, 0x22, 0x33}, two[] = {0x44, 0x55};
    assert_int_equal(got->size[1], sizeof one);
    assert_memory_equal(got->data[1], one, sizeof one);
    assert_int_equal(got->size[2], sizeof two);
    assert_memory_equal(got->data[2], two, sizeof two);
    assert_int_equal(got->size[0], 0);
}

/* Data without an ID, reserved IDs and a cut frame are reported. */
static void coresight_notes(void **state) {
    (void)state;
    uint16_t all[16 + 3] = {0};
    all[2] = 0x78 << 1 | 1;
    uint64_t seed = 9;
    read_beats(new_reader("coresight", NTR_BEGIN_DEFAULT, NULL), all, 19, &seed);
    assert_int_equal(count_notes(got, NTR_NOTE_UNKNOWN_ID), 1);
    assert_int_equal(count_notes(got, NTR_NOTE_ID), 1);
    assert_int_equal(count_notes(got, NTR_NOTE_LOST), 1);
    read_beats(new_reader("coresight", NTR_BEGIN_ANYWHERE, NULL), all, 19, &seed);
    assert_int_equal(count_notes(got, NTR_NOTE_LOST), 1);
}

/* A transfer full of 0x7f is no alignment mark. */
static void atb_marks(void **state) {
    (void)state;
    beats all = {0};
    uint8_t bytes[16];
    memset(bytes, 0x7f, sizeof bytes);
    ntr_writer_options options = {.size = sizeof options, .sink = take_beats, .user = &all, .atb_bytes = 16};
    ntr_transport_writer *writer;
    ntr_transport_writer_new(ntr_transport_find("atb"), &options, &writer);
    for (unsigned i = 0; i < 4; i++) assert_int_equal(ntr_transport_writer_put(writer, 1, bytes, 16), NTR_OK);
    assert_int_equal(ntr_transport_writer_finish(writer), NTR_OK);
    ntr_transport_writer_free(writer);
    uint64_t seed = 1;
    read_beats(new_reader("atb", NTR_BEGIN_ANYWHERE, NULL), all.data, all.count, &seed);
    assert_int_equal(got->size[1], 64);
    assert_int_equal(count_notes(got, NTR_NOTE_LOST), 0);

    read_beats(new_reader("atb", NTR_BEGIN_ANYWHERE, NULL), all.data + 4, all.count - 4, &seed);
    assert_int_equal(got->size[1], 0); /* 16 bytes of the mark are not enough */
    free(all.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(atb_streams), TEST(coresight_streams), TEST(coresight_frame), TEST(coresight_notes), TEST(atb_marks),
    };
    return cmocka_run_group_tests(tests, player_setup, player_teardown);
}
