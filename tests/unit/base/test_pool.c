/* Elements of a pool keep what is stored in them until they are given back, and are used again. */
#include "../test.h"

#include "base/allocator.h"

#include <string.h>

enum { STEPS = 20000, MOST = 100 };

typedef struct thing {
    uint32_t value;
    uint8_t rest[7];
} thing;

static void elements_that_are_in_use_are_different(void **state) {
    (void)state;
    ntr_pool pool = {0};
    thing *things = NULL;
    uint32_t held[MOST], seed = 1;
    size_t count = 0, most = 0;
    for (uint32_t step = 0; step < STEPS; step++) {
        seed = seed * 1664525u + 1013904223u;
        if (count < MOST && (!count || seed >> 31)) {
            const uint32_t number = ntr_pool_take(&pool, (void **)&things, sizeof *things, NULL);
            for (size_t i = 0; i < count; i++) assert_int_not_equal(held[i], number);
            things[number] = (thing){.value = ~number};
            memset(things[number].rest, (int)number, sizeof things[number].rest);
            held[count++] = number;
        } else {
            const size_t at = (seed >> 8) % count;
            const uint32_t number = held[at];
            assert_int_equal(things[number].value, ~number);
            for (size_t i = 0; i < sizeof things[number].rest; i++)
                assert_int_equal(things[number].rest[i], (uint8_t)number);
            ntr_pool_give_back(&pool, things, sizeof *things, number);
            held[at] = held[--count];
        }
        if (count > most) most = count;
    }
    assert_int_equal(pool.used, most);
    ntr_dealloc(NULL, things);
}

static void *no_memory(void *user, void *block, size_t size) {
    (void)user, (void)block, (void)size;
    return NULL;
}

static void without_memory_there_is_no_element(void **state) {
    (void)state;
    const ntr_allocator none = {.resize = no_memory};
    ntr_pool pool = {0};
    thing *things = NULL;
    assert_int_equal(ntr_pool_take(&pool, (void **)&things, sizeof *things, &none), NTR_POOL_NONE);
    assert_int_equal(pool.used, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_that_are_in_use_are_different),
        cmocka_unit_test(without_memory_there_is_no_element),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
