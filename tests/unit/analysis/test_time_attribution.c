#include "../test.h"

#include "analysis/time_attribution.h"

#include <string.h>

enum { OWNERS = 3, A = 0, B, C };

typedef struct world {
    ntr_time_attribution time;
    uint64_t ticks[OWNERS];
} world;

static void take(void *user, uint32_t owner, uint64_t ticks) {
    world *w = user;
    w->ticks[owner] += ticks;
}

static void put(world *w, ntr_event_kind kind, uint64_t message, uint64_t time) {
    ntr_event event = {.kind = (uint8_t)kind, .message = message, .time = time};
    event.flags = time ? NTR_EVENT_TIME : 0;
    ntr_time_attribution_event(&w->time, &event, take, w);
}

static void span(world *w, uint64_t message, uint64_t time, uint32_t owner, uint64_t instructions) {
    put(w, NTR_EVENT_SPAN, message, time);
    assert_int_equal(ntr_time_attribution_add(&w->time, owner, instructions, NULL), NTR_OK);
}

static void expect(world *w, uint64_t a, uint64_t b, uint64_t c) {
    ntr_time_attribution_flush(&w->time, take, w);
    assert_int_equal(w->ticks[A], a);
    assert_int_equal(w->ticks[B], b);
    assert_int_equal(w->ticks[C], c);
    ntr_time_attribution_release(&w->time, NULL);
}

static void by_instructions(void **state) {
    (void)state;
    world w = {0};
    span(&w, 1, 1000, C, 7); /* the beginning of this time is unknown */
    span(&w, 2, 1040, A, 10);
    span(&w, 2, 1040, B, 10);
    span(&w, 2, 1040, A, 20);
    span(&w, 3, 1042, B, 1);
    span(&w, 4, 1042, C, 100);
    expect(&w, 30, 12, 0);
}

static void a_message_without_spans_leaves_its_time_to_the_next(void **state) {
    (void)state;
    world w = {0};
    put(&w, NTR_EVENT_SYNC, 1, 100);
    put(&w, NTR_EVENT_CONTEXT, 2, 110);
    span(&w, 3, 130, B, 5);
    expect(&w, 0, 30, 0);
}

static void a_trap_takes_time_without_instructions(void **state) {
    (void)state;
    world w = {0};
    put(&w, NTR_EVENT_SYNC, 1, 100);
    span(&w, 2, 109, A, 0);
    expect(&w, 9, 0, 0);
}

static void stopped_time_is_not_attributed(void **state) {
    (void)state;
    static const ntr_event_kind kinds[] = {NTR_EVENT_STOP, NTR_EVENT_GAP};
    for (size_t i = 0; i < 2; i++) {
        world w = {0};
        put(&w, NTR_EVENT_SYNC, 1, 100);
        span(&w, 2, 110, A, 4);
        put(&w, kinds[i], 2, 110);
        put(&w, NTR_EVENT_SYNC, 3, 500);
        span(&w, 4, 520, B, 4);
        expect(&w, 10, 20, 0);
    }
}

static void unknown_time_is_not_attributed(void **state) {
    (void)state;
    world w = {0};
    put(&w, NTR_EVENT_SYNC, 1, 100);
    put(&w, NTR_EVENT_SYNC, 2, 110); /* ten ticks that no span takes */
    span(&w, 3, 0, A, 4);
    span(&w, 4, 200, B, 4);
    span(&w, 5, 190, B, 4); /* backwards */
    span(&w, 6, 195, C, 4);
    expect(&w, 0, 0, 5);
}

/* A message causes any number of spans. */
static void very_many(void **state) {
    (void)state;
    enum { SPANS = 300000, TICKS = 1200000 };
    world w = {0};
    put(&w, NTR_EVENT_SYNC, 1, 1);
    for (unsigned i = 0; i < SPANS / 2; i++) {
        span(&w, 2, 1 + TICKS, i % 2 ? A : B, 1);
        span(&w, 2, 1 + TICKS, C, 3);
    }
    assert_true(w.time.capacity <= 1 << 17);
    expect(&w, TICKS / 8, TICKS / 8, TICKS / 4 * 3);
}

enum { CROWD = 150000 };

/* As many owners at once are not kept apart, but no time gets lost and what came early is not worth less. */
static void add_up(void *user, uint32_t owner, uint64_t ticks) {
    uint64_t *halves = user;
    halves[owner >= CROWD / 2] += ticks;
}

static void very_many_owners(void **state) {
    (void)state;
    enum { TICKS = 777777 };
    ntr_time_attribution attribution = {0};
    uint64_t halves[2] = {0};
    ntr_event event = {.kind = NTR_EVENT_SYNC, .flags = NTR_EVENT_TIME, .message = 1, .time = 1};
    ntr_time_attribution_event(&attribution, &event, add_up, halves);
    event = (ntr_event){.kind = NTR_EVENT_SPAN, .flags = NTR_EVENT_TIME, .message = 2, .time = 1 + TICKS};
    for (uint32_t i = 0; i < CROWD; i++) {
        ntr_time_attribution_event(&attribution, &event, add_up, halves);
        assert_int_equal(ntr_time_attribution_add(&attribution, i, 1 + i % 3, NULL), NTR_OK);
    }
    assert_true(attribution.capacity <= 1 << 17);
    ntr_time_attribution_flush(&attribution, add_up, halves);
    assert_int_equal(halves[0] + halves[1], TICKS);
    assert_true(halves[0] > TICKS / 100 * 49 && halves[1] > TICKS / 100 * 49);
    ntr_time_attribution_release(&attribution, NULL);
}

/* More than 2^32 instructions, in no power of two: 5 of 9 parts of the time are A's, up to a rounding of 2 bits. */
static void many_instructions(void **state) {
    (void)state;
    enum { ROUNDING = 8 };
    const uint64_t ticks = 8000000000;
    world w = {0};
    put(&w, NTR_EVENT_SYNC, 1, 1);
    span(&w, 2, 1 + ticks, A, 5000000000);
    span(&w, 2, 1 + ticks, B, 4000000000);
    ntr_time_attribution_flush(&w.time, take, &w);
    assert_in_range(w.ticks[A], ticks * 5 / 9 - ROUNDING, ticks * 5 / 9 + ROUNDING);
    assert_int_equal(w.ticks[A] + w.ticks[B], ticks);
    ntr_time_attribution_release(&w.time, NULL);
}

static void huge(void **state) {
    (void)state;
    world w = {0};
    put(&w, NTR_EVENT_SYNC, 1, 1);
    span(&w, 2, 1 + ((uint64_t)1 << 62), A, (uint64_t)1 << 60);
    span(&w, 2, 1 + ((uint64_t)1 << 62), B, (uint64_t)3 << 60);
    expect(&w, (uint64_t)1 << 60, (uint64_t)3 << 60, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_instructions),
        cmocka_unit_test(a_message_without_spans_leaves_its_time_to_the_next),
        cmocka_unit_test(a_trap_takes_time_without_instructions),
        cmocka_unit_test(stopped_time_is_not_attributed),
        cmocka_unit_test(unknown_time_is_not_attributed),
        cmocka_unit_test(very_many),
        cmocka_unit_test(very_many_owners),
        cmocka_unit_test(many_instructions),
        cmocka_unit_test(huge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
