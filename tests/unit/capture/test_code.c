/* Code bytes by address and stream offset; sparse memory of RAM sinks. */
#include "../test.h"
#include "capture/code.h"
#include "capture/sink_memory.h"

#include <stdlib.h>
#include <string.h>

static bool agrees(struct ntr_capture_code *code, uint64_t address, const char *text) {
    bool failed;
    bool same = ntr_capture_code_agrees(code, 0, address, (ntr_bytes){(const uint8_t *)text, strlen(text)}, &failed);
    assert_false(failed);
    return same;
}

static void change(struct ntr_capture_code *code, uint64_t address, const char *text, uint64_t position) {
    assert_true(ntr_capture_code_change(code, 0, address, (ntr_bytes){(const uint8_t *)text, strlen(text)}, position));
}

static void expect(const struct ntr_capture_code *code, size_t index, uint64_t address, const char *text, uint64_t from,
                   uint64_t until) {
    const struct ntr_capture_code_range *range = &code->ranges[index];
    assert_true(index < code->range_count);
    assert_int_equal(range->address, address);
    assert_int_equal(range->length, strlen(text));
    assert_int_equal(range->from, from);
    assert_int_equal(range->until, until);
    assert_memory_equal(code->bytes + range->place, text, strlen(text));
}

static void unknown_bytes_are_taken(void **state) {
    struct ntr_capture_code code;

    (void)state;
    ntr_capture_code_init(&code, NULL);
    assert_true(agrees(&code, 0x1000, "abcd"));
    assert_true(agrees(&code, 0x1002, "cdef"));
    assert_true(agrees(&code, 0x3000, "xy"));
    assert_false(agrees(&code, 0x1000, "abcX"));
    assert_int_equal(code.generation, 1);
    assert_true(ntr_capture_code_finish(&code));
    assert_int_equal(code.range_count, 2);
    expect(&code, 0, 0x1000, "abcdef", 0, 0);
    expect(&code, 1, 0x3000, "xy", 0, 0);
    ntr_capture_code_release(&code);
}

static void ranges_join_over_granules(void **state) {
    struct ntr_capture_code code;

    (void)state;
    ntr_capture_code_init(&code, NULL);
    assert_true(agrees(&code, 0x10fe, "abcd"));
    assert_true(ntr_capture_code_finish(&code));
    assert_int_equal(code.range_count, 1);
    expect(&code, 0, 0x10fe, "abcd", 0, 0);
    ntr_capture_code_release(&code);
}

static void changes_make_versions(void **state) {
    struct ntr_capture_code code;

    (void)state;
    ntr_capture_code_init(&code, NULL);
    assert_true(agrees(&code, 0x1000, "abcd"));
    change(&code, 0x1002, "XY", 500);
    assert_int_equal(code.generation, 2);
    assert_true(agrees(&code, 0x1000, "abXY"));
    change(&code, 0x1000, "ZZ", 500); /* at the same offset: no further version */
    change(&code, 0x1000, "Q", 900);
    assert_true(ntr_capture_code_finish(&code));
    assert_int_equal(code.range_count, 3);
    expect(&code, 0, 0x1000, "abcd", 0, 500);
    expect(&code, 1, 0x1000, "ZZXY", 500, 900);
    expect(&code, 2, 0x1000, "QZXY", 900, 0);
    ntr_capture_code_release(&code);
}

static void code_begins_where_it_was_mapped(void **state) {
    struct ntr_capture_code code;

    (void)state;
    ntr_capture_code_init(&code, NULL);
    assert_true(agrees(&code, 0x1000, "ab"));
    assert_true(ntr_capture_code_knows(&code, 0x1001, 0x2000));
    assert_false(ntr_capture_code_knows(&code, 0x1002, 0x2000));
    assert_true(ntr_capture_code_forget(&code, 0x1000, 0x3000, 500));
    assert_false(ntr_capture_code_knows(&code, 0, 0x4000));
    assert_true(ntr_capture_code_forget(&code, 0x1000, 0x1100, 700));
    assert_true(agrees(&code, 0x1000, "cd"));
    assert_true(agrees(&code, 0x2000, "ef"));
    assert_true(agrees(&code, 0x3000, "gh"));
    assert_true(ntr_capture_code_finish(&code));
    assert_int_equal(code.range_count, 4);
    expect(&code, 0, 0x1000, "ab", 0, 500);
    expect(&code, 1, 0x1000, "cd", 700, 0);
    expect(&code, 2, 0x2000, "ef", 500, 0);
    expect(&code, 3, 0x3000, "gh", 0, 0);
    ntr_capture_code_release(&code);
}

static void nothing_was_executed(void **state) {
    struct ntr_capture_code code;

    (void)state;
    ntr_capture_code_init(&code, NULL);
    assert_true(ntr_capture_code_finish(&code));
    assert_int_equal(code.range_count, 0);
    ntr_capture_code_release(&code);
}

/* Every allocation fails in turn: the call says so, and nothing leaks or is lost. */
typedef struct limited {
    unsigned left;
} limited;

static void *resize(void *user, void *block, size_t size) {
    limited *l = user;
    if (!size) return free(block), NULL;
    return l->left && l->left-- ? realloc(block, size) : NULL;
}

static void out_of_memory(void **state) {
    (void)state;
    for (unsigned room = 0; room < 4; room++) {
        limited l = {room};
        const ntr_allocator allocator = {resize, &l};
        struct ntr_capture_code code;
        bool failed;
        ntr_capture_code_init(&code, &allocator);
        bool same = ntr_capture_code_agrees(&code, 0, 0x1000, (ntr_bytes){(const uint8_t *)"ab", 2}, &failed);
        assert_int_equal(same, room >= 2);
        assert_int_equal(failed, room < 2);
        if (same) assert_false(ntr_capture_code_finish(&code));
        ntr_capture_code_release(&code);
    }
}

static void sparse_memory(void **state) {
    static const uint8_t text[] = "0123456789";
    struct ntr_capture_memory memory = {0};
    uint8_t out[12];

    (void)state;
    assert_true(ntr_capture_memory_write(&memory, 0xfffb, text, 10)); /* over the end of a page */
    assert_true(ntr_capture_memory_write(&memory, UINT64_MAX - 9, text, 10));
    assert_true(ntr_capture_memory_write(&memory, 0, text, 1));
    assert_int_equal(memory.count, 3);
    ntr_capture_memory_read(&memory, 0xfffa, out, 12);
    assert_memory_equal(out,
                        "\0"
                        "0123456789"
                        "\0",
                        12);
    ntr_capture_memory_read(&memory, 0x500000, out, 2);
    assert_memory_equal(out, "\0\0", 2);
    ntr_capture_memory_release(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(unknown_bytes_are_taken),
                                       TEST(ranges_join_over_granules),
                                       TEST(changes_make_versions),
                                       TEST(code_begins_where_it_was_mapped),
                                       TEST(nothing_was_executed),
                                       TEST(out_of_memory),
                                       TEST(sparse_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
