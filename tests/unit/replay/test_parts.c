/* The parts of a replay over a short stream: read by counting they have the same points as read with events, also behind returns
 * that find an empty return stack, and behind gaps. */
#include "../decoder/scene.h"

#include "replay/state.h"

enum { PART_BYTES = 12, ROUNDS = 40, GAP_ROUND = 25 };

typedef struct walk {
    scene scene;
    stream in;
    size_t read;
    ntr_debug_info *debug;
    ntr_functions *functions;
    ntr_replay *replay;
} walk;

static ntr_status read_some(void *user, uint8_t *to, size_t capacity, size_t *got) {
    walk *w = user;
    *got = w->in.size - w->read < capacity ? w->in.size - w->read : capacity;
    if (*got) memcpy(to, w->in.bytes + w->read, *got);
    w->read += *got;
    return NTR_OK;
}

static ntr_stream_reader *open_stream(void *user, ntr_status *status) {
    ntr_stream_reader_config config;
    ((walk *)user)->read = 0;
    ntr_stream_reader_config_init(&config);
    config.read = read_some;
    config.user = user;
    return ntr_stream_reader_new(&config, status);
}

/* 0x1000: call 0x1100; add; jump to 0x1000. 0x1100: call 0x1200; ret. 0x1200: add; ret. A synchronizing message at 0x1200 clears the
 * return stack, so that both returns have messages. */
static void make_stream(walk *w, bool gap) {
    code(&w->scene, 0x1000, jal(1, 0x100), ADD, jal(0, -8));
    code(&w->scene, 0x1100, jal(1, 0x100), RET);
    code(&w->scene, 0x1200, ADD, RET);
    assemble(&w->in, &w->scene.config.params, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x800\n");
    for (int round = 0; round < ROUNDS; round++) {
        if (gap && round == GAP_ROUND) assemble(&w->in, &w->scene.config.params, "Error ETYPE=0\nProgTraceSync SYNC=7 ICNT=0 FADDR=0x800\n");
        assemble(&w->in, &w->scene.config.params, round == 0 || (gap && round == GAP_ROUND)
                                                      ? "ProgTraceSync SYNC=2 ICNT=4 FADDR=0x900\n"
                                                      : "ProgTraceSync SYNC=2 ICNT=8 FADDR=0x900\n");
        assemble(&w->in, &w->scene.config.params, "IndirectBranch BTYPE=0 ICNT=4 UADDR=0x182\nIndirectBranch BTYPE=0 ICNT=2 UADDR=0x80\n");
    }
}

static void begin(walk *w, bool events, bool gap) {
    ntr_replay_config config;
    ntr_status status;
    memset(w, 0, sizeof *w);
    scene_start(&w->scene, NULL);
    w->scene.config.params.implicit_return = NTR_RETURN_FULL;
    make_stream(w, gap);
    w->debug = ntr_debug_info_new(w->scene.program, NULL);
    w->functions = ntr_functions_new(w->debug, NULL);
    ntr_replay_config_init(&config);
    config.decoder = &w->scene.config;
    config.functions = w->functions;
    config.open = open_stream;
    config.user = w;
    w->replay = ntr_replay_new(&config, &status);
    assert_non_null(w->replay);
    w->replay->part.most_bytes = PART_BYTES;
    if (events) w->replay->part.pause = UINT32_MAX;
}

static void end(walk *w) {
    ntr_replay_free(w->replay);
    ntr_functions_free(w->functions);
    ntr_debug_info_free(w->debug);
    scene_end(&w->scene);
}

/* Returns the number of parts that were read by counting and had no need to be read again. */
static size_t read_all(walk *w, bool events) {
    size_t counted = 0;
    ntr_replay *r = w->replay;
    while (!r->complete) {
        if (!events) r->part.pause = 0;
        const bool counts = ntr_pass_choose(r) == NTR_PASS_COUNTS;
        assert_int_equal(ntr_replay_pass(r), NTR_OK);
        counted += counts && !r->part.irregular;
    }
    return counted;
}

typedef struct frame_list {
    uint64_t items[64];
    size_t count;
} frame_list;

static uint32_t list_frame(void *user, const ntr_stack_frame *frame, uint32_t below) {
    frame_list *list = user;
    (void)below;
    assert_true(list->count + 2 <= sizeof list->items / sizeof *list->items);
    list->items[list->count++] = frame->return_to;
    list->items[list->count++] = frame->site;
    return 1;
}

static void frames_of(walk *w, const ntr_replay_point *point, frame_list *list) {
    ntr_callstack *stacks = ntr_callstack_new(w->functions, NULL, NULL);
    list->count = 0;
    assert_int_equal(ntr_callstack_restore(stacks, &w->replay->store, &point->stacks), NTR_OK);
    assert_int_equal(ntr_callstack_visit(stacks, list_frame, list), NTR_OK);
    ntr_callstack_free(stacks);
}

static void compare_points(walk *counts, walk *events) {
    frame_list left, right;
    assert_int_equal(counts->replay->point_count, events->replay->point_count);
    for (size_t i = 0; i < counts->replay->point_count; i++) {
        const ntr_replay_point *a = &counts->replay->points[i], *b = &events->replay->points[i];
        assert_int_equal(a->offset, b->offset);
        assert_int_equal(a->first, b->first);
        assert_int_equal(a->gaps, b->gaps);
        frames_of(counts, a, &left);
        frames_of(events, b, &right);
        assert_int_equal(left.count, right.count);
        assert_memory_equal(left.items, right.items, left.count * sizeof *left.items);
    }
}

static void returns_without_return_stack(void **state) {
    (void)state;
    static walk counts, events;
    begin(&counts, false, false);
    begin(&events, true, false);
    const size_t counted = read_all(&counts, false);
    assert_int_equal(read_all(&events, true), 0);
    assert_int_equal(counted, counts.replay->point_count - 2); /* all but the first one */
    compare_points(&counts, &events);
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
    const size_t counted = read_all(&counts, false), parts = counts.replay->point_count - 1;
    assert_int_equal(read_all(&events, true), 0);
    compare_points(&counts, &events);
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
    assemble(&w.in, &w.scene.config.params, "Error ETYPE=0\n");
    assert_int_equal(ntr_replay_find(w.replay, &search, &stop), NTR_OK);
    assert_int_equal(stop.reason, NTR_REPLAY_AT_END);
    assert_true(stop.has_gap);
    assert_int_equal(stop.gap.offset, w.in.size - 2);
    end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(returns_without_return_stack), TEST(gaps_in_counted_parts),
                                       TEST(a_gap_at_the_end)};
    return cmocka_run_group_tests_name("parts", tests, NULL, NULL);
}
