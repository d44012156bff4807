/* The file that a script has written. */
#include "rig.h"

static ntr_status open_words(ntr_bus *bus, const char *text, unsigned *line) {
    return ntr_bus_words(bus, (ntr_bytes){(const uint8_t *)text, strlen(text)}, NULL, line);
}

static void test_words(void **state) {
    ntr_bus bus;
    unsigned line;
    uint32_t words[3], word;
    uint8_t bytes[8];
    (void)state;
    assert_int_equal(
        open_words(&bus,
                   "Info : from a debugger\r\n# r 0x1000 0x0000000f\n# r 0x1000 0x00000010\n# fifo\n11223344\r\n"
                   "aabbCCdd\n# memory 0x80000000\n04030201\n08070605",
                   &line),
        NTR_OK);
    assert_int_equal(bus.read32(bus.user, 0x1000, &word), NTR_OK);
    assert_int_equal(word, 0x10); /* the last one */
    assert_int_equal(bus.read32(bus.user, 0x1004, &word), NTR_E_IO);
    assert_string_equal(bus.error(bus.user), "the file has no register at 0x1004");
    assert_int_equal(bus.read_fifo(bus.user, 0x1040, words, 2), NTR_OK);
    assert_int_equal(words[0], 0x11223344);
    assert_int_equal(words[1], 0xaabbccdd);
    assert_int_equal(bus.read_memory(bus.user, 0x80000000, bytes, 8), NTR_OK);
    for (unsigned i = 0; i < 8; i++) assert_int_equal(bytes[i], i + 1);
    assert_int_equal(bus.read_memory(bus.user, 0x80000001, bytes, 8), NTR_E_IO);
    bus.close(bus.user);
}

static void test_hostile(void **state) {
    ntr_bus bus;
    unsigned line;
    uint32_t words[2];
    (void)state;
    assert_int_equal(open_words(&bus, "# r 0x1000 0x1\n# r 0x1000\n", &line), NTR_E_SYNTAX);
    assert_int_equal(line, 2);
    assert_int_equal(open_words(&bus, "# r 0x1000 0x100000000\n", &line), NTR_E_SYNTAX);
    assert_int_equal(open_words(&bus, "12345678\n", &line), NTR_E_SYNTAX); /* a word of nothing */
    assert_int_equal(open_words(&bus, "# memory zero\n", &line), NTR_E_SYNTAX);
    assert_int_equal(open_words(&bus, "", &line), NTR_E_FORMAT);
    assert_int_equal(open_words(&bus, "# r 1 2\n# fifo\n00000001\n", &line), NTR_OK);
    assert_int_equal(bus.read_fifo(bus.user, 0, words, 2), NTR_E_IO);
    bus.close(bus.user);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_words), TEST(test_hostile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
