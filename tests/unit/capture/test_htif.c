/* A copy of a firmware file, for QEMU's HTIF: symbols without a size have one. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "../program/elf_builder.h"
#include "../test.h"
#include "capture/htif.h"

enum { GLOBAL = 0x10 };

static size_t size_at(bool wide, unsigned symbol) {
    return SYMBOLS_AT + symbol * (wide ? 24u : 16u) + (wide ? 16 : 8);
}

static int copy_of(elf_builder *builder) {
    assert_int_equal(elf_write(builder), 0);
    int file = ntr_capture_htif_copy(builder->path);
    elf_end(builder);
    return file;
}

static void symbols_without_a_size(void **state) {
    (void)state;
    for (int wide = 0; wide <= 1; wide++) {
        elf_builder builder;
        uint8_t bytes[ELF_SIZE + 1];
        elf_begin(&builder, wide);
        elf_symbol(&builder, "tohosts", GLOBAL, 1, TEXT_ADDRESS, 0);
        elf_symbol(&builder, "tohost", GLOBAL, 1, TEXT_ADDRESS, 0);
        elf_symbol(&builder, "fromhost", GLOBAL, 1, TEXT_ADDRESS + 64, 0);
        elf_symbol(&builder, "tohost", GLOBAL, 1, TEXT_ADDRESS, 4);
        int file = copy_of(&builder);
        assert_true(file > 0);
        assert_int_equal(pread(file, bytes, sizeof bytes, 0), (ssize_t)builder.size);
        builder.bytes[size_at(wide, 2)] = builder.bytes[size_at(wide, 3)] = 8;
        assert_memory_equal(bytes, builder.bytes, builder.size);
        close(file);
    }
}

static void files_that_stay_as_they_are(void **state) {
    elf_builder builder;

    (void)state;
    assert_int_equal(ntr_capture_htif_copy("/nowhere/at/all"), -1);
    assert_int_equal(ntr_capture_htif_copy("/dev/null"), -1);
    assert_int_equal(ntr_capture_htif_copy("/"), -1);
    elf_begin(&builder, true);
    elf_symbol(&builder, "tohost", GLOBAL, 1, TEXT_ADDRESS, 8);
    assert_int_equal(copy_of(&builder), -1);
}

/* Every byte of the headers, of both classes: no crash, and no end that does not come. */
static void damaged_files(void **state) {
    static const uint8_t values[] = {0, 1, 0x7f, 0xff};

    (void)state;
    for (unsigned i = 0; i < 2 * (64 + SECTIONS * 64) * sizeof values; i++) {
        elf_builder builder;
        unsigned at = i / 2 / (unsigned)sizeof values;
        elf_begin(&builder, i & 1);
        elf_symbol(&builder, "tohost", GLOBAL, 1, TEXT_ADDRESS, 0);
        elf_put(&builder, at < 64 ? at : SECTIONS_AT + at - 64, 1, values[i / 2 % sizeof values]);
        int file = copy_of(&builder);
        if (file >= 0) close(file);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(symbols_without_a_size), TEST(files_that_stay_as_they_are),
                                       TEST(damaged_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
