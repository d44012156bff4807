#include "../test.h"

#include <ntrace/params.h>

static void every_dialect_is_found_by_its_name(void **state) {
    (void)state;
    size_t n = 0;
    for (const ntr_dialect *d; (d = ntr_dialect_at(n)); n++) {
        assert_ptr_equal(ntr_dialect_find(d->name), d);
        assert_non_null(d->summary);
        ntr_params params;
        ntr_params_init(&params, d);
        assert_int_equal(ntr_params_check(&params), NTR_OK);
    }
    assert_int_equal(n, 10);
    assert_null(ntr_dialect_find("no-such"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_dialect_is_found_by_its_name),
    };
    return cmocka_run_group_tests_name("dialect", tests, NULL, NULL);
}
