/* Where the code of a file was executed. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "../program/elf_builder.h"
#include "../test.h"
#include "capture/place_code.h"

enum { PT_LOAD = 1, MODE = 3, STEP = 64, LENGTH = 48, FIRST_BIAS = 0x70000000, SECOND_BIAS = 0x12340 };

static ntr_bytes file_of(elf_builder *builder, bool wide) {
    uint32_t random = 1;
    elf_begin(builder, wide);
    elf_segment(builder, PT_LOAD, CODE_AT, TEXT_ADDRESS, CODE_MAX, CODE_MAX);
    for (size_t i = 0; i < CODE_MAX; i++)
        builder->bytes[CODE_AT + i] = (uint8_t)((random = random * 1103515245 + 12345) >> 16);
    return (ntr_bytes){builder->bytes, builder->size};
}

/* Parts of the file are executed; of each, `damage` bytes are others. */
static void execute(struct ntr_capture_code *code, unsigned mode, ntr_bytes file, uint64_t bias, unsigned damage) {
    const struct ntr_capture_space space = {.has_prv = true, .prv = (uint8_t)mode};
    const uint32_t number = ntr_capture_code_space(code, &space);
    bool failed;

    for (size_t at = 0; at < CODE_MAX; at += STEP) {
        uint8_t bytes[LENGTH];
        memcpy(bytes, file.data + CODE_AT + at, LENGTH);
        for (unsigned i = 0; i < damage; i++) bytes[LENGTH - 1 - i] ^= 0x55;
        assert_true(
            ntr_capture_code_agrees(code, number, TEXT_ADDRESS + bias + at, (ntr_bytes){bytes, LENGTH}, &failed));
    }
}

static void files_that_moved_themselves(void **state) {
    (void)state;
    for (int wide = 0; wide <= 1; wide++) {
        struct ntr_code_place places[NTR_CODE_PLACES];
        struct ntr_capture_code code;
        elf_builder builder;
        ntr_bytes file = file_of(&builder, wide);
        ntr_capture_code_init(&code, NULL);
        execute(&code, MODE, file, FIRST_BIAS, 0);
        execute(&code, MODE, file, SECOND_BIAS, 0);
        assert_true(ntr_capture_code_finish(&code));
        assert_int_equal(ntr_code_places(&code, MODE, file, places), 2);
        assert_int_equal(places[0].bias, SECOND_BIAS);
        assert_int_equal(places[1].bias, FIRST_BIAS);
        assert_int_equal(places[0].from, 0);
        assert_int_equal(places[0].until, 0);
        assert_int_equal(ntr_code_places(&code, MODE - 2, file, places), 0);
        ntr_capture_code_release(&code);
    }
}

/* Up to 5 % of the executed bytes may differ: code that patches itself. */
static void other_files_have_no_place(void **state) {
    (void)state;
    for (unsigned damage = 0; damage <= 4; damage++) {
        struct ntr_code_place places[NTR_CODE_PLACES];
        struct ntr_capture_code code;
        elf_builder builder;
        ntr_bytes file = file_of(&builder, true);
        ntr_capture_code_init(&code, NULL);
        execute(&code, MODE, file, FIRST_BIAS, damage);
        assert_true(ntr_capture_code_finish(&code));
        assert_int_equal(ntr_code_places(&code, MODE, file, places), damage <= 2);
        ntr_capture_code_release(&code);
    }
}

static void damaged_files(void **state) {
    struct ntr_code_place places[NTR_CODE_PLACES];
    struct ntr_capture_code code;
    elf_builder builder;
    ntr_bytes file = file_of(&builder, true);

    (void)state;
    ntr_capture_code_init(&code, NULL);
    execute(&code, MODE, file, FIRST_BIAS, 0);
    assert_true(ntr_capture_code_finish(&code));
    for (size_t size = 0; size < CODE_AT; size++)
        assert_int_equal(ntr_code_places(&code, MODE, (ntr_bytes){file.data, size}, places), 0);
    for (size_t at = 0; at < PHDRS_AT + 56; at++) {
        for (unsigned value = 0; value < 256; value += 51) {
            elf_builder other = builder;
            elf_put(&other, at, 1, value);
            assert_true(ntr_code_places(&code, MODE, (ntr_bytes){other.bytes, other.size}, places) <= NTR_CODE_PLACES);
        }
    }
    ntr_capture_code_release(&code);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(files_that_moved_themselves), TEST(other_files_have_no_place),
                                       TEST(damaged_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
