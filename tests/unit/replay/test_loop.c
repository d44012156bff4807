/* A replay of loops that stand for 10^14 instructions: positions, searches and counts in them, compared with a
 * simulation of the program in this file. */
#include "points.h"
#include "scene_stream.h"

#define LONG UINT64_C(100000000000000)

typedef struct walk {
    scene scene;
    scene_stream stream;
    ntr_debug_info *debug;
    ntr_functions *functions;
    ntr_replay *replay;
} walk;

/* 0x1000: three blocks with jumps, five instructions, in a loop. The stream leaves it by an interrupt, to 0x2000: add,
 * then `j .`. */
static const uint64_t loop[] = {0x1000, 0x1004, 0x1100, 0x1200, 0x1204};
enum { LOOP = sizeof loop / sizeof *loop };

static void begin(walk *w) {
    char text[400];
    memset(w, 0, sizeof *w);
    scene_start(&w->scene, NULL);
    code(&w->scene, 0x1000, ADD, jal(0, 0xfc));
    code(&w->scene, 0x1100, jal(0, 0x100));
    code(&w->scene, 0x1200, ADD, jal(0, -0x204));
    code(&w->scene, 0x2000, ADD, jal(0, 0));
    snprintf(text, sizeof text,
             "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x800\n"
             "IndirectBranch BTYPE=3 ICNT=%" PRIu64 " UADDR=0x1800\n" /* 0x800 ^ 0x1000 */
             "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=%" PRIu64 "\n",
             2 * (LONG + 3), 2 * LONG);
    assemble(&w->stream.in, &w->scene.config.params, text);
    ntr_debug_info_new(w->scene.program, NULL, &w->debug);
    ntr_functions_new(w->debug, NULL, &w->functions);
    w->replay = scene_replay(&w->scene, &w->stream, w->functions);
}

static void end(walk *w) {
    ntr_replay_free(w->replay);
    ntr_functions_free(w->functions);
    ntr_debug_info_free(w->debug);
    scene_end(&w->scene);
}

static uint64_t address_of(uint64_t position) {
    if (position < LONG + 3) return loop[position % LOOP];
    return position == LONG + 3 ? 0x2000 : 0x2004;
}

static void is_at(walk *w, uint64_t position) {
    ntr_replay_hart hart;
    assert_int_equal(ntr_replay_go(w->replay, position), NTR_OK);
    assert_int_equal(ntr_replay_hart_at(w->replay, 0, &hart), NTR_OK);
    assert_int_equal(hart.address, address_of(position));
    assert_int_equal(hart.number, position);
}

static void positions(void **state) {
    (void)state;
    static walk w;
    uint64_t total, position;
    begin(&w);
    assert_int_equal(ntr_replay_total(w.replay, &total), NTR_OK);
    assert_int_equal(total, 2 * LONG + 3);
    for (uint64_t i = 0; i < 12; i++) {
        is_at(&w, i);
        is_at(&w, LONG - 3 + i);
        is_at(&w, 2 * LONG - 9 + i);
        is_at(&w, 131070 + i);
    }
    for (uint64_t i = 1, x = 12345; i < 60; i++) {
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
        is_at(&w, x % (2 * LONG));
    }
    for (uint64_t at = 1; at < 2 * LONG; at = at * 7 + 3) {
        assert_int_equal(ntr_replay_place_in_hart(w.replay, 0, at, &position), NTR_OK);
        assert_int_equal(position, at);
    }
    assert_int_equal(ntr_replay_place(w.replay, NTR_UNIT_MESSAGE, 3, &position), NTR_OK);
    assert_int_equal(position, LONG + 3);
    end(&w);
}

static void finds(walk *w, uint64_t from, bool backward, uint64_t address, uint64_t expected) {
    const ntr_replay_search search = {.addresses = &address, .count = 1, .backward = backward};
    ntr_replay_stop stop;
    assert_int_equal(ntr_replay_go(w->replay, from), NTR_OK);
    assert_int_equal(ntr_replay_find(w->replay, &search, &stop), NTR_OK);
    assert_int_equal(stop.reason, NTR_REPLAY_HIT);
    assert_int_equal(ntr_replay_position(w->replay), expected);
}

static void searches(void **state) {
    (void)state;
    static walk w;
    begin(&w);
    finds(&w, 5, false, 0x2000, LONG + 3); /* over the whole first loop */
    finds(&w, 2 * LONG, true, 0x2000, LONG + 3);
    finds(&w, 2 * LONG, true, 0x1200, LONG + 3 - (LONG + 3) % LOOP - LOOP + 3);
    finds(&w, LONG / 2, false, 0x1100, LONG / 2 + 2);
    finds(&w, LONG / 2, true, 0x1100, LONG / 2 - 3);
    finds(&w, 7, true, 0x1000, 5);
    end(&w);
}

static void counts(void **state) {
    (void)state;
    static walk w;
    ntr_replay_hits hits;
    begin(&w);
    for (uint64_t i = 0; i < LOOP; i++) {
        assert_int_equal(ntr_replay_count(w.replay, loop[i], &hits), NTR_OK);
        assert_int_equal(hits.times, (LONG + 3) / LOOP + (i < (LONG + 3) % LOOP));
        assert_int_equal(hits.first, i);
        assert_int_equal(hits.last, i + LOOP * (hits.times - 1));
    }
    assert_int_equal(ntr_replay_count(w.replay, 0x2004, &hits), NTR_OK);
    assert_int_equal(hits.times, LONG - 1);
    assert_int_equal(hits.last, 2 * LONG + 2);
    end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(positions), TEST(searches), TEST(counts)};
    return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
