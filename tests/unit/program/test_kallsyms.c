/* Symbols of Linux kernels: text of kallsyms, and the tables inside an image. The tables are built here in all layouts
 * of Linux. */
#include "../test.h"

#include "fixture.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BASE  UINT64_C(0xffffffff80000000)
#define COUNT 700u /* symbols: three groups of 256, the last one not full */

static char path[64];

static ntr_status add(const void *bytes, size_t size, uint64_t bias) {
    ntr_image_options options;
    ntr_image_options_init(&options);
    options.bias = bias;
    options.name = "kernel";
    strcpy(path, "/tmp/ntrace-kallsyms-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), (ssize_t)size);
    close(file);
    ntr_status status = ntr_program_add_symbols(program, path, &options);
    unlink(path);
    return status;
}

static ntr_status add_text(const char *text) {
    return add(text, strlen(text), 0);
}

static void is_named(uint64_t address, const char *name) {
    ntr_symbol symbol;
    ntr_status status = ntr_program_symbol(program, ntr_place_at(NULL, NTR_POSITION_ANY, address), &symbol);
    assert_int_equal(status, name ? NTR_OK : NTR_END);
    if (!name) return;
    assert_string_equal(symbol.name, name);
    assert_string_equal(symbol.image, "kernel");
}

static void says(const char *reason) {
    assert_string_equal(strstr(ntr_program_error(program), ": "), reason);
}

/* ---- text */

static void text_names_code(void **state) {
    (void)state;
    ntr_symbol symbol;
    assert_int_equal(add_text("ffffffff80000000 T _start\n"
                              "ffffffff80000000 t $xrv64\n"
                              "ffffffff80000100 t local\n"
                              "ffffffff80000100 T global\n"
                              "ffffffff80000180 d table\n"
                              "ffffffff80000200 W weak\r\n"
                              "ffffffff01000000 t probe\t[virtio_blk]\n"
                              "ffffffff80400000 A _end\n"
                              "ffffffff8050"),
                     NTR_OK);
    is_named(BASE, "_start");
    is_named(BASE + 0xfe, "_start");
    is_named(BASE + 0x100, "global");
    is_named(BASE + 0x17e, "global");
    is_named(BASE + 0x180, "table");
    is_named(BASE + 0x200, "weak");
    is_named(UINT64_C(0xffffffff01000010), "probe [virtio_blk]");
    is_named(UINT64_C(0xffffffff01200000), NULL); /* behind the longest function */
    assert_int_equal(ntr_program_symbol(program, ntr_place_at(NULL, NTR_POSITION_ANY, BASE + 0x110), &symbol), NTR_OK);
    assert_true(symbol.function);
    assert_int_equal(symbol.size, 0x80);
    is_named(UINT64_C(0xfffffffeffffffff), NULL);
}

static void bad_text_is_refused(void **state) {
    (void)state;
    assert_int_equal(add_text("ffffffff80000000 T _start\nffffffff8000000g T x\n"), NTR_E_FORMAT);
    says(": line 2 is not \"ADDRESS TYPE NAME\"");
    assert_int_equal(add_text("ffffffff80000000 T \n"), NTR_E_FORMAT);
    assert_int_equal(add_text("ffffffff80000000 T a b\n"), NTR_E_FORMAT);
    assert_int_equal(add_text("1ffffffff80000000 T a\n"), NTR_E_FORMAT);
    assert_int_equal(add_text("0000000000000000 T _start\n0000000000000000 T x\n"), NTR_E_FORMAT);
    says(": all addresses are 0: read /proc/kallsyms as root, with kernel.kptr_restrict=0");
    assert_int_equal(add_text("ffffffff80000000"), NTR_E_FORMAT); /* System.map of Debian has no symbols */
    assert_int_equal(add_text("\x1f\x8b\x08\x01"), NTR_E_FORMAT);
    says(": compressed; decompress it first");
}

/* ---- tables */

enum layout { FIRST, FROM_6_4, FROM_7_0, LAYOUTS };

typedef struct image {
    uint8_t bytes[1 << 16];
    size_t size;
    unsigned alignment;
} image;

static void put(image *i, uint64_t value, unsigned bytes) {
    for (unsigned k = 0; k < bytes; k++) i->bytes[i->size++] = (uint8_t)(value >> 8 * k);
}

static void align(image *i) {
    while (i->size % i->alignment) put(i, 0, 1);
}

/* Token 128 is "sym_"; token 129 is "T"; a printable character stands for itself; others are empty. */
static void put_tokens(image *i) {
    uint16_t index[256];
    align(i);
    size_t first = i->size;
    for (unsigned t = 0; t < 256; t++) {
        const char text[2] = {t >= '0' && t < 0x7f ? (char)t : 0, 0}, *token = t == 128   ? "sym_"
                                                                               : t == 129 ? "T"
                                                                                          : text;
        index[t] = (uint16_t)(i->size - first);
        for (; *token; token++) put(i, (uint8_t)*token, 1);
        put(i, 0, 1);
    }
    align(i);
    for (unsigned t = 0; t < 256; t++) put(i, index[t], 2);
}

/* Symbol N is "sym_NNN" at BASE + 16 * N; number 300 has a long name of 200 tokens. */
static void put_names(image *i) {
    uint32_t markers[8], used = 0;
    align(i);
    put(i, COUNT, 4);
    align(i);
    size_t first = i->size;
    for (unsigned n = 0; n < COUNT; n++) {
        char digits[8];
        if (n % 256 == 0) markers[used++] = (uint32_t)(i->size - first);
        int length = snprintf(digits, sizeof digits, "%03u", n);
        unsigned tokens = n == 300 ? 200 : (unsigned)length + 2;
        put(i, tokens < 128 ? tokens : (tokens & 127) | 128, 1);
        if (tokens >= 128) put(i, tokens >> 7, 1);
        put(i, 129, 1);
        put(i, 128, 1);
        for (unsigned k = 2; k < tokens; k++) put(i, n == 300 ? 'x' : (uint8_t)digits[k - 2], 1);
    }
    align(i);
    for (unsigned m = 0; m < used; m++) put(i, markers[m], 4);
}

static void put_offsets(image *i) {
    align(i);
    for (unsigned n = 0; n < COUNT; n++) put(i, 16 * n, 4);
    align(i);
    put(i, BASE, 8);
}

/* From Linux 7.0 on: how far the symbol is from the word itself. */
static void put_places(image *i) {
    align(i);
    for (unsigned n = 0; n < COUNT; n++) put(i, 16 * n - i->size, 4);
}

/* At symbol N: the first two words of a list. */
static void put_list(image *i, unsigned n, uint64_t next, uint64_t previous) {
    size_t size = i->size;
    i->size = 16 * n;
    put(i, next, 8);
    put(i, previous, 8);
    i->size = size;
}

/* Of 20 symbols, 12 are empty lists, which point to themselves; others look like lists of other places. */
static void put_lists(image *i) {
    for (unsigned n = 100; n < 300; n += 10) {
        uint64_t own = BASE + 16 * n;
        if (n % 50 == 0)
            put_list(i, n, own + 16, own + 16);
        else if (n % 50 == 10)
            put_list(i, n, own + 0x5000, own + 0x5000);
        else
            put_list(i, n, own, own);
    }
    put_list(i, 301, BASE + 16 * 301, BASE);
    put_list(i, 302, 0, 0);
}

static image *build(enum layout layout) {
    image *i = calloc(1, sizeof *i);
    assert_non_null(i);
    memcpy(i->bytes, "MZ", 2);
    i->alignment = layout == FROM_7_0 ? 4 : 8;
    i->size = layout == FROM_7_0 ? 16 * COUNT + 4 : 0x40;
    for (size_t at = 0x40; at < i->size; at++) i->bytes[at] = (uint8_t)(37 * at); /* no offsets */
    put(i, UINT64_C(0x0031003000310030), 8); /* digits that are no token table */
    if (layout == FIRST) put_offsets(i);
    put_names(i);
    put_tokens(i);
    if (layout == FROM_6_4) put_offsets(i);
    if (layout == FROM_7_0) {
        put_places(i);
        put_lists(i);
    }
    put(i, 0xffffff, 3);
    return i;
}

static void tables_are_found(void **state) {
    (void)state;
    for (unsigned layout = 0; layout < LAYOUTS; layout++) {
        image *i = build(layout);
        assert_int_equal(add(i->bytes, i->size, 0), NTR_OK);
        is_named(BASE, "sym_000");
        is_named(BASE + 16 * 255 + 15, "sym_255");
        is_named(BASE + 16 * 256, "sym_256");
        is_named(BASE + 16 * 698, "sym_698");
        ntr_symbol symbol;
        assert_int_equal(ntr_program_symbol(program, ntr_place_at(NULL, NTR_POSITION_ANY, BASE + 16 * 300), &symbol),
                         NTR_OK);
        assert_int_equal(strlen(symbol.name), 4 + 198);
        free(i);
        drop(NULL);
        make(NULL);
    }
}

/* When there are no lists, few, or others than those of the image, nothing says where the kernel is. */
static void places_need_lists(void **state) {
    static const struct {
        unsigned from;
        uint64_t previous;
    } broken[] = {{100, 0}, {180, 0}, {220, 0x9000}};
    (void)state;
    for (unsigned b = 0; b < 3; b++) {
        image *i = build(FROM_7_0);
        for (unsigned n = broken[b].from; n < 300; n += 10) {
            uint64_t own = BASE + 16 * n;
            put_list(i, n, own + 0x9000, broken[b].previous ? own + broken[b].previous : 0);
        }
        assert_int_equal(add(i->bytes, i->size, 0), NTR_E_FORMAT);
        free(i);
        drop(NULL);
        make(NULL);
    }
}

/* Of 32-bit kernels that are not relocatable, places are addresses. */
static void a_32_bit_kernel_has_addresses(void **state) {
    (void)state;
    image *i = build(FROM_7_0);
    size_t end = i->size - 3 - 4 * COUNT;
    i->size = end;
    for (unsigned n = 0; n < COUNT; n++) put(i, 0xc0000000 + 16 * n, 4);
    assert_int_equal(add(i->bytes, i->size, 0), NTR_OK);
    is_named(0xc0000000, "sym_000");
    is_named(0xc0000000 + 16 * 698, "sym_698");
    free(i);
}

static void a_bias_is_added(void **state) {
    (void)state;
    image *i = build(FROM_6_4);
    assert_int_equal(add(i->bytes, i->size, 0x200000), NTR_OK);
    is_named(BASE + 0x200010, "sym_001");
    is_named(BASE + 0x10, NULL);
    free(i);
}

/* Every byte of the tables confirms the others: a damaged image gives an error, or the names that are there. */
static void damaged_tables_do_no_harm(void **state) {
    (void)state;
    for (unsigned layout = FROM_6_4; layout < LAYOUTS; layout++) {
        image *i = build(layout);
        for (size_t at = 0x40; at < i->size; at += 7) {
            uint8_t before = i->bytes[at];
            i->bytes[at] ^= 0xff;
            ntr_status status = add(i->bytes, i->size, 0);
            assert_true(status == NTR_OK || status == NTR_E_FORMAT);
            i->bytes[at] = before;
            drop(NULL);
            make(NULL);
        }
        for (size_t size = 1; size < i->size; size += 97) assert_int_equal(add(i->bytes, size, 0) == NTR_E_IO, 0);
        free(i);
    }
}

static void other_files_are_refused(void **state) {
    (void)state;
    uint8_t zeros[4096] = {0};
    assert_int_equal(add(zeros, sizeof zeros, 0), NTR_E_FORMAT);
    says(": neither ELF nor text of kallsyms, and no symbol tables of a Linux kernel are inside");
    assert_int_equal(ntr_program_add_symbols(program, "/nonexistent", NULL), NTR_E_IO);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, make, drop)
        CASE(text_names_code),           CASE(bad_text_is_refused),           CASE(tables_are_found),
        CASE(places_need_lists),         CASE(a_32_bit_kernel_has_addresses), CASE(a_bias_is_added),
        CASE(damaged_tables_do_no_harm), CASE(other_files_are_refused),
    };
    return cmocka_run_group_tests_name("kallsyms", tests, NULL, NULL);
}
