/* ntr_utf8_length against a decoder that follows the table of RFC 3629 by value: length, no surrogates, no longer form.
 */
#include "../test.h"

#include <ntrace/bytes.h>
#include "base/text.h"

#include <string.h>

/* The length of the character by its value. */
static size_t by_value(const unsigned char *text, size_t size) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t length = text[0] < 0x80             ? 1
                          : (text[0] & 0xe0) == 0xc0 ? 2
                          : (text[0] & 0xf0) == 0xe0 ? 3
                          : (text[0] & 0xf8) == 0xf0 ? 4
                                                     : 0;
    uint32_t value = length > 1 ? text[0] & (0x7fu >> length) : text[0];

    for (size_t i = 1; i < length; i++) {
        if (i >= size || (text[i] & 0xc0) != 0x80) return 0;
        value = value << 6 | (text[i] & 0x3f);
    }
    return length && value >= least[length] && value <= 0x10ffff && (value < 0xd800 || value > 0xdfff) ? length : 0;
}

/* All pairs of bytes, with continuations and others behind them. */
static void all_beginnings(void **state) {
    static const unsigned char ends[][2] = {{0x80, 0x80}, {0xbf, 0xbf}, {0x80, 0x7f},
                                            {0x41, 0x80}, {0xc0, 0x80}, {0, 0}};
    (void)state;
    for (unsigned both = 0; both < 0x10000; both++)
        for (size_t e = 0; e < sizeof ends / sizeof ends[0]; e++)
            for (size_t size = 1; size <= 4; size++) {
                const unsigned char text[4] = {(unsigned char)(both >> 8), (unsigned char)both, ends[e][0], ends[e][1]};
                assert_int_equal(ntr_utf8_length((const char *)text, size), by_value(text, size));
            }
}

/* Bytes from 0x80 to 0x9f within a character are no controls; alone they are. */
static void names_of_all_scripts(void **state) {
    static const struct {
        const char *name, *cleaned;
    } rows[] = {{"\xc3\x80 \xd1\x80 \xe6\x96\x87 \xf0\x9f\x98\x80", "\xc3\x80 \xd1\x80 \xe6\x96\x87 \xf0\x9f\x98\x80"},
                {"a\x80"
                 "b\xffz\xe6\x96",
                 "a?b?z??"},
                {"\xc2\x9b\xe2\x80\xae\x1b", "???"}};
    char cleaned[NTR_NAME_CLEANED_MAX + 1], long_name[2048];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(ntr_name_is_clean(rows[i].name), strcmp(rows[i].name, rows[i].cleaned) == 0);
        assert_int_equal(ntr_name_clean(rows[i].name, cleaned), strlen(rows[i].cleaned));
        assert_string_equal(cleaned, rows[i].cleaned);
    }
    for (size_t i = 0; i < sizeof long_name - 2; i += 2) memcpy(long_name + i, "\xc3\x80", 2);
    memset(long_name + sizeof long_name - 2, 0, 2);
    assert_int_equal(ntr_name_clean(long_name, cleaned), NTR_NAME_CLEANED_MAX - 1); /* no half of a character */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_beginnings), cmocka_unit_test(names_of_all_scripts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
