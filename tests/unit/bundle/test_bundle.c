#include "folder.h"

#include <ntrace/bundle.h>

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint8_t code[] = {0x13, 0x00, 0x00, 0x00, 0x01, 0x00, 0x82, 0x80};

/* A bundle with one raw image of `code` in three parts. */
static void make_bundle(const char *path) {
    ntr_bundle *bundle;
    ntr_bundle_new(NULL, &bundle);
    assert_int_equal(ntr_bundle_create(bundle, path), NTR_OK);
    put(place("code"), code, sizeof code);

    ntr_bundle_image images[3] = {{.kind = NTR_BUNDLE_RAW}};
    assert_int_equal(ntr_bundle_copy(bundle, place("code"), &images[0]), NTR_OK);
    assert_string_equal(images[0].file, "images/code");
    images[0].options.size = sizeof images[0].options;
    images[2] = images[1] = images[0];
    images[0].length = 4;
    images[0].options.bias = 0xffffffff80000000;
    images[1].offset = 4;
    images[1].options.bias = 0x2000;
    images[1].options.from = 7;
    images[1].options.has_isa = true;
    images[1].options.isa = NTR_ISA_ZCMP + NTR_ISA_ZCMT;
    images[2].options.bias = 0x3000;
    images[2].options.until = 7;
    images[2].options.has_scontext = true;
    images[2].options.scontext = 0;
    char stream[256];
    snprintf(stream, sizeof stream, "%s/trace.nex", ntr_bundle_folder(bundle));
    put(stream, "\x24\x0d\x00\x0b", 4);

    const char *const command[] = {"hello", "two words", ""};
    const ntr_bundle_source sources[] = {{.src = 0, .hart = 0, .name = "main"}, {.src = 4095, .hart = 9}};
    const ntr_bundle_loss losses[] = {{.position = 3, .what = "something"}};
    ntr_capture_info capture = {.size = sizeof capture,
                                .stream = "trace.nex",
                                .mode = "htm",
                                .tool = "test",
                                .status = 139,
                                .command = command,
                                .command_count = 3,
                                .tick = "instruction",
                                .sources = sources,
                                .source_count = 2,
                                .images = images,
                                .image_count = 3,
                                .losses = losses,
                                .loss_count = 1};
    ntr_params_init(&capture.params, ntr_dialect_find("ntrace-1.0"));
    capture.params.src_bits = 12;
    capture.params.xlen = 64;
    capture.params.implicit_return = NTR_RETURN_FULL;
    capture.params.timestamps = NTR_TIMESTAMPS_ON;
    capture.params.return_stack = 32;
    capture.params.extend_addr = true;
    assert_int_equal(ntr_bundle_finish(bundle, &capture), NTR_OK);
    ntr_bundle_free(bundle);
}

static void what_was_written_is_read(void **state) {
    (void)state;
    make_bundle(place("a.ntrace"));
    assert_true(ntr_bundle_seen(place("a.ntrace")));
    assert_false(ntr_bundle_seen(folder));

    ntr_bundle *bundle;
    ntr_bundle_new(NULL, &bundle);
    if (ntr_bundle_open(bundle, place("a.ntrace")) != NTR_OK) fail_msg("%s", ntr_bundle_error(bundle));
    const ntr_capture_info *c = ntr_bundle_capture(bundle);
    assert_int_equal(c->params.src_bits, 12);
    assert_int_equal(c->params.xlen, 64);
    assert_int_equal(c->params.implicit_return, NTR_RETURN_FULL);
    assert_int_equal(c->params.timestamps, NTR_TIMESTAMPS_ON);
    assert_int_equal(c->params.return_stack, 32);
    assert_true(c->params.extend_addr);
    assert_false(c->params.all_jumps);
    assert_string_equal(c->params.dialect->name, "ntrace-1.0");
    assert_string_equal(c->mode, "htm");
    assert_int_equal(c->status, 139);
    assert_int_equal(c->command_count, 3);
    assert_string_equal(c->command[1], "two words");
    assert_int_equal(c->source_count, 2);
    assert_int_equal(c->sources[1].src, 4095);
    assert_null(c->sources[1].name);
    assert_int_equal(c->loss_count, 1);
    assert_string_equal(c->losses[0].what, "something");
    assert_int_equal(c->image_count, 3);
    assert_int_equal(c->images[0].options.bias, 0xffffffff80000000);
    assert_false(c->images[0].options.has_isa);
    assert_true(c->images[1].options.has_isa);
    assert_int_equal(c->images[1].options.isa, NTR_ISA_ZCMP | NTR_ISA_ZCMT);
    assert_true(c->images[2].options.has_scontext);
    assert_false(c->images[2].options.has_prv);
    struct stat about;
    assert_int_equal(stat(ntr_bundle_stream_path(bundle), &about), 0);
    assert_int_equal(about.st_size, 4);
    ntr_bundle_free(bundle);
}

static void images_are_given_to_a_program(void **state) {
    (void)state;
    make_bundle(place("b.ntrace"));
    ntr_bundle *bundle;
    ntr_bundle_new(NULL, &bundle);
    ntr_program *program;
    ntr_program_new(NULL, &program);
    assert_int_equal(ntr_bundle_load(bundle, program), NTR_E_STATE);
    assert_int_equal(ntr_bundle_open(bundle, place("b.ntrace")), NTR_OK);
    if (ntr_bundle_load(bundle, program) != NTR_OK) fail_msg("%s", ntr_bundle_error(bundle));
    uint8_t bytes[16];
    assert_int_equal(ntr_program_read(program, ntr_place_at(NULL, 0, 0xffffffff80000000), bytes, 16), 4);
    assert_memory_equal(bytes, code, 4);
    assert_int_equal(ntr_program_read(program, ntr_place_at(NULL, 6, 0x2000), bytes, 16), 0);
    assert_int_equal(ntr_program_read(program, ntr_place_at(NULL, 7, 0x2000), bytes, 16), 4);
    assert_memory_equal(bytes, code + 4, 4);
    assert_int_equal(ntr_program_read(program, ntr_place_at(NULL, 6, 0x3000), bytes, 16), 8);
    assert_int_equal(ntr_program_read(program, ntr_place_at(NULL, 7, 0x3000), bytes, 16), 0);
    ntr_program_free(program);
    ntr_bundle_free(bundle);
}

static void a_bundle_is_replaced_and_nothing_else(void **state) {
    (void)state;
    make_bundle(place("c.ntrace"));
    put(place("c.ntrace/old"), "", 0);
    make_bundle(place("c.ntrace"));
    assert_int_equal(access(place("c.ntrace/old"), F_OK), -1);
    assert_int_equal(access(place("c.ntrace/replaced"), F_OK), -1);
    assert_int_equal(access(place("c.ntrace.old/old"), F_OK), 0); /* the first one is kept, */
    make_bundle(place("c.ntrace"));
    assert_int_equal(access(place("c.ntrace.old/old"), F_OK), -1); /* ... until the second one is */
    assert_true(ntr_bundle_seen(place("c.ntrace.old")));

    ntr_bundle *bundle;
    ntr_bundle_new(NULL, &bundle);
    make_bundle(place("kept.ntrace"));
    assert_int_equal(mkdir(place("kept.ntrace.old"), 0777), 0); /* of somebody else */
    assert_int_equal(ntr_bundle_create(bundle, place("kept.ntrace")), NTR_E_INVALID);
    assert_non_null(strstr(ntr_bundle_error(bundle), "kept.ntrace.old: exists and is not a bundle; "));
    assert_int_equal(mkdir(place("other"), 0777), 0);
    assert_int_equal(ntr_bundle_create(bundle, place("other")), NTR_E_INVALID);
    assert_non_null(strstr(ntr_bundle_error(bundle), "is not a bundle"));
    ntr_bundle_free(bundle);
}

static bool is_incomplete(const char *path) {
    ntr_bundle *bundle;
    ntr_bundle_new(NULL, &bundle);
    if (ntr_bundle_open(bundle, path) != NTR_OK) fail_msg("%s", ntr_bundle_error(bundle));
    const bool incomplete = ntr_bundle_capture(bundle)->incomplete;
    ntr_bundle_free(bundle);
    return incomplete;
}

static void a_bundle_is_incomplete_until_it_is_finished(void **state) {
    (void)state;
    ntr_bundle *bundle;
    ntr_bundle_new(NULL, &bundle);
    assert_int_equal(ntr_bundle_create(bundle, place("saved.ntrace")), NTR_OK);
    char stream[256];
    snprintf(stream, sizeof stream, "%s/t", ntr_bundle_folder(bundle));
    put(stream, "", 0);
    ntr_capture_info capture = {.size = sizeof capture, .stream = "t"};
    ntr_params_init(&capture.params, ntr_dialect_find("ntrace-1.0"));
    assert_int_equal(ntr_bundle_save(bundle, &capture), NTR_OK);
    assert_true(is_incomplete(ntr_bundle_folder(bundle)));
    assert_int_equal(ntr_bundle_finish(bundle, &capture), NTR_OK);
    assert_false(is_incomplete(place("saved.ntrace")));
    ntr_bundle_free(bundle);
}

static void an_unfinished_bundle_leaves_nothing(void **state) {
    (void)state;
    ntr_bundle *bundle;
    ntr_bundle_new(NULL, &bundle);
    assert_int_equal(ntr_bundle_create(bundle, place("d.ntrace/")), NTR_OK);
    char temporary[256];
    snprintf(temporary, sizeof temporary, "%s", ntr_bundle_folder(bundle));
    ntr_bundle_image a = {0}, b = {0};
    put(place("code"), code, sizeof code);
    assert_int_equal(ntr_bundle_copy(bundle, place("code"), &a), NTR_OK);
    assert_int_equal(ntr_bundle_copy(bundle, place("code"), &b), NTR_OK);
    assert_string_equal(b.file, "images/code-2");
    assert_int_equal(access(temporary, F_OK), 0);
    ntr_capture_info capture = {.size = sizeof capture}; /* names no stream */
    assert_int_equal(ntr_bundle_finish(bundle, &capture), NTR_E_INVALID);
    assert_non_null(strstr(ntr_bundle_error(bundle), "stream"));
    ntr_bundle_free(bundle);
    assert_int_equal(access(temporary, F_OK), -1);
    assert_int_equal(access(place("d.ntrace"), F_OK), -1);
}

static void a_build_id_is_found(void **state) {
    (void)state;
    ntr_bundle *bundle;
    ntr_bundle_new(NULL, &bundle);
    ntr_bundle_image image = {0};
    assert_int_equal(ntr_bundle_create(bundle, place("e.ntrace")), NTR_OK);
    assert_int_equal(ntr_bundle_copy(bundle, "/proc/self/exe", &image), NTR_OK);
    assert_string_equal(image.file, "images/exe");
    if (image.build_id) assert_true(strlen(image.build_id) >= 16);
    ntr_bundle_free(bundle);
}

/* One error each; the message must have file and key. */
static const struct {
    const char *json, *message;
    ntr_status status;
} bad[] = {
    {"", "capture.json", NTR_E_FORMAT},
    {"[]", "expected an object", NTR_E_FORMAT},
    {"{\"format\":\"x\"}", "format", NTR_E_FORMAT},
    {"{\"format\":\"ntrace-bundle\",\"version\":2,\"new\":1}", "version: expected 1, found 2", NTR_E_UNSUPPORTED},
    {"{\"format\":\"ntrace-bundle\",\"version\":1,\"params\":{}}", "stream: missing", NTR_E_FORMAT},
    {"{\"format\":\"ntrace-bundle\",\"version\":1,\"stream\":\"t\"}", "params: missing", NTR_E_FORMAT},
#define HEAD "{\"format\":\"ntrace-bundle\",\"version\":1,\"stream\":\"t\",\"params\":"
    {HEAD "{\"src_bits\":13}}", "params.src_bits: expected 0..12, found 13", NTR_E_FORMAT},
    {HEAD "{\"src_bits\":-1}}", "params.src_bits: expected 0..12, found -1", NTR_E_FORMAT},
    {HEAD "{\"src_bits\":1.5}}", "params.src_bits: expected an integer, found a fraction", NTR_E_FORMAT},
    {HEAD "{\"xlen\":33}}", "params.xlen: expected one of 32|64, found 33", NTR_E_FORMAT},
    {HEAD "{\"extend_addr\":1}}", "params.extend_addr: expected true or false", NTR_E_FORMAT},
    {HEAD "{\"timestamps\":\"perhaps\"}}", "params.timestamps: expected one of seen|on|off", NTR_E_FORMAT},
    {HEAD "{\"dialect\":\"none\"}}", "params.dialect: unknown dialect \"none\"", NTR_E_FORMAT},
    {HEAD "{\"srcbits\":1}}", "params.srcbits: unknown key", NTR_E_FORMAT},
    {HEAD "{\"src_bits\":1,\"src_bits\":2}}", "duplicate", NTR_E_FORMAT},
    {HEAD "3}", "params: expected an object, found an integer", NTR_E_FORMAT},
    {HEAD "{},\"colour\":1}", "colour: unknown key", NTR_E_FORMAT},
    {HEAD "{},\"command\":[1]}", "command: expected strings", NTR_E_FORMAT},
    {HEAD "{},\"images\":{}}", "images: expected an array", NTR_E_FORMAT},
    {HEAD "{},\"images\":[{\"kind\":\"elf\"}]}", "images[0].file: missing", NTR_E_FORMAT},
    {HEAD "{},\"images\":[{\"kind\":\"pe\",\"file\":\"a\"}]}", "images[0].kind: expected one of elf|raw", NTR_E_FORMAT},
    {HEAD "{},\"images\":[{\"kind\":\"raw\",\"file\":\"a\",\"bias\":\"12\"}]}", "images[0].bias: expected \"0x...\"",
     NTR_E_FORMAT},
    {HEAD "{},\"images\":[{\"kind\":\"raw\",\"file\":\"a\",\"bias\":\"0x10000000000000000\"}]}", "images[0].bias",
     NTR_E_FORMAT},
    {HEAD "{},\"images\":[{\"kind\":\"raw\",\"file\":\"a\",\"isa\":\"rv64+\"}]}", "images[0].isa", NTR_E_FORMAT},
    {HEAD "{},\"images\":[{\"kind\":\"elf\",\"file\":\"a\",\"build_id\":\"abc\"}]}", "images[0].build_id",
     NTR_E_FORMAT},
    {HEAD "{},\"images\":[{\"kind\":\"elf\",\"file\":\"../a\"}]}", "images[0].file: '../a'", NTR_E_FORMAT},
    {HEAD "{},\"images\":[{\"kind\":\"elf\",\"file\":\"/etc/passwd\"}]}", "images[0].file", NTR_E_FORMAT},
    {HEAD "{},\"images\":[{\"kind\":\"elf\",\"file\":\"images//a\"}]}", "images[0].file", NTR_E_FORMAT},
    {HEAD "{},\"losses\":[{\"position\":1}]}", "losses[0].what: missing", NTR_E_FORMAT},
    {HEAD "{},\"sources\":[{\"src\":4096}]}", "sources[0].src: expected 0..4095", NTR_E_FORMAT},
    {"{\"format\":\"ntrace-bundle\",\"version\":1,\"stream\":\"../t\",\"params\":{}}", "not the name of a file inside",
     NTR_E_FORMAT},
    {"{\"format\":\"ntrace-bundle\",\"version\":1,\"stream\":\"no\",\"params\":{}}", "no: No such file", NTR_E_IO},
    {"{\"format\":\"ntrace-bundle\",\"version\":1,\"stream\":\"link\",\"params\":{}}", "leads outside", NTR_E_FORMAT},
    {"{\"format\":\"ntrace-bundle\",\"version\":1,\"stream\":\"fifo\",\"params\":{}}", "not a regular file",
     NTR_E_FORMAT},
};

static void bad_descriptions_are_refused_by_file_and_key(void **state) {
    (void)state;
    assert_int_equal(mkdir(place("bad"), 0777), 0);
    put(place("bad/t"), "", 0);
    assert_int_equal(symlink("/etc/passwd", place("bad/link")), 0);
    assert_int_equal(mkfifo(place("bad/fifo"), 0666), 0);
    ntr_bundle *bundle;
    ntr_bundle_new(NULL, &bundle);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        put(place("bad/capture.json"), bad[i].json, strlen(bad[i].json));
        ntr_status status = ntr_bundle_open(bundle, place("bad"));
        const char *message = ntr_bundle_error(bundle);
        if (status != bad[i].status || !strstr(message, bad[i].message) || !strstr(message, "/bad"))
            fail_msg("%s\n  status %d, message: %s", bad[i].json, status, message);
        assert_null(ntr_bundle_stream_path(bundle));
    }
    assert_int_equal(ntr_bundle_open(bundle, place("nowhere")), NTR_E_IO);
    ntr_bundle_free(bundle);
}

/* Every row of an answer can have such a name: 16 MiB of them in a small bundle would be gigabytes. */
static void a_long_name_is_refused(void **state) {
    (void)state;
    static char name[5000], json[6000];
    ntr_bundle *bundle;
    memset(name, 'n', 4097);
    assert_int_equal(mkdir(place("long"), 0777), 0);
    put(place("long/t"), "", 0);
    for (unsigned extra = 0; extra < 2; extra++) {
        snprintf(json, sizeof json, HEAD "{},\"test\":\"%s\"}", name + !extra);
        put(place("long/capture.json"), json, strlen(json));
        ntr_bundle_new(NULL, &bundle);
        assert_int_equal(ntr_bundle_open(bundle, place("long")), extra ? NTR_E_FORMAT : NTR_OK);
        assert_int_equal(strstr(ntr_bundle_error(bundle), "test: expected at most 4096 bytes, found 4097") != NULL,
                         extra);
        ntr_bundle_free(bundle);
    }
}

/* The keys of "params" as docs/bundle.md promises them, in both directions. */
static void every_parameter_has_its_key(void **state) {
    (void)state;
    static const char json[] = HEAD
        "{\"dialect\":\"p550\",\"src_bits\":5,\"timestamps\":\"off\",\"ts_width\":39,\"implicit_return\":\"partial\","
        "\"return_stack\":4000000000,\"sequential_jump\":true,\"extend_addr\":true,\"all_jumps\":true,\"xlen\":32}}";
    assert_int_equal(mkdir(place("keys"), 0777), 0);
    put(place("keys/t"), "", 0);
    put(place("keys/capture.json"), json, strlen(json));
    ntr_bundle *bundle;
    ntr_bundle_new(NULL, &bundle);
    if (ntr_bundle_open(bundle, place("keys")) != NTR_OK) fail_msg("%s", ntr_bundle_error(bundle));
    ntr_params p = ntr_bundle_capture(bundle)->params;
    assert_string_equal(p.dialect->name, "p550");
    assert_true(p.src_bits == 5 && p.timestamps == NTR_TIMESTAMPS_OFF && p.ts_width == 39);
    assert_true(p.implicit_return == NTR_RETURN_PARTIAL && p.return_stack == 4000000000u && p.xlen == 32);
    assert_true(p.sequential_jump && p.extend_addr && p.all_jumps);
    ntr_bundle_free(bundle);

    char text[4096] = "";
    ntr_bundle_new(NULL, &bundle);
    assert_int_equal(ntr_bundle_create(bundle, place("again.ntrace")), NTR_OK);
    ntr_capture_info capture = {.size = sizeof capture, .stream = "t", .params = p};
    assert_int_equal(ntr_bundle_finish(bundle, &capture), NTR_OK);
    ntr_bundle_free(bundle);
    FILE *file = fopen(place("again.ntrace/capture.json"), "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    static const char *const lines[] = {"\"dialect\": \"p550\"",
                                        "\"src_bits\": 5",
                                        "\"timestamps\": \"off\"",
                                        "\"ts_width\": 39",
                                        "\"implicit_return\": \"partial\"",
                                        "\"return_stack\": 4000000000",
                                        "\"sequential_jump\": true",
                                        "\"extend_addr\": true",
                                        "\"all_jumps\": true",
                                        "\"xlen\": 32"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (!strstr(text, lines[i])) fail_msg("no %s in %s", lines[i], text);
}

static void images_that_are_short_are_refused(void **state) {
    (void)state;
    static const char json[] = HEAD "{},\"images\":[{\"kind\":\"raw\",\"file\":\"t\",\"offset\":2,\"length\":9}]}";
    assert_int_equal(mkdir(place("short"), 0777), 0);
    put(place("short/t"), "123456789", 9);
    put(place("short/capture.json"), json, strlen(json));
    ntr_bundle *bundle;
    ntr_bundle_new(NULL, &bundle);
    ntr_program *program;
    ntr_program_new(NULL, &program);
    assert_int_equal(ntr_bundle_open(bundle, place("short")), NTR_OK);
    assert_int_equal(ntr_bundle_load(bundle, program), NTR_E_FORMAT);
    assert_non_null(strstr(ntr_bundle_error(bundle), "expected at least 9 bytes at offset 2, found 9"));
    ntr_program_free(program);
    ntr_bundle_free(bundle);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(what_was_written_is_read),
        TEST(images_are_given_to_a_program),
        TEST(a_bundle_is_replaced_and_nothing_else),
        TEST(a_bundle_is_incomplete_until_it_is_finished),
        TEST(a_long_name_is_refused),
        TEST(an_unfinished_bundle_leaves_nothing),
        TEST(a_build_id_is_found),
        TEST(bad_descriptions_are_refused_by_file_and_key),
        TEST(every_parameter_has_its_key),
        TEST(images_that_are_short_are_refused),
    };
    return cmocka_run_group_tests_name("bundle", tests, make_place, remove_place);
}
