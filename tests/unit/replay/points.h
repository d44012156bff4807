/* Replays that read by counting and with events, compared point by point. */
#ifndef NTR_TEST_REPLAY_POINTS_H
#define NTR_TEST_REPLAY_POINTS_H

#include "../test.h"

#include "replay/state.h"

enum { LISTED_WORDS = 2, LISTED_MAX = 4096 };

/* Return address and call site of each frame of all stacks. */
typedef struct frame_list {
    uint64_t items[LISTED_MAX];
    size_t count;
} frame_list;

static inline uint32_t list_frame(void *user, const ntr_stack_frame *frame, uint32_t below) {
    frame_list *list = user;
    (void)below;
    assert_true(list->count + LISTED_WORDS <= LISTED_MAX);
    list->items[list->count++] = frame->return_to;
    list->items[list->count++] = frame->site;
    return 1;
}

static inline void list_frames(ntr_functions *functions, const ntr_replay *replay, const ntr_replay_point *point,
                               frame_list *list) {
    ntr_callstack *stacks;
    ntr_callstack_new(functions, NULL, NULL, &stacks);
    list->count = 0;
    assert_int_equal(ntr_callstack_restore(stacks, &replay->store, &point->stacks), NTR_OK);
    assert_int_equal(ntr_callstack_visit(stacks, list_frame, list), NTR_OK);
    ntr_callstack_free(stacks);
}

/* The next parts are read with events. */
static inline void read_with_events(ntr_replay *r) {
    r->part.pause = UINT32_MAX;
}

/* Reads the whole stream; unless `events`, by counting wherever it is possible. Returns the number of parts that were
 * read by counting and had no need to be read again. */
static inline size_t read_all(ntr_replay *r, bool events) {
    size_t counted = 0;
    while (!r->complete) {
        if (!events) r->part.pause = 0; /* also where few messages have memos */
        const bool counts = ntr_pass_choose(r) == NTR_PASS_COUNTS;
        assert_int_equal(ntr_replay_pass(r), NTR_OK);
        counted += counts && !r->part.irregular;
    }
    return counted;
}

/* `functions` of the two replays, whose points must be equal. */
static inline void compare_points(const ntr_replay *counts, ntr_functions *of_counts, const ntr_replay *events,
                                  ntr_functions *of_events) {
    static frame_list left, right;
    assert_int_equal(counts->point_count, events->point_count);
    for (size_t i = 0; i < counts->point_count; i++) {
        const ntr_replay_point *a = &counts->points[i], *b = &events->points[i];
        assert_int_equal(a->offset, b->offset);
        assert_int_equal(a->first, b->first);
        assert_int_equal(a->message, b->message);
        assert_int_equal(a->gaps, b->gaps);
        list_frames(of_counts, counts, a, &left);
        list_frames(of_events, events, b, &right);
        assert_int_equal(left.count, right.count);
        assert_memory_equal(left.items, right.items, left.count * sizeof *left.items);
    }
}

#endif
