/* Helpers and servers that do not do their part. */
#include "rig.h"

#include "target/rsp.h"

#include <ntrace/target.h>
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

/* Bytes without end. */
static void test_endless(void **state) {
    static const struct {
        const char *helper, *error;
    } cases[] = {
        {"exec cat /dev/zero", "no packet begins in 65536 bytes"},
        {"yes '$' | tr -d '\\n'", "no packet ends in 65536 bytes"},
    };
    static rsp_client client;
    ntr_bus_options options;
    ntr_bus bus;
    uint32_t word;
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(link_open(&client.link, cases[i].helper, true, 5000), NTR_OK);
        assert_int_equal(rsp_receive(&client), NTR_E_IO);
        assert_string_equal(client.link.error, cases[i].error);
        link_close(&client.link);
    }
    ntr_bus_options_init(&options);
    options.kind = "exec";
    options.place = "exec cat /dev/zero";
    assert_int_equal(ntr_bus_open(&bus, &options), NTR_OK);
    assert_int_equal(bus.read32(bus.user, 0x1000, &word), NTR_E_IO);
    assert_non_null(strstr(bus.error(bus.user), "line is longer than"));
    bus.close(bus.user);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_deaf), TEST(test_endless)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
