/* Images of a bundle: code bytes that no file has, and the range of the stream for which the files of a program that
 * was replaced are valid. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "../program/elf_builder.h"
#include "../test.h"
#include "bundle/files.h"
#include "capture/bundle.h"
#include "capture/mapped.h"
#include "fake_plugin.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct scene {
    struct ntr_capture_reason reason;
    struct ntr_capture_record record;
    struct ntr_capture_code code;
    char folder[32];
} scene;

static void begin(scene *s) {
    char path[64];

    memset(s, 0, sizeof *s);
    snprintf(s->folder, sizeof s->folder, "/tmp/ntrace-unit-XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    s->record = (struct ntr_capture_record){.reason = &s->reason, .xlen = 64};
    ntr_bundle_new(NULL, &s->record.bundle);
    ntr_program_new(NULL, &s->record.program);
    snprintf(path, sizeof path, "%s/x.ntrace", s->folder);
    assert_int_equal(ntr_bundle_create(s->record.bundle, path), NTR_OK);
    ntr_capture_code_init(&s->code, NULL);
}

static void end(scene *s) {
    ntr_bundle *bundle = s->record.bundle;

    ntr_capture_code_release(&s->code);
    ntr_capture_record_release(&s->record);
    ntr_bundle_free(bundle);
    ntr_bundle_remove(s->folder);
}

static void executed(scene *s, uint64_t address, const char *text) {
    bool failed;
    const ntr_bytes bytes = {(const uint8_t *)text, strlen(text)};
    assert_true(ntr_capture_code_agrees(&s->code, 0, address, bytes, &failed));
}

static void changed(scene *s, uint64_t address, const char *text, uint64_t position) {
    assert_true(
        ntr_capture_code_change(&s->code, 0, address, (ntr_bytes){(const uint8_t *)text, strlen(text)}, position));
}

static void write_code(scene *s) {
    assert_true(ntr_capture_code_finish(&s->code));
    assert_int_equal(ntr_capture_record_code(&s->record, &s->code), NTR_OK);
}

/* The image holds `size` bytes at `address`, for the range of offsets. */
static void expect(const scene *s, size_t index, uint64_t address, const char *bytes, size_t size, uint64_t from,
                   uint64_t until) {
    const ntr_bundle_image *image = &s->record.images[index];
    char path[128], found[1024] = {0};

    assert_true(index < s->record.image_count);
    assert_int_equal(image->options.bias, address);
    assert_int_equal(image->length, size);
    assert_int_equal(image->options.from, from);
    assert_int_equal(image->options.until, until);
    snprintf(path, sizeof path, "%s/%s", ntr_bundle_folder(s->record.bundle), image->file);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)image->offset, SEEK_SET), 0);
    assert_int_equal(fread(found, 1, size, file), size);
    fclose(file);
    assert_memory_equal(found, bytes, size);
}

static void neighbours_become_one_image(void **state) {
    scene s;

    (void)state;
    begin(&s);
    executed(&s, 0x1000, "abcd");
    executed(&s, 0x1008, "efgh"); /* behind 4 bytes that were not executed */
    executed(&s, 0x10f0, "ijkl");
    executed(&s, 0x1300, "mnop"); /* too far away */
    write_code(&s);
    assert_int_equal(s.record.image_count, 2);
    char joined[0xf4] = "abcd\0\0\0\0efgh";
    memcpy(joined + 0xf0, "ijkl", 4);
    expect(&s, 0, 0x1000, joined, sizeof joined, 0, 0);
    expect(&s, 1, 0x1300, "mnop", 4, 0, 0);
    end(&s);
}

static void only_ranges_of_the_same_validity_are_joined(void **state) {
    scene s;

    (void)state;
    begin(&s);
    executed(&s, 0x1000, "abcd");
    executed(&s, 0x1008, "efgh");
    executed(&s, 0x1100, "ijkl");
    changed(&s, 0x1000, "ABCD", 70);
    write_code(&s);
    assert_int_equal(s.record.image_count, 3);
    expect(&s, 0, 0x1100, "ijkl", 4, 0, 0);
    expect(&s, 1, 0x1000, "abcd\0\0\0\0efgh", 12, 0, 70);
    expect(&s, 2, 0x1000, "ABCD\0\0\0\0efgh", 12, 70, 0);
    end(&s);
}

/* A file with these bytes of code at `address`. */
static void make_file(elf_builder *elf, uint64_t address, const char *code) {
    elf_begin(elf, true);
    memcpy(elf->bytes + CODE_AT, code, strlen(code));
    elf_segment(elf, PT_LOAD, CODE_AT, address, strlen(code), strlen(code));
    assert_int_equal(elf_write(elf), 0);
}

static void bytes_of_files_are_not_hidden(void **state) {
    scene s;
    elf_builder elf;

    (void)state;
    begin(&s);
    make_file(&elf, 0x1004, "wxyz");
    assert_int_equal(ntr_capture_record_elf(&s.record, elf.path, 0), NTR_OK);
    elf_end(&elf);
    executed(&s, 0x1000, "abcd");
    executed(&s, 0x1004, "wx");
    executed(&s, 0x1008, "efgh");
    write_code(&s);
    assert_int_equal(s.record.image_count, 3);
    expect(&s, 1, 0x1000, "abcdwx", 6, 0, 0);
    expect(&s, 2, 0x1008, "efgh", 4, 0, 0);
    end(&s);
}

static void expect_file(const scene *s, size_t index, const char *name, uint64_t from, uint64_t until) {
    const ntr_image_options *options = &s->record.images[index].options;

    assert_true(index < s->record.image_count);
    assert_string_equal(options->name, name);
    assert_int_equal(options->from, from);
    assert_int_equal(options->until, until);
}

/* Two files are mapped at one address, one after the other, and removed; then the first one again. */
static void files_at_one_address(void **state) {
    scene s;
    elf_builder first, second;
    uint64_t low, high;
    char lines[512];

    (void)state;
    begin(&s);
    make_file(&first, 0, "abcd");
    int size = snprintf(lines, sizeof lines, "4000000 1000 0 %s\n", first.path);
    assert_int_equal(ntr_capture_record_files(&s.record, lines, (size_t)size), NTR_OK);
    assert_false(ntr_capture_mapped_differs(&s.record, 1, 0x4000000));
    make_file(&second, 0, "abce");
    size += snprintf(lines + size, sizeof lines - (size_t)size, "4000000 1000 0 %s\n4000000 1000 0 %s\n", second.path,
                     first.path);
    assert_int_equal(ntr_capture_record_files(&s.record, lines, (size_t)size), NTR_OK);
    elf_end(&first);
    elf_end(&second);
    assert_true(ntr_capture_mapped_differs(&s.record, 2, 0x4000000));
    assert_int_equal(ntr_capture_mapped_change(&s.record, 2, 0x4000000, 50, &low, &high), NTR_OK);
    assert_false(ntr_capture_mapped_differs(&s.record, 2, 0x4000000));
    assert_true(ntr_capture_mapped_differs(&s.record, 3, 0x4000000));
    assert_int_equal(ntr_capture_mapped_change(&s.record, 3, 0x4000000, 80, &low, &high), NTR_OK);
    assert_int_equal(low, 0x4000000);
    assert_int_equal(high, 0x4001000);
    assert_true(ntr_capture_mapped_differs(&s.record, 0, 0x4000ffe)); /* code that the program makes there */
    assert_false(ntr_capture_mapped_differs(&s.record, 0, 0x4001000));
    assert_int_equal(s.record.image_count, 3);
    expect_file(&s, 0, first.path, 0, 50);
    expect_file(&s, 1, second.path, 50, 80);
    expect_file(&s, 2, first.path, 80, 0);
    assert_string_equal(s.record.images[0].file, s.record.images[2].file);
    assert_null(s.record.unread);
    size = snprintf(lines, sizeof lines, "5000000 1000 0 %s\n", first.path);
    s.record.maps_read = 0;
    assert_int_equal(ntr_capture_record_files(&s.record, lines, (size_t)size), NTR_OK);
    assert_string_equal(s.record.unread, first.path);
    end(&s);
}

static void a_program_that_is_replaced(void **state) {
    scene s;

    (void)state;
    begin(&s);
    executed(&s, 0x1000, "abcd");
    changed(&s, 0x1000, "ABCD", 70);
    write_code(&s);
    assert_int_equal(ntr_capture_record_next(&s.record, 100), NTR_OK);
    ntr_capture_code_release(&s.code);
    executed(&s, 0x1000, "wxyz");
    assert_true(ntr_capture_code_finish(&s.code));
    assert_int_equal(ntr_capture_record_code(&s.record, &s.code), NTR_OK);
    assert_int_equal(s.record.image_count, 3);
    expect(&s, 0, 0x1000, "abcd", 4, 0, 70);
    expect(&s, 1, 0x1000, "ABCD", 4, 70, 100);
    expect(&s, 2, 0x1000, "wxyz", 4, 100, 0);
    end(&s);
}

static void a_file_that_cannot_be_read_is_an_error(void **state) {
    scene s;
    char path[64];

    (void)state;
    begin(&s);
    assert_int_equal(ntr_capture_record_elf(&s.record, s.folder, 0), NTR_E_IO);
    assert_non_null(strstr(s.reason.text, s.folder));
    snprintf(path, sizeof path, "%s/none", s.folder);
    assert_int_equal(ntr_capture_record_elf(&s.record, path, 0), NTR_E_IO);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("no ELF file", file);
    fclose(file);
    assert_int_equal(ntr_capture_record_elf(&s.record, path, 0), NTR_OK);
    assert_int_equal(s.record.image_count, 0);
    end(&s);
}

/* Blocks that do not follow, of a program that was replaced and of the one that runs: capture.json has one loss. */
static void discontinuities_are_a_loss(void **state) {
    static const char text[] = "expected every block to follow the one before it or a trap, found 5 that do not, the "
                               "first at 0x2000 instead of 0x1004: a defect of the capture; the trace has interrupts "
                               "there";
    static struct ntr_capture_harts past_harts, harts;
    static const char *const command[] = {"program", NULL};
    struct ntr_capture_guest guest = {.status = 0};
    struct ntr_capture_past past = {.programs = 0};
    ntr_capture_machine_config machine = {.name = NULL};
    struct ntr_capture_losses losses = {.count = 0};
    ntr_capture_config config;
    ntr_encoder_config encoder;
    fake_plugin plugin;
    scene s;

    (void)state;
    begin(&s);
    fake_open(&plugin);
    ntr_capture_config_init(&config);
    ntr_encoder_config_init(&encoder);
    past_harts.channel = harts.channel = plugin.channel;
    harts.config = &encoder;
    past_harts.discontinuities = 2;
    past_harts.found = 0x2000;
    past_harts.expected = 0x1004;
    harts.discontinuities = 3;
    harts.found = 0x5000;
    harts.expected = 0x4000;
    ntr_capture_past_add(&past, &past_harts);
    ntr_capture_code_init(&harts.code, NULL);
    const struct ntr_capture_report report = {.config = &config,
                                              .harts = &harts,
                                              .guest = &guest,
                                              .past = &past,
                                              .machine = &machine,
                                              .stream = "trace.nex",
                                              .command = command};
    assert_true(ntr_capture_code_finish(&harts.code));
    assert_int_equal(ntr_capture_bundle_finish(&s.record, &report, &losses), NTR_OK);
    assert_int_equal(losses.count, 1);
    assert_string_equal(losses.items[0].what, text);
    char path[64], json[4096] = "";
    snprintf(path, sizeof path, "%s/x.ntrace/capture.json", s.folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(json, 1, sizeof json - 1, file) > 0);
    fclose(file);
    assert_non_null(strstr(json, text));
    ntr_capture_code_release(&harts.code);
    fake_close(&plugin);
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(neighbours_become_one_image),   TEST(only_ranges_of_the_same_validity_are_joined),
        TEST(bytes_of_files_are_not_hidden), TEST(files_at_one_address),
        TEST(a_program_that_is_replaced),    TEST(a_file_that_cannot_be_read_is_an_error),
        TEST(discontinuities_are_a_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
