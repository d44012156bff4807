/* Code made at run time: perf-PID.map and jitdump files, good and bad, all made here. */
#include "../test.h"

#include "fixture.h"

#include <ntrace/program_files.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static void write_file(const void *bytes, size_t size) {
    strcpy(path, "/tmp/ntrace-jit-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), (ssize_t)size);
    close(file);
}

static ntr_status add_map(const char *text, const ntr_image_options *options) {
    write_file(text, strlen(text));
    ntr_status status = ntr_program_add_perf_map(program, path, options);
    unlink(path);
    return status;
}

static void is_named(uint64_t address, const char *name) {
    ntr_symbol symbol;
    ntr_status status = ntr_program_symbol(program, ntr_place_at(NULL, NTR_POSITION_ANY, address), &symbol);
    assert_int_equal(status, name ? NTR_OK : NTR_END);
    if (name) assert_string_equal(symbol.name, name);
}

static void says(const char *reason) {
    assert_string_equal(strstr(ntr_program_error(program), ": "), reason);
}

static void perf_maps_name_addresses(void **state) {
    (void)state;
    ntr_symbol symbol;
    ntr_image_info info;
    assert_int_equal(add_map("7f0000001000 100 LazyCompile:~main app.js:1\n"
                             "7f0000001080 10 inner\n"
                             "\n"
                             "7f0000001100 20 gone\n"
                             "0x7F0000001100 0x10 later [with] blanks\n"
                             "7f0000002000 0 nothing\n"
                             "7f00000030",
                             NULL),
                     NTR_OK);
    is_named(0x7f0000000fff, NULL);
    is_named(0x7f0000001000, "LazyCompile:~main app.js:1");
    is_named(0x7f0000001080, "inner");
    is_named(0x7f0000001090, "LazyCompile:~main app.js:1");
    is_named(0x7f0000001100, "later [with] blanks");
    is_named(0x7f0000001110, "gone");
    is_named(0x7f0000001120, NULL);
    is_named(0x7f0000002000, NULL);
    assert_int_equal(ntr_program_find(program, "inner", &symbol), NTR_OK);
    assert_int_equal(symbol.address, 0x7f0000001080);
    assert_int_equal(symbol.size, 0x10);
    assert_true(symbol.function);
    assert_int_equal(ntr_program_image(program, 0, &info), NTR_OK);
    assert_int_equal(info.high, 0);
}

static void perf_maps_are_for_their_context(void **state) {
    (void)state;
    ntr_symbol symbol;
    ntr_image_options options = {.size = sizeof options, .has_scontext = true, .scontext = 4, .bias = 0x10};
    assert_int_equal(add_map("1000 10 f\n", &options), NTR_OK);
    ntr_context context = {.has_scontext = true, .scontext = 4};
    assert_int_equal(ntr_program_symbol(program, ntr_place_at(&context, NTR_POSITION_ANY, 0x1010), &symbol), NTR_OK);
    context.scontext = 5;
    assert_int_equal(ntr_program_symbol(program, ntr_place_at(&context, NTR_POSITION_ANY, 0x1010), &symbol), NTR_END);
}

static void bad_perf_maps_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "hello\n",      "1000\n",       "1000 10\n",
        "1000 10 \n",   "1000  10 f\n", "g000 10 f\n",
        " 1000 10 f\n", "1000 10z f\n", "10000000000000000 1 f\n",
    };
    ntr_image_info info;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[64];
        snprintf(text, sizeof text, "1000 10 good\n%s", bad[i]);
        assert_int_equal(add_map(text, NULL), NTR_E_FORMAT);
        says(": line 2 is not \"START SIZE NAME\"");
        assert_int_equal(ntr_program_image(program, 0, &info), NTR_END);
    }
    write_file("1000 10 a\0b\n", 12);
    assert_int_equal(ntr_program_add_perf_map(program, path, NULL), NTR_E_FORMAT);
    unlink(path);
    assert_int_equal(ntr_program_add_perf_map(program, "/no/such", NULL), NTR_E_IO);
}

/* ---- jitdump ---- */

static uint8_t dump[4096];
static size_t dump_size;

static void put(unsigned width, uint64_t value) {
    for (unsigned i = 0; i < width; i++) dump[dump_size++] = (uint8_t)(value >> (8 * i));
}

static void begin(void) {
    dump_size = 0;
    put(4, 0x4a695444);
    put(4, 1);
    put(4, 40);
    put(4, 243);
    put(4, 0);
    put(4, 77);
    put(8, 0);
    put(8, 0);
}

static void load(uint64_t time, uint64_t address, uint64_t index, const char *name, uint8_t fill, size_t size) {
    put(4, 0);
    put(4, 56 + strlen(name) + 1 + size);
    put(8, time);
    put(4, 77);
    put(4, 78);
    put(8, address);
    put(8, address);
    put(8, size);
    put(8, index);
    memcpy(dump + dump_size, name, strlen(name) + 1);
    dump_size += strlen(name) + 1;
    memset(dump + dump_size, fill, size);
    dump_size += size;
}

static void move(uint64_t time, uint64_t from, uint64_t to, uint64_t size, uint64_t index) {
    put(4, 1);
    put(4, 64);
    put(8, time);
    put(4, 77);
    put(4, 78);
    put(8, to);
    put(8, from);
    put(8, to);
    put(8, size);
    put(8, index);
}

static ntr_status add_dump(const ntr_image_options *options, ntr_position_of_time when) {
    write_file(dump, dump_size);
    ntr_status status = ntr_program_add_jitdump(program, path, options, when, NULL);
    unlink(path);
    return status;
}

static void sees(uint64_t position, uint64_t address, const char *want) {
    char seen[32] = "";
    for (size_t i = 0; i < strlen(want); i++)
        if (!ntr_program_read(program, ntr_place_at(NULL, position, address + i), (uint8_t *)&seen[i], 1))
            seen[i] = '.';
    assert_string_equal(seen, want);
}

static uint64_t tenth(void *user, uint64_t time) {
    (void)user;
    return time / 10;
}

static void history(void) {
    begin();
    load(1000, 0x5000, 1, "one", 'a', 4);
    put(4, 2); /* debug information: passed over */
    put(4, 20);
    put(8, 0);
    put(4, 0);
    load(2000, 0x5002, 2, "two", 'b', 4);
    move(3000, 0x5000, 0x6000, 4, 1);
    move(3000, 0x5000, 0x7000, 4, 99); /* unknown */
    load(4000, 0x5000, 1, "one again", 'c', 2);
    put(4, 3); /* close */
    put(4, 16);
    put(8, 5000);
}

static void jitdumps_hold_code_names_and_times(void **state) {
    (void)state;
    history();
    assert_int_equal(add_dump(NULL, tenth), NTR_OK);
    sees(99, 0x5000, "......");
    sees(100, 0x5000, "aaaa..");
    sees(200, 0x5000, "aabbbb");
    sees(299, 0x6000, "....");
    sees(300, 0x6000, "aaaa");
    sees(400, 0x5000, "ccbbbb");
    sees(400, 0x6000, "aaaa");
    sees(400, 0x7000, "....");
    is_named(0x5000, "one again");
    is_named(0x5002, "two");
    is_named(0x6003, "one");
    is_named(0x6004, NULL);
}

static void without_times_the_last_code_was_always_there(void **state) {
    (void)state;
    ntr_image_options options = {.size = sizeof options, .bias = 0x100, .from = 50, .until = 60};
    history();
    assert_int_equal(add_dump(&options, NULL), NTR_OK);
    sees(49, 0x5100, "......");
    sees(50, 0x5100, "ccbbbb");
    sees(59, 0x6100, "aaaa..");
    sees(60, 0x5100, "......");
}

static void code_loaded_after_the_end_is_left_out(void **state) {
    (void)state;
    ntr_image_options options = {.size = sizeof options, .until = 250};
    history();
    assert_int_equal(add_dump(&options, tenth), NTR_OK);
    is_named(0x5000, "one");
    is_named(0x5002, "two");
    is_named(0x6000, NULL);
}

static void files_cut_anywhere_load_as_far_as_they_go(void **state) {
    (void)state;
    history();
    size_t whole = dump_size;
    for (dump_size = 0; dump_size < whole; dump_size++) {
        make(NULL);
        assert_int_equal(add_dump(NULL, tenth), dump_size < 40 ? NTR_E_FORMAT : NTR_OK);
        if (dump_size == 0) says(": empty file");
        if (dump_size == 39) says(": not a jitdump file");
        if (dump_size >= 104) sees(100, 0x5000, "aaaa");
        drop(NULL);
    }
}

static void damage_is_explained(void **state) {
    (void)state;
    static const struct {
        size_t at;
        uint32_t value;
        const char *reason;
    } rows[] = {
        {0, 0x4454694a, ": not a little-endian jitdump"},
        {0, 7, ": not a jitdump file"},
        {4, 2, ": jitdump of version 2"},
        {8, 39, ": jitdump header of 39 bytes"},
        {12, 62, ": not a RISC-V jitdump (machine 62)"},
        {44, 15, ": record at 0x28: 15 bytes are less than its prefix"},
        {44, 55, ": record at 0x28: a LOAD record of 55 bytes is too short"},
        {80, 8, ": record at 0x28: 0x8 bytes of code and a name exceed its 64 bytes"},
        {84, 1, ": record at 0x28: 0x100000004 bytes of code and a name exceed its 64 bytes"},
        {96, 0x656e6f6f, ": record at 0x28: 0x4 bytes of code and a name exceed its 64 bytes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ntr_image_info info;
        history();
        for (unsigned k = 0; k < 4; k++) dump[rows[i].at + k] = (uint8_t)(rows[i].value >> (8 * k));
        assert_int_equal(add_dump(NULL, NULL), NTR_E_FORMAT);
        says(rows[i].reason);
        assert_int_equal(ntr_program_image(program, 0, &info), NTR_END);
    }
}

static void random_damage_is_survived(void **state) {
    (void)state;
    uint64_t random = 3;
    for (unsigned round = 0; round < 1000; round++) {
        history();
        for (unsigned i = 0; i <= round % 5; i++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            dump[40 + (random >> 40) % (dump_size - 40)] = (uint8_t)(random >> 33);
        }
        make(NULL);
        ntr_status status = add_dump(NULL, tenth);
        assert_true(status == NTR_OK || status == NTR_E_FORMAT);
        uint8_t out[16];
        ntr_symbol symbol;
        ntr_program_read(program, ntr_place_at(NULL, NTR_POSITION_ANY, 0x5000), out, sizeof out);
        ntr_program_symbol(program, ntr_place_at(NULL, NTR_POSITION_ANY, 0x5000), &symbol);
        drop(NULL);
    }
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, drop)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(perf_maps_name_addresses),
        CASE(perf_maps_are_for_their_context),
        CASE(bad_perf_maps_are_refused),
        CASE(jitdumps_hold_code_names_and_times),
        CASE(without_times_the_last_code_was_always_there),
        CASE(code_loaded_after_the_end_is_left_out),
        TEST(files_cut_anywhere_load_as_far_as_they_go),
        CASE(damage_is_explained),
        TEST(random_damage_is_survived),
    };
    return cmocka_run_group_tests_name("jit", tests, NULL, NULL);
}
