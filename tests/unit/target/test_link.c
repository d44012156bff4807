/* Helpers that do not do their part. */
#include "rig.h"

#include "target/link.h"

#include <signal.h>

/* It reads nothing, and ignores the signal to end. */
static void test_deaf(void **state) {
    static byte_link link;
    ntr_status status = NTR_OK;
    (void)state;
    assert_int_equal(link_open(&link, "trap '' TERM; exec sleep 1000", true, 10), NTR_OK);
    const pid_t child = link.child;
    for (unsigned i = 0; i < 1000000 && status == NTR_OK; i++) status = link_send(&link, "r 0x10000000\n", 13);
    assert_int_equal(status, NTR_E_IO);
    assert_non_null(strstr(link.error, "takes no requests for 10 ms"));
    assert_int_equal(link.fd, -1);
    link_close(&link);
    assert_int_equal(kill(child, 0), -1); /* it has ended */
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_deaf)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
