/* Packets, numbers and breakpoints of the GDB server. */
#include "../test.h"

#include "gdb/breakpoints.h"
#include "gdb/packets.h"

#include <string.h>

/* The last result of the bytes; other results but NTR_GDB_NOTHING fail. */
static ntr_gdb_input take(ntr_gdb_packets *packets, const char *bytes, size_t size) {
    ntr_gdb_input result = NTR_GDB_NOTHING;
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(result, NTR_GDB_NOTHING);
        result = ntr_gdb_packets_take(packets, (uint8_t)bytes[i]);
    }
    return result;
}

#define TAKE(packets, text) take(packets, text, sizeof text - 1)

static void checksums(void **state) {
    (void)state;
    static ntr_gdb_packets packets;
    memset(&packets, 0, sizeof packets);
    assert_int_equal(TAKE(&packets, "$qC#b4"), NTR_GDB_PACKET);
    assert_string_equal(packets.data, "qC");
    assert_int_equal(TAKE(&packets, "$qC#B4"), NTR_GDB_PACKET);
    assert_int_equal(TAKE(&packets, "$qC#b5"), NTR_GDB_DAMAGED);
    assert_int_equal(TAKE(&packets, "$qC#zz"), NTR_GDB_DAMAGED);
    assert_int_equal(TAKE(&packets, "noise+$#00"), NTR_GDB_PACKET);
    assert_string_equal(packets.data, "");
    assert_int_equal(TAKE(&packets, "-"), NTR_GDB_REPEAT);
    assert_int_equal(TAKE(&packets, "$m10,$qC#b4"), NTR_GDB_PACKET); /* a packet without end before it */
    assert_string_equal(packets.data, "qC");
}

static void escaped_bytes(void **state) {
    (void)state;
    static ntr_gdb_packets packets;
    memset(&packets, 0, sizeof packets);
    assert_int_equal(TAKE(&packets, "$X}\x03}\x04}]#33"), NTR_GDB_PACKET); /* the sum is that of the bytes as sent */
    assert_string_equal(packets.data, "X#$}");
    assert_int_equal(packets.size, 4);
    assert_int_equal(TAKE(&packets, "$X}#d5"), NTR_GDB_PACKET); /* an escape at the end is for nothing */
    assert_string_equal(packets.data, "X");
    assert_int_equal(TAKE(&packets, "$X}$qC#b4"), NTR_GDB_PACKET);
    assert_string_equal(packets.data, "qC");
}

static void too_long(void **state) {
    (void)state;
    static ntr_gdb_packets packets;
    memset(&packets, 0, sizeof packets);
    assert_int_equal(TAKE(&packets, "$"), NTR_GDB_NOTHING);
    for (int i = 0; i < 3 * NTR_GDB_PACKET_SIZE; i++)
        assert_int_equal(ntr_gdb_packets_take(&packets, 'm'), NTR_GDB_NOTHING);
    assert_int_equal(TAKE(&packets, "#00"), NTR_GDB_DAMAGED);
    assert_int_equal(TAKE(&packets, "$qC#b4"), NTR_GDB_PACKET);
}

static void answers_are_escaped(void **state) {
    (void)state;
    ntr_gdb_text out = {0};
    ntr_gdb_packet_add(&out, "a#$}*b", 6);
    assert_string_equal(out.bytes, "$a}\x03}\x04}]}\nb#25");
    uint8_t sum = 0;
    for (const char *at = out.bytes + 1; *at != '#'; at++) sum = (uint8_t)(sum + (uint8_t)*at);
    assert_int_equal(sum, 0x25);
    ntr_gdb_text_release(&out);
}

static void numbers(void **state) {
    (void)state;
    uint64_t number;
    const char *at = "ffffffffffffffff,1", *many = "10000000000000000", *none = ",";
    assert_true(ntr_gdb_number(&at, &number));
    assert_int_equal(number, UINT64_MAX);
    assert_true(ntr_gdb_character(&at, ','));
    assert_false(ntr_gdb_character(&at, ','));
    assert_false(ntr_gdb_number(&many, &number));
    assert_false(ntr_gdb_number(&none, &number));
}

static void values(void **state) {
    (void)state;
    ntr_gdb_text out = {0};
    ntr_gdb_text_value(&out, 0x0123456789abcdef, 64);
    ntr_gdb_text_value(&out, 0x89abcdef, 32);
    ntr_gdb_text_unknown(&out, 32);
    assert_string_equal(out.bytes, "efcdab8967452301"
                                   "efcdab89"
                                   "xxxxxxxx");
    ntr_gdb_text_release(&out);
}

static void breakpoints(void **state) {
    (void)state;
    ntr_gdb_breakpoints b = {0};
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(ntr_gdb_breakpoint_add(&b, i * 37 % 100 * 2, i % 3 == 0), NTR_OK);
    assert_int_equal(ntr_gdb_breakpoint_add(&b, 4, false), NTR_OK); /* again */
    assert_int_equal(b.count, 100);
    for (size_t i = 1; i < b.count; i++) assert_true(b.addresses[i - 1] < b.addresses[i]);
    assert_true(ntr_gdb_breakpoint_at(&b, 6) && !ntr_gdb_breakpoint_at(&b, 7));
    assert_true(ntr_gdb_breakpoint_is_new(&b, 6));
    assert_int_equal(ntr_gdb_breakpoints_resume(&b), NTR_OK);
    assert_false(ntr_gdb_breakpoint_is_new(&b, 6));
    ntr_gdb_breakpoint_remove(&b, 6, false);
    ntr_gdb_breakpoint_remove(&b, 6, false);
    assert_false(ntr_gdb_breakpoint_at(&b, 6));
    assert_int_equal(ntr_gdb_breakpoint_add(&b, 6, true), NTR_OK);
    assert_true(ntr_gdb_breakpoint_is_hardware(&b, 6));
    assert_false(ntr_gdb_breakpoint_is_new(&b, 6)); /* GDB removes and inserts all at each stop */
    ntr_gdb_breakpoints_release(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(checksums), TEST(escaped_bytes), TEST(too_long),    TEST(answers_are_escaped),
        TEST(numbers),   TEST(values),        TEST(breakpoints),
    };
    return cmocka_run_group_tests_name("packets", tests, NULL, NULL);
}
