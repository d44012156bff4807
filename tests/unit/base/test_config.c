/* Configs of callers that were compiled against other headers. */
#include "../test.h"

#include <string.h>

#include "base/config.h"

typedef struct known {
    size_t size;
    uint32_t first, second;
} known;

typedef struct newer {
    size_t size;
    uint32_t first, second, third;
} newer;

typedef struct older {
    size_t size;
    uint32_t first;
} older;

static void the_same_struct_is_copied(void **state) {
    (void)state;
    known from = {sizeof from, 1, 2}, to;
    assert_int_equal(ntr_config_load(&to, sizeof to, &from), NTR_OK);
    assert_memory_equal(&to, &from, sizeof to);
}

static void members_that_the_caller_does_not_have_are_zero(void **state) {
    (void)state;
    const size_t shorter = offsetof(known, second);
    known from = {shorter, 1, 99}, to;
    memset(&to, 0xff, sizeof to);
    assert_int_equal(ntr_config_load(&to, sizeof to, &from), NTR_OK);
    assert_int_equal(to.size, sizeof to);
    assert_int_equal(to.first, 1);
    assert_int_equal(to.second, 0);
}

static void members_that_the_library_does_not_have_are_ignored(void **state) {
    (void)state;
    newer from = {sizeof from, 1, 2, 3};
    known to;
    assert_int_equal(ntr_config_load(&to, sizeof to, &from), NTR_OK);
    assert_int_equal(to.size, sizeof to);
    assert_int_equal(to.second, 2);
}

static void a_size_that_is_none_is_refused(void **state) {
    (void)state;
    known from = {0}, to;
    assert_int_equal(ntr_config_load(&to, sizeof to, NULL), NTR_E_INVALID);
    assert_int_equal(ntr_config_load(&to, sizeof to, &from), NTR_E_INVALID);
    from.size = sizeof from.size - 1;
    assert_int_equal(ntr_config_load(&to, sizeof to, &from), NTR_E_INVALID);
}

static void what_changed_is_stored_in_the_callers_layout(void **state) {
    (void)state;
    older to = {offsetof(known, second), 1};
    known from = {sizeof from, 7, 0};
    assert_int_equal(ntr_config_store(&to, &from), NTR_OK);
    assert_int_equal(to.first, 7);
    assert_int_equal(to.size, offsetof(known, second));
    from.second = 1;
    assert_int_equal(ntr_config_store(&to, &from), NTR_E_UNSUPPORTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_same_struct_is_copied),
        TEST(members_that_the_caller_does_not_have_are_zero),
        TEST(members_that_the_library_does_not_have_are_ignored),
        TEST(a_size_that_is_none_is_refused),
        TEST(what_changed_is_stored_in_the_callers_layout),
    };
    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
