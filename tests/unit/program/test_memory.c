/* Every allocation of the program and of the block cache fails once: all stays usable, nothing leaks. */
#include "../test.h"

#include "elf_builder.h"
#include "program/blocks.h"

#include <ntrace/program_files.h>
#include <stdlib.h>

typedef struct budget {
    unsigned left; /* allocations until the one that fails */
    bool failed;
    size_t live;
} budget;

static void *resize(void *user, void *block, size_t size) {
    budget *b = user;
    if (size == 0) {
        b->live -= block != NULL;
        free(block);
        return NULL;
    }
    if (b->left-- == 0) {
        b->failed = true;
        return NULL;
    }
    b->live += block == NULL;
    return realloc(block, size);
}

static void expect(budget *b, ntr_status status) {
    assert_int_equal(status, b->failed ? NTR_E_MEMORY : NTR_OK);
    b->failed = false;
}

static void write_perf_map(char *path) {
    strcpy(path, "/tmp/ntrace-map-XXXXXX");
    int file = mkstemp(path);
    assert_int_equal(write(file, "1000 10 f\n2000 10 g\n", 20), 20);
    close(file);
}

static void fill(ntr_program *program, budget *b, const char *elf, const char *map) {
    static const uint8_t code[] = {0x01, 0x00, 0x82, 0x80};
    expect(b, ntr_program_add_elf(program, elf, NULL));
    for (unsigned i = 0; i < 40; i++) {
        ntr_image_options options = {
            .size = sizeof options, .bias = TEXT_ADDRESS + 2 * i, .has_scontext = true, .scontext = i, .from = i};
        expect(b, ntr_program_add_raw(program, (ntr_bytes){code, sizeof code}, &options));
    }
    expect(b, ntr_program_add_perf_map(program, map, NULL));
}

static void walk(ntr_program *program, const ntr_allocator *allocator, budget *b) {
    ntr_blocks *blocks = ntr_blocks_new(program, allocator, 0);
    if (!blocks) {
        assert_true(b->failed);
        b->failed = false;
        return;
    }
    for (unsigned i = 0; i < 400; i++) {
        ntr_context context = {.has_scontext = true, .scontext = i / 16};
        ntr_blocks_seek(blocks, i % 50);
        ntr_block *block = ntr_blocks_get(blocks, ntr_blocks_view(blocks, &context), TEXT_ADDRESS + 2 * (i % 16));
        if (ntr_block_status(block) == NTR_E_MEMORY) {
            assert_true(b->failed);
            b->failed = false;
        }
    }
    b->failed = false; /* a view or a table that did not grow is only slower */
    ntr_blocks_flush(blocks);
    ntr_blocks_free(blocks);
}

static void any_allocation_may_fail(void **state) {
    (void)state;
    elf_builder elf;
    char map[64];
    elf_begin(&elf, true);
    elf_segment(&elf, 1, CODE_AT, TEXT_ADDRESS, 0x100, 0x100);
    elf_symbol(&elf, "f", 0x12, 1, TEXT_ADDRESS, 0x40);
    elf_symbol(&elf, "g", 0x11, 1, TEXT_ADDRESS + 0x40, 0x40);
    elf_arch(&elf, "rv64i_zcmp");
    assert_int_equal(elf_write(&elf), 0);
    write_perf_map(map);
    bool whole = false;
    for (unsigned budget_size = 0; !whole; budget_size++) {
        budget b = {.left = budget_size};
        ntr_allocator allocator = {.resize = resize, .user = &b};
        ntr_program *program;
        ntr_program_new(&allocator, &program);
        if (program) {
            fill(program, &b, elf.path, map);
            walk(program, &allocator, &b);
            ntr_symbol symbol;
            ntr_program_symbol(program, ntr_place_at(NULL, NTR_POSITION_ANY, TEXT_ADDRESS + 4), &symbol);
            whole = b.left > 0 && b.left < UINT32_MAX / 2; /* it never reached the failing one */
            ntr_program_free(program);
        }
        assert_int_equal(b.live, 0);
    }
    elf_end(&elf);
    unlink(map);
}

/* ---- a program that many processes execute */

static size_t mappings_of(const char *path) {
    char line[512];
    size_t count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) count += strstr(line, path) != NULL;
    if (maps) fclose(maps);
    return count;
}

/* The file is in memory once. A file that is written in between is another one. */
static void file_of_many_processes(void **state) {
    (void)state;
    enum { PROCESSES = 300 };
    elf_builder elf;
    ntr_program *program;
    uint8_t byte;
    elf_begin(&elf, true);
    elf_segment(&elf, 1, CODE_AT, TEXT_ADDRESS, 0x100, 0x100);
    assert_int_equal(elf_write(&elf), 0);
    assert_int_equal(ntr_program_new(NULL, &program), NTR_OK);
    for (uint64_t i = 0; i < PROCESSES; i++) {
        const ntr_image_options options = {.size = sizeof options, .has_scontext = true, .scontext = i};
        if (i == PROCESSES - 1) assert_int_equal(truncate(elf.path, 0x10000), 0);
        assert_int_equal(ntr_program_add_elf(program, elf.path, &options), NTR_OK);
    }
    assert_int_equal(mappings_of(elf.path), 2);
    for (uint64_t i = 0; i < PROCESSES; i++) {
        const ntr_context context = {.has_scontext = true, .scontext = i};
        assert_int_equal(ntr_program_read(program, ntr_place_at(&context, 0, TEXT_ADDRESS), &byte, 1), 1);
    }
    ntr_program_free(program);
    assert_int_equal(mappings_of(elf.path), 0);
    elf_end(&elf);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(any_allocation_may_fail),
        TEST(file_of_many_processes),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
