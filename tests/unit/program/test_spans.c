#include "../test.h"

#include "program/spans.h"

#include <string.h>

#define ROOM 64
#define TOP  (UINT64_MAX - ROOM + 1) /* the last ROOM addresses: nothing may overflow */

static void check(const ntr_spans *spans, const uint32_t *model) {
    for (size_t i = 0; i < ROOM; i++) {
        const ntr_span *span = ntr_spans_find(spans, TOP + i);
        assert_int_equal(span ? span->value : 0, model[i]);
    }
    for (size_t i = 0; i < spans->count; i++) {
        assert_true(spans->items[i].first <= spans->items[i].last);
        if (i) assert_true(spans->items[i - 1].last < spans->items[i].first);
    }
}

static void flattening_is_laying_one_by_one(void **state) {
    (void)state;
    uint64_t random = 5;
    for (unsigned round = 0; round < 2000; round++) {
        ntr_span laid[12];
        uint32_t model[ROOM] = {0};
        size_t count = round % 13;
        for (size_t i = 0; i < count; i++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            uint64_t first = random >> 58, size = 1 + (random >> 50 & (round & 1 ? 7 : 63));
            if (first + size > ROOM) size = ROOM - first;
            laid[i] = (ntr_span){.first = TOP + first, .last = TOP + first + size - 1, .value = 1 + (random >> 40 & 3)};
            for (uint64_t k = first; k < first + size; k++) model[k] = laid[i].value;
        }
        ntr_spans spans = {0};
        assert_int_equal(ntr_spans_flatten(&spans, NULL, laid, count), 0);
        assert_true(spans.count <= 2 * count);
        check(&spans, model);
        for (size_t i = 1; i < spans.count; i++) /* neighbours of one value are one */
            assert_false(spans.items[i].value == spans.items[i - 1].value &&
                         spans.items[i - 1].last + 1 == spans.items[i].first);
        ntr_spans_release(&spans, NULL);
    }
}

static uint32_t sum(void *user, uint32_t below) {
    return *(uint32_t *)user + (below == NTR_SPANS_NONE ? 0 : below);
}

static void overlays_combine_with_what_is_below(void **state) {
    (void)state;
    uint64_t random = 9;
    for (unsigned round = 0; round < 500; round++) {
        ntr_spans spans = {0};
        uint32_t model[ROOM] = {0};
        for (uint32_t i = 1; i < 20; i++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            uint64_t first = random >> 58, size = 1 + (random >> 50 & 31);
            if (first + size > ROOM) size = ROOM - first;
            assert_int_equal(ntr_spans_overlay(&spans, NULL, TOP + first, TOP + first + size - 1, sum, &i), 0);
            for (uint64_t k = first; k < first + size; k++) model[k] += i;
            check(&spans, model);
        }
        ntr_spans_release(&spans, NULL);
    }
}

static uint32_t refuse(void *user, uint32_t below) {
    (void)user;
    (void)below;
    return NTR_SPANS_NONE;
}

static void without_memory_nothing_changes(void **state) {
    (void)state;
    ntr_spans spans = {0};
    uint32_t one = 1, model[ROOM] = {1, 1};
    assert_int_equal(ntr_spans_overlay(&spans, NULL, TOP, TOP + 1, sum, &one), 0);
    assert_int_equal(ntr_spans_overlay(&spans, NULL, TOP + 1, TOP + 2, refuse, NULL), -1);
    check(&spans, model);
    ntr_spans_release(&spans, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(flattening_is_laying_one_by_one),
        TEST(overlays_combine_with_what_is_below),
        TEST(without_memory_nothing_changes),
    };
    return cmocka_run_group_tests_name("spans", tests, NULL, NULL);
}
