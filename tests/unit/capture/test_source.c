/* The ring of a lane: words arrive in order, and the writer learns which batches were read. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "fake_plugin.h"

static uint32_t next_random(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

typedef struct reader {
    struct ntr_capture_lane lane;
    uint32_t expected;
} reader;

/* Read what is there; the words are 1, 2, 3 and so on. */
static bool read_words(reader *r, struct channel *channel, bool all) {
    uint32_t *end;

    if (!ntr_capture_lane_ready(&r->lane, channel, 0, all, &end)) return false;
    while (r->lane.at != end) {
        uint32_t *stop = ntr_capture_lane_stop(&r->lane, channel, 0, end);
        assert_true(stop > r->lane.at);
        assert_true(stop - r->lane.at <= (ptrdiff_t)CHANNEL_BATCH);
        for (const uint32_t *word = r->lane.at; word < stop; word++) assert_int_equal(*word, r->expected++);
        ntr_capture_lane_pass(&r->lane, channel, 0, stop);
    }
    return true;
}

static void words_arrive_in_order(void **state) {
    enum { WORDS = 3 * CHANNEL_RING + 12345 };
    fake_plugin plugin;
    reader r = {.expected = 1};
    uint32_t random = 1, word = 1;

    (void)state;
    fake_open(&plugin);
    ntr_capture_lane_begin(&r.lane, plugin.channel, 0);
    while (word <= WORDS) {
        uint32_t burst = next_random(&random) % (2 * CHANNEL_BATCH);
        for (; burst && word <= WORDS && fake_has_room(&plugin); burst--) fake_put(&plugin, word++);
        read_words(&r, plugin.channel, next_random(&random) % 2);
    }
    while (read_words(&r, plugin.channel, true)) continue;
    assert_int_equal(r.expected, WORDS + 1);
    assert_int_equal(atomic_load(&plugin.channel->lanes[0].consumed), WORDS / CHANNEL_BATCH);
    fake_close(&plugin);
}

static void whole_batches_only(void **state) {
    fake_plugin plugin;
    reader r = {.expected = 1};
    uint32_t word = 1;

    (void)state;
    fake_open(&plugin);
    ntr_capture_lane_begin(&r.lane, plugin.channel, 0);
    assert_false(read_words(&r, plugin.channel, true));
    while (word < CHANNEL_BATCH) fake_put(&plugin, word++);
    assert_false(read_words(&r, plugin.channel, false));
    fake_put(&plugin, word++); /* the last word of the batch */
    fake_put(&plugin, word++);
    assert_true(read_words(&r, plugin.channel, false));
    assert_int_equal(r.expected, CHANNEL_BATCH + 1);
    assert_false(read_words(&r, plugin.channel, false));
    assert_true(read_words(&r, plugin.channel, true));
    assert_int_equal(r.expected, word);
    fake_close(&plugin);
}

/* The writer fills the ring up to the batch that is always left free, and goes on when the reader has passed a batch.
 */
static void a_full_ring(void **state) {
    fake_plugin plugin;
    reader r = {.expected = 1};
    uint32_t word = 1;

    (void)state;
    fake_open(&plugin);
    ntr_capture_lane_begin(&r.lane, plugin.channel, 0);
    while (fake_has_room(&plugin)) fake_put(&plugin, word++);
    assert_int_equal(word - 1, (CHANNEL_BATCHES - 1) * CHANNEL_BATCH);
    assert_true(read_words(&r, plugin.channel, false));
    assert_int_equal(r.expected, word);
    assert_true(fake_has_room(&plugin));
    fake_close(&plugin);
}

static void lanes_beyond_the_table_are_not_counted(void **state) {
    fake_plugin plugin;

    (void)state;
    fake_open(&plugin);
    assert_int_equal(ntr_capture_source_lanes(plugin.channel), 1);
    atomic_store(&plugin.channel->head.lanes, CHANNEL_LANES + 5);
    assert_int_equal(ntr_capture_source_lanes(plugin.channel), CHANNEL_LANES);
    assert_null(ntr_capture_lane_writer(plugin.channel, 1));
    fake_close(&plugin);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(words_arrive_in_order), TEST(whole_batches_only), TEST(a_full_ring),
                                       TEST(lanes_beyond_the_table_are_not_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
