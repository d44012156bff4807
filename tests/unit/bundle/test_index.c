/* The index of a bundle: its text, the file `index`, and decoding a part of a stream with it. */
#include "folder.h"

#include "base/allocator.h"
#include "bundle/index_text.h"

#include <ntrace/bundle.h>
#include <ntrace/index_build.h>
#include <ntrace/reader.h>

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

enum { MESSAGES = 40000, CODE = 0x10000 };

static uint8_t stream[MESSAGES * 16];
static size_t stream_size;

/* A synchronizing message behind each instruction. */
static void make_stream(const ntr_params *params) {
    stream_size = 0;
    for (uint32_t i = 0; i < MESSAGES; i++) {
        ntr_message m = {.tcode = NTR_TCODE_PROG_TRACE_SYNC};
        m.value[NTR_FIELD_SYNC] = i ? 2 : 5;
        m.value[NTR_FIELD_ICNT] = i ? 2 : 0;
        m.value[NTR_FIELD_FADDR] = (CODE + 4 * (uint64_t)i) >> 1;
        m.present = 1u << NTR_FIELD_SYNC | 1u << NTR_FIELD_ICNT | 1u << NTR_FIELD_FADDR;
        int size = ntr_message_encode(params, &m, stream + stream_size, sizeof stream - stream_size);
        assert_true(size > 0);
        stream_size += (size_t)size;
    }
}

/* A bundle of that stream and its code. */
static void make_bundle(const char *path) {
    static uint8_t code[4 * MESSAGES];
    char file[256];
    ntr_bundle *bundle;
    ntr_bundle_new(NULL, &bundle);
    ntr_bundle_image image = {.kind = NTR_BUNDLE_RAW};
    ntr_capture_info capture = {.size = sizeof capture, .stream = "trace.nex", .images = &image, .image_count = 1};

    ntr_params_init(&capture.params, NULL);
    capture.params.dialect = ntr_dialect_find("ntrace-1.0");
    make_stream(&capture.params);
    for (size_t i = 0; i < sizeof code; i += 4) memcpy(code + i, "\x6f\0\x40\0", 4); /* jal x0, 4 */
    put(place("code"), code, sizeof code);
    assert_int_equal(ntr_bundle_create(bundle, path), NTR_OK);
    assert_int_equal(ntr_bundle_copy(bundle, place("code"), &image), NTR_OK);
    image.options.size = sizeof image.options;
    image.options.bias = CODE;
    snprintf(file, sizeof file, "%s/trace.nex", ntr_bundle_folder(bundle));
    put(file, stream, stream_size);
    assert_int_equal(ntr_bundle_finish(bundle, &capture), NTR_OK);
    ntr_bundle_free(bundle);
}

static ntr_bundle *open_bundle(const char *name) {
    ntr_bundle *bundle;
    ntr_bundle_new(NULL, &bundle);
    if (ntr_bundle_open(bundle, place(name)) != NTR_OK) fail_msg("%s", ntr_bundle_error(bundle));
    return bundle;
}

static size_t points_of(const ntr_index *index) {
    size_t count;
    ntr_index_points(index, &count);
    return count;
}

/* Make or read the index, and see how many points it has. */
static void check_index(const char *name) {
    ntr_bundle *bundle = open_bundle(name);
    ntr_index *index;
    assert_int_equal(ntr_bundle_index(bundle, NULL, &index), NTR_OK);
    assert_int_equal(points_of(index), (stream_size + NTR_INDEX_SPACING_DEFAULT - 1) / NTR_INDEX_SPACING_DEFAULT + 1);
    ntr_index_free(index);
    ntr_bundle_free(bundle);
}

static size_t read_text(const char *path, char *text, size_t room) {
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    size_t size = fread(text, 1, room - 1, file);
    text[size] = 0;
    fclose(file);
    return size;
}

/* ---- text ---------------------------------------------------------------------------------------- */

static const ntr_point points[] = {
    {.kind = NTR_POINT_FIRST, .message = 1, .context.prv = NTR_PRV_UNKNOWN},
    {.kind = NTR_POINT_SYNC,
     .src = 3,
     .offset = 0x1234,
     .message = 77,
     .clock = {.time = UINT64_MAX, .known = true},
     .address = UINT64_C(0xffffffff80000000),
     .mode = 2,
     .context = {.prv = 3, .v = 1, .has_scontext = true, .scontext = 5, .has_hcontext = true, .hcontext = 0}},
    {.kind = NTR_POINT_STOPPED,
     .src = 3,
     .offset = UINT64_MAX,
     .message = UINT64_MAX,
     .mode = 1,
     .context.has_scontext = true},
};
static const char text[] = "ntrace-index 1 stream 99 timed 1 params 0x7f samples 0x5\n"
                           "kind src offset message time known address mode prv v scontext hcontext\n"
                           "first 0 0x0 1 0 0 0x0 0 - 0 - -\n"
                           "sync 3 0x1234 77 18446744073709551615 1 0xffffffff80000000 2 0x3 1 0x5 0x0\n"
                           "stopped 3 0xffffffffffffffff 18446744073709551615 0 0 0x0 1 0x0 0 0x0 -\n"
                           "end\n";

static const struct ntr_indexed indexed = {.size = 99, .params = 0x7f, .samples = 0x5};

static ntr_index *empty_index(void) {
    ntr_params params;
    ntr_params_init(&params, NULL);
    params.src_bits = 2;
    ntr_index *index;
    ntr_index_new(&params, 0, NULL, &index);
    return index;
}

static void an_index_is_written_as_text(void **state) {
    (void)state;
    ntr_index *index = empty_index();
    char *written;
    size_t length;
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        assert_int_equal(ntr_index_add(index, &points[i]), NTR_OK);
    assert_int_equal(ntr_index_text_write(index, &indexed, NULL, &written, &length), NTR_OK);
    assert_int_equal(length, sizeof text - 1);
    assert_memory_equal(written, text, length);
    ntr_dealloc(NULL, written);
    ntr_index_free(index);
}

static void text_is_read_into_an_index(void **state) {
    (void)state;
    ntr_index *index = empty_index();
    size_t count;
    ntr_index_set_timed(index, false);
    assert_int_equal(ntr_index_text_read((ntr_bytes){(const uint8_t *)text, sizeof text - 1}, &indexed, index), NTR_OK);
    const ntr_point *found = ntr_index_points(index, &count);
    assert_true(ntr_index_is_timed(index));
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(found[i].kind, points[i].kind);
        assert_int_equal(found[i].src, points[i].src);
        assert_int_equal(found[i].offset, points[i].offset);
        assert_int_equal(found[i].message, points[i].message);
        assert_int_equal(found[i].clock.time, points[i].clock.time);
        assert_int_equal(found[i].clock.known, points[i].clock.known);
        assert_int_equal(found[i].address, points[i].address);
        assert_int_equal(found[i].mode, points[i].mode);
        assert_int_equal(found[i].context.prv, points[i].context.prv);
        assert_int_equal(found[i].context.v, points[i].context.v);
        assert_int_equal(found[i].context.has_scontext, points[i].context.has_scontext);
        assert_int_equal(found[i].context.scontext, points[i].context.scontext);
        assert_int_equal(found[i].context.has_hcontext, points[i].context.has_hcontext);
        assert_int_equal(found[i].context.hcontext, points[i].context.hcontext);
    }
    ntr_index_free(index);
}

/* One change each to `text`. */
static const struct {
    const char *from, *to;
} damages[] = {
    {"ntrace-index", "index"},
    {"index 1", "index 2"},
    {"stream 99", "stream 98"},
    {"stream", "file"},
    {"timed 1", "timed 2"},
    {"timed 1", "timed 1 1"},
    {"timed 1", "timed"},
    {"kind src", "src kind"},
    {"0x7f", "0x7e"},
    {"0x7f", "0x7f 1"},
    {" params 0x7f", ""},
    {" samples 0x5", ""},
    {"0x5\n", "0x6\n"},
    {"params", "parameters"},
    {"first", "last"},
    {"first 0", "first 4"},
    {"first 0", "first 65536"},
    {"first 0", "first x"},
    {"0x1234", "0x"},
    {"0x1234", "0x12g4"},
    {"0x1234", ""},
    {"77", "0"},
    {"77", "-"},
    {"5 1 0x", "5 2 0x"},
    {"0000 2 ", "0000 3 "},
    {"0x3 1", "0x4 1"},
    {"0x3 1", "0x3 2"},
    {"0x5 0x0", "0x5 0x0 0"},
    {"0x5 0x0", "0x5"},
    {"0x5 0x0", "x 0x0"},
    {"615 1", "616 1"},
    {"end\n", "end"},
    {"end\n", ""},
    {"end\n", "end\nend\n"},
    {"end\n", "End\n"},
    {"end\n", "\n"},
    {"0xffffffffffffffff", "1"},
};

static void damaged_text_is_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        char changed[sizeof text + 32];
        const char *at = strstr(text, damages[i].from);
        assert_non_null(at);
        int size = snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, damages[i].to,
                            at + strlen(damages[i].from));
        ntr_index *index = empty_index();
        ntr_status status = ntr_index_text_read((ntr_bytes){(const uint8_t *)changed, (size_t)size}, &indexed, index);
        /* The first word says that the file is an index. */
        if (status != (i ? NTR_E_INVALID : NTR_E_FORMAT))
            fail_msg("'%s' for '%s': %d", damages[i].to, damages[i].from, status);
        ntr_index_free(index);
    }
    for (size_t size = 0; size < sizeof text - 1; size++) {
        ntr_index *index = empty_index();
        const bool whole_line = size > (size_t)(strchr(text, '\n') - text);
        assert_int_equal(ntr_index_text_read((ntr_bytes){(const uint8_t *)text, size}, &indexed, index),
                         whole_line ? NTR_E_INVALID : NTR_E_FORMAT);
        ntr_index_free(index);
    }
}

/* ---- the file ------------------------------------------------------------------------------------- */

static void an_index_is_made_once(void **state) {
    (void)state;
    static char first[100000], second[100000];
    make_bundle(place("a.ntrace"));
    check_index("a.ntrace");
    assert_true(read_text(place("a.ntrace/index"), first, sizeof first) > 100);
    struct stat before, after;
    assert_int_equal(stat(place("a.ntrace/index"), &before), 0);
    check_index("a.ntrace");
    assert_int_equal(stat(place("a.ntrace/index"), &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    read_text(place("a.ntrace/index"), second, sizeof second);
    assert_string_equal(first, second);
}

/* The index is a cache: what does not describe the stream as it is now is made again. */
static void an_index_that_does_not_fit_is_made_again(void **state) {
    (void)state;
    static char good[100000], found[100000];
    static const char *const younger[] = {"trace.nex", "capture.json"};
    make_bundle(place("b.ntrace"));
    check_index("b.ntrace");
    size_t size = read_text(place("b.ntrace/index"), good, sizeof good);
    for (size_t i = 0; i < 2; i++) { /* older than the file; with points that are false */
        char path[64], stale[100000];
        snprintf(path, sizeof path, "b.ntrace/%.32s", younger[i]);
        memcpy(stale, good, size);
        memcpy(strstr(stale, "\nsync"), "\nend\n", 5);
        put(place("b.ntrace/index"), stale, (size_t)(strstr(stale, "\nend\n") + 5 - stale));
        assert_int_equal(utime(place("b.ntrace/index"), &(struct utimbuf){1000, 1000}), 0);
        assert_int_equal(utime(place("b.ntrace/trace.nex"), &(struct utimbuf){900, 900}), 0);
        assert_int_equal(utime(place("b.ntrace/capture.json"), &(struct utimbuf){900, 900}), 0);
        assert_int_equal(utime(place(path), &(struct utimbuf){1001, 1001}), 0);
        check_index("b.ntrace");
        read_text(place("b.ntrace/index"), found, sizeof found);
        assert_string_equal(found, good);
    }
    put(place("b.ntrace/index"), good, size - 1);
    check_index("b.ntrace");
    put(place("b.ntrace/index"), "", 0);
    check_index("b.ntrace");
    read_text(place("b.ntrace/index"), found, sizeof found);
    assert_string_equal(found, good);
}

/* Returns the number of files whose names begin so. */
static unsigned files_in(const char *folder_name, const char *begin) {
    DIR *files = opendir(place(folder_name));
    unsigned count = 0;
    assert_non_null(files);
    for (const struct dirent *entry; (entry = readdir(files));)
        count += strncmp(entry->d_name, begin, strlen(begin)) == 0;
    closedir(files);
    return count;
}

static void nothing_is_written_where_it_is_not_wanted_or_not_possible(void **state) {
    (void)state;
    ntr_bundle_index_config config;
    ntr_index *index;
    make_bundle(place("c.ntrace"));
    ntr_bundle *bundle = open_bundle("c.ntrace");
    ntr_bundle_index_config_init(&config);
    config.read_only = true;
    assert_int_equal(ntr_bundle_index(bundle, &config, &index), NTR_OK);
    ntr_index_free(index);
    assert_int_equal(access(place("c.ntrace/index"), F_OK), -1);
    assert_int_equal(mkdir(place("c.ntrace/index"), 0777), 0); /* cannot be replaced by a file */
    put(place("c.ntrace/index/x"), "", 0);
    assert_int_equal(ntr_bundle_index(bundle, NULL, &index), NTR_OK);
    ntr_index_free(index);
    assert_int_equal(unlink(place("c.ntrace/index/x")), 0);
    assert_int_equal(rmdir(place("c.ntrace/index")), 0);
    assert_int_equal(files_in("c.ntrace", "index"), 0);
    ntr_bundle_free(bundle);
}

static bool stop_half_way(void *user, uint64_t done, uint64_t whole) {
    uint64_t *calls = user;
    assert_int_equal(whole, stream_size);
    ++*calls;
    return done < whole / 2;
}

static void the_making_can_be_stopped(void **state) {
    (void)state;
    ntr_bundle_index_config config;
    ntr_index *index;
    uint64_t calls = 0;
    make_bundle(place("d.ntrace"));
    ntr_bundle *bundle = open_bundle("d.ntrace");
    ntr_bundle_index_config_init(&config);
    config.proceed = stop_half_way;
    config.user = &calls;
    assert_int_equal(ntr_bundle_index(bundle, &config, &index), NTR_END);
    assert_null(index);
    assert_true(calls > 1);
    assert_int_equal(access(place("d.ntrace/index"), F_OK), -1);
    ntr_bundle_free(bundle);
}

/* Messages that are read with other parameters are other messages. */
static void an_index_is_for_the_parameters_of_the_bundle(void **state) {
    (void)state;
    ntr_bundle_index_config config;
    ntr_index *index;
    ntr_params params;
    make_bundle(place("e.ntrace"));
    ntr_bundle *bundle = open_bundle("e.ntrace");
    ntr_bundle_index_config_init(&config);
    config.params = &params;
    for (unsigned i = 0; i < 6; i++) {
        params = ntr_bundle_capture(bundle)->params;
        params.implicit_return = NTR_RETURN_FULL; /* is nothing of messages */
        if (i == 1) params.src_bits = 1;
        if (i == 2) params.timestamps = NTR_TIMESTAMPS_OFF;
        if (i == 3) params.ts_width = 40;
        if (i == 4) params.extend_addr = true;
        if (i == 5) params.dialect = ntr_dialect_find("sifive-pre1.0");
        assert_int_equal(ntr_bundle_index(bundle, &config, &index), i ? NTR_E_INVALID : NTR_OK);
        assert_true(!i || *ntr_bundle_error(bundle));
        ntr_index_free(index);
    }
    ntr_bundle_free(bundle);
    ntr_bundle_new(NULL, &bundle);
    assert_int_equal(ntr_bundle_index(bundle, NULL, &index), NTR_E_STATE);
    ntr_bundle_free(bundle);
}

/* Reads the index with other bytes of the stream. */
static ntr_status read_after(size_t changed, const ntr_params *params) {
    uint8_t bytes[20001] = {0};
    ntr_index *read;

    if (changed < sizeof bytes) bytes[changed] = 1;
    put(place("own.nex"), bytes, sizeof bytes - (changed == sizeof bytes));
    const ntr_status status = ntr_index_read(place("own.index"), place("own.nex"), params, NULL, &read);
    assert_true(status == NTR_OK ? points_of(read) == 3 : !read);
    ntr_index_free(read);
    return status;
}

static void an_index_is_a_file_of_its_own(void **state) {
    (void)state;
    ntr_index *index = empty_index(), *read;
    ntr_params params;
    char path[256], of[256];

    snprintf(path, sizeof path, "%s", place("own.index"));
    snprintf(of, sizeof of, "%s", place("own.nex"));
    ntr_params_init(&params, NULL);
    params.src_bits = 2;
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        assert_int_equal(ntr_index_add(index, &points[i]), NTR_OK);
    assert_int_equal(read_after(SIZE_MAX, &params), NTR_E_IO);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(ntr_index_write(index, path, of, &params, NULL), NTR_OK);
    /* read_after writes the stream again: the index is not to be older, whatever the second is. */
    assert_int_equal(utime(path, &(struct utimbuf){2000000000, 2000000000}), 0);
    assert_int_equal(read_after(SIZE_MAX, &params), NTR_OK);
    const size_t changed[] = {0, 4095, 10000, 15905, 20000, 20001 /* shorter */};
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
        assert_int_equal(read_after(changed[i], &params), NTR_E_INVALID);
    assert_int_equal(read_after(SIZE_MAX, &params), NTR_OK);
    assert_int_equal(utime(path, &(struct utimbuf){1000, 1000}), 0);
    assert_int_equal(read_after(SIZE_MAX, &params), NTR_E_INVALID);
    assert_int_equal(utime(of, &(struct utimbuf){1000, 1000}), 0);
    for (unsigned i = 0; i < 4; i++) {
        ntr_params other = params;
        if (i == 0) other.implicit_return = NTR_RETURN_FULL; /* is nothing of messages */
        if (i == 1) other.src_bits = 3;
        if (i == 2) other.ts_width = 40;
        if (i == 3) other.dialect = ntr_dialect_find("sifive-pre1.0");
        assert_int_equal(ntr_index_read(path, of, &other, NULL, &read), i ? NTR_E_INVALID : NTR_OK);
        ntr_index_free(read);
    }
    put(path, "text\n", 5);
    assert_int_equal(ntr_index_read(path, of, &params, NULL, &read), NTR_E_FORMAT);
    assert_int_equal(ntr_index_write(index, place("missing/own.index"), of, &params, NULL), NTR_E_IO);
    assert_int_equal(ntr_index_write(index, path, "/dev/null", &params, NULL), NTR_E_IO);
    assert_int_equal(unlink(of), 0);
    assert_int_equal(ntr_index_read(path, of, &params, NULL, &read), NTR_E_IO);
    ntr_index_free(index);
}

/* ---- decoding ------------------------------------------------------------------------------------- */

/* Decode a bundle with what the library offers, from a message on (0: from the start): the sum of the addresses of
 * spans of messages from `first` on. */
static uint64_t decode(const char *name, uint64_t from, uint64_t first, uint64_t *bytes) {
    ntr_bundle *bundle = open_bundle(name);
    ntr_program *program;
    ntr_program_new(NULL, &program);
    ntr_stream_reader *reader;
    ntr_index *index;
    ntr_event events[64];
    ntr_bytes piece;
    size_t count;
    bool last = false;
    uint64_t sum = 0;

    assert_int_equal(ntr_bundle_load(bundle, program), NTR_OK);
    assert_int_equal(ntr_bundle_stream_open(bundle, &reader), NTR_OK);
    ntr_decoder_config config = {
        .size = sizeof config, .params = ntr_bundle_capture(bundle)->params, .program = program};
    ntr_decoder *decoder;
    ntr_decoder_new(&config, &decoder);
    assert_int_equal(ntr_bundle_index(bundle, NULL, &index), NTR_OK);
    if (from) assert_int_equal(ntr_bundle_begin(index, NTR_UNIT_MESSAGE, from, NULL, reader, decoder), NTR_OK);
    *bytes = 0;
    while (!last) {
        assert_int_equal(ntr_stream_reader_next(reader, &piece, &last), NTR_OK);
        *bytes += piece.size;
        assert_int_equal(ntr_decoder_feed(decoder, piece.data, piece.size, last), NTR_OK);
        for (ntr_status status = NTR_OK; status == NTR_OK;) {
            status = ntr_decoder_read(decoder, events, 64, &count);
            for (size_t i = 0; i < count; i++)
                if (events[i].kind == NTR_EVENT_SPAN && events[i].message >= first) sum += events[i].address;
        }
    }
    ntr_index_free(index);
    ntr_stream_reader_free(reader);
    ntr_bundle_free(bundle);
    ntr_decoder_free(decoder);
    ntr_program_free(program);
    return sum;
}

static void a_part_is_decoded_without_what_is_before(void **state) {
    (void)state;
    uint64_t all, part;
    make_bundle(place("f.ntrace"));
    for (uint64_t first = 1; first <= MESSAGES; first += MESSAGES / 7) {
        uint64_t whole = decode("f.ntrace", 0, first, &all);
        assert_int_equal(all, stream_size);
        assert_true(whole > 0);
        assert_int_equal(decode("f.ntrace", first, first, &part), whole);
        assert_true(part <= stream_size - stream_size * (first - 1) / MESSAGES + 2 * NTR_INDEX_SPACING_DEFAULT);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(an_index_is_written_as_text),
        TEST(text_is_read_into_an_index),
        TEST(damaged_text_is_refused),
        TEST(an_index_is_made_once),
        TEST(an_index_that_does_not_fit_is_made_again),
        TEST(nothing_is_written_where_it_is_not_wanted_or_not_possible),
        TEST(the_making_can_be_stopped),
        TEST(an_index_is_for_the_parameters_of_the_bundle),
        TEST(an_index_is_a_file_of_its_own),
        TEST(a_part_is_decoded_without_what_is_before),
    };
    return cmocka_run_group_tests_name("index", tests, make_place, remove_place);
}
