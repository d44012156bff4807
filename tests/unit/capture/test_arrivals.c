/* Marks of a modelled system: moments of an encoder become offsets when its messages arrive. */
#include "../test.h"

#include "capture/arrivals.h"

#include <stdlib.h>

enum { SRC_BITS = 2, SIZE = 4, MARKS = 8 };

static struct ntr_capture_arrivals *make(void) {
    struct ntr_capture_arrivals *arrivals = calloc(1, sizeof *arrivals);
    assert_non_null(arrivals);
    arrivals->src_bits = SRC_BITS;
    return arrivals;
}

/* A message of four bytes; SRC follows the six bits of TCODE. */
static void put(struct ntr_capture_arrivals *arrivals, unsigned src, uint64_t end) {
    const uint8_t bytes[SIZE] = {0x20, (uint8_t)(src << 2 | 0x80), 0, 3};
    assert_int_equal(ntr_capture_arrivals_source(arrivals, (ntr_bytes){bytes, SIZE}), src);
    ntr_capture_arrivals_put(arrivals, (ntr_bytes){bytes, SIZE}, end);
}

static uint64_t place(struct ntr_capture_arrivals *arrivals, uint64_t mark) {
    ntr_capture_arrivals_resolve(arrivals, &mark);
    return mark;
}

static void finish(struct ntr_capture_arrivals *arrivals) {
    ntr_capture_arrivals_release(arrivals);
    free(arrivals);
}

static void marks_are_behind_the_messages_before_them(void **state) {
    struct ntr_capture_arrivals *a = make();
    uint64_t marks[MARKS];

    (void)state;
    marks[0] = ntr_capture_arrivals_mark(a, 1, 0);
    marks[1] = ntr_capture_arrivals_mark(a, 1, 2);
    assert_int_equal(ntr_capture_arrivals_mark(a, 1, 2), marks[1]);
    marks[2] = ntr_capture_arrivals_mark(a, 2, 1);
    marks[3] = ntr_capture_arrivals_mark(a, 1, 3);
    put(a, 1, 4);
    put(a, 3, 8); /* of another source */
    put(a, 1, 12);
    put(a, 2, 20); /* idle bytes in front of it */
    put(a, 1, 24);
    marks[4] = ntr_capture_arrivals_mark(a, 2, 9); /* its messages do not arrive */
    ntr_capture_arrivals_finish(a, 30);
    const uint64_t expected[] = {0, 12, 20, 24, 30};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) assert_int_equal(place(a, marks[i]), expected[i]);
    assert_int_equal(place(a, 17), 17);
    finish(a);
}

/* The messages of source 1 wait longer than those of source 2. */
static void later_marks_are_not_in_front_of_earlier_ones(void **state) {
    struct ntr_capture_arrivals *a = make();

    (void)state;
    const uint64_t first = ntr_capture_arrivals_mark(a, 1, 1), second = ntr_capture_arrivals_mark(a, 2, 1),
                   third = ntr_capture_arrivals_mark(a, 1, 1);
    put(a, 2, 4);
    put(a, 1, 8);
    ntr_capture_arrivals_finish(a, 8);
    assert_int_equal(place(a, first), 8);
    assert_int_equal(place(a, second), 8);
    assert_int_equal(place(a, third), 8);
    finish(a);
}

/* Source 2 is silent for a long time, and source 1 sends nothing after its mark. */
static void a_mark_waits_for_no_later_message(void **state) {
    struct ntr_capture_arrivals *a = make();

    (void)state;
    put(a, 1, 4);
    const uint64_t silent = ntr_capture_arrivals_mark(a, 2, 0), arrived = ntr_capture_arrivals_mark(a, 1, 1),
                   next = ntr_capture_arrivals_mark(a, 1, 2);
    put(a, 1, 8);
    put(a, 2, 12);
    ntr_capture_arrivals_finish(a, 16);
    assert_int_equal(place(a, silent), 0);
    assert_int_equal(place(a, arrived), 4);
    assert_int_equal(place(a, next), 8);
    finish(a);
}

/* A buffer has wrapped: it holds the messages 6 and 7 of source 1. */
static void messages_that_are_lost_count(void **state) {
    struct ntr_capture_arrivals *a = make();

    (void)state;
    const uint64_t lost = ntr_capture_arrivals_mark(a, 1, 3), last_lost = ntr_capture_arrivals_mark(a, 1, 5),
                   kept = ntr_capture_arrivals_mark(a, 1, 6);
    ntr_capture_arrivals_skip(a, 1, 5, 100);
    put(a, 1, 104);
    put(a, 1, 108);
    ntr_capture_arrivals_finish(a, 108);
    assert_int_equal(place(a, lost), 100);
    assert_int_equal(place(a, last_lost), 100);
    assert_int_equal(place(a, kept), 104);
    finish(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(marks_are_behind_the_messages_before_them),
        TEST(later_marks_are_not_in_front_of_earlier_ones),
        TEST(a_mark_waits_for_no_later_message),
        TEST(messages_that_are_lost_count),
    };
    return cmocka_run_group_tests_name("arrivals", tests, NULL, NULL);
}
