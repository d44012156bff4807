/* The pass of a replay: parts that are read by counting have the same call stacks and blocks as parts that are read
 * with events. The streams are those of real programs in bench/real_streams, divided into small parts. */
#include "points.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PART_BYTES = 1 << 10, PART_INSTRUCTIONS = 1 << 15 };

typedef struct input {
    ntr_program *program;
    ntr_debug_info *debug;
    ntr_functions *functions;
    ntr_decoder_config decoder;
    char stream[512];
    ntr_replay *replay;
} input;

/* ---- files */

static ntr_status read_file(void *user, uint8_t *to, size_t capacity, size_t *got) {
    *got = fread(to, 1, capacity, user);
    return NTR_OK;
}

static void close_file(void *user) {
    fclose(user);
}

static ntr_status open_path(const char *path, ntr_stream_reader **out) {
    ntr_stream_reader_config config;
    ntr_stream_reader_config_init(&config);
    config.read = read_file;
    config.close = close_file;
    config.user = fopen(path, "rb");
    assert_non_null(config.user);
    return ntr_stream_reader_new(&config, out);
}

static ntr_status open_stream(void *user, ntr_stream_reader **out) {
    return open_path(((input *)user)->stream, out);
}

static void path_of(char *out, size_t size, const char *name, const char *suffix) {
    snprintf(out, size, "%s/bench/real_streams/%s%s", getenv("NTRACE_SOURCE_ROOT"), name, suffix);
}

/* Decompresses the program to a temporary file and adds it. Skips without zstd. */
static void add_program(input *in, const char *name) {
    char path[512], copy[] = "/tmp/ntrace-unit-XXXXXX";
    ntr_status status;
    ntr_bytes bytes;
    bool last = false;
    path_of(path, sizeof path, name, ".elf.zst");
    ntr_stream_reader *reader;
    assert_int_equal(open_path(path, &reader), NTR_OK);
    int fd = mkstemp(copy);
    assert_true(fd >= 0);
    while (!last) {
        status = ntr_stream_reader_next(reader, &bytes, &last);
        if (status == NTR_E_UNSUPPORTED) SKIP_TEST("build-zstd");
        assert_int_equal(status, NTR_OK);
        assert_int_equal(write(fd, bytes.data ? bytes.data : (const uint8_t *)"", bytes.size), bytes.size);
    }
    close(fd);
    ntr_stream_reader_free(reader);
    assert_int_equal(ntr_program_add_elf(in->program, copy, NULL), NTR_OK);
    unlink(copy);
}

/* ---- replays */

static void begin(input *in, const char *name, bool events) {
    ntr_replay_config config;
    memset(in, 0, sizeof *in);
    ntr_program_new(NULL, &in->program);
    add_program(in, name);
    ntr_debug_info_new(in->program, NULL, &in->debug);
    ntr_functions_new(in->debug, NULL, &in->functions);
    ntr_decoder_config_init(&in->decoder);
    ntr_params_init(&in->decoder.params, NULL);
    in->decoder.params.src_bits = 8;
    in->decoder.params.implicit_return = NTR_RETURN_FULL;
    in->decoder.params.return_stack = 32;
    in->decoder.params.sequential_jump = in->decoder.params.extend_addr = true;
    in->decoder.one_source = true;
    in->decoder.program = in->program;
    path_of(in->stream, sizeof in->stream, name, ".nex.zst");
    ntr_replay_config_init(&config);
    config.decoder = &in->decoder;
    config.functions = in->functions;
    config.open = open_stream;
    config.user = in;
    assert_int_equal(ntr_replay_new(&config, &in->replay), NTR_OK);
    in->replay->part.most_bytes = PART_BYTES;
    in->replay->part.most_instructions = PART_INSTRUCTIONS;
    if (events) read_with_events(in->replay);
}

static void end(input *in) {
    ntr_replay_free(in->replay);
    ntr_functions_free(in->functions);
    ntr_debug_info_free(in->debug);
    ntr_program_free(in->program);
}

static void compare(const char *name, size_t least_counted) {
    static input counts, events;
    begin(&counts, name, false);
    begin(&events, name, true);
    size_t counted = read_all(counts.replay, false);
    assert_int_equal(read_all(events.replay, true), 0);
    const size_t parts = counts.replay->point_count - 1;
    if (counted < least_counted) fail_msg("%s: %zu of %zu parts were read by counting", name, counted, parts);
    compare_points(counts.replay, counts.functions, events.replay, events.functions);
    end(&counts);
    end(&events);
}

/* ---- cases */

static void interpreters(void **state) {
    (void)state;
    compare("lua", 3);
    compare("perl", 1);
    compare("gawk", 10);
}

static void a_compiler_and_a_shell(void **state) {
    (void)state;
    compare("cc1", 10);
    compare("bash", 10);
}

static void other_calling_conventions(void **state) {
    (void)state;
    compare("go", 1);
    compare("sbcl", 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(interpreters),
        TEST(a_compiler_and_a_shell),
        TEST(other_calling_conventions),
    };
    return cmocka_run_group_tests_name("pass", tests, NULL, NULL);
}
