#include "analysis/function_ranges.h"
#include "analysis/functions.h"

#include "../test.h"

#include <malloc.h>

#define SIZE 16

static void add(ntr_function_ranges *r, uint64_t low, uint32_t number) {
    const ntr_function_range range = {low, low + SIZE, {0, UINT64_MAX}, number};
    const ntr_function_range *in = ntr_function_ranges_add(r, &range, NULL);

    assert_non_null(in);
    assert_true(in->low <= low && in->high >= low + SIZE);
    assert_int_equal(in->number, number);
}

/* Ranges with free space between them, added in an order that fills every leaf. */
static void many(void **state) {
    enum { COUNT = 5000, STEP = 2749 }; /* without common divisor */
    ntr_function_ranges r = {0};
    uint64_t low, high;
    (void)state;
    assert_null(ntr_function_ranges_find(&r, 5, 7, &low, &high, NULL));
    assert_int_equal(low, 0);
    assert_true(high == UINT64_MAX);
    for (uint32_t i = 0; i < COUNT; i++) add(&r, (uint64_t)(i * STEP % COUNT + 1) * 2 * SIZE, i * STEP % COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint64_t at = (uint64_t)(i + 1) * 2 * SIZE;
        const ntr_function_range *range = ntr_function_ranges_find(&r, at + SIZE - 1, 7, &low, &high, NULL);
        assert_non_null(range);
        assert_int_equal(range->low, at);
        assert_int_equal(range->number, i);
        assert_null(ntr_function_ranges_find(&r, at + SIZE, 7, &low, &high, NULL));
        assert_int_equal(low, at + SIZE);
        assert_true(high == (i + 1 < COUNT ? at + 2 * SIZE : UINT64_MAX));
    }
    assert_null(ntr_function_ranges_find(&r, 2 * SIZE - 1, 7, &low, &high, NULL));
    assert_int_equal(low, 0);
    assert_int_equal(high, 2 * SIZE);
    ntr_function_ranges_free(&r, NULL);
}

/* A range extends the one before it, but only of the same function. */
static void extended(void **state) {
    ntr_function_ranges r = {0};
    uint64_t low, high;
    (void)state;
    add(&r, 0x1000, 1);
    add(&r, 0x1000 + SIZE, 1);
    add(&r, 0x1000 + 2 * SIZE, 2);
    const ntr_function_range *range = ntr_function_ranges_find(&r, 0x1000 + SIZE, 7, &low, &high, NULL);
    assert_int_equal(range->low, 0x1000);
    assert_int_equal(range->high, 0x1000 + 2 * SIZE);
    assert_int_equal(ntr_function_ranges_find(&r, 0x1000 + 2 * SIZE, 7, &low, &high, NULL)->number, 2);
    ntr_function_ranges_free(&r, NULL);
}

/* A range that holds at other offsets gives way to the one that holds. */
static void replaced(void **state) {
    ntr_function_ranges r = {0};
    uint64_t low, high;
    (void)state;
    add(&r, 0x1000, 1);
    const ntr_function_range early = {0x2000, 0x2000 + SIZE, {0, 99}, 2},
                             late = {0x2000, 0x2000 + SIZE / 2, {100, 200}, 3};
    assert_non_null(ntr_function_ranges_add(&r, &early, NULL));
    assert_int_equal(ntr_function_ranges_find(&r, 0x2000, 99, &low, &high, NULL)->number, 2);
    assert_null(ntr_function_ranges_find(&r, 0x2004, 100, &low, &high, NULL));
    assert_int_equal(low, 0x1000 + SIZE);
    assert_true(high == UINT64_MAX);
    assert_non_null(ntr_function_ranges_add(&r, &late, NULL));
    assert_int_equal(ntr_function_ranges_find(&r, 0x2004, 100, &low, &high, NULL)->number, 3);
    assert_null(ntr_function_ranges_find(&r, 0x2004, 201, &low, &high, NULL));
    assert_int_equal(ntr_function_ranges_find(&r, 0x1000, 201, &low, &high, NULL)->number, 1);
    ntr_function_ranges_free(&r, NULL);
}

/* ---- contexts */

static size_t allocated;

static void *count_leaves(void *user, void *block, size_t size) {
    (void)user;
    if (size > 4096 && !block) allocated++;
    if (!size && block && malloc_usable_size(block) > 4096) allocated--;
    return size ? realloc(block, size) : (free(block), NULL);
}

/* Each process of a machine has an address space of its own. The functions of ten thousand are not kept, and are the
 * same ones when they are looked up again. */
static void many_contexts(void **state) {
    enum { CONTEXTS = 10000, KEPT = 400 };
    static const uint8_t code[4] = {0x13};
    const ntr_allocator allocator = {count_leaves, NULL};
    ntr_program *program;
    ntr_debug_info *debug;
    ntr_functions *functions;
    ntr_image_options options;
    uint32_t numbers[2] = {0};
    (void)state;
    ntr_image_options_init(&options);
    assert_int_equal(ntr_program_new(NULL, &program), NTR_OK);
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){code, 4}, &options), NTR_OK);
    assert_int_equal(ntr_debug_info_new(program, NULL, &debug), NTR_OK);
    allocated = 0;
    assert_int_equal(ntr_functions_new(debug, &allocator, &functions), NTR_OK);
    for (unsigned round = 0; round < 2; round++)
        for (uint64_t i = 0; i < CONTEXTS; i++) {
            const ntr_context context = {.scontext = i, .has_scontext = true, .prv = 1};
            const ntr_function_range range = ntr_functions_range(functions, ntr_place_at(&context, 1, 0));
            if (i == 0) numbers[round] = range.number;
        }
    assert_int_equal(numbers[0], numbers[1]);
    assert_in_range(allocated, 1, KEPT);
    ntr_functions_free(functions);
    ntr_debug_info_free(debug);
    ntr_program_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(many), cmocka_unit_test(extended), cmocka_unit_test(replaced),
                                       cmocka_unit_test(many_contexts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
