/* Indexes of packages, written from DWARF 5 (7.3.5), and from the description of GNU's version 2. */
#include "../test.h"

#include "analysis/dwarf_index.h"

#include <string.h>

#define BYTE(x, i) (uint8_t)((uint64_t)(x) >> 8 * (i))
#define WORD(x)    BYTE(x, 0), BYTE(x, 1), BYTE(x, 2), BYTE(x, 3)
#define LONG(x)    WORD(x), WORD((uint64_t)(x) >> 32)
#define FIRST      UINT64_C(0x0000000100000002) /* slot 2, step 1 */
#define SECOND     UINT64_C(0x0000000300000002) /* the same slot, step 3: then slot 1 */
#define ABSENT     UINT64_C(0x0000000300000006) /* slots 2, 1, 0 */
#define VERSION    0
#define COLUMNS    4
#define UNITS      8
#define SLOTS      12
#define ROWS       (16 + 4 * 8)
#define IDS        (ROWS + 4 * 4)

/* Two units, four slots; columns: information, abbreviations, number 8 of both versions. */
static const uint8_t sound[] = {
    5,           0,
    0,           0,
    WORD(3),     WORD(2),
    WORD(4),                      /* header */
    LONG(0),     LONG(SECOND),
    LONG(FIRST), LONG(0),                /* identifiers */
    WORD(0),     WORD(2),
    WORD(1),     WORD(0),                         /* rows */
    WORD(1),     WORD(3),
    WORD(8),                                  /* sections */
    WORD(0x10),  WORD(0x20),
    WORD(0x30),  WORD(0x11),
    WORD(0x21),  WORD(0x31), /* offsets */
    WORD(0x40),  WORD(0x50),
    WORD(0x60),  WORD(0x41),
    WORD(0x51),  WORD(0x61), /* sizes */
};

static void finds_units(void **state) {
    (void)state;
    ntr_dwarf_index index;
    ntr_dwarf_part parts[NTR_DWO_SECTIONS];
    assert_null(ntr_dwarf_index_read(&index, (ntr_bytes){sound, sizeof sound}));
    assert_int_equal(ntr_dwarf_index_find(&index, FIRST), 1);
    assert_int_equal(ntr_dwarf_index_find(&index, SECOND), 2);
    assert_int_equal(ntr_dwarf_index_find(&index, ABSENT), 0);
    ntr_dwarf_index_parts(&index, 2, parts);
    assert_int_equal(parts[NTR_DWO_INFO].offset, 0x11);
    assert_int_equal(parts[NTR_DWO_INFO].size, 0x41);
    assert_int_equal(parts[NTR_DWO_ABBREV].offset, 0x21);
    assert_int_equal(parts[NTR_DWO_RNGLISTS].offset, 0x31);
    assert_int_equal(parts[NTR_DWO_RNGLISTS].size, 0x61);
    assert_int_equal(parts[NTR_DWO_LINE].size, 0);
}

static void knows_version_2(void **state) {
    (void)state;
    ntr_dwarf_index index;
    ntr_dwarf_part parts[NTR_DWO_SECTIONS];
    uint8_t bytes[sizeof sound];
    memcpy(bytes, sound, sizeof bytes);
    bytes[VERSION] = 2;
    assert_null(ntr_dwarf_index_read(&index, (ntr_bytes){bytes, sizeof bytes}));
    ntr_dwarf_index_parts(&index, ntr_dwarf_index_find(&index, FIRST), parts);
    assert_int_equal(parts[NTR_DWO_ABBREV].offset, 0x20);
    assert_int_equal(parts[NTR_DWO_RNGLISTS].size, 0); /* 8 is .debug_macro */
    bytes[VERSION + 2] = 1;                            /* version 2 has four bytes */
    assert_non_null(ntr_dwarf_index_read(&index, (ntr_bytes){bytes, sizeof bytes}));
}

static void refuses_damage(void **state) {
    static const struct {
        size_t at;
        uint32_t value;
    } cases[] = {
        {VERSION, 4},
        {COLUMNS, 4},
        {COLUMNS, UINT32_MAX},
        {COLUMNS, 17},
        {UNITS, 3},
        {UNITS, 5},
        {UNITS, UINT32_MAX},
        {SLOTS, 3},
        {SLOTS, 8},
        {SLOTS, 1},
        {SLOTS, 0},
        {SLOTS, 0x80000000},
        {IDS + 8, 3} /* a section twice */,
    };
    (void)state;
    ntr_dwarf_index index;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[sizeof sound];
        memcpy(bytes, sound, sizeof bytes);
        const uint8_t word[] = {WORD(cases[i].value)};
        memcpy(bytes + cases[i].at, word, sizeof word);
        assert_non_null(ntr_dwarf_index_read(&index, (ntr_bytes){bytes, sizeof bytes}));
    }
    for (size_t size = 0; size < sizeof sound; size++)
        assert_non_null(ntr_dwarf_index_read(&index, (ntr_bytes){sound, size}));
}

/* No slot is free, and rows are outside of the table. */
static void ends_in_full_tables(void **state) {
    (void)state;
    ntr_dwarf_index index;
    uint8_t bytes[sizeof sound];
    memcpy(bytes, sound, sizeof bytes);
    for (size_t i = 0; i < 4; i++) bytes[ROWS + i * 4] = 3;
    assert_null(ntr_dwarf_index_read(&index, (ntr_bytes){bytes, sizeof bytes}));
    assert_int_equal(ntr_dwarf_index_find(&index, ABSENT), 0);
    assert_int_equal(ntr_dwarf_index_find(&index, FIRST), 0); /* row 3 of 2 */
    memset(bytes + COLUMNS, 0, 12);                           /* nothing at all */
    assert_null(ntr_dwarf_index_read(&index, (ntr_bytes){bytes, sizeof bytes}));
    assert_int_equal(ntr_dwarf_index_find(&index, FIRST), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(finds_units), TEST(knows_version_2), TEST(refuses_damage),
                                       TEST(ends_in_full_tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
