/* The event sorter: events of several sources in the order of time. */
#include "../test.h"

#include <ntrace/event_sorter.h>

#include <stdio.h>
#include <stdlib.h>

#define UNTIMED UINT64_MAX

struct input {
    uint16_t src;
    uint64_t time;
};

struct line {
    char text[256];
    size_t length;
};

static void write(struct line *line, const char *form, ...) {
    va_list values;

    va_start(values, form);
    line->length += (size_t)vsnprintf(line->text + line->length, sizeof line->text - line->length, form, values);
    va_end(values);
}

static void take(ntr_event_sorter *order, bool all, struct line *line) {
    ntr_event e;

    while (ntr_event_sorter_take(order, all, &e)) write(line, "%u:%u ", e.src, (unsigned)e.message);
}

/* Returns the output as "source:number ", numbers from 0 in the order of input; "|" marks the call with `all`. */
static void comes_out(size_t window, const struct input *inputs, size_t count, const char *expected) {
    ntr_event_sorter *order;
    ntr_event_sorter_new(window, NULL, &order);
    struct line line = {0};

    for (size_t i = 0; i < count; i++) {
        const bool timed = inputs[i].time != UNTIMED;
        ntr_event e = {.src = inputs[i].src, .message = i, .time = timed ? inputs[i].time : 0};
        if (timed) e.flags = NTR_EVENT_TIME;
        ntr_event_sorter_put(order, &e);
        take(order, false, &line);
    }
    write(&line, "|");
    take(order, true, &line);
    assert_string_equal(line.text, expected);
    ntr_event_sorter_free(order);
}

#define COMES_OUT(window, expected, ...)                                                                               \
    do {                                                                                                               \
        static const struct input inputs[] = {__VA_ARGS__};                                                            \
        comes_out(window, inputs, sizeof inputs / sizeof inputs[0], expected);                                         \
    } while (0)

static void the_earliest_comes_first(void **state) {
    (void)state;
    COMES_OUT(8, "|1:1 0:0 1:3 0:2 ", {0, 20}, {1, 10}, {0, 40}, {1, 30});
}

static void equal_times_keep_the_streams_order(void **state) {
    (void)state;
    COMES_OUT(8, "|0:0 1:1 0:2 1:3 ", {0, 5}, {1, 5}, {0, 5}, {1, 5});
}

static void a_full_window_gives_its_earliest(void **state) {
    (void)state;
    COMES_OUT(3, "1:1 0:0 |1:3 0:2 ", {0, 20}, {1, 10}, {0, 40}, {1, 30});
}

static void what_is_later_than_the_window_comes_late(void **state) {
    (void)state;
    COMES_OUT(2, "0:0 0:1 1:3 |0:2 ", {0, 10}, {0, 20}, {0, 30}, {1, 5});
}

static void events_without_time_stay_with_their_source(void **state) {
    (void)state;
    COMES_OUT(8, "|1:2 0:0 0:1 0:4 1:3 ", {0, 20}, {0, UNTIMED}, {1, 10}, {1, 30}, {0, UNTIMED});
}

static void nothing_waits_where_there_is_no_time(void **state) {
    (void)state;
    COMES_OUT(8, "0:0 1:1 |1:3 0:2 ", {0, UNTIMED}, {1, UNTIMED}, {0, 20}, {1, 10});
}

static void a_source_without_time_keeps_its_order(void **state) {
    (void)state;
    COMES_OUT(8, "|2:2 0:0 1:1 1:3 1:4 ", {0, 100}, {1, UNTIMED}, {2, 50}, {1, UNTIMED}, {1, 60});
}

static void all_comes_out_where_time_goes_back(void **state) {
    (void)state;
    COMES_OUT(8, "1:1 0:0 |0:2 1:3 ", {0, 1000}, {1, 900}, {0, 1}, {1, 2});
}

/* An allocator that fails after a number of blocks. */
static void *scarce(void *user, void *block, size_t size) {
    unsigned *left = user;

    if (!size) {
        free(block);
        return NULL;
    }
    return *left && (*left)-- ? realloc(block, size) : NULL;
}

static void no_memory_is_no_order(void **state) {
    ntr_event_sorter *none;
    (void)state;
    for (unsigned blocks = 0; blocks < 4; blocks++) {
        unsigned left = blocks;
        assert_int_equal(ntr_event_sorter_new(4, &(ntr_allocator){scarce, &left}, &none), NTR_E_MEMORY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_earliest_comes_first),
        TEST(equal_times_keep_the_streams_order),
        TEST(a_full_window_gives_its_earliest),
        TEST(what_is_later_than_the_window_comes_late),
        TEST(events_without_time_stay_with_their_source),
        TEST(nothing_waits_where_there_is_no_time),
        TEST(a_source_without_time_keeps_its_order),
        TEST(all_comes_out_where_time_goes_back),
        TEST(no_memory_is_no_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
