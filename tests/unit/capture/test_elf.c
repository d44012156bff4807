/* What a capture reads of ELF files. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "../program/elf_builder.h"
#include "../test.h"
#include "capture/elf.h"

#include <errno.h>

static bool read_back(elf_builder *builder, struct ntr_capture_elf *elf) {
    assert_int_equal(elf_write(builder), 0);
    bool good = ntr_capture_elf_read(builder->path, elf);
    int kept = errno;
    elf_end(builder);
    errno = kept;
    return good;
}

static void programs_of_both_widths(void **state) {
    (void)state;
    for (int wide = 0; wide <= 1; wide++) {
        elf_builder builder;
        struct ntr_capture_elf elf;
        elf_begin(&builder, wide);
        elf_segment(&builder, PT_LOAD, 0, 0x10000, 0x400, 0x400);
        elf_segment(&builder, PT_LOAD, 0x1e10, 0x12e10, 0x100, 0x200);
        assert_true(read_back(&builder, &elf));
        assert_int_equal(elf.xlen, wide ? 64 : 32);
        assert_true(elf.is_riscv);
        assert_false(elf.is_dynamic);
        assert_int_equal(elf.count, 2);
    }
}

static void an_interpreter_makes_it_dynamic(void **state) {
    elf_builder builder;
    struct ntr_capture_elf elf;

    (void)state;
    elf_begin(&builder, true);
    elf_segment(&builder, PT_INTERP, 0x300, 0x10300, 0x20, 0x20);
    assert_true(read_back(&builder, &elf));
    assert_true(elf.is_dynamic);
    assert_int_equal(elf.count, 0);
}

/* A segment is found by its page: a file is mapped in whole pages. */
static void the_load_bias(void **state) {
    elf_builder builder;
    struct ntr_capture_elf elf;
    uint64_t bias;

    (void)state;
    elf_begin(&builder, true);
    elf_segment(&builder, PT_LOAD, 0, 0, 0x400, 0x400);
    elf_segment(&builder, PT_LOAD, 0x1e10, 0x2e10, 0x100, 0x200);
    assert_true(read_back(&builder, &elf));
    assert_true(ntr_capture_elf_bias(&elf, 0x7f0000000000, 0, 0, &bias));
    assert_int_equal(bias, 0x7f0000000000);
    assert_true(ntr_capture_elf_bias(&elf, 0x7f0000002000, 0x1000, 0, &bias));
    assert_int_equal(bias, 0x7f0000000000);
    assert_false(ntr_capture_elf_bias(&elf, 0x7f0000002000, 0x5000, 0, &bias));
    assert_false(ntr_capture_elf_bias(&elf, 0x7f0000002000, 0x1000, 1, &bias));
}

static void segments_in_one_page_of_the_file(void **state) {
    struct ntr_capture_elf elf;
    elf_builder builder;
    uint64_t bias;

    (void)state;
    elf_begin(&builder, true);
    elf_segment(&builder, PT_LOAD, 0, 0, 0x400, 0x400);
    elf_segment(&builder, PT_LOAD, 0xe10, 0x1e10, 0x100, 0x200);
    assert_true(read_back(&builder, &elf));
    assert_true(ntr_capture_elf_bias(&elf, 0x7f0000001000, 0, 0, &bias));
    assert_int_equal(bias, 0x7f0000001000);
    assert_true(ntr_capture_elf_bias(&elf, 0x7f0000001000, 0, 1, &bias));
    assert_int_equal(bias, 0x7f0000000000);
    assert_false(ntr_capture_elf_bias(&elf, 0x7f0000001000, 0, 2, &bias));
}

static void many_segments(void **state) {
    struct ntr_capture_elf elf;
    elf_builder builder;
    uint64_t bias;
    enum { MANY = 40 };

    (void)state;
    elf_begin(&builder, true);
    for (uint64_t i = 0; i < MANY; i++) elf_segment(&builder, PT_LOAD, i << 12, i << 16, 0x400, 0x400);
    assert_true(read_back(&builder, &elf));
    assert_int_equal(elf.count, MANY);
    assert_false(elf.has_more);
    assert_true(ntr_capture_elf_bias(&elf, 0x7f0000000000 + ((MANY - 1) << 16), (MANY - 1) << 12, 0, &bias));
    assert_int_equal(bias, 0x7f0000000000);
}

static void other_files(void **state) {
    struct ntr_capture_elf elf;
    elf_builder builder;

    (void)state;
    assert_false(ntr_capture_elf_read("/nowhere/at/all", &elf));
    assert_int_equal(errno, ENOENT);

    elf_begin(&builder, true);
    elf_put(&builder, 18, 2, 62); /* x86-64 */
    assert_true(read_back(&builder, &elf));
    assert_false(elf.is_riscv);

    elf_begin(&builder, true);
    builder.bytes[5] = 2; /* big endian */
    assert_false(read_back(&builder, &elf));
    assert_int_equal(errno, 0);

    elf_begin(&builder, true);
    builder.size = 30; /* cut inside the header */
    assert_false(read_back(&builder, &elf));

    elf_begin(&builder, true);
    elf_segment(&builder, PT_LOAD, 0, 0x10000, 0x400, 0x400);
    elf_put(&builder, 54, 2, 57); /* program headers of another size */
    assert_false(read_back(&builder, &elf));
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(programs_of_both_widths), TEST(an_interpreter_makes_it_dynamic),
                                       TEST(the_load_bias),           TEST(segments_in_one_page_of_the_file),
                                       TEST(many_segments),           TEST(other_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
