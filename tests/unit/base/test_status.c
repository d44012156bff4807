#include "../test.h"

#include <ntrace/status.h>

static void every_code_has_its_own_name_and_text(void **state) {
    (void)state;
    static const int codes[] = {
#define NTR_STATUS(name, value, text) value,
#include <ntrace/status.def>
#undef NTR_STATUS
    };
    const size_t n = sizeof codes / sizeof codes[0];
    for (size_t i = 0; i < n; i++) {
        assert_string_not_equal(ntr_status_name((ntr_status)codes[i]), "NTR_?");
        for (size_t j = 0; j < i; j++) {
            assert_int_not_equal(codes[i], codes[j]);
            assert_string_not_equal(ntr_status_text((ntr_status)codes[i]), ntr_status_text((ntr_status)codes[j]));
        }
    }
}

static void unknown_codes_are_named_as_such(void **state) {
    (void)state;
    assert_string_equal(ntr_status_name((ntr_status)12345), "NTR_?");
    assert_string_equal(ntr_status_name(NTR_E_TRUNCATED), "NTR_E_TRUNCATED");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_code_has_its_own_name_and_text),
        TEST(unknown_codes_are_named_as_such),
    };
    return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
