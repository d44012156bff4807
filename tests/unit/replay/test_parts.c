/* The parts of a replay over a short stream: read by counting they have the same points as read with events, also
 * behind returns that find an empty return stack, and behind gaps. */
#include "points.h"
#include "scene_stream.h"

enum { PART_BYTES = 12, ROUNDS = 40, GAP_ROUND = 25 };

typedef struct walk {
    scene scene;
    scene_stream stream;
    ntr_debug_info *debug;
    ntr_functions *functions;
    ntr_replay *replay;
} walk;

/* 0x1000: call 0x1100; add; jump to 0x1000. 0x1100: call 0x1200; ret. 0x1200: add; ret. A synchronizing message at
 * 0x1200 clears the return stack, so that both returns have messages. */
static void make_stream(walk *w, bool gap) {
    code(&w->scene, 0x1000, jal(1, 0x100), ADD, jal(0, -8));
    code(&w->scene, 0x1100, jal(1, 0x100), RET);
    code(&w->scene, 0x1200, ADD, RET);
    assemble(&w->stream.in, &w->scene.config.params, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x800\n");
    for (int round = 0; round < ROUNDS; round++) {
        if (gap && round == GAP_ROUND)
            assemble(&w->stream.in, &w->scene.config.params,
                     "Error ETYPE=0\nProgTraceSync SYNC=7 ICNT=0 FADDR=0x800\n");
        assemble(&w->stream.in, &w->scene.config.params,
                 round == 0 || (gap && round == GAP_ROUND) ? "ProgTraceSync SYNC=2 ICNT=4 FADDR=0x900\n"
                                                           : "ProgTraceSync SYNC=2 ICNT=8 FADDR=0x900\n");
        assemble(&w->stream.in, &w->scene.config.params,
                 "IndirectBranch BTYPE=0 ICNT=4 UADDR=0x182\nIndirectBranch BTYPE=0 ICNT=2 UADDR=0x80\n");
    }
}

static void begin(walk *w, bool events, bool gap) {
    memset(w, 0, sizeof *w);
    scene_start(&w->scene, NULL);
    w->scene.config.params.implicit_return = NTR_RETURN_FULL;
    make_stream(w, gap);
    ntr_debug_info_new(w->scene.program, NULL, &w->debug);
    ntr_functions_new(w->debug, NULL, &w->functions);
    w->replay = scene_replay(&w->scene, &w->stream, w->functions);
    w->replay->part.most_bytes = PART_BYTES;
    if (events) read_with_events(w->replay);
}

static void end(walk *w) {
    ntr_replay_free(w->replay);
    ntr_functions_free(w->functions);
    ntr_debug_info_free(w->debug);
    scene_end(&w->scene);
}

static void compare(const walk *counts, const walk *events) {
    compare_points(counts->replay, counts->functions, events->replay, events->functions);
}

static void returns_without_return_stack(void **state) {
    (void)state;
    static walk counts, events;
    begin(&counts, false, false);
    begin(&events, true, false);
    const size_t counted = read_all(counts.replay, false);
    assert_int_equal(read_all(events.replay, true), 0);
    assert_int_equal(counted, counts.replay->point_count - 2); /* all but the first one */
    compare(&counts, &events);
    end(&counts);
    end(&events);
}

static void gaps_in_counted_parts(void **state) {
    (void)state;
    static walk counts, events;
    const ntr_replay_search search = {.gaps = true};
    ntr_replay_stop stop;
    size_t with_gap = 0;
    begin(&counts, false, true);
    begin(&events, true, true);
    const size_t counted = read_all(counts.replay, false), parts = counts.replay->point_count - 1;
    assert_int_equal(read_all(events.replay, true), 0);
    compare(&counts, &events);
    for (size_t i = 0; i < parts; i++) with_gap += counts.replay->points[i].gaps;
    assert_int_equal(with_gap, 2); /* the part that ends with the gap, and the one behind it */
    assert_true(counted >= parts - 4); /* the first one, and those with the gap */
    assert_int_equal(ntr_replay_find(counts.replay, &search, &stop), NTR_OK);
    assert_int_equal(stop.reason, NTR_REPLAY_GAP);
    assert_int_equal(ntr_replay_position(counts.replay), 7 * GAP_ROUND - 2);
    end(&counts);
    end(&events);
}

static void a_gap_at_the_end(void **state) {
    (void)state;
    static walk w;
    const ntr_replay_search search = {.gaps = true};
    ntr_replay_stop stop;
    begin(&w, false, false);
    assert_int_equal(ntr_replay_find(w.replay, &search, &stop), NTR_OK);
    assert_int_equal(stop.reason, NTR_REPLAY_AT_END);
    assert_false(stop.has_gap);
    end(&w);
    begin(&w, false, false);
    assemble(&w.stream.in, &w.scene.config.params, "Error ETYPE=0\n");
    assert_int_equal(ntr_replay_find(w.replay, &search, &stop), NTR_OK);
    assert_int_equal(stop.reason, NTR_REPLAY_AT_END);
    assert_true(stop.has_gap);
    assert_int_equal(stop.gap.offset, w.stream.in.size - 2);
    end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(returns_without_return_stack), TEST(gaps_in_counted_parts),
                                       TEST(a_gap_at_the_end)};
    return cmocka_run_group_tests_name("parts", tests, NULL, NULL);
}
