/* ELF files: every kind of bad one. All are made here. */
#include "../test.h"

#include "program/program.h"

#include "elf_builder.h"
#include "fixture.h"
#include "simple_elf.h"

#include <ntrace/program_files.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define GLOBAL_FUNC   0x12
#define GLOBAL_OBJECT 0x11

/* ---- bad files ---- */

static void refused(elf_builder *elf, ntr_status status, const char *reason) {
    char want[256];
    ntr_image_info info;
    assert_int_equal(add(elf, NULL), status);
    snprintf(want, sizeof want, "%s: %s", elf->path, reason);
    assert_string_equal(ntr_program_error(program), want);
    assert_int_equal(ntr_program_image(program, 0, &info), NTR_END);
    assert_int_equal(ntr_program_xlen(program), 0);
}

static const struct {
    size_t at;
    unsigned width;
    uint64_t value;
    const char *reason;
} damaged[] = {
    {1, 1, 'e', "not an ELF file"},
    {4, 1, 3, "damaged ELF header"},
    {5, 1, 2, "not a little-endian ELF"},
    {18, 2, 62, "not a RISC-V ELF (machine 62)"},
    {32, 8, UINT64_MAX, "program headers: 56 bytes at 0xffffffffffffffff, but the file ends at 0xb00"},
    {32, 8, ELF_SIZE - 8, "program headers: 56 bytes at 0xaf8, but the file ends at 0xb00"},
    {54, 2, 1, "program headers of 1 bytes instead of 56"},
    {56, 2, 0xfffe, "program headers: 3669904 bytes at 0x40, but the file ends at 0xb00"},
    {56, 2, 0, "no loadable segment"},
    {PHDRS_AT, 4, 4, "no loadable segment"},
    {PHDRS_AT + 8, 8, ELF_SIZE - 15, "program header 0: 0x10 bytes at 0xaf1, but the file ends at 0xb00"},
    {PHDRS_AT + 8, 8, UINT64_MAX - 7, "program header 0: 0x10 bytes at 0xfffffffffffffff8, but the file ends at 0xb00"},
    {PHDRS_AT + 32, 8, UINT64_MAX, "program header 0: 0xffffffffffffffff bytes at 0x200, but the file ends at 0xb00"},
    {PHDRS_AT + 32, 8, 33, "program header 0: 0x21 bytes in the file, but 0x20 in memory"},
    {PHDRS_AT + 16, 8, UINT64_MAX - 14,
     "program header 0: 0x10 bytes for address 0xfffffffffffffff1, beyond the last one"},
    {SECTIONS_AT + 3 * 64 + 24, 8, ELF_SIZE - 1, "symbol table: 0x30 bytes at 0xaff, but the file ends at 0xb00"},
    {SECTIONS_AT + 3 * 64 + 32, 8, UINT64_MAX - 1,
     "symbol table: 0xfffffffffffffffe bytes at 0x400, but the file ends at 0xb00"},
    {SECTIONS_AT + 3 * 64 + 40, 4, 77, "symbol 1: its name is outside the string table"},
    {SECTIONS_AT + 4 * 64 + 24, 8, ELF_SIZE, "symbol 1: its name is outside the string table"},
    {SECTIONS_AT + 4 * 64 + 32, 8, 5, "symbol 1: its name is outside the string table"},
    {SYMBOLS_AT + 24, 4, 6, "symbol 1: its name is outside the string table"},
};

static void damage_is_explained(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        elf_builder elf;
        simple(&elf, true);
        elf_symbol(&elf, "main", GLOBAL_FUNC, 1, TEXT_ADDRESS, 16);
        elf_put(&elf, damaged[i].at, damaged[i].width, damaged[i].value);
        make(NULL);
        print_message("# %zx: %s\n", damaged[i].at, damaged[i].reason);
        refused(&elf, NTR_E_FORMAT, damaged[i].reason);
        drop(NULL);
    }
}

static void files_cut_anywhere_are_refused(void **state) {
    (void)state;
    elf_builder elf;
    simple(&elf, true);
    elf_symbol(&elf, "main", GLOBAL_FUNC, 1, TEXT_ADDRESS, 16);
    elf_segment(&elf, 1, SECTIONS_AT, DATA_ADDRESS, ELF_SIZE - SECTIONS_AT, ELF_SIZE);
    for (elf.size = 0; elf.size < ELF_SIZE; elf.size += elf.size < 160 ? 1 : 37) {
        assert_int_equal(add(&elf, NULL), NTR_E_FORMAT);
        if (elf.size == 0) assert_non_null(strstr(ntr_program_error(program), ": empty file"));
        if (elf.size == 40) assert_non_null(strstr(ntr_program_error(program), ": damaged ELF header"));
        if (elf.size == 100) assert_non_null(strstr(ntr_program_error(program), ": program header"));
    }
}

static void other_kinds_of_files_are_refused(void **state) {
    (void)state;
    char path[] = "/tmp/ntrace-fifo-XXXXXX";
    assert_int_equal(ntr_program_add_elf(program, "/no/such\tfile", NULL), NTR_E_IO);
    assert_string_equal(ntr_program_error(program), "/no/such?file: No such file or directory");
    assert_int_equal(ntr_program_add_elf(program, "/", NULL), NTR_E_IO);
    assert_string_equal(ntr_program_error(program), "/: not a regular file");
    close(mkstemp(path));
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(ntr_program_add_elf(program, path, NULL), NTR_E_IO);
    unlink(path);
}

static void random_damage_is_survived(void **state) {
    (void)state;
    uint64_t random = 7;
    for (unsigned round = 0; round < 1000; round++) {
        elf_builder elf;
        simple(&elf, round & 1);
        elf_symbol(&elf, "main", GLOBAL_FUNC, 1, TEXT_ADDRESS, 16);
        elf_symbol(&elf, "main2", GLOBAL_OBJECT, 2, DATA_ADDRESS, 16);
        elf_segment(&elf, 1, CODE_AT + 4, TEXT_ADDRESS + 4, 32, 32);
        elf_arch(&elf, "rv64i_zcmp");
        for (unsigned i = 0; i < 1 + round % 8; i++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            uint32_t draw = (uint32_t)(random >> 32);
            static const size_t areas[][2] = {{4, 60}, {PHDRS_AT, 112}, {SYMBOLS_AT, 72}, {SECTIONS_AT, 6 * 64}};
            const size_t *area = areas[draw >> 30];
            elf.bytes[area[0] + (draw >> 8 & 0xffff) % area[1]] = (uint8_t)(draw & 1 ? draw >> 1 : 0xff);
        }
        make(NULL);
        ntr_status status = add(&elf, NULL);
        if (status == NTR_OK) {
            ntr_symbol symbol;
            uint8_t out[64];
            ntr_program_symbol(program, ntr_place_at(NULL, NTR_POSITION_ANY, TEXT_ADDRESS + 2), &symbol);
            ntr_program_find(program, "main2", &symbol);
            ntr_program_read(program, ntr_place_at(NULL, 0, TEXT_ADDRESS), out, sizeof out);
        } else {
            assert_int_equal(status, NTR_E_FORMAT);
            assert_true(strlen(ntr_program_error(program)) > strlen(elf.path) + 2);
        }
        drop(NULL);
    }
}

/* 65535 segments, each of them the whole file, each nested into the one before, bound to a context: memory must
 * follow the file's size, not the sum of what it claims. */
static void hostile_segment_tables_cost_little(void **state) {
    (void)state;
    const size_t count = 20000, size = 64 + count * 56;
    uint8_t *bytes = calloc(size, 1);
    elf_builder head;
    elf_begin(&head, true);
    elf_put(&head, 40, 8, 0); /* no sections */
    elf_put(&head, 60, 2, 0);
    elf_put(&head, 56, 2, count);
    memcpy(bytes, head.bytes, 64);
    for (size_t i = 0; i < count; i++) {
        const uint64_t fields[] = {UINT64_C(0x500000001), 0, 0x1000 + 2 * i, 0, size - 4 * i, size - 4 * i};
        for (unsigned k = 0; k < 6; k++) memcpy(bytes + 64 + 56 * i + 8 * k, &fields[k], 8);
    }
    char path[] = "/tmp/ntrace-elf-XXXXXX";
    int file = mkstemp(path);
    assert_int_equal(write(file, bytes, size), (ssize_t)size);
    close(file);
    ntr_image_options options = {.size = sizeof options, .has_scontext = true, .scontext = 1};
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    for (unsigned i = 0; i < 4; i++) assert_int_equal(ntr_program_add_elf(program, path, &options), NTR_OK);
    getrusage(RUSAGE_SELF, &after);
    unlink(path);
    uint8_t out;
    assert_int_equal(ntr_program_read(program, ntr_place_at(NULL, 0, 0x1000 + 2 * count), &out, 1), 1);
    assert_in_range(after.ru_maxrss - before.ru_maxrss, 0, 64 * 1024); /* KiB */
    free(bytes);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, drop)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(damage_is_explained),
        CASE(files_cut_anywhere_are_refused),
        CASE(other_kinds_of_files_are_refused),
        TEST(random_damage_is_survived),
        CASE(hostile_segment_tables_cost_little),
    };
    return cmocka_run_group_tests_name("elf_damaged", tests, NULL, NULL);
}
